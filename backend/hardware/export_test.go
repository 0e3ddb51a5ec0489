package hardware

import (
	"touchdown/backend/check"
	"touchdown/backend/message"
)

// ShippedAs compares as Shipped does, with an inventory that was read once: thousands of comparisons of one machine.
func ShippedAs(then *Inventory) func(now *Inventory) []check.Check {
	s := shipped{shippedFormat, *then}
	return func(now *Inventory) []check.Check {
		return s.checks(shippedCheck("hw-shipped", message.T("As shipped")), now)
	}
}
