package hardware

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"touchdown/backend/message"

	"touchdown/backend/check"
	"touchdown/backend/host"
	"touchdown/backend/layout"
)

// SaveShipped keeps a description of the machine, for the comparison at the site.
func SaveShipped(m *host.Machine, i *Inventory) error {
	real := *i
	real.Disks = slices.DeleteFunc(slices.Clone(i.Disks), func(d Disk) bool { return d.Virtual })
	data, err := json.MarshalIndent(real, "", "  ")
	if err != nil {
		return fmt.Errorf("encoding the inventory: %w", err)
	}
	if err := m.WriteFile(layout.Shipped, append(data, '\n'), 0o600); err != nil {
		return fmt.Errorf("keeping the inventory: %w", err)
	}
	return nil
}

// Shipped compares a machine with itself as it was shipped. ok is false where the factory kept nothing to compare with.
func Shipped(m *host.Machine, now *Inventory) (c check.Check, ok bool) {
	data, err := m.ReadFile(layout.Shipped)
	if errors.Is(err, fs.ErrNotExist) {
		return c, false
	}
	c = check.Check{
		ID: "hw-shipped", Title: message.T("As shipped"), Status: check.Pass, Observed: message.T("nothing was changed on the way"),
		Expected: message.T("the parts that left the factory"), Source: "inventory of the factory (" + layout.Shipped + ")",
	}
	var then Inventory
	if err == nil {
		err = json.Unmarshal(data, &then)
	}
	if err != nil {
		return skipped(c, message.F("the factory's inventory cannot be read: %s", err.Error())), true
	}
	c.Evidence = differences(parts(&then), parts(now))
	if n := len(c.Evidence); n > 0 {
		c.Status, c.Observed = check.Warn, message.F("%d differences: %s", n, c.Evidence[0])
		if n == 1 {
			c.Observed = message.Data(c.Evidence[0])
		}
		c.Fix = message.T("Look whether a part came loose or was exchanged on the way, and tell the factory.")
	}
	return c, true
}

// parts are what can be lost or exchanged, each in words that name it and with a number that no other has where it tells one.
func parts(i *Inventory) []string {
	all := []string{
		fmt.Sprintf("%d processor threads, %s", i.CPU.Threads, i.CPU.Model),
		"serial number " + i.Product.Serial,
		"Secure Boot " + i.Firmware.SecureBoot,
	}
	if i.Memory.Physical > 0 {
		all = append(all, fmt.Sprintf("%d MiB of memory", i.Memory.Physical>>20))
	}
	if i.Firmware.TPM != "" {
		all = append(all, "TPM "+i.Firmware.TPM)
	}
	for _, d := range i.Disks {
		if !d.Virtual && !d.Removable {
			all = append(all, strings.TrimSpace(fmt.Sprintf("disk of %d GB, %s %s", d.Bytes/1e9, d.Model, d.Serial)))
		}
	}
	for _, n := range i.NICs {
		if !n.Virtual {
			all = append(all, "network port with MAC "+n.MAC)
		}
	}
	return all
}

// differences lists what one has and the other lacks; what two have twice counts twice.
func differences(then, now []string) []string {
	left := slices.Clone(now)
	var all []string
	for _, part := range then {
		if at := slices.Index(left, part); at >= 0 {
			left = slices.Delete(left, at, at+1)
			continue
		}
		all = append(all, "missing: "+part)
	}
	for _, part := range left {
		all = append(all, "new: "+part)
	}
	return all
}
