package site

import (
	"net/url"
	"strings"

	"touchdown/backend/message"
)

// maxToken is more than the header of a request may be for common servers: 8 KiB (nginx, large_client_header_buffers). In bytes.
const maxToken = 4 << 10

// monitor says where reports and hardware faults are delivered.
type monitor struct {
	// URL takes them, by POST.
	URL string `yaml:"url,omitempty" json:"url,omitempty"`
	// CA are authorities that the monitor's certificate may be signed by, beside those of the system and of AdditionalTrustBundle.
	CA string `yaml:"ca,omitempty" json:"ca,omitempty"`
	// Token is sent to it as a bearer token.
	Token Secret `yaml:"token,omitempty" json:"token,omitempty"`
	// Key and Cert are what the node shows a monitor that asks for a certificate.
	Key  Secret `yaml:"key,omitempty" json:"key,omitempty"`
	Cert string `yaml:"cert,omitempty" json:"cert,omitempty"`
}

// monitorEntries say where reports and hardware faults are delivered.
var monitorEntries = []entry{
	{
		Item:  Item{Path: "spec.monitor.url", Type: typeText, Meaning: "where reports and hardware faults are sent by POST; without it they are not sent; its path is shown, so a token belongs in spec.monitor.token", Example: "https://monitor.example.com/touchdown"},
		limit: maxURL, check: monitorURL, younger: true,
		at: func(c *Config) any { return &c.Spec.Monitor.URL },
	},
	{
		Item:  Item{Path: "spec.monitor.ca", Type: typePEM, Meaning: "authorities of the monitor's certificate; those of spec.additionalTrustBundle count too", Example: "|"},
		limit: maxPEM, check: CABundle, younger: true,
		at: func(c *Config) any { return &c.Spec.Monitor.CA },
	},
	{
		Item:  Item{Path: "spec.monitor.token", Type: typeText, Secret: true, Meaning: "bearer token for the monitor; needs a URL with https", Example: "3f1c9a..."},
		limit: maxToken, check: bearer, younger: true,
		at: func(c *Config) any { return (*string)(&c.Spec.Monitor.Token) },
	},
	{
		Item:  Item{Path: "spec.monitor.key", Type: typePEM, Secret: true, Meaning: "key of spec.monitor.cert, unencrypted", Example: "|"},
		limit: maxPEM, check: PrivateKey, younger: true,
		at: func(c *Config) any { return (*string)(&c.Spec.Monitor.Key) },
	},
	{
		Item:  Item{Path: "spec.monitor.cert", Type: typePEM, Meaning: "certificate that the node shows the monitor, for mutual TLS", Example: "|"},
		limit: maxPEM, check: Certificate, younger: true,
		at: func(c *Config) any { return &c.Spec.Monitor.Cert },
	},
}

// monitorURL reports what is wrong with the address of a monitor. It is shown in logs and on screens, so that it may hold no secret.
func monitorURL(s string) error {
	like := message.T("write it like https://monitor.example.com/touchdown")
	u, err := url.Parse(s)
	switch {
	case err != nil || u.Scheme != "https" && u.Scheme != "http":
		return fault(like, message.T("does not start with http:// or https://"))
	case u.User != nil:
		return fault(message.T("give the credentials in spec.monitor.token"), message.T("has a user or a password in it"))
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return fault(message.T("remove what stands behind the path; a token belongs in spec.monitor.token"), message.T("has a query in it"))
	case u.Port() != "" && Port(u.Port()) != nil || strings.HasSuffix(u.Host, ":"):
		return fault(message.T("write a port from 1 to 65535"), message.T("has a port that does not exist"))
	}
	if elsewhere(u.Hostname()) != nil {
		return fault(like, message.T("names no monitor: neither a host name nor an address"))
	}
	return nil
}

// bearer reports what is wrong with a token, without any of it.
func bearer(s string) error {
	// b64token of RFC 6750, section 2.1
	for _, r := range s {
		if (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("-._~+/=", r) {
			return fault(message.T("copy it again, without the word Bearer, spaces and quotes"), message.T("has a character that no bearer token has (RFC 6750)"))
		}
	}
	return nil
}

// monitor judges the settings of the monitor together.
func (v *judge) monitor() {
	m := v.config.Spec.Monitor
	secret := m.Token != "" || m.Cert != "" || m.Key != ""
	switch {
	case m.URL == "" && (secret || m.CA != ""):
		v.fail("spec.monitor.url", fault(message.T("give it, or leave the other settings of the monitor out"), message.T("is missing, but there are other settings of the monitor")))
	case secret && !strings.HasPrefix(m.URL, "https://"):
		v.fail("spec.monitor.url", fault(message.T("write https://, or leave token and certificate out"), message.T("is not https, so others on the way could read the token")))
	}
	chain, noCert := parseCerts(m.Cert)
	key, noKey := parseKey(string(m.Key))
	switch {
	case (m.Cert == "") != (m.Key == ""):
		v.fail("spec.monitor.key", fault(message.T("give both, or neither"), message.T("and the certificate of the monitor belong together; one of them is missing")))
	case noCert != nil || noKey != nil: // there are none, or each was judged alone
	case !matches(chain[0], key):
		mismatch(v, "spec.monitor", chain, key)
	default:
		dates(v, "spec.monitor.cert", chain)
	}
}
