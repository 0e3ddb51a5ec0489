package ledger

import (
	"errors"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"touchdown/backend/host"
	"touchdown/backend/host/hosttest"
	"touchdown/backend/kube"
	"touchdown/test/bench"
)

// ports gives the machine a built-in port and one on the USB bus, with links as the kernel has them.
func ports(t *testing.T, m *host.Machine) {
	t.Helper()
	for name, device := range map[string]string{"enp1s0": "pci0000:00/0000:01:00.0", "usb0": "pci0000:00/0000:00:14.0/usb1/1-3/1-3:1.0"} {
		port := m.Path("/sys/devices/" + device + "/net/" + name)
		class := m.Path("/sys/class/net")
		address := "52:54:00:00:00:01\n"
		if name == "usb0" {
			address = "02:00:00:00:00:02\n"
		}
		if err := errors.Join(
			os.MkdirAll(port, 0o755), os.MkdirAll(class, 0o755),
			os.WriteFile(filepath.Join(port, "address"), []byte(address), 0o600),
			os.Symlink("../..", filepath.Join(port, "device")),
			os.Symlink("../../devices/"+device+"/net/"+name, filepath.Join(class, name)),
		); err != nil {
			t.Fatal(err)
		}
	}
}

// TestLookOnARealAPI: each signer of a cluster is found, none twice; a machine that nothing tells from others is refused.
func TestLookOnARealAPI(t *testing.T) {
	b := bench.Start(t, bench.Options{})
	c, err := kube.Open(b.Kubeconfig, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	h := hosttest.New(t)
	if _, err := Look(t.Context(), h.Machine, c, time.Now()); code(err) != "FAC-NAME" {
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
	ports(t, h.Machine)
	if with, err := Look(t.Context(), h.Machine, c, time.Now()); err != nil || !slices.Equal(with.MACs, []string{"52:54:00:00:00:01"}) {
		t.Errorf("ports: %q, %v", with.MACs, err)
	}
	seen := map[string]string{}
	for name, sum := range e.Keys {
		if seen[sum] != "" {
			t.Errorf("%s and %s are the same", name, seen[sum])
		}
		seen[sum] = name
	}
	if again, err := Look(t.Context(), h.Machine, c, time.Now()); err != nil || e.ClusterID != again.ClusterID || !maps.Equal(e.Keys, again.Keys) {
		t.Errorf("looked at twice: %+v, %v", again, err)
	}
}
