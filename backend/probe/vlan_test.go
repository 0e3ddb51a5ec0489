package probe

import (
	"context"
	"net/netip"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vishvananda/netlink"

	"touchdown/backend/check"
	"touchdown/backend/message"
	"touchdown/test/bench/site"
)

// TestVLAN has a gateway that speaks with a tag: the probe's own TCP/IP at the other end of a cable, because a kernel
// without VLANs shall do for this test.
func TestVLAN(t *testing.T) {
	t.Parallel()
	gateway := netip.MustParseAddr("198.51.100.1")
	near, far := site.NamespaceFor(t), site.NamespaceFor(t)
	do(t, near, func() error {
		there, err := os.Open(far.Path())
		if err != nil {
			return err
		}
		defer there.Close()
		return netlink.LinkAdd(&netlink.Veth{
			LinkAttrs: netlink.LinkAttrs{Name: "port"}, PeerName: "switch", PeerNamespace: netlink.NsFd(there.Fd()),
		})
	})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	do(t, far, func() error { return speak(ctx, t, gateway, 120) })
	do(t, near, func() error { _, err := up("port"); return err })
	for vlan, want := range map[int]check.Status{120: check.Pass, 121: check.Fail, 0: check.Fail} {
		target := Target{
			Ports: []string{"port"}, VLAN: vlan,
			IPv4: Settings{Method: Static, Address: netip.MustParsePrefix("198.51.100.10/24"), Gateway: gateway},
		}
		var got Result
		do(t, near, func() (err error) {
			got, err = Run(ctx, target, func(check.Check) {})
			return err
		})
		i := slices.IndexFunc(got.Checks, func(c check.Check) bool { return c.ID == "net-gateway" })
		if c := got.Checks[i]; c.Status != want || !strings.Contains(strings.Join(message.English(c.Evidence), "\n"), "with VLAN tag 120") {
			t.Errorf("VLAN %d: %+v", vlan, c)
		}
		if mtu := got.Checks[len(got.Checks)-1]; vlan == 120 && mtu.Status != check.Pass {
			t.Errorf("the gateway on the VLAN was not reached with a large packet: %+v", mtu)
		}
	}
}

func do(t *testing.T, in *site.Namespace, f func() error) {
	t.Helper()
	if err := in.Do(f); err != nil {
		t.Fatal(err)
	}
}

// speak makes the other end of the cable a gateway on a VLAN that says something now and then, as everywhere.
func speak(ctx context.Context, t *testing.T, gateway netip.Addr, vlan int) error {
	l, err := up("switch")
	if err != nil {
		return err
	}
	w, err := openWire([]netlink.Link{l}, vlan)
	if err != nil {
		return err
	}
	t.Cleanup(w.close)
	u, err := newUserStack(w)
	if err != nil {
		return err
	}
	t.Cleanup(u.close)
	if err := u.add(netip.PrefixFrom(gateway, 24), netip.Addr{}); err != nil {
		return err
	}
	q, err := w.whoHas(gateway, netip.MustParseAddr("198.51.100.200"))
	if err != nil {
		return err
	}
	var speaking sync.WaitGroup
	speaking.Go(func() {
		for ctx.Err() == nil {
			_ = w.send(q.frame)
			pause(ctx, 100*time.Millisecond)
		}
	})
	t.Cleanup(func() { <-ctx.Done(); speaking.Wait() })
	return nil
}

func up(name string) (netlink.Link, error) {
	l, err := netlink.LinkByName(name)
	if err != nil {
		return nil, err
	}
	return l, netlink.LinkSetUp(l)
}
