package hardware

import (
	"fmt"
	"slices"
	"strings"
)

func (t *tree) disks() {
	var all []Disk
	for _, d := range t.i.Disks {
		if !d.Virtual || d.System {
			all = append(all, d)
		}
	}
	t.head("Storage", plural(len(all), "disk"))
	t.gap("disks", "disks")
	for _, d := range all {
		system, removable := "", ""
		if d.System {
			system = "holds the system"
		}
		if d.Removable {
			removable = "removable"
		}
		t.row(1, d.Name, join(strings.TrimSpace(d.Type+" "+gb(d.Bytes)), d.Bus, strings.TrimSpace(d.Vendor+" "+d.Model), with("serial no.", d.Serial),
			with("firmware", d.Firmware), with("at", d.Path), with("WWN", d.WWN), removable, system))
		if d.Health != nil {
			t.row(2, "health", d.Health.text())
		}
		for _, p := range d.Partitions {
			t.row(2, p.Name, join(amount(p.Bytes), p.Type, with("label", p.Label), with("on", p.Mount)))
		}
	}
	t.gap("health", "health")
	if t.i.Var.Total > 0 {
		t.row(1, "/var", fmt.Sprintf("%s of %s free", gb(t.i.Var.Free), gb(t.i.Var.Total)))
	}
	t.gap("var", "/var")
}

// amount is the size of a partition, which may be small.
func amount(bytes int64) string {
	switch {
	case bytes < 1e6:
		return fmt.Sprintf("%d kB", bytes/1e3)
	case bytes < 1e9:
		return fmt.Sprintf("%d MB", bytes/1e6)
	}
	return gb(bytes)
}

func (h *Health) text() string {
	verdict, worn, celsius := "", "", ""
	if h.Passed != nil {
		verdict = map[bool]string{true: "passed its own test", false: "FAILED its own test: replace it"}[*h.Passed]
	}
	if h.WornPercent != nil {
		worn = fmt.Sprintf("%d %% worn", *h.WornPercent)
	}
	if h.Celsius != 0 {
		celsius = fmt.Sprintf("%d C", h.Celsius)
	}
	return join(verdict, worn, plural(int(h.MediaErrors), "media error"), fmt.Sprintf("%d h under power", h.Hours), celsius)
}

func (t *tree) ports() {
	var ports []NIC
	for _, n := range t.i.NICs {
		// Every pod has a virtual port here, with a link-local address that it gave itself.
		if !n.Virtual || slices.ContainsFunc(n.Addresses, func(a string) bool { return !strings.HasPrefix(a, "fe80:") }) {
			ports = append(ports, n)
		}
	}
	t.head("Network", plural(len(t.i.Physical()), "port"))
	t.gap("nics", "ports")
	for _, n := range ports {
		speed := ""
		if n.Mbps > 0 {
			speed = fmt.Sprintf("%d Mb/s", n.Mbps)
		}
		kind := ""
		if n.Virtual {
			kind = "virtual"
		}
		t.row(1, n.Name, join(kind, with("link", n.Link), speed, with("MAC", n.MAC), with("MTU", nonzero(n.MTU)), n.Driver, with("firmware", n.Firmware), with("PCI", n.PCI)))
		if len(n.Addresses) > 0 {
			t.row(2, "addresses", strings.Join(n.Addresses, " "))
		}
	}
	for _, r := range t.i.Routes {
		if strings.HasSuffix(r.Destination, "/0") {
			t.row(1, "default", join(with("by", r.Gateway), with("at", r.Interface), with("metric", nonzero(r.Metric))))
		}
	}
	t.gap("routes", "routes")
}

func nonzero(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprint(n)
}

func (t *tree) buses() {
	t.head("Graphics", plural(len(t.i.GPUs()), "controller"))
	t.devices(t.i.GPUs())
	if all := t.i.Accelerators(); len(all) > 0 {
		t.head("Accelerators", fmt.Sprint(len(all)))
		t.devices(all)
	}
	t.head("PCI", plural(len(t.i.PCI), "device"))
	t.gap("pci", "devices")
	t.devices(t.i.PCI)
	t.head("USB", plural(len(t.i.USB), "device"))
	t.gap("usb", "devices")
	t.devices(t.i.USB)
}

func (t *tree) devices(all []Device) {
	for _, d := range all {
		name := strings.TrimSpace(d.Vendor + " " + d.Name)
		if d.Vendor == "" || d.Name == "" {
			name = strings.TrimSpace(fmt.Sprintf("%s [%s:%s]", name, d.VendorID, d.ProductID))
		}
		t.row(1, d.Address, join(d.Class, name, with("serial no.", d.Serial), with("driver", d.Driver)))
	}
}

func (t *tree) sensors() {
	t.head("Temperatures", plural(len(t.i.Temperatures), "sensor"))
	t.gap("temperatures", "sensors")
	for _, s := range t.i.Temperatures {
		limit := func(word string, celsius float64) string {
			if celsius == 0 {
				return ""
			}
			return fmt.Sprintf("%s %.0f C", word, celsius)
		}
		t.row(1, s.Chip, join(s.Label, fmt.Sprintf("%.0f C", s.Celsius), limit("high from", s.High), limit("critical from", s.Critical)))
	}
}
