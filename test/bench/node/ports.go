package node

import (
	"context"
	"fmt"
	"strconv"
)

// LAN is the network namespace whose bridge "lan" the node's ports are plugged into.
func (m *Machine) LAN() string { return fmt.Sprintf("/proc/%d/ns/net", m.world.pid) }

// attach plugs the host ends of the ports in: they are new after every boot.
//
// Their transmit checksums are computed in software: Open vSwitch in user space takes a frame unchanged, and TCP would hang
// on the half-made checksums that the kernel leaves to a card. The ends themselves have no addresses.
func (m *Machine) attach(ctx context.Context) error {
	const plug = `until ip link show "$1" >/dev/null 2>&1; do sleep 0.02; done
echo 1 > "/proc/sys/net/ipv6/conf/$1/disable_ipv6"
ethtool -K "$1" tx off >/dev/null
ip link set "$1" master lan "$2"`
	for _, port := range []int{0, 1} {
		if err := m.world.run(ctx, "sh", "-ec", plug, "plug", hostEnd(port), m.cable(port)); err != nil {
			return fmt.Errorf("plugging port %d in: %w", port, err)
		}
	}
	return nil
}

func hostEnd(port int) string { return "lan" + strconv.Itoa(port) }

// cable tells whether the cable of a port is in, in ip's words.
func (m *Machine) cable(port int) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.unplugged[port] {
		return "down"
	}
	return "up"
}

// Unplug pulls the cable of a port: it loses its carrier. The cable stays out over reboots.
func (m *Machine) Unplug(ctx context.Context, port int) error { return m.setCable(ctx, port, true) }

// Plug puts the cable of a port back.
func (m *Machine) Plug(ctx context.Context, port int) error { return m.setCable(ctx, port, false) }

func (m *Machine) setCable(ctx context.Context, port int, out bool) error {
	m.mu.Lock()
	m.unplugged[port] = out
	on := m.leader != 0
	m.mu.Unlock()
	if !on {
		return nil
	}
	if err := m.world.run(ctx, "ip", "link", "set", hostEnd(port), m.cable(port)); err != nil {
		return fmt.Errorf("setting the cable of port %d: %w", port, err)
	}
	return nil
}
