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
	"touchdown/backend/problem"
)

// keptOrder as a profile is the order sheet that the factory left on the node.
const keptOrder = "order"

// hardwareProfiles are what a site can judge its machine by.
func hardwareProfiles() []Choice {
	return []Choice{
		{"sno", message.T("single-node OpenShift, its minimum")},
		{"vdu", message.T("telecom site (vDU)")},
		{"retail", message.T("retail site")},
		{keptOrder, message.T("the factory's order sheet")},
	}
}

// profile is what the site config has the machine judged by; nil: what OpenShift asks for.
func profile(node *backend.Node, name string) (*order.Sheet, []check.Check) {
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

// testDisk measures the disk once where that is wanted. Whoever takes the wish back while it lasts ends it: the engine ends
// a look whose answers were replaced.
func testDisk(ctx context.Context, node *backend.Node, report Report, wanted bool) error {
	test := hardware.DiskTest{Host: node.Host}
	if !wanted {
		return test.Forget()
	}
	if c, done := test.Kept(); done {
		report.Check(c)
		return nil
	}
	return test.Measure(ctx, node.Now(), report.Check)
}

// spoiltSheet tells of an order sheet that cannot be read.
func spoiltSheet(err error, verdict check.Status) check.Check {
	return check.Check{
		ID: "order-sheet", Title: message.T("Order sheet"), Status: verdict, Observed: problem.From(err).Summary, Expected: message.T("a sheet that can be read"),
		Fix: message.T("Give it again with touchdown factory --order FILE, or take it away with --order none."), Source: message.Data(layout.Order), Evidence: []message.Text{message.Detail(err)},
	}
}
