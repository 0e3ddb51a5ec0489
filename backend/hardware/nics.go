package hardware

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/jaypipes/ghw"

	"touchdown/backend/host"
)

func (i *Inventory) readNICs(a *asker) error {
	m := a.m
	// ghw takes a missing directory for a machine without NICs.
	if !m.Exists("/sys/class/net") {
		return missing(m, "/sys/class/net")
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
		nic.fromKernel(a)
		i.NICs = append(i.NICs, nic)
	}
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
	if mtu, err := number(m, dir+"/mtu"); err == nil {
		n.MTU = mtu
	}
	n.Vendor, n.Product = oneLine(m, dir+"/device/vendor"), oneLine(m, dir+"/device/device")
	if target, err := os.Readlink(m.Path(dir + "/device/subsystem")); err == nil {
		n.Bus = filepath.Base(target)
	}
	if n.PCI == "" && n.Bus == "virtio" {
		n.PCI = carrierOf(m, dir+"/device")
	}
	n.Function = m.Exists(dir + "/device/physfn")
	if target, err := os.Readlink(m.Path(dir + "/device/driver")); err == nil {
		n.Driver = filepath.Base(target)
	}
}

// fromKernel adds what only the running kernel tells: addresses, permanent MACs, driver and firmware.
func (n *NIC) fromKernel(a *asker) {
	l, ok := a.link(n.Name)
	if !ok {
		return
	}
	n.MAC, n.Driver, n.Firmware = cmp.Or(l.MAC, n.MAC), cmp.Or(l.Driver, n.Driver), l.Firmware
	n.Flags, n.Addresses = l.Flags, l.Addresses
}

// carrierOf is the address of the PCI device that a virtio device is on; "" where it is on none, as with virtio over MMIO. ghw looks for the
// address at the virtio device itself, which has none.
func carrierOf(m *host.Machine, device string) string {
	real, err := filepath.EvalSymlinks(m.Path(device))
	if err != nil {
		return ""
	}
	if address := filepath.Base(filepath.Dir(real)); pciAddress.MatchString(address) {
		return address
	}
	return ""
}

var pciAddress = regexp.MustCompile(`^[0-9a-f]{4,}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]$`)
