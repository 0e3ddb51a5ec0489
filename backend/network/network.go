// Package network reads and changes how the node is reached: its ports, the addresses of br-ex, what a boot makes of them.
//
// OpenShift's configure-ovs builds br-ex again at every boot out of the profile of the physical port. So settings live
// twice: on br-ex, where they work now and where they are first tried in memory only, and in keyfiles of the port below
// it, which are written when the settings are kept.
package network

import (
	"context"
	"errors"
	"sync"
	"time"

	"touchdown/backend/host"
)

// Bridge is the Open vSwitch bridge that carries the node's addresses on OpenShift, and the name of its own interface.
const Bridge = "br-ex"

// metric is the default route's: configure-ovs gives the same to br-ex, and it is lower than any that NetworkManager
// gives when nobody sets one (100 for a plain port).
const metric = 48

// The kernel's own routing tables (linux/rtnetlink.h): the main one, and that of the node's own addresses, which is asked first.
const (
	mainTable  = 254
	localTable = 255
)

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
		off = noManager(errors.New("this machine is only a directory"))
	}
	return &Network{host: m, library: nmstateLibrary{off}, manager: networkManager{off}}
}
