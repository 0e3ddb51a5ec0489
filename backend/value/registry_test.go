package value_test

import (
	"testing"

	"touchdown/backend/value"
)

// TestRegistry: a path is cut behind a scheme only, and Docker's registry is one under its three names.
func TestRegistry(t *testing.T) {
	for key, want := range map[string]string{
		"quay.io": "quay.io", "https://quay.io": "quay.io", "http://quay.io/v2/": "quay.io", "https://quay.io/any/path": "quay.io",
		"quay.io/": "quay.io", "quay.io/v2": "quay.io/v2", "quay.io/org/v1": "quay.io/org/v1", "quay.io:443": "quay.io:443",
		"docker.io": "docker.io", "https://index.docker.io/v1/": "docker.io", "registry-1.docker.io": "docker.io",
		"index.docker.io": "docker.io", "docker.io/library": "docker.io/library",
	} {
		if got := value.Registry(key); got != want {
			t.Errorf("%s stands for %s, want %s", key, got, want)
		}
	}
}
