package site

import (
	"strings"
	"testing"
)

// Public keys made for these tests; their other halves are thrown away.
const (
	publicKey  = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIFEhKYdsUNo7ejaR2MbxdiH2gmUAYsEXIVFiSl93COaZ user@example.com"
	otherKey   = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIMCv2WNFeFiCln4DZXl0Nfw0Jux46fKdyFkS2zRlFEnl b"
	shortKey   = "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAAAgQDJG5gKmc9OyYxEfNz8Z9TDEJu4KBrYn0jwHbRcb1Ck02H5ShdpeR6TMxYNSIMmZM15LCburYN4kfDplR1q/Oe4y5f4PBvLf2h+e3JutnDk/eeOKnUQgTuV6Ei4Es9FA10PqWq8ab9DfeLhPr8aZp5R5r5UkAxRu59Wn4ExcWWmdQ== short"
	pretendKey = "-----BEGIN OPENSSH PRIVATE KEY-----\n" + planted + "\n-----END OPENSSH PRIVATE KEY-----\n"
)

// networkFields are values of the paths that say how the node lives at its site; testdata/fields.golden has the verdicts.
func networkFields() []struct {
	path   string
	values []string
} {
	hosts := []string{
		"", "198.51.100.10", "198.051.100.10", "198.51.100", "198.51.100.256", "198.51.100.10/24", "2001:db8::1", "::ffff:198.51.100.10",
		"0.0.0.0", "0.1.2.3", "127.0.0.1", "224.0.0.1", "169.254.1.1", "255.255.255.255", "240.0.0.1", "ten", "1.2.3.4%eth0", " 198.51.100.10 ",
		"198.51.100.10 255.255.255.0", "198.51.100.10/255.255.255.0", "198.51.100.10 24", "198.51.100.10 / 24", "198.51.100.10 255.0.255.0", "198.51.100.10/33",
	}
	hosts6 := []string{
		"2001:db8:51::10", "2001:DB8::1", "2001:db8::g", "2001:db8::1::2", "::", "::1", "ff02::1", "fe80::1", "fe80::1%eth0",
		"::ffff:1.2.3.4", "198.51.100.10", "2001:db8::/64",
	}
	return []struct {
		path   string
		values []string
	}{
		{"spec.hostname", []string{
			"", "node-0042", "node.site.example.com", "Node", "node_1", "localhost", "localhost.localdomain", "localhost-7",
			"node.", "10.0.0.1", "42", strings.Repeat("a", 63), strings.Repeat("a", 64), strings.Repeat("a.", 31) + "bcd",
		}},
		{"spec.network.interface", []string{
			"", "enp1s0", "eno1np0", "00:53:00:12:34:56", "00-53-00-12-34-56", "0053.0012.3456", "0153.0012.3456", "01:00:5e:00:00:01", "00:00:00:00:00:00",
			"ff:ff:ff:ff:ff:ff", "00:53:00:12:34", "an-interface-too-long", "a/b", "a b", "..", "lo", "br-ex", "br-int", "ovn-k8s-mp0", "eth0.100", "en\u00fc0",
		}},
		{"spec.network.vlanID", []string{"", "0", "1", "4094", "4095", "-1", "007", "0x10", "1e3", "one", "99999999999999999999"}},
		{"spec.network.mtu", []string{"1280", "1279", "9216", "9217", "1500 bytes"}},
		{"spec.network.bond.mode", []string{"active-backup", "802.3ad", "lacp", "Active-Backup", "1"}},
		{"spec.network.bond.ports", []string{"enp1s0", "enp1s0,enp2s0", " enp1s0 , 00:53:00:12:34:56\n", "enp1s0 enp1s0", "enp1s0,br-ex", ",,", "a b c d e f g h i"}},
		{"spec.network.ipv4.method", []string{"static", "dhcp", "disabled", "autoconf", "DHCP", "auto"}},
		{"spec.network.ipv6.method", []string{"static", "dhcp", "disabled", "autoconf", "slaac"}},
		{"spec.network.ipv4.address", hosts},
		{"spec.network.ipv4.gateway", hosts},
		{"spec.network.ipv6.address", hosts6},
		{"spec.network.ipv6.gateway", hosts6},
		{"spec.network.ipv4.prefixLength", []string{
			"24", "/24", "255.255.255.0", "255.255.0.255", "0.0.0.255", "0.0.0.0", "8", "7", "31", "32", "33", "024",
			"/255.255.255.0", "/ 24", "255.0.255.0", "/255.0.255.0", "198.51.100.10/24", "198.51.100.10 255.255.255.0", "198.51.100.1", "255.255.255.255",
		}},
		{"spec.network.ipv6.prefixLength", []string{"64", "128", "129", "32", "31", "/64", "/x", "255.255.255.0"}},
		{"spec.network.dnsServers", []string{
			"", "198.51.100.53", "198.51.100.53, 2001:db8::53", "198.51.100.53 198.51.100.54;", "1.1.1.1,1.1.1.1", "1.1.1.1 1.1.1.2 1.1.1.3 1.1.1.4",
			"127.0.0.1", "dns.example.com", "fe80::1%eth0", "198.51.100.53#53",
		}},
		{"spec.network.dnsSearch", []string{"example.com, site.example.com", "Example.com", ".example.com", "a b c d e f g"}},
		{"spec.additionalNTPSources", []string{
			"ntp.example.com", "198.51.100.123", "ntp.example.com,198.51.100.123,2001:db8::123", "ntp_1.example.com", "http://ntp.example.com",
			"127.0.0.1", "198.51.100.300", "0.1.2", "a b c d e f g h i",
		}},
		{"spec.time.utc", []string{"", "2026-06-01T12:00:00Z", "2026-06-01T12:00:00+02:00", "2026-06-01 12:00", "2026-13-01T12:00:00Z", "now", "1970-01-01T00:00:00Z", "2106-02-07T06:28:16Z", "9999-12-31T23:59:59Z"}},
		{"spec.sshKeys", []string{
			"", publicKey, publicKey + "\n\n" + otherKey + "\n", publicKey + "\r\n" + publicKey, publicKey + ", " + otherKey, shortKey,
			`from="198.51.100.0/24" ` + publicKey, "# " + publicKey, "ssh-ed25519", "ssh-ed25519 AAAA" + planted, publicKey[:60], planted, pretendKey,
			publicKey + "\n" + pretendKey, "PuTTY-User-Key-File-3: ssh-ed25519\n" + planted, "---- BEGIN SSH2 PUBLIC KEY ----\nAAAA\n---- END SSH2 PUBLIC KEY ----",
		}},
		{"spec.proxy.httpProxy", []string{
			"", "http://proxy.example.com:3128", "https://198.51.100.7:3128/", "http://[2001:db8::7]:3128", "http://u:" + planted + "@proxy.example.com:3128",
			"http://u:" + planted + "%40@proxy.example.com", "http://u:" + planted + "@@proxy.example.com", "http://u:" + planted + "#@proxy.example.com", "http://u:" + planted + "/@proxy.example.com:3128",
			"http://u:" + planted + "%@proxy.example.com", "http://:" + planted + "@proxy.example.com", "proxy.example.com:3128", "ftp://proxy.example.com", "http://", "http://proxy.example.com:0", "http://proxy.example.com:70000",
			"http://proxy.example.com:", "http://proxy_1.example.com", "http://proxy.example.com/path", "http://proxy.example.com?x", "http://u:" + planted + "$(id)@proxy.example.com", "http://u:" + planted + "`@proxy.example.com",
			"http://u:" + planted + "'@proxy.example.com", "http://u:" + planted + " x@proxy.example.com", "http://u:" + planted + "\u00fc@proxy.example.com", "http://u:" + planted + "%24%28id%29@proxy.example.com", "socks5://u:" + planted + "@x", "<set>",
		}},
		{"spec.proxy.noProxy", []string{"", "example.com", ".example.com,198.51.100.0/24, 198.51.100.7", "*", "*.example.com", "a,,b", ",", "198.51.100.0/33", "2001:db8::/32", "a b", "http://a", "a;b", "$(id)", "`id`", "a\\b", "a'b", "[2001:db8::7]"}},
		{"spec.additionalTrustBundle", []string{"", "hello", "-----BEGIN PRIVATE KEY-----\n" + planted + "\n-----END PRIVATE KEY-----"}},
		{"spec.policy.watchdog", []string{"", "5m", "4h", "4m59s", "4h1s", "30"}},
		{"spec.removeFactoryMirrors", []string{"", "true", "yes"}},
		{"spec.imageDigestMirrors", mirrorValues()},
		{"spec.registryCerts", []string{
			"", "[]", "- registryHostname: registry.example.com\n  registryPort: 5000\n", "- {registryHostname: 'a.b:5000', registryPort: 70000, certificate: x}",
			"- {registryHostname: a.b, certificateFile: ca.pem}", "- {registryHostname: a.b, registryPort: '5000'}", "- {registryHostname: a.b, certificate: '" + planted + "'}",
			"- certificate: |\n    -----BEGIN PRIVATE KEY-----\n    " + planted + "\n    -----END PRIVATE KEY-----\n",
			"a text", "Certificate:\n    Data:\n        Version: 3 (0x2)\n-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n",
		}},
		{"spec.registryCerts[0].registryHostname", []string{"x"}},
		{"spec.registryCerts[].registryHostname", []string{"x"}},
		{"spec.networkConfig", nmstateValues()},
	}
}

func mirrorValues() []string {
	values := []string{
		"", "x", "{}", "[", "- x", "- {}", "- {source: a.b, mirror: [c.d]}", "- {source: a.b, mirrors: c.d}", "- {source: &x a.b, mirrors: [*x]}",
		"- {source: a.b, mirrors: [c.d], mirrorSourcePolicy: Never}", "- {source: a.b, source: c.d}", "- {source: a.b, mirrors: [c.d, c.d]}", "- {source: a.b, mirrors: ['c.d, e.f']}",
		"[" + strings.Repeat("{},", maxItems+1) + "]",
	}
	for _, source := range []string{
		"a.b", "a.b:5000", "a.b:5000/c/d", "198.51.100.7:5000/x", "*.example.com", "*", "http://a.b", "a.b/c:v1", "a.b/c@sha256:00", "a.b:port/c", "a.b/C",
		"a.b//c", "a.b/", "A.b/c", "u:p@a.b/c",
	} {
		values = append(values, "- {source: '"+source+"', mirrors: ['registry.example.com:5000/ocp']}")
	}
	return values
}

func nmstateValues() []string {
	port := "interfaces:\n- name: enp1s0\n  type: ethernet\n"
	dhcp := port + "  ipv4: {enabled: true, dhcp: true}\n"
	route := "routes: {config: [{destination: 0.0.0.0/0, next-hop-address: 198.51.100.1, next-hop-interface: enp1s0}]}\n"
	return []string{
		"", dhcp, port, port + route, port + route + "dns-resolver: {config: {server: [198.51.100.53]}}\n", "\n\n  " + strings.ReplaceAll(strings.TrimSpace(dhcp), "\n", "\n  ") + "\n\n",
		"- a", "hello", "a: [", dhcp + "---\n" + dhcp, dhcp + "hostname: {config: x}\n", dhcp + "ovn: {}\n", dhcp + "ovs-db: {}\n", dhcp + "interface: []\n",
		"interfaces: [{type: ethernet}]", "interfaces: [{name: br-ex}]", "interfaces: [{name: enp1s0, name: enp2s0}]", "interfaces: [&a {name: x}, *a]", "interfaces: [!x {name: x}]",
		"interfaces: {name: " + planted + "}", "802.1x: {password: " + planted,
	}
}

// TestSecretWhenItHoldsOne holds that a proxy's URL and a desired state are shown until there is a secret in them.
func TestSecretWhenItHoldsOne(t *testing.T) {
	for path, values := range map[string][2]string{
		"spec.proxy.httpProxy":  {"http://proxy.example.com:3128", "http://u:" + planted + "@proxy.example.com:3128"},
		"spec.proxy.httpsProxy": {"https://proxy.example.com:3128", "http://u:" + planted + "@@broken"},
		"spec.networkConfig":    {"interfaces: []\n", "interfaces: [{name: enp1s0, 802.1x: {password: " + planted + "}}]\n"},
	} {
		for i, value := range values {
			c := New()
			if err := c.Set(path, value); err != nil {
				t.Fatal(err)
			}
			shown, _ := c.Marshal(true)
			_, among := c.Secrets()[path]
			rest, _ := c.WithoutSecrets().Get(path)
			secret := i == 1
			if c.IsSecret(path) != secret || among != secret || (rest == "") != secret || strings.Contains(string(shown), Redacted) != secret {
				t.Errorf("%s: secret %v, among the secrets %v, without %q, shown\n%s", path, c.IsSecret(path), among, rest, shown)
			}
			if strings.Contains(string(shown), planted) {
				t.Errorf("%s is shown:\n%s", path, shown)
			}
		}
	}
}
