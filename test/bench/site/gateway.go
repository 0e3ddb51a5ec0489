package site

import (
	"errors"
	"fmt"
	"net"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// GatewayMode is how the gateway behaves.
type GatewayMode int

// The gateway's behaviours.
const (
	Forwards   GatewayMode = iota
	Dead                   // its cable is out: no answer to ARP or neighbour discovery
	Blackhole              // is there by ARP and ping, and forwards nothing, without a word
	IgnorePing             // forwards, but does not answer a ping, as many do
)

// Gateway is the way out of the LAN.
type Gateway struct {
	in    *Namespace
	cable *Cable
}

// blackholePriority is before the kernel's main table, after its local one.
const blackholePriority = 100

// Set makes the gateway behave so from now on.
func (g *Gateway) Set(m GatewayMode) error {
	ping := map[bool]string{true: "1", false: "0"}[m == IgnorePing]
	err := g.in.sysctls(map[string]string{
		"ipv4/ip_forward": "1", "ipv6/conf/all/forwarding": "1",
		"ipv4/icmp_echo_ignore_all": ping, "ipv6/icmp/echo_ignore_all": ping,
		"ipv4/conf/all/send_redirects": "0", "ipv4/conf/" + serverName + "/send_redirects": "0",
	})
	if m == Dead {
		return errors.Join(err, g.blackhole(false), g.cable.Unplug())
	}
	return errors.Join(err, g.blackhole(m == Blackhole), g.cable.Plug())
}

// blackhole drops whatever comes from the LAN and is not for the gateway itself.
func (g *Gateway) blackhole(on bool) error {
	for _, family := range []int{unix.AF_INET, unix.AF_INET6} {
		rule := netlink.NewRule()
		rule.Family, rule.Priority, rule.IifName, rule.Type = family, blackholePriority, serverName, unix.FR_ACT_BLACKHOLE
		if err := g.in.link.RuleDel(rule); err != nil && !errors.Is(err, unix.ENOENT) {
			return fmt.Errorf("removing the gateway's black hole: %w", err)
		}
		if !on {
			continue
		}
		if err := g.in.link.RuleAdd(rule); err != nil {
			return fmt.Errorf("digging the gateway's black hole: %w", err)
		}
	}
	return nil
}

// MAC is the gateway's hardware address.
func (g *Gateway) MAC() (net.HardwareAddr, error) {
	i, err := g.in.Interface(serverName)
	if err != nil {
		return nil, fmt.Errorf("looking for the gateway's interface: %w", err)
	}
	return i.HardwareAddr, nil
}

// SetMAC gives the gateway another hardware address; one that someone else on the LAN has makes the switch send its
// frames now here, now there.
func (g *Gateway) SetMAC(mac net.HardwareAddr) error {
	link, err := g.in.link.LinkByName(serverName)
	if err != nil {
		return fmt.Errorf("looking for the gateway's interface: %w", err)
	}
	if err := g.in.link.LinkSetHardwareAddr(link, mac); err != nil {
		return fmt.Errorf("changing the gateway's hardware address: %w", err)
	}
	return nil
}
