package hardware

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/jaypipes/ghw"
	"github.com/vishvananda/netlink"

	"touchdown/backend/host"
)

func (i *Inventory) readNICs(m *host.Machine) error {
	// ghw takes a missing directory for a machine without NICs.
	if !m.Exists("/sys/class/net") {
		return fmt.Errorf("reading the NICs: /sys/class/net is not there")
	}
	info, err := ghw.Network(options(m)...)
	if err != nil {
		return fmt.Errorf("reading the NICs: %w", err)
	}
	for _, n := range info.NICs {
		nic := NIC{Name: n.Name, MAC: n.MACAddress, Virtual: n.IsVirtual}
		if n.PCIAddress != nil {
			nic.PCI = *n.PCIAddress
		}
		nic.fromSysfs(m)
		i.NICs = append(i.NICs, nic)
	}
	if m.Root() != "" {
		return nil
	}
	i.askKernel()
	return nil
}

// fromSysfs fills what ghw leaves out.
func (n *NIC) fromSysfs(m *host.Machine) {
	dir := "/sys/class/net/" + n.Name
	// A port that is switched off administratively answers EINVAL here: no link to speak of.
	if carrier, err := number(m, dir+"/carrier"); err == nil {
		n.Link = map[bool]string{true: "up", false: "down"}[carrier == 1]
	} else if b, err := m.ReadFile(dir + "/operstate"); err == nil && strings.TrimSpace(string(b)) != "unknown" {
		n.Link = map[bool]string{true: "up", false: "down"}[strings.TrimSpace(string(b)) == "up"]
	}
	if speed, err := number(m, dir+"/speed"); err == nil && speed > 0 {
		n.Mbps = speed
	}
	if target, err := os.Readlink(m.Path(dir + "/device/driver")); err == nil {
		n.Driver = filepath.Base(target)
	}
}

// askKernel adds what only the running kernel tells: addresses, permanent MACs, driver and firmware.
func (i *Inventory) askKernel() {
	for k := range i.NICs {
		n := &i.NICs[k]
		link, err := netlink.LinkByName(n.Name)
		if err != nil {
			// It went away since: a pod ended, a cable adapter was pulled out.
			continue
		}
		if perm := link.Attrs().PermHWAddr.String(); perm != "" {
			n.MAC = perm
		}
		if addrs, err := netlink.AddrList(link, netlink.FAMILY_ALL); err == nil {
			for _, a := range addrs {
				n.Addresses = append(n.Addresses, a.IPNet.String())
			}
		}
		// Virtual drivers refuse; that is no error of the machine.
		if driver, err := host.DriverOf(n.Name); err == nil {
			n.Driver, n.Firmware = driver.Name, driver.Firmware
		}
	}
}
