package engine

import (
	"encoding/base64"
	"strings"
	"testing"

	"touchdown/steps/site"
)

// TestMaskOfAProxy holds that the password of a proxy's URL is hidden alone too, as it is written and decoded.
func TestMaskOfAProxy(t *testing.T) {
	var m Masker
	m.Hide([]string{"http://user:PLANTED%40s3cret@proxy.example.com:3128"})
	for _, text := range []string{
		"dialing http://user:PLANTED%40s3cret@proxy.example.com:3128: refused",
		"dialing user:PLANTED%40s3cret@proxy.example.com: refused",
		"407 for user with PLANTED@s3cret",
	} {
		if got := m.Mask(text); strings.Contains(got, "PLANTED") || !strings.Contains(got, "<secret>") {
			t.Errorf("%q is masked as %q", text, got)
		}
	}
	if text := "proxy.example.com:3128 is silent"; m.Mask(text) != text {
		t.Errorf("%q is masked as %q", text, m.Mask(text))
	}
}

// TestMaskOfADesiredState: each secret in a desired state of nmstate is masked separately, however a text spells it.
func TestMaskOfADesiredState(t *testing.T) {
	cfg := site.New()
	err := cfg.Set("spec.networkConfig", "interfaces:\n- name: ens3\n  802.1x: {identity: peer, eap-methods: [peap], password: 'correct\"horse\\1'}\n  macsec: {mka-cak: 0123456789abcdef}\n- name: ens4\n  802.1x: {password: sesam, private-key-password: true}\n")
	if err != nil {
		t.Fatal(err)
	}
	var m Masker
	m.Hide(cfg.SecretTexts())
	for _, text := range []string{
		`password=correct"horse\1`, `{"err":"password correct\"horse\\1"}`, "cak 0123456789abcdef", "password=sesam", "sesam sesam", "see password=correct%22horse%5C1",
	} {
		got := m.Mask(text)
		for _, secret := range []string{"horse", "0123456789abcdef", "sesam"} {
			if strings.Contains(got, secret) {
				t.Errorf("%q is masked as %q", text, got)
			}
		}
	}
	for _, text := range []string{"ens3 has no link", "peap for peer", "sesamoid", "sesame", `{"a":true}`} {
		if got := m.Mask(text); got != text {
			t.Errorf("%q is masked as %q", text, got)
		}
	}
}

// TestMaskOfAKubeconfig: its key is hidden in each spelling, and the words of the file are not.
func TestMaskOfAKubeconfig(t *testing.T) {
	const line = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj"
	key := "-----BEGIN PRIVATE KEY-----\n" + line + "\n-----END PRIVATE KEY-----\n"
	data := base64.StdEncoding.EncodeToString([]byte(key))
	kubeconfig := "apiVersion: v1\nkind: Config\npreferences: {}\nusers:\n- name: admin\n  user:\n    client-key-data: " + data + "\n"
	var m Masker
	for range 3 {
		m.also(keys(kubeconfig)...)
	}
	if n := len(m.given); n != 2 {
		t.Errorf("%d secrets are kept", n)
	}
	for _, text := range []string{kubeconfig, "key " + data, key, "a line: " + line, `{"client-key-data": "` + data + `"}`} {
		if got := m.Mask(text); strings.Contains(got, data) || strings.Contains(got, line) || !strings.Contains(got, "<secret>") {
			t.Errorf("it is masked as %q", got)
		}
	}
	for _, text := range []string{"apiVersion: v1", "kind: Config", "preferences: {}", "- name: admin", "-----BEGIN PRIVATE KEY-----"} {
		if got := m.Mask(text); got != text {
			t.Errorf("%q is masked as %q", text, got)
		}
	}
	if got := keys(`{"user":{"client-key-data":"` + data + `"}}`); len(got) != 2 || got[0] != data || got[1] != key {
		t.Error("the key is not found in JSON")
	}
}
