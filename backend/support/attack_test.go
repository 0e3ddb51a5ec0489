package support

import (
	"strings"
	"testing"

	"touchdown/test/secrets"
)

// TestPlantedSecrets: nothing of any of them stays.
func TestPlantedSecrets(t *testing.T) {
	if len(secrets.Kinds) < 30 {
		t.Fatal("fewer than 30 kinds")
	}
	for name, text := range secrets.Kinds {
		if got := Scrub(text); secrets.Leak(got) || !strings.Contains(got, hidden) {
			t.Errorf("%s: %q stays as %q", name, text, got)
		}
	}
}

// TestNoSecretStays: what engineers need is not taken for a secret.
func TestNoSecretStays(t *testing.T) {
	for _, line := range []string{
		`{"secretSet":true,"token":null,"pin":false,"password":""}`, "signerName: kubernetes.io/kubelet-serving", "secretName: router-certs",
		"docker://registry.example.com:5000/ocp/release@sha256:" + strings.Repeat("0a", 32), "pinned: true", "author: someone", "3 checks passed: 2 warn",
		"2025-11-24T09:00:00 master-0.17a3bc4d5e6f7a8b Pulled", "/var/lib/containers/storage/overlay/" + strings.Repeat("ab0", 20) + "/diff",
		"authentication-operator is degraded", "GET https://[fd00::1]:6443/readyz 200", "ssh core@node sudo touchdown report bundle",
	} {
		if got := Scrub(line); got != line {
			t.Errorf("%q became %q", line, got)
		}
	}
}
