package hardware

import (
	"fmt"
	"slices"
	"strings"

	"touchdown/backend/message"
)

func (t *tree) disks() {
	var all []Disk
	for _, d := range t.i.Disks {
		if !d.Virtual || d.System {
			all = append(all, d)
		}
	}
	t.head(message.T("Storage"), message.N(len(all), "%d disk", "%d disks"))
	t.gap("disks", message.T("disks"))
	for _, d := range all {
		var system, removable message.Text
		if d.System {
			system = message.T("holds the system")
		}
		if d.Removable {
			removable = message.T("removable")
		}
		t.row(1, data(d.Name), join(message.F("%s %s", word(d.Type), gb(d.Bytes)), data(d.Bus), data(d.Vendor, d.Model), serialNo(d.Serial),
			firmware(d.Firmware), with(d.Path, message.F("at %s", d.Path)), with(d.WWN, message.F("WWN %s", d.WWN)), removable, system))
		if d.Health != nil {
			t.row(2, message.T("health"), d.Health.text())
		}
		for _, p := range d.Partitions {
			t.row(2, data(p.Name), join(data(amount(p.Bytes)), data(p.Type), with(p.Label, message.F("label %s", p.Label)), with(p.Mount, message.F("on %s", p.Mount))))
		}
	}
	t.gap("health", message.T("health"))
	if t.i.Var.Total > 0 {
		t.row(1, data("/var"), message.F("%s of %s free", gb(t.i.Var.Free), gb(t.i.Var.Total)))
	}
	t.gap("var", data("/var"))
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

func (h *Health) text() message.Text {
	var verdict, worn, celsius message.Text
	if h.Passed != nil {
		verdict = message.T("FAILED its own test: replace it")
		if *h.Passed {
			verdict = message.T("passed its own test")
		}
	}
	if h.WornPercent != nil {
		worn = message.F("%d %% worn", *h.WornPercent)
	}
	if h.Celsius != 0 {
		celsius = message.F("%d C", h.Celsius)
	}
	return join(verdict, worn, message.N(int(h.MediaErrors), "%d media error", "%d media errors"), message.F("%d h under power", h.Hours), celsius)
}

func (t *tree) ports() {
	var ports []NIC
	for _, n := range t.i.NICs {
		// Every pod has a virtual port here, with a link-local address that it gave itself.
		if !n.Virtual || slices.ContainsFunc(n.Addresses, func(a string) bool { return !strings.HasPrefix(a, "fe80:") }) {
			ports = append(ports, n)
		}
	}
	t.head(message.T("Network"), message.N(len(t.i.Physical()), "%d port", "%d ports"))
	t.gap("nics", message.T("ports"))
	for _, n := range ports {
		speed := ""
		if n.Mbps > 0 {
			speed = fmt.Sprintf("%d Mb/s", n.Mbps)
		}
		var kind message.Text
		if n.Virtual {
			kind = message.T("virtual")
		}
		mtu := nonzero(n.MTU)
		t.row(1, data(n.Name), join(kind, with(n.Link, message.F("link %s", word(n.Link))), data(speed), with(n.MAC, message.F("MAC %s", n.MAC)), with(mtu, message.F("MTU %s", mtu)),
			data(n.Driver), firmware(n.Firmware), with(n.PCI, message.F("PCI %s", n.PCI))))
		if len(n.Addresses) > 0 {
			t.row(2, message.T("addresses"), data(n.Addresses...))
		}
	}
	for _, r := range t.i.Routes {
		if strings.HasSuffix(r.Destination, "/0") {
			metric := nonzero(r.Metric)
			t.row(1, message.T("default"), join(with(r.Gateway, message.F("by %s", r.Gateway)), with(r.Interface, message.F("at %s", r.Interface)), with(metric, message.F("metric %s", metric))))
		}
	}
	t.gap("routes", message.T("routes"))
}

func nonzero(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprint(n)
}

func (t *tree) buses() {
	t.head(message.T("Graphics"), message.N(len(t.i.GPUs()), "%d controller", "%d controllers"))
	t.devices(t.i.GPUs())
	if all := t.i.Accelerators(); len(all) > 0 {
		t.head(message.T("Accelerators"), message.F("%d", len(all)))
		t.devices(all)
	}
	t.head(message.T("PCI"), message.N(len(t.i.PCI), "%d device", "%d devices"))
	t.gap("pci", message.T("devices"))
	t.devices(t.i.PCI)
	t.head(message.T("USB"), message.N(len(t.i.USB), "%d device", "%d devices"))
	t.gap("usb", message.T("devices"))
	t.devices(t.i.USB)
}

func (t *tree) devices(all []Device) {
	for _, d := range all {
		name := strings.TrimSpace(d.Vendor + " " + d.Name)
		if d.Vendor == "" || d.Name == "" {
			name = strings.TrimSpace(fmt.Sprintf("%s [%s:%s]", name, d.VendorID, d.ProductID))
		}
		t.row(1, data(d.Address), join(word(d.Class), data(name), serialNo(d.Serial), with(d.Driver, message.F("driver %s", d.Driver))))
	}
}

func (t *tree) sensors() {
	t.head(message.T("Temperatures"), message.N(len(t.i.Temperatures), "%d sensor", "%d sensors"))
	t.gap("temperatures", message.T("sensors"))
	for _, s := range t.i.Temperatures {
		var high, critical message.Text
		if s.High != 0 {
			high = message.F("high from %.0f C", s.High)
		}
		if s.Critical != 0 {
			critical = message.F("critical from %.0f C", s.Critical)
		}
		t.row(1, data(s.Chip), join(data(s.Label), message.F("%.0f C", s.Celsius), high, critical))
	}
}
