package hardware

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"reflect"
	"slices"

	"touchdown/backend/check"
	"touchdown/backend/host"
	"touchdown/backend/layout"
	"touchdown/backend/message"
)

// shippedFormat is that of a factory's inventory with all parts. Format 0, which older factories wrote, has no parts.
const shippedFormat = 1

// shipped is the machine as it left the factory.
type shipped struct {
	Format int `json:"format,omitempty"`
	Inventory
}

// SaveShipped keeps what the machine is made of, looked at with its parts, for the comparison at the site.
func SaveShipped(m *host.Machine, i *Inventory) error {
	real := *i
	real.Disks = slices.DeleteFunc(slices.Clone(i.Disks), func(d Disk) bool { return d.Virtual })
	data, err := json.MarshalIndent(shipped{shippedFormat, real}, "", "  ")
	if err != nil {
		return fmt.Errorf("encoding the inventory: %w", err)
	}
	if err := m.WriteFile(layout.Shipped, append(data, '\n'), 0o600); err != nil {
		return fmt.Errorf("keeping the inventory: %w", err)
	}
	return nil
}

// maxDifferences have a check each, so that a person accepts each with a separate reason; the rest share one. A machine with
// another board differs in everything, and a list that nobody reads convinces nobody.
const maxDifferences = 24

// Shipped compares a machine, looked at with its parts, with itself as it was shipped. Each difference is a check, which a person can
// accept. A part that is gone or exchanged fails; other firmware, another setting and an additional part warn, as an automatic
// landing has nobody to accept them. No checks: the factory kept nothing to compare with.
func Shipped(m *host.Machine, now *Inventory) []check.Check {
	data, err := m.ReadFile(layout.Shipped)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var then shipped
	if err == nil {
		err = json.Unmarshal(data, &then)
	}
	c := shippedCheck("hw-shipped", message.T("As shipped"))
	if err != nil {
		return []check.Check{skipped(c, message.F("the factory's inventory cannot be read: %s", message.Detail(err)))}
	}
	clean(reflect.ValueOf(&then.Inventory).Elem()) // whoever repaired the node may have written it
	return then.checks(c, now)
}

// checks are those of the comparison: c where there is no difference, a check for each difference, and one for what was not compared.
func (s *shipped) checks(c check.Check, now *Inventory) []check.Check {
	d := compare(s, now)
	all := d.checks
	if len(all) > maxDifferences { // the cut is the same at each look, and leaves what fails in front
		slices.SortFunc(all, func(a, b check.Check) int { return cmp.Or(cmp.Compare(a.Status, b.Status), cmp.Compare(a.ID, b.ID)) })
		all = append(all[:maxDifferences], d.rest(all[maxDifferences:]))
	}
	if len(all) == 0 {
		c.Status, c.Observed = check.Pass, message.T("nothing was changed on the way")
		all = []check.Check{c}
	}
	if len(d.unread) > 0 {
		all = append(all, d.notCompared())
	}
	return all
}

// shippedCheck is a check of the comparison before its verdict.
func shippedCheck(id string, title message.Text) check.Check {
	return check.Check{
		ID: id, Title: title, Expected: message.T("the parts that left the factory"), Source: message.F("inventory of the factory (%s)", layout.Shipped),
	}
}

// rest is one check for the differences beyond the first ones.
func (d *differences) rest(all []check.Check) check.Check {
	var ids []string
	c := shippedCheck("", message.T("As shipped: more differences"))
	c.Status = check.Worst(all)
	for _, one := range all {
		c.Evidence, ids = append(c.Evidence, one.Observed), append(ids, one.ID)
	}
	c.ID = d.name("more", ids...)
	c.Observed = message.F("%d more differences: %s", len(all), all[0].Observed)
	c.Fix = message.F("%s (%s)", message.T("Check whether this is the machine that was shipped. If so, waive the check with your name and a reason."), c.ID)
	return c
}

// shownUnread are as many as fit the page of a check; the evidence has all.
const shownUnread = 6

// notCompared tells what one side does not know. That is not a difference.
func (d *differences) notCompared() check.Check {
	c := shippedCheck("hw-shipped-unread", message.T("As shipped: not compared"))
	all := d.unread[0]
	for n, one := range d.unread {
		if c.Evidence = append(c.Evidence, one); n > 0 && n < shownUnread {
			all = message.F("%s; %s", all, one)
		}
	}
	if more := len(d.unread) - shownUnread; more > 0 {
		all = message.F("%s; %d more", all, more)
	}
	return skipped(c, message.F("not compared: %s", all))
}
