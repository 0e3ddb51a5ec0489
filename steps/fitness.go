package steps

import (
	"context"
	"slices"

	"touchdown/backend"
	"touchdown/backend/check"
	"touchdown/backend/hardware"
	"touchdown/backend/hardware/order"
	"touchdown/backend/layout"
	"touchdown/backend/message"
)

// keptOrder as a profile is the order sheet that the factory left on the node.
const keptOrder = "order"

// hardwareProfiles are what a site can judge its machine by.
func hardwareProfiles() []Choice {
	return []Choice{
		{"sno", message.T("single-node OpenShift, its minimum")}, {"vdu", message.T("telecom site (vDU)")}, {"retail", message.T("retail site")},
		{keptOrder, message.T("the factory's order sheet")},
	}
}

// profile is what the site config has the machine judged by; nil: what OpenShift asks for.
func (h *Hardware) profile(node *backend.Node) (*order.Sheet, []check.Check) {
	name := h.Site.Spec.Hardware.Profile
	if slices.Contains(order.Profiles(), name) {
		sheet, err := order.Load(name)
		if err != nil {
			return nil, []check.Check{spoiltSheet(err, check.Fail)}
		}
		return sheet, nil
	}
	if name != keptOrder {
		return nil, nil // the form and the document refuse other names
	}
	sheet, err := order.Kept(node.Host)
	switch {
	case err != nil:
		return nil, []check.Check{spoiltSheet(err, check.Fail)}
	case sheet == nil:
		return nil, []check.Check{{
			ID: "order-sheet", Title: message.T("Order sheet"), Status: check.Fail, Observed: message.T("the factory left none on this node"),
			Expected: message.T("a sheet that can be read"), Fix: message.T("Choose another hardware profile."), Source: message.Data(layout.Order),
		}}
	}
	return sheet, nil
}

// wantsDiskTest reports whether the disk is measured in this list, and the site config asks for it.
func (h *Hardware) wantsDiskTest() bool {
	return h.Tests && h.Site != nil && h.Site.Spec.Hardware.DiskTest
}

// testDisk measures the disk once when the site config asks for it. Whoever takes the wish back while it lasts ends it: the engine ends
// a look whose answers were replaced.
func (h *Hardware) testDisk(ctx context.Context, node *backend.Node, report Report) error {
	if h.Site == nil || !h.Tests {
		return nil
	}
	test := hardware.DiskTest{Host: node.Host}
	if !h.wantsDiskTest() {
		return test.Forget()
	}
	if c, done := test.Kept(); done {
		report.Check(c)
		return nil
	}
	return test.Measure(ctx, node.Now(), report.Check)
}
