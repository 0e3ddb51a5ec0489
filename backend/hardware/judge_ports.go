package hardware

import (
	"fmt"
	"strings"

	"touchdown/backend/check"
	"touchdown/backend/message"
)

func judgeNICs(i *Inventory, b Bound) check.Check {
	c := check.Check{ID: "hw-nics", Title: message.T("Network ports"), Expected: message.F("at least %d", b.Fail), Source: b.Source}
	if i.failed("nics") && len(i.NICs) == 0 {
		return skipped(c, i.why("nics"))
	}
	nics := i.Physical()
	c.Observed = message.Data(fmt.Sprint(len(nics)))
	for _, n := range nics {
		c.Observed = message.F("%s %s", c.Observed, n.Name)
		c.Evidence = append(c.Evidence, message.F("%s mac %s driver %s firmware %s pci %s", n.Name,
			named(n.MAC), named(n.Driver), named(n.Firmware), named(n.PCI)))
	}
	switch {
	case len(nics) > 0 && int64(len(nics)) >= b.Fail:
		c.Status = check.Pass
	case container(i.Virtual) && len(i.NICs) > 0:
		c.Status, c.Observed = check.Warn, message.F("%d virtual ones, in a container (%s)", len(i.NICs), i.Virtual)
		c.Fix = message.T("Nothing to do on a test bench; a node that ships has its own network port.")
	default:
		c.Status = check.Fail
		c.Fix = message.T("Check that the network card is seated and not switched off in the firmware.")
	}
	return c
}

// ports are the NICs that a cable can be in: in a container the virtual ones stand for them.
func (i *Inventory) ports() []NIC {
	if nics := i.Physical(); len(nics) > 0 || !container(i.Virtual) {
		return nics
	}
	return i.NICs
}

// LinkCheck is the ID of the check for a cable. Its outcome changes within seconds of a boot.
const LinkCheck = "hw-link"

func judgeLink(i *Inventory) check.Check {
	c := check.Check{ID: LinkCheck, Title: message.T("Network cable"), Expected: message.T("link on at least one port"), Source: message.T("assisted-service: media-connected, has-carrier")}
	var told []message.Text
	up := false
	for _, n := range i.ports() {
		switch n.Link {
		case "up":
			up, told = true, append(told, message.F("%s up", n.Name))
		case "down":
			told = append(told, message.F("%s down", n.Name))
		}
	}
	if len(told) == 0 {
		return skipped(c, i.whyNoPort(message.T("no port reports its link")))
	}
	c.Observed, c.Status = message.Join(told, ", "), check.Pass
	if !up {
		c.Status = check.Fail
		c.Fix = message.T("Plug the network cable in, or try another cable or switch port.")
	}
	return c
}

func (i *Inventory) whyNoPort(reason message.Text) message.Text {
	if i.failed("nics") && len(i.NICs) == 0 {
		return i.why("nics")
	}
	if len(i.ports()) == 0 {
		reason = message.T("there is no network port")
	}
	return message.F("not checked: %s", reason)
}

func judgeSpeed(i *Inventory, b Bound) check.Check {
	c := check.Check{
		ID: "hw-speed", Title: message.T("Network speed"), Expected: message.F("at least %d Mb/s", b.Warn), Source: b.Source,
		Fix: message.T("Try another cable: a damaged one often falls back to 100 Mb/s."),
	}
	best, told := 0, []string{}
	for _, n := range i.ports() {
		if n.Link == "up" && n.Mbps > 0 {
			best = max(best, n.Mbps)
			told = append(told, fmt.Sprintf("%s %d Mb/s", n.Name, n.Mbps))
		}
	}
	if best == 0 {
		return skipped(c, i.whyNoPort(message.T("no port with a link reports its speed")))
	}
	c.Observed = message.Data(strings.Join(told, ", "))
	return atLeast(c, int64(best), b)
}
