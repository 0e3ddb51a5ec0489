package host_test

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/vishvananda/netns"

	"touchdown/backend/host"
	"touchdown/test/bench/site"
)

// TestNetworkThatIsNotEntered: nothing is called in the node's own network, in one that is gone, and in what is none.
func TestNetworkThatIsNotEntered(t *testing.T) {
	own, err := netns.Get()
	if err != nil {
		t.Fatal(err)
	}
	defer own.Close()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	called := func() error { t.Error("it was called"); return nil }
	for path, want := range map[string]error{"/proc/self/ns/net": host.ErrSameNetwork, file + "gone": os.ErrNotExist, file: nil} {
		if entered, err := host.InNetwork(path, own, called); entered || err == nil || want != nil && !errors.Is(err, want) {
			t.Errorf("%s: entered %t, %v", path, entered, err)
		}
	}
}

// TestInNetwork: what is called sees the ports of the other network alone, its error comes back, and no other goroutine is moved there.
func TestInNetwork(t *testing.T) {
	other := site.NamespaceFor(t)
	own, err := netns.Get()
	if err != nil {
		t.Fatal(err)
	}
	defer own.Close()
	before, err := net.Interfaces()
	if err != nil {
		t.Fatal(err)
	}
	failed := errors.New("the question failed")
	for range 20 { // a thread that stays there is used again soon
		entered, err := host.InNetwork(other.Path(), own, func() error {
			ports, err := net.Interfaces()
			if err != nil || len(ports) != 1 || ports[0].Name != "lo" {
				t.Errorf("its ports are %v, %v", ports, err)
			}
			return failed
		})
		if !entered || !errors.Is(err, failed) {
			t.Fatalf("entered %t, %v", entered, err)
		}
		if after, err := net.Interfaces(); err != nil || len(after) != len(before) {
			t.Fatalf("this goroutine was moved: %d ports, before %d (%v)", len(after), len(before), err)
		}
	}
}
