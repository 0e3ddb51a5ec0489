package site

import (
	"fmt"
	"net/netip"
	"net/url"
	"strings"
	"unicode/utf8"

	"touchdown/backend/message"
	"touchdown/backend/value"
)

// called names a character for people. Of those outside of ASCII only that there is one: they are not part of any mistake.
func called(r rune) message.Text {
	switch {
	case r == ' ':
		return message.T("a space")
	case r < ' ' || r == 0x7f:
		return message.T("a control character")
	case r > '~':
		return message.T("a character that is not ASCII")
	}
	return message.F("the character %s", string(r))
}

// percent writes a character as a URL does.
func percent(s string) string {
	var b strings.Builder
	for _, c := range []byte(s) {
		fmt.Fprintf(&b, "%%%02X", c)
	}
	return b.String()
}

// httpProxyURL is proxyURL for the proxy of plain HTTP, which OpenShift takes by http:// alone: with another scheme its network operator
// refuses the proxy as a whole (openshift/cluster-network-operator 2a6a57fef, pkg/controller/proxyconfig/validation.go).
func httpProxyURL(s string) error {
	if err := proxyURL(s); err != nil {
		return err
	}
	if strings.HasPrefix(s, "https://") {
		return fault(message.T("write it like http://proxy.example.com:3128, or give it as httpsProxy alone"), message.T("starts with https://, which OpenShift does not take for httpProxy"))
	}
	return nil
}

// proxyURL reports what is wrong with the URL of a proxy. Its errors hold no more of it than one
// character that has to be written otherwise, since it can hold a password.
func proxyURL(s string) error {
	encode := message.T("write special characters of user and password as % and two digits, for example %40 for @")
	u, err := url.Parse(s)
	at := value.NotForScripts(s)
	switch {
	case !strings.HasPrefix(s, "http://") && !strings.HasPrefix(s, "https://"):
		return fault(message.T("write it like http://proxy.example.com:3128"), message.T("does not start with http:// or https://"))
	case at >= 0:
		r, size := utf8.DecodeRuneInString(s[at:])
		return fault(message.F("write it as %s", percent(s[at:at+size])), message.F("has %s, which the node's scripts would not read as part of the URL", called(r)))
	case strings.Count(s, "@") > 1:
		return fault(encode, message.T("has a character that a URL cannot hold"))
	case err != nil:
		return fault(encode, message.T("is not a URL"))
	case u.Path != "" && u.Path != "/" || u.RawQuery != "" || u.ForceQuery:
		return fault(message.F("write it like http://proxy.example.com:3128; %s", encode), message.T("has something behind the proxy's address"))
	case u.Port() != "" && Port(u.Port()) != nil || strings.HasSuffix(u.Host, ":"):
		return fault(message.T("write a port from 1 to 65535"), message.T("has a port that does not exist"))
	}
	if u.User != nil && u.User.Username() == "" {
		return fault(message.T("write it like http://user:password@proxy.example.com:3128"), message.T("has a password without a user"))
	}
	if elsewhere(u.Hostname()) != nil {
		return fault(message.T("write it like http://proxy.example.com:3128"), message.T("names no proxy: neither a host name nor an address"))
	}
	return nil
}

// holdsPassword reports whether a URL may hold a password; one that cannot be read counts as if it did. A value that is still being
// typed has no @ yet: what follows a colon there and is not a port may be the beginning of a password.
func holdsPassword(s string) bool {
	if strings.Contains(s, "@") {
		return true
	}
	_, host, ok := strings.Cut(s, "://")
	if !ok {
		host = s
	}
	host, _, _ = strings.Cut(host, "/")
	if strings.HasPrefix(host, "[") {
		address, rest, _ := strings.Cut(host[1:], "]")
		if _, err := netip.ParseAddr(address); err == nil {
			host = rest
		}
	}
	_, port, ok := strings.Cut(host, ":")
	return ok && port != "" && Port(port) != nil
}

// noProxy reports what is wrong with the list of what is reached without the proxy. Every address is fine there, one of the machine
// itself too: OpenShift takes it, and the lists that it writes have 127.0.0.1 in them.
func noProxy(s string) error {
	for item := range strings.SplitSeq(s, ",") {
		if f := noProxyItem(strings.TrimSpace(item)); f != nil {
			return f
		}
	}
	return nil
}

func noProxyItem(s string) *Error {
	switch {
	case s == "":
		return fault(message.T("remove one of the commas"), message.T("has nothing between two commas, or at an end"))
	case s == "*":
		return fault(message.T("remove it, or leave the proxy out"), message.T("has *, with which nothing would use the proxy"))
	case strings.Contains(s, "/") && !strings.Contains(s, "://"):
		switch subnet, err := netip.ParsePrefix(s); {
		case err != nil:
			return fault(message.T("write it like 198.51.100.0/24"), message.F("has %s, which is not a subnet", shown(s)))
		case subnet.Bits() == 0:
			every := message.F("has %s, every IPv6 address", s)
			if subnet.Addr().Is4() {
				every = message.F("has %s, every IPv4 address", s)
			}
			return fault(message.T("remove it, or leave the proxy out"), every)
		}
		return nil
	case strings.HasPrefix(s, "*."):
		return fault(message.F("write %s", shown(s[1:])), message.F("has %s; everything below a domain starts with a dot here", shown(s)))
	}
	if at := value.NotForScripts(s); at >= 0 && s[at] != ' ' {
		r, _ := utf8.DecodeRuneInString(s[at:])
		return fault(message.T("remove it"), message.F("has an entry with %s, which the node's scripts would not read as part of a name", called(r)))
	}
	if addr, err := netip.ParseAddr(s); err == nil && addr.Zone() == "" {
		return nil
	}
	f := hostOrAddress(strings.TrimPrefix(s, "."))
	if f != nil {
		f.Msg = message.F("has an entry that %s", f.Msg)
	}
	return f
}
