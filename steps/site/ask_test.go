package site

import (
	"strings"
	"testing"
)

// TestCheckOfAPath: a form refuses a value for the reason for which the document is refused.
func TestCheckOfAPath(t *testing.T) {
	for _, c := range []struct{ path, value, want string }{
		{"spec.hostname", "node-0042", ""},
		{"spec.hostname", "node_0042", "underscore"},
		{"spec.proxy.httpProxy", "http://user:secret@proxy.example.com:3128", ""},
		{"spec.proxy.noProxy", ".example.com, 198.51.100.0/33", "198.51.100.0/33"},
		{"spec.credentials.kubeconfigDays", "0400", "not a whole number"},
		{"spec.credentials.kubeconfigDays", "4000", "is 4000 days"},
		{"spec.policy.allowReboot", "maybe", "neither true nor false"},
		{"spec.policy.watchdog", "1m", "5m"},
		{"spec.sshKeys", "ssh-rsa nonsense", "line"},
		{"spec.additionalTrustBundle", "no certificate", "PEM"},
		{"spec.imageDigestMirrors", "- source: quay.io/a\n  mirrors:\n    - registry.example.com:5000/a\n", ""},
		{"spec.imageDigestMirrors", "- source: quay.io/a\n", "[0].mirrors is missing"},
		{"spec.imageDigestMirrors", "- sources: quay.io/a\n", "sources"},
		{"spec.imageDigestMirrors", "source: quay.io/a\n", "a list is expected"},
		{"spec.registryCerts", "- registryHostname: registry.example.com\n  certificate: none\n", "[0].certificate"},
		{"spec.networkConfig", "interfaces: [", "bracket"},
		{"spec.console.pin", "12", "6"},
		{"no.such.path", "x", "no such path"},
	} {
		err := Check(c.path)(c.value)
		if c.want == "" && err != nil {
			t.Errorf("%s refuses %q: %v", c.path, c.value, err)
		}
		if c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s says of %q: %v, not %q", c.path, c.value, err, c.want)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("%s repeats the secret: %v", c.path, err)
		}
	}
}

// TestSampleOfAFile: an example that names a file beside the document is none for a form.
func TestSampleOfAFile(t *testing.T) {
	if s := Sample("spec.registryCerts"); s != "" {
		t.Errorf("the example is %q", s)
	}
	if Sample("spec.network.dnsSearch") != "example.com" || Sample("spec.imageDigestMirrors") == "" {
		t.Error("other examples are missing")
	}
}

// TestBeginningOfAPassword: the URL of a proxy that is not typed to its end may hold a password before its @ is there.
func TestBeginningOfAPassword(t *testing.T) {
	for value, want := range map[string]bool{
		"http://user:hunter2proxy": true, "http://user:hunter2@proxy.example.com": true, "http://user:123456": true, "user:hunter2": true,
		"http://[2001:db8::1]:x": true, "http://[hunter:two": true, "http://user:hunter2/x": true,
		"": false, "http:": false, "http:/": false, "http://proxy.example.com": false, "http://proxy.example.com:": false, "http://proxy.example.com:3128/": false,
		"proxy.example.com:3128": false, "http://[2001:db8::1]:3128": false, "https://[2001:db8::1]": false, "http://198.51.100.7:3128": false,
	} {
		if got := SecretValue("spec.proxy.httpProxy", value); got != want {
			t.Errorf("%q is secret: %v", value, got)
		}
	}
}
