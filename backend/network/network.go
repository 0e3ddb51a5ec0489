// Package network reads and changes how the node is reached: its ports, the addresses of br-ex, what a boot makes of them.
//
// OpenShift's configure-ovs builds br-ex anew at every boot out of the profile of the physical port. So settings live
// twice: on br-ex, where they work now and where they are first tried in memory only, and in keyfiles of the port below
// it, which are written when the settings are kept.
package network

import (
	"context"
	"errors"
	"net/netip"
	"strings"
	"sync"
	"time"

	"touchdown/backend/host"
)

// Bridge is the Open vSwitch bridge that carries the node's addresses on OpenShift, and the name of its own interface.
const Bridge = "br-ex"

// metric is the default route's: configure-ovs gives the same to br-ex, and it is lower than any that NetworkManager
// gives by itself (100 for a plain port).
const metric = 48

// mainTable is the kernel's main routing table.
const mainTable = 254

// Internal is the node's own address where no other was baked: kubelet, CRI-O and etcd know the node by it, so it stays
// on br-ex whatever happens outside.
var Internal = netip.MustParsePrefix("192.168.127.10/24")

// Network is the network of one machine.
type Network struct {
	host    *host.Machine
	library library
	manager manager
	mu      sync.Mutex // one change at a time
	led     sync.Mutex // one blinking LED at a time: the kernel refuses a second
	lldp    listener
}

// library is what nmstate does for us.
type library interface {
	show(ctx context.Context, onlyConfigured bool) (*state, error)
	apply(ctx context.Context, desired []byte, rollback time.Duration) error
	generate(ctx context.Context, desired []byte) ([]keyfile, error)
	compare(ctx context.Context, desired, present []byte) (changes []byte, err error)
}

// Open returns the network of the machine that this process runs on. A machine that is only a directory has none: nothing of
// the machine below is shown for it, and nothing changed.
func Open(m *host.Machine) *Network {
	var off error
	if m.Root() != "" {
		off = managerGone(errors.New("this machine is only a directory"))
	}
	return &Network{host: m, library: nmstateLibrary{off}, manager: networkManager{off}}
}

// InternalPrefix returns the node's internal address, read from the drop-in that the bake gave to kubelet; Internal where
// there is none.
func (n *Network) InternalPrefix() netip.Prefix {
	for _, path := range []string{
		"/etc/systemd/system/kubelet.service.d/30-nodenet.conf",
		"/etc/systemd/system/crio.service.d/30-nodenet.conf",
	} {
		b, err := n.host.ReadFile(path)
		if err != nil {
			continue
		}
		if addr, ok := nodeAddress(string(b)); ok {
			// The drop-in has no prefix length; the bake gives the internal subnet 256 addresses.
			return netip.PrefixFrom(addr, Internal.Bits())
		}
	}
	return Internal
}

// nodeAddress finds the IPv4 address in lines like Environment="KUBELET_NODE_IP=192.168.127.10" "KUBELET_NODE_IPS=...".
func nodeAddress(dropIn string) (netip.Addr, bool) {
	words := strings.FieldsFunc(dropIn, func(r rune) bool { return strings.ContainsRune("\" \t\n,", r) })
	for _, w := range words {
		for _, key := range []string{"KUBELET_NODE_IP=", "CONTAINER_STREAM_ADDRESS="} {
			value, found := strings.CutPrefix(strings.TrimPrefix(w, "Environment="), key)
			if addr, err := netip.ParseAddr(value); found && err == nil && addr.Is4() {
				return addr, true
			}
		}
	}
	return netip.Addr{}, false
}
