package hardware

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"touchdown/backend/check"
	"touchdown/backend/message"
)

// compare finds what became of each part. What legitimately differs between two starts is not part of it: the order of the PCI
// bus, names of disks and ports, links, sticks, what a BMC plugs in, virtual functions.
func compare(then *shipped, now *Inventory) *differences {
	d, was := &differences{}, then.Inventory
	if then.Format == 0 {
		was.NICs = withoutPlugged(was.NICs, now)
	}
	d.machine(&was, now)
	d.disks(&was, now)
	d.nics(&was, now)
	if then.Format == 0 {
		d.unread = append(d.unread, message.T("Memory modules and cards: not kept by the factory's older version of Touchdown"))
		d.memory(&was, now)
		return d
	}
	d.modules(&was, now)
	d.cards(&was, now)
	return d
}

// withoutPlugged leaves out of the ports of Format 0, which has neither bus nor function, what plugged leaves out of the others: ports
// that are not on the PCI bus, and virtual functions, which today's machine or their driver gives away.
func withoutPlugged(then []NIC, now *Inventory) []NIC {
	return slices.DeleteFunc(slices.Clone(then), func(n NIC) bool {
		today := func(other NIC) bool { return other.MAC == n.MAC && (other.Bus == "usb" || other.Function) }
		offBus := n.PCI == "" && n.Driver != "virtio_net"
		return offBus || slices.Contains([]string{"iavf", "i40evf", "ixgbevf", "igbvf"}, n.Driver) || slices.ContainsFunc(now.NICs, today)
	})
}

// both reports whether both sides have a section, of which they read this many parts, and notes it where one of them has not. A
// section can have an error and all its parts: PCI devices without their names.
func (d *differences) both(section string, what message.Text, then, now *Inventory, before, after int) bool {
	lostThen := then.failed(section) && before == 0
	lostNow := now.failed(section) && after == 0
	switch {
	case lostThen && lostNow: // neither side is news
		return false
	case lostThen:
		d.unread = append(d.unread, message.F("%s: not known at the factory", what))
		return false
	case lostNow:
		d.unread = append(d.unread, message.F("%s: not known now", what))
		return false
	case max(before, after) >= maxList: // the list was cut
		d.unread = append(d.unread, message.F("%s: too many to read", what))
		return false
	}
	return true
}

// machine compares what a machine has one of. Other firmware and other settings warn: an update on the way stops no landing.
func (d *differences) machine(then, now *Inventory) {
	board := message.T("Check that this is the machine that was shipped. Waive the check with your name and a reason.")
	setup := message.T("Put the setting in the firmware back as the factory had it, or waive the check with your name and a reason.")
	update := message.T("Waive the check with your name and a reason, or install the factory's version.")
	cpu := func(i *Inventory) message.Text {
		if i.CPU.Threads == 0 {
			return message.Text{}
		}
		return message.F("%s, %s, %s, %s", named(i.CPU.Model), message.N(i.CPU.Sockets, "%d socket", "%d sockets"),
			message.N(i.CPU.Cores, "%d core", "%d cores"), message.N(i.CPU.Threads, "%d thread", "%d threads"))
	}
	for _, v := range []value{
		{"serial", check.Fail, "", message.T("As shipped: serial number"), message.T("The machine's serial number"), board, message.Data(then.Product.Serial), message.Data(now.Product.Serial)},
		{"model", check.Fail, "", message.T("As shipped: model"), message.T("The machine's model"), board, message.Data(model(then.Product)), message.Data(model(now.Product))},
		{"board", check.Fail, "", message.T("As shipped: board"), message.T("The serial number of the board"), board, message.Data(then.Board.Serial), message.Data(now.Board.Serial)},
		{"chassis", check.Fail, "", message.T("As shipped: chassis"), message.T("The serial number of the chassis"), board, message.Data(then.Chassis.Serial), message.Data(now.Chassis.Serial)},
		{"cpu", check.Fail, "", message.T("As shipped: processor"), message.T("The processor"), setup, cpu(then), cpu(now)},
		{"bios", check.Warn, "", message.T("As shipped: firmware (BIOS)"), message.T("The firmware (BIOS)"), update, message.Data(then.Product.BIOS), message.Data(now.Product.BIOS)},
		{"boot", check.Warn, "", message.T("As shipped: boot mode"), message.T("The boot mode"), setup, message.Data(then.Firmware.Boot), message.Data(now.Firmware.Boot)},
		{"secure-boot", check.Warn, "", message.T("As shipped: Secure Boot"), message.T("Secure Boot"), setup, word(then.Firmware.SecureBoot), word(now.Firmware.SecureBoot)},
		{"tpm", check.Warn, "", message.T("As shipped: security chip (TPM)"), message.T("The security chip (TPM)"), setup, chip(then), chip(now)},
	} {
		d.value(v)
	}
}

// chip is the version of the TPM, no text where nobody could tell.
func chip(i *Inventory) message.Text {
	if i.Firmware.TPM == "none" {
		return message.T("none")
	}
	return message.Data(known(i.Firmware.TPM))
}

func model(p Product) string { return strings.TrimSpace(p.Vendor + " " + p.Name) }

// disks compares what stays in its bay. What is plugged in at USB comes and goes, a stick and what a BMC emulates alike.
func (d *differences) disks(then, now *Inventory) {
	if !d.both("disks", message.T("Disks"), then, now, len(then.Disks), len(now.Disks)) {
		return
	}
	a, b := Fixed(then.Disks), Fixed(now.Disks)
	parts := func(all []Disk) []part {
		var list []part
		for _, one := range all {
			list = append(list, part{
				key: one.Serial, wwn: one.WWN, place: cmp.Or(one.Path, one.HCTL),
				like: strings.TrimSpace(fmt.Sprintf("%s %s %s", one.Vendor, one.Model, gb(one.Bytes))),
			})
		}
		return list
	}
	for _, p := range d.list(diskKind(), parts(a), parts(b)) {
		d.value(value{
			id: "disk-firmware", verdict: check.Warn, of: a[p.then].Serial, title: message.T("As shipped: firmware of a disk"), then: message.Data(a[p.then].Firmware), now: message.Data(b[p.now].Firmware),
			what: message.F("The firmware of the disk with serial number %s", named(a[p.then].Serial)),
			fix:  message.T("Waive the check with your name and a reason, or install the factory's version."),
		})
	}
}

// Fixed are the disks in bays and slots. A drive without a medium, of a card reader or a BMC, has no size.
func Fixed(all []Disk) []Disk {
	return slices.DeleteFunc(slices.Clone(all), func(d Disk) bool {
		return d.Virtual || d.Removable || d.Bytes == 0 || d.Type == "ODD" || strings.Contains(d.Path, "-usb")
	})
}

// nics compares ports of cards, and the firmware of those that are still there.
func (d *differences) nics(then, now *Inventory) {
	if !d.both("nics", message.T("Network ports"), then, now, len(then.NICs), len(now.NICs)) {
		return
	}
	a, b := plugged(then), plugged(now)
	a, b = d.withoutPassedOn(a, b, now), d.withoutPassedOn(b, a, then)
	parts := func(all []NIC) []part {
		var list []part
		for _, n := range all {
			list = append(list, part{key: n.MAC, place: n.PCI, like: strings.TrimSpace(n.Vendor + " " + n.Product)})
		}
		return list
	}
	told := map[string]bool{} // the ports of a card share one firmware
	for _, p := range d.list(portKind(), parts(a), parts(b)) {
		x, y := a[p.then], b[p.now]
		card := strings.Join([]string{cmp.Or(slot(x.PCI), x.MAC), x.Firmware, y.Firmware}, " ")
		if told[card] {
			continue
		}
		told[card] = true
		d.value(value{
			id: "nic-firmware", verdict: check.Warn, of: x.MAC, title: message.T("As shipped: firmware of a network card"), then: message.Data(x.Firmware), now: message.Data(y.Firmware),
			what: message.F("The firmware of the network port with MAC %s", named(x.MAC)),
			fix:  message.T("Waive the check with your name and a reason, or install the factory's version."),
		})
	}
}

// plugged are the network ports on cards and boards. Those at USB are a BMC's own, or an adapter.
func plugged(i *Inventory) []NIC {
	return slices.DeleteFunc(i.Physical(), func(n NIC) bool { return n.Bus == "usb" || n.Function })
}

// withoutPassedOn leaves out the ports of one side that the other cannot see, and notes them: one for each card of the same model that
// is there without its port. Its address may be another one.
func (d *differences) withoutPassedOn(all, others []NIC, other *Inventory) []NIC {
	left := other.PassedOn()
	return slices.DeleteFunc(slices.Clone(all), func(n NIC) bool {
		if slices.ContainsFunc(others, func(o NIC) bool { return o.MAC == n.MAC }) {
			return false
		}
		at := slices.IndexFunc(left, func(p Device) bool {
			if n.Vendor == "" {
				return p.Address == n.PCI
			}
			return "0x"+p.VendorID == n.Vendor && "0x"+p.ProductID == n.Product
		})
		if at < 0 {
			return false
		}
		left = slices.Delete(left, at, at+1)
		d.unread = append(d.unread, message.F("the network port with MAC %s at %s: the card is there, a pod may have the port", named(n.MAC), named(n.PCI)))
		return true
	})
}

// PassedOn are the network cards whose port this machine does not have: it is handed to a virtual machine, it is in the network
// namespace of a pod, or it has no driver. It needs Options.Parts.
func (i *Inventory) PassedOn() []Device {
	return slices.DeleteFunc(slices.Clone(i.PCI), func(d Device) bool {
		return d.Function || !strings.HasPrefix(d.ClassID, "02") || slices.ContainsFunc(i.NICs, func(n NIC) bool { return n.PCI == d.Address })
	})
}

// modules compares the memory: each module where the firmware names them, and the size that the kernel sees, which is smaller where a
// module is plugged in and broken.
func (d *differences) modules(then, now *Inventory) {
	if !d.both("modules", message.T("Memory modules"), then, now, len(then.Modules), len(now.Modules)) {
		d.memory(then, now)
		return
	}
	parts := func(all []Module) []part {
		var list []part
		for _, m := range all {
			if m.Bytes > 0 {
				list = append(list, part{key: m.Serial, place: strings.TrimPrefix(strings.TrimSuffix(m.Slot+", "+m.Bank, ", "), ", "), like: strings.TrimSpace(fmt.Sprintf("%s %s %s", gib(m.Bytes), m.Vendor, m.Part))})
			}
		}
		return list
	}
	before := len(d.checks)
	d.list(moduleKind(), parts(then.Modules), parts(now.Modules))
	if len(d.checks) == before {
		d.memory(then, now)
	}
}

func (d *differences) memory(then, now *Inventory) {
	size := func(i *Inventory) string {
		if i.Memory.Physical == 0 {
			return ""
		}
		return gib(i.Memory.Physical)
	}
	verdict := check.Warn
	if now.Memory.Physical < then.Memory.Physical {
		verdict = check.Fail
	}
	d.value(value{
		id: "memory", verdict: verdict, title: message.T("As shipped: memory"), what: message.T("The memory that the system sees"), then: message.Data(size(then)), now: message.Data(size(now)),
		fix: message.T("Check that every memory module is seated and seen by the firmware."),
	})
}

// cards compares what is plugged into the PCI bus and can be lost.
func (d *differences) cards(then, now *Inventory) {
	if !d.both("pci", message.T("Cards"), then, now, len(then.PCI), len(now.PCI)) {
		return
	}
	d.list(cardKind(), cards(then.PCI), cards(now.PCI))
}

// cards are the devices that are neither part of the chip set nor told as disks and network ports already: one for each slot and
// model, as a card has several functions. The addresses change with the order in which the firmware finds the cards.
func cards(all []Device) []part {
	var list []part
	seen := map[part]bool{}
	for _, d := range all {
		if d.Function || !plugable(d.ClassID) {
			continue
		}
		id := d.VendorID + ":" + d.ProductID
		p := part{place: slot(d.Address), like: id, name: strings.Join(strings.Fields(kindOf(d.ClassID)+" "+d.Vendor+" "+d.Name+" "+id), " ")}
		if !seen[p] {
			seen[p] = true
			list = append(list, p)
		}
	}
	return list
}

// slot is a PCI address without the function.
func slot(address string) string {
	s, _, _ := strings.Cut(address, ".")
	return s
}

// plugable tells by the class (PCI Code and ID Assignment Specification, 1.2) what people plug in. NVMe disks (0108) and network
// ports (02) are compared as such; 04 is the sound of a GPU.
func plugable(class string) bool {
	if class == "0108" || len(class) < 2 {
		return false
	}
	return slices.Contains([]string{"01", "03", "07", "0b", "10", "12"}, class[:2])
}

// kindOf names the classes that people buy.
func kindOf(class string) string {
	switch class[:2] {
	case "01":
		return "storage controller"
	case "03":
		return "GPU"
	case "12":
		return "accelerator"
	}
	return ""
}
