package hardware

import (
	"touchdown/backend/check"
	"touchdown/backend/message"
)

// wanted is the verdict on what OpenShift runs without: a warning, unless an order asks for it.
func (b Bound) wanted() check.Status {
	if b.Fail > 0 {
		return check.Fail
	}
	return check.Warn
}

func judgeTPM(i *Inventory, b Bound) check.Check {
	c := check.Check{ID: "hw-tpm", Title: message.T("Security chip (TPM)"), Expected: message.T("2.0"), Observed: word(i.Firmware.TPM)}
	c.Fix = message.T("Switch the TPM on in the firmware if the site wants encrypted disks.")
	return judgeSetting(c, i.Firmware.TPM, b, i.why("tpm"))
}

func judgeSecureBoot(i *Inventory, b Bound) check.Check {
	c := check.Check{ID: "hw-secure-boot", Title: message.T("Secure Boot"), Expected: message.T("on"), Observed: word(i.Firmware.SecureBoot)}
	c.Fix = message.T("Switch Secure Boot on in the firmware if the site's rules ask for it.")
	return judgeSetting(c, i.Firmware.SecureBoot, b, i.why("boot"))
}

func judgeBootMode(i *Inventory, b Bound) check.Check {
	c := check.Check{ID: "hw-boot-mode", Title: message.T("Boot mode"), Expected: message.T("UEFI"), Observed: message.Data(i.Firmware.Boot)}
	c.Fix = message.T("Nothing to do on an installed node; choose UEFI in the firmware before a new installation.")
	return judgeSetting(c, i.Firmware.Boot, b, i.why("boot"))
}

// judgeSetting judges a setting of the firmware that has to be as expected. One that is not known is skipped, with the reason.
func judgeSetting(c check.Check, is string, b Bound, unknown message.Text) check.Check {
	c.Source = b.Source
	switch is {
	case "", "unknown":
		return skipped(c, unknown)
	case c.Expected.String():
		c.Status, c.Fix = check.Pass, message.Text{}
	default:
		c.Status = b.wanted()
	}
	return c
}

func judgeSerial(i *Inventory) check.Check {
	c := check.Check{ID: "hw-serial", Title: message.T("Serial number"), Expected: message.T("present"), Source: message.T("Touchdown: site configs and reports are tied to it"), Observed: message.Data(i.Product.Serial)}
	switch {
	case i.Product.Serial != "":
		c.Status = check.Pass
	case i.failed("product"):
		return skipped(c, i.why("product"))
	default:
		c.Status, c.Observed = check.Warn, message.T("none in the firmware")
		c.Fix = message.T("Note the number on the type plate in the hand-over papers.")
	}
	return c
}

func judgeVirtual(i *Inventory) check.Check {
	c := check.Check{ID: "hw-virtual", Title: message.T("Real hardware"), Expected: message.T("a physical machine"), Source: message.T("Touchdown: a node that ships is a physical machine"), Observed: message.Data(i.Virtual)}
	switch i.Virtual {
	case "":
		return skipped(c, i.why("virtual"))
	case "none":
		c.Status, c.Observed = check.Pass, message.T("physical machine")
	default:
		c.Status, c.Observed = check.Warn, message.F("virtual (%s)", i.Virtual)
		c.Fix = message.T("Nothing to do for a test; its speed and its hardware checks say little about a real node.")
	}
	return c
}
