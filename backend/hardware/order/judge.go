package order

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"touchdown/backend/check"
	"touchdown/backend/hardware"
	"touchdown/backend/message"
)

// Limits returns, for no sheet too, the limits of an OpenShift version with those of the sheet, where they ask for more.
func (s *Sheet) Limits(l hardware.Limits) hardware.Limits {
	if s == nil {
		return l
	}
	for _, b := range []struct {
		to   *hardware.Bound
		want int64
	}{
		{&l.Threads, s.Minimum.Threads},
		{&l.MemoryMiB, s.Minimum.MemoryGiB << 10},
		{&l.DiskGB, s.Minimum.DiskGB},
		{&l.Ports, s.Minimum.Ports},
		{&l.LinkMbps, s.Minimum.LinkMbps},
		{&l.TPM, one(s.Minimum.TPM)},
		{&l.SecureBoot, one(s.Minimum.SecureBoot)},
		{&l.UEFI, one(s.Minimum.UEFI)},
	} {
		if b.want > b.to.Fail {
			*b.to = hardware.Bound{Fail: b.want, Warn: max(b.want, b.to.Warn), Source: s.source()}
		}
	}
	return l
}

// source is where the limits come from: what the sheet says of it, else its name.
func (s *Sheet) source() message.Text {
	if s.Source == "" {
		return message.F("order sheet %s", s.Name)
	}
	return message.Data(s.Source)
}

func one(wanted bool) int64 {
	if wanted {
		return 1
	}
	return 0
}

// Checks compares a machine, looked at with its parts, with what was ordered. A profile orders nothing.
func (s *Sheet) Checks(i *hardware.Inventory) []check.Check {
	if s == nil {
		return nil
	}
	var checks []check.Check
	if len(s.Serials) > 0 {
		c := s.check("serial", message.T("As ordered: serial number"), message.F("one of the %d of the order", len(s.Serials)))
		checks = append(checks, s.text(c, i.Product.Serial, slices.ContainsFunc(s.Serials, func(n string) bool { return strings.EqualFold(n, i.Product.Serial) })))
	}
	if model := strings.TrimSpace(i.Product.Vendor + " " + i.Product.Name); s.Model != "" {
		checks = append(checks, s.text(s.check("model", message.T("As ordered: model"), message.Data(s.Model)), model, has(model, s.Model)))
	}
	if s.BIOS != "" {
		checks = append(checks, s.text(s.check("bios", message.T("As ordered: firmware (BIOS)"), message.Data(s.BIOS)), i.Product.BIOS, has(i.Product.BIOS, s.BIOS)))
	}
	for _, l := range []struct {
		id, section string
		title       message.Text
		want        []Item
		have        []hardwarePart
	}{
		{"modules", "modules", message.T("As ordered: memory modules"), s.Modules, modules(i)},
		{"disks", "disks", message.T("As ordered: disks"), s.Disks, disks(i)},
		{"nics", "nics", message.T("As ordered: network ports"), s.NICs, nics(i)},
	} {
		if len(l.want) > 0 {
			checks = append(checks, s.parts(s.check(l.id, l.title, message.Data(listed(l.want))), i.Errors[l.section], l.want, l.have))
		}
	}
	return checks
}

func (s *Sheet) check(id string, title, expected message.Text) check.Check {
	return check.Check{ID: "order-" + id, Title: title, Expected: expected, Source: message.F("order sheet %s", s.Name)}
}

// text judges what the machine says of itself.
func (*Sheet) text(c check.Check, is string, right bool) check.Check {
	c.Status, c.Observed = check.Pass, message.Data(is)
	switch {
	case is == "":
		c.Status, c.Observed = check.Skip, message.T("not checked: the machine does not say")
	case !right:
		c.Status, c.Fix = check.Fail, message.T("Find out whether this is the machine that was ordered, or correct the order sheet.")
	}
	return c
}

func has(text, part string) bool {
	return strings.Contains(strings.ToLower(text), strings.ToLower(part))
}

// hardwarePart is a part of the machine by what an order says of one.
type hardwarePart struct {
	model, firmware string
	size            int64 // GiB or GB
}

func modules(i *hardware.Inventory) []hardwarePart {
	var all []hardwarePart
	for _, m := range i.Modules {
		if m.Bytes > 0 {
			all = append(all, hardwarePart{model: m.Vendor + " " + m.Part, size: m.Bytes >> 30})
		}
	}
	return all
}

func disks(i *hardware.Inventory) []hardwarePart {
	var all []hardwarePart
	for _, d := range hardware.Fixed(i.Disks) {
		all = append(all, hardwarePart{model: d.Vendor + " " + d.Model, firmware: d.Firmware, size: d.Bytes / 1e9})
	}
	return all
}

func nics(i *hardware.Inventory) []hardwarePart {
	var all []hardwarePart
	for _, n := range i.Physical() {
		if !n.Function && n.Bus != "usb" {
			all = append(all, hardwarePart{model: strings.Join([]string{n.Driver, n.Vendor, n.Product}, " "), firmware: n.Firmware})
		}
	}
	return all
}

// is reports whether a part is what an item asks for. A smaller part is not; a size of 0 in the order is any.
func (i Item) is(p hardwarePart) bool {
	return has(p.model, i.Model) && p.size >= i.Size && (i.Firmware == "" || i.Firmware == p.firmware)
}

// parts gives each ordered part one of the machine's. Items that ask for most choose first, so that one that asks for little does not
// take what another one needs.
func (*Sheet) parts(c check.Check, failed message.Text, want []Item, have []hardwarePart) check.Check {
	if failed != (message.Text{}) && len(have) == 0 { // a section can have an error and all its parts
		c.Status, c.Observed = check.Skip, message.F("not checked: %s", message.OrVerbatim(failed))
		return c
	}
	left := slices.Clone(have)
	var missing []string
	for _, item := range slices.SortedStableFunc(slices.Values(want), func(a, b Item) int {
		return cmp.Or(cmp.Compare(b.Size, a.Size), cmp.Compare(len(b.Firmware)+len(b.Model), len(a.Firmware)+len(a.Model)))
	}) {
		lacks := item.Count
		for ; lacks > 0; lacks-- {
			at := slices.IndexFunc(left, item.is)
			if at < 0 {
				break
			}
			left = slices.Delete(left, at, at+1)
		}
		if lacks > 0 {
			item.Count = lacks
			missing = append(missing, listed([]Item{item}))
		}
	}
	for _, p := range have {
		c.Evidence = append(c.Evidence, message.Data(strings.TrimSpace(fmt.Sprintf("%s %d %s", p.model, p.size, p.firmware))))
	}
	if c.Status, c.Observed = check.Pass, message.F("%d, as ordered", len(have)); len(missing) > 0 {
		c.Status, c.Observed = check.Fail, message.F("missing: %s", strings.Join(missing, "; "))
		c.Fix = message.T("Build in what was ordered, or correct the order sheet.")
	}
	return c
}

// listed are items in a line: "2 x PM883 960 HXT7".
func listed(items []Item) string {
	var all []string
	for _, i := range items {
		size := ""
		if i.Size > 0 {
			size = fmt.Sprint(i.Size)
		}
		all = append(all, strings.Join(strings.Fields(fmt.Sprintf("%d x %s %s %s", i.Count, i.Model, size, i.Firmware)), " "))
	}
	return strings.Join(all, ", ")
}
