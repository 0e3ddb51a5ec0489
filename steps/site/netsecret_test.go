package site

import (
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

// TestSecretsOfADesiredState: a secret is recognised by its parsed key, and listed among the values that must not be shown.
func TestSecretsOfADesiredState(t *testing.T) {
	for name, c := range map[string]struct {
		text   string
		secret string // "" where there is none
	}{
		"802.1x":              {"interfaces: [{name: a, 802.1x: {password: " + planted + "}}]", planted},
		"key as escape":       {`interfaces: [{name: a, 802.1x: {"pass\u0077ord": ` + planted + "}}]", planted},
		"outside of a group":  {`interfaces: [{name: a, "p\x73k": ` + planted + "}]", planted},
		"value as escape":     {`interfaces: [{name: a, 802.1x: {password: "\x50LANTED"}}]`, "PLANTED"},
		"folded":              {"interfaces: [{name: a, 802.1x: {password: >-\n   one\n   two}}]", ""}, // a flow has no block texts: not YAML
		"number":              {"interfaces: [{name: a, 802.1x: {password: 4711081512345}}]", "4711081512345"},
		"list":                {"interfaces: [{name: a, 802.1x: {password: [" + planted + "]}}]", planted},
		"group as a text":     {"interfaces: [{name: a, 802.1x: " + planted + "}]", planted},
		"key that is none":    {"interfaces: [{name: a, 802.1x: {" + planted + ": 1}}]", planted},
		"unknown key":         {"interfaces: [{name: a, 802.1x: {pasword: " + planted + "}}]", planted},
		"private key's PIN":   {"interfaces: [{name: a, 802.1x: {private-key: 'pkcs11:id=1;pin-value=" + planted + "'}}]", "pkcs11:id=1;pin-value=" + planted},
		"MACsec":              {"interfaces: [{name: a, macsec: {mka-cak: " + planted + "}}]", planted},
		"IPsec":               {"interfaces: [{name: a, libreswan: {psk: " + planted + "}}]", planted},
		"IPsec, other case":   {"interfaces: [{name: a, libreswan: {PSK: " + planted + "}}]", planted},
		"alias":               {"x: &x " + planted + "\ninterfaces: [{name: a, 802.1x: {password: *x}}]", planted},
		"tag on the key":      {"interfaces: [{name: a, 802.1x: {!!binary cGFzc3dvcmQ=: " + planted + "}}]", planted},
		"not YAML":            {"interfaces: [{name: a, password: '" + planted + "'", planted},
		"second document":     {"interfaces: []\n---\npsk: " + planted, planted},
		"nothing secret":      {"interfaces: [{name: a, 802.1x: {identity: me, eap-methods: [tls], private-key: /etc/pki/a.key}}]", ""},
		"nothing at all":      {"interfaces: []", ""},
		"half a document":     {"interfaces: [", ""},
		"a key without value": {"interfaces: [{name: a, 802.1x: {password: }}]", ""},
	} {
		got := networkSecrets(c.text)
		switch {
		case c.secret != "" && (len(got) == 0 || !strings.Contains(strings.Join(got, "\n"), c.secret)):
			t.Errorf("%s: the secrets are %q, without %q", name, got, c.secret)
		case c.secret != "" && !holdsNetworkSecret(c.text):
			t.Errorf("%s: is shown", name)
		case name == "nothing secret" && (len(got) > 0 || holdsNetworkSecret(c.text)):
			t.Errorf("%s: the secrets are %q, hidden: %v", name, got, holdsNetworkSecret(c.text))
		}
	}
	for text, hidden := range map[string]bool{
		"interfaces: []": false, "interfaces: [": false, `interfaces: ["\u0070sk`: true, "password": true, "interfaces: [{name: a, 802.1x: {password: }}]": true,
	} {
		if holdsNetworkSecret(text) != hidden {
			t.Errorf("%q is hidden: %v", text, !hidden)
		}
	}
	c := New()
	if err := c.Set("spec.networkConfig", "interfaces: [{name: a, 802.1x: {password: "+planted+"}}]"); err != nil {
		t.Fatal(err)
	}
	if texts := c.SecretTexts(); len(texts) != 2 || texts[1] != planted {
		t.Errorf("what must not be shown is %q", texts)
	}
}

// FuzzNetworkConfig puts a marker into a desired state: no error tells it, and where it is a secret the document is hidden.
func FuzzNetworkConfig(f *testing.F) {
	for _, head := range []string{
		"interfaces: [{name: a, 802.1x: {password: ", "interfaces: [{name: ", "interfaces: [{name: a, type: ", "", "routes: {config: [{destination: ", "a: [",
		"interfaces:\n- name: a\n  802.1x:\n    \"pass\\u0077ord\": ", "hostname: {config: ", "ovn: ", "dns-resolver: {config: {server: [", "x: !!int ",
	} {
		f.Add(head, "")
		f.Add(head, "}}]")
		f.Add(head, "]}}}")
		f.Add(head, ": 1}]")
		f.Add(head, ", mtu: 5}]")
	}
	f.Fuzz(func(t *testing.T, head, tail string) {
		if strings.Contains(head+tail, planted) {
			t.Skip("the text holds the marker itself, so a match would prove nothing")
		}
		text := head + planted + tail
		if err := NetworkConfig(text); err != nil && strings.Contains(err.Error(), planted) && !namesInterface(networkTree(text)) {
			t.Errorf("%q is refused as %v", text, err)
		}
		secret := false
		for _, s := range networkSecrets(text) {
			secret = secret || strings.Contains(s, planted)
		}
		if secret && !holdsNetworkSecret(text) {
			t.Errorf("%q has a secret and is shown", text)
		}
	})
}

// namesInterface tells whether the marker is in a name of an interface, which errors repeat.
func namesInterface(n *yaml.Node) bool {
	if n == nil {
		return false
	}
	for i, below := range n.Content {
		key := ""
		if n.Kind == yaml.MappingNode && i%2 == 1 {
			key = n.Content[i-1].Value
		}
		if slices.Contains([]string{"name", "base-iface", "next-hop-interface"}, key) && strings.Contains(below.Value, planted) {
			return true
		}
		if (key == "port" || key == "ports") && slices.ContainsFunc(below.Content, func(port *yaml.Node) bool { return strings.Contains(port.Value, planted) }) {
			return true
		}
		if namesInterface(below) {
			return true
		}
	}
	return false
}

// TestShownLeavesLoginsOut holds that a secret in a field that is none is not repeated.
func TestShownLeavesLoginsOut(t *testing.T) {
	for value, want := range map[string]string{
		"http://u:" + planted + "@a.b":                   `"...@a.b"`,
		"u:" + planted + "@a.b/c":                        `"...@a.b/c"`,
		"u:" + planted + "@a.b/c@sha256:00":              `"...@a.b/c@sha256:00"`,
		"a.b:5000/c@sha256:00":                           `"a.b:5000/c@sha256:00"`,
		`{"auths":{"a.b":{"auth":"` + planted + `"}}}`:   `"..."`,
		"-----BEGIN PRIVATE KEY-----\n" + planted + "\n": `"..."`,
		"node-0042": `"node-0042"`,
	} {
		if got := shown(value); got != want {
			t.Errorf("%q is shown as %s, want %s", value, got, want)
		}
	}
}
