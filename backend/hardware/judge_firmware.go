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
	c := check.Check{ID: "hw-tpm", Title: message.T("Security chip (TPM)"), Expected: message.T("2.0"), Source: b.Source, Observed: word(i.Firmware.TPM)}
	switch i.Firmware.TPM {
	case "", "unknown":
		return skipped(c, i.why("tpm"))
	case "2.0":
		c.Status = check.Pass
	default:
		c.Status, c.Fix = b.wanted(), message.T("Switch the TPM on in the firmware if the site wants encrypted disks.")
	}
	return c
}

func judgeSecureBoot(i *Inventory, b Bound) check.Check {
	c := check.Check{ID: "hw-secure-boot", Title: message.T("Secure Boot"), Expected: message.T("on"), Source: b.Source, Observed: word(i.Firmware.SecureBoot)}
	switch i.Firmware.SecureBoot {
	case "":
		return skipped(c, i.why("boot"))
	case "on":
		c.Status = check.Pass
	default:
		c.Status, c.Fix = b.wanted(), message.T("Switch Secure Boot on in the firmware if the site's rules ask for it.")
	}
	return c
}

func judgeBootMode(i *Inventory, b Bound) check.Check {
	c := check.Check{ID: "hw-boot-mode", Title: message.T("Boot mode"), Expected: message.T("UEFI"), Source: b.Source, Observed: message.Data(i.Firmware.Boot)}
	switch i.Firmware.Boot {
	case "":
		return skipped(c, i.why("boot"))
	case "UEFI":
		c.Status = check.Pass
	default:
		c.Status, c.Fix = b.wanted(), message.T("Nothing to do on an installed node; choose UEFI in the firmware before a new installation.")
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
