package ledger

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"touchdown/backend/host/hosttest"
	"touchdown/backend/kube"
	"touchdown/test/bench"
)

// TestLookOnARealAPI: each signer of a cluster is found, none twice; a machine that nothing tells from others is refused.
func TestLookOnARealAPI(t *testing.T) {
	b := bench.Start(t, bench.Options{})
	c, err := kube.Open(b.Kubeconfig, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	h := hosttest.New(t)
	if _, err := Look(t.Context(), h.Machine, c, time.Now()); code(err) != "FAC-WHO" {
		t.Errorf("a machine without number and ports: %v", err)
	}
	plate := h.Machine.Path("/sys/class/dmi/id/product_serial")
	if err := os.MkdirAll(filepath.Dir(plate), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(plate, []byte("7XK2Q13\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	e, err := Look(t.Context(), h.Machine, c, time.Now())
	if err != nil || e.ClusterID == "" || e.Serial != "7XK2Q13" || len(e.Keys) != len(signers) {
		t.Fatalf("%+v, %v", e, err)
	}
	seen := map[string]string{}
	for name, sum := range e.Keys {
		if seen[sum] != "" {
			t.Errorf("%s and %s are the same", name, seen[sum])
		}
		seen[sum] = name
	}
	if again, err := Look(t.Context(), h.Machine, c, time.Now()); err != nil || !same(e, again) {
		t.Errorf("looked at twice: %+v, %v", again, err)
	}
}
