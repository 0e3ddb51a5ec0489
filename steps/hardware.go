package steps

import (
	"context"
	"slices"
	"time"

	"touchdown/backend"
	"touchdown/backend/check"
	"touchdown/backend/delivery"
	"touchdown/backend/hardware"
	"touchdown/backend/hardware/order"
	"touchdown/backend/layout"
	"touchdown/backend/message"
	"touchdown/steps/site"
)

// Hardware checks that the machine is what OpenShift needs. It changes nothing.
type Hardware struct {
	Site    *site.Config     // says when consoles lock, where cables go and by what the machine is judged; nil: that is not checked
	Limits  hardware.Limits  // what the machine is judged by; zero: the limits of supported OpenShift versions
	Factory bool             // a node that is repaired or sealed again becomes what it is shipped as: it is compared with nothing
	Tests   bool             // whether it measures the disk when the site config asks for it
	NodeNet *NodeNetwork     // where the cables of an order sheet go; nil: that is not checked
	Order   *order.Sheet     // what the machine has to be; nil: what OpenShift needs, and on the bench line what was ordered
	Outbox  *delivery.Outbox // brings what is broken to the site's monitor; nil: it is not sent
	Built   time.Time        // when this program was built: no clock can be earlier; zero: not known
}

var (
	_ Step      = (*Hardware)(nil)
	_ Inspector = (*Hardware)(nil)
)

// ID implements Step.
func (*Hardware) ID() string { return "hardware" }

// Title implements Step.
func (*Hardware) Title() message.Text { return message.T("Check the hardware") }

// Reads implements Reader.
func (h *Hardware) Reads() []string {
	if h.Site == nil {
		return nil
	}
	return []string{pinPath, "spec.console.lockAfter", "spec.wiring", "spec.hardware.profile", "spec.hardware.diskTest"}
}

// Inspect implements Inspector.
func (h *Hardware) Inspect(ctx context.Context, node *backend.Node, report Report) error {
	_, checks := h.inspect(ctx, node)
	for _, c := range checks {
		report.Check(c)
	}
	if h.Site == nil || !h.Tests {
		return nil
	}
	return testDisk(ctx, node, report, h.wantsDiskTest())
}

// Run looks again. It does not return a failed check as an error: the engine fails a step of which a check failed,
// unless a person took responsibility for that check.
func (h *Hardware) Run(ctx context.Context, node *backend.Node, report Report) error {
	i, checks := waitForLink(ctx, report, func() (*hardware.Inventory, []check.Check) { return h.inspect(ctx, node) })
	for _, c := range checks {
		report.Check(c)
	}
	tellFaults(h.Outbox, h.Site, node, report, checks)
	if h.wantsDiskTest() {
		if c, done := (hardware.DiskTest{Host: node.Host}).Kept(); done {
			report.Check(c)
		}
	}
	for _, line := range i.Summary() {
		report.Say(line)
	}
	return ctx.Err()
}

// ordered is what the machine has to be: what the caller wants, the profile of the site config, or on the bench line the order sheet
// that was kept.
func (h *Hardware) ordered(node *backend.Node) (*order.Sheet, []check.Check) {
	switch {
	case h.Order != nil:
		return h.Order, nil
	case h.Site != nil:
		return profile(node, h.Site.Spec.Hardware.Profile)
	case !h.Factory:
		return nil, nil
	}
	sheet, err := order.Kept(node.Host)
	if err == nil {
		return sheet, nil
	}
	return nil, []check.Check{spoiltSheet(err, check.Fail)}
}

func (h *Hardware) inspect(ctx context.Context, node *backend.Node) (*hardware.Inventory, []check.Check) {
	limits := h.Limits
	if limits == (hardware.Limits{}) {
		limits = hardware.For("")
	}
	sheet, wrong := h.ordered(node)
	limits = sheet.Limits(limits)
	compare := !h.Factory && node.Host.Exists(layout.Shipped)
	i := hardware.Inspect(ctx, node.Host, hardware.Options{Now: node.Now, Floor: h.Built, Parts: compare || sheet != nil || h.NodeNet != nil})
	checks := append(hardware.Checks(i, limits), sheet.Checks(i)...)
	checks = slices.Concat(checks, wrong, h.cables(ctx, node, i))
	if compare {
		checks = append(checks, hardware.Shipped(node.Host, i)...)
	}
	if h.Site != nil {
		checks = append(checks, lockCheck(h.Site, node))
	}
	return i, checks
}

// cables are the checks of where the cables go, at a site.
func (h *Hardware) cables(ctx context.Context, node *backend.Node, i *hardware.Inventory) []check.Check {
	if h.NodeNet == nil {
		return nil
	}
	wiring, err := h.wiring(node)
	switch {
	case err != nil:
		return []check.Check{spoiltSheet(err, check.Skip)}
	case len(wiring.Ports) == 0:
		return nil
	}
	return cableChecks(ctx, h.NodeNet, wiring, i)
}

// wiring is where the cables have to go. The site config knows the site's switches; the order sheet was written before the machine
// had a site.
func (h *Hardware) wiring(node *backend.Node) (order.Wiring, error) {
	if h.Site != nil && len(h.Site.Spec.Wiring) > 0 {
		w := order.Wiring{By: message.T("site config")}
		for _, c := range h.Site.Spec.Wiring {
			w.Ports = append(w.Ports, order.Port(c))
		}
		return w, nil
	}
	if h.Order != nil {
		return h.Order.Wiring(), nil
	}
	sheet, err := order.Kept(node.Host)
	return sheet.Wiring(), err
}

// wantsDiskTest reports whether the disk is measured in this list, and the site config asks for it.
func (h *Hardware) wantsDiskTest() bool {
	return h.Tests && h.Site != nil && h.Site.Spec.Hardware.DiskTest
}
