package steps

import (
	"fmt"
	"strings"

	"touchdown/backend/message"
	"touchdown/backend/network"
)

func networkChanges(now *network.Current, want network.Settings) []Change {
	if len(want.Raw) > 0 {
		return []Change{{What: message.T("Network"), Old: familyText(now.IPv4), New: message.T("as the nmstate document says")}}
	}
	var changes []Change
	line := func(what, before, after message.Text) {
		if before != after {
			changes = append(changes, Change{What: what, Old: before, New: after})
		}
	}
	line(message.T("Network port"), portsText(now.Settings), portsText(want))
	line(message.T("IPv4"), familyText(now.IPv4), familyText(want.IPv4))
	line(message.T("IPv6"), familyText(now.IPv6), familyText(want.IPv6))
	if len(want.DNS) > 0 || !want.IPv4.Automatic() && !want.IPv6.Automatic() {
		line(message.T("DNS servers"), listText(now.DNS), listText(want.DNS))
	}
	if want.MTU != 0 {
		line(message.T("MTU"), message.Data(fmt.Sprint(now.MTU)), message.Data(fmt.Sprint(want.MTU)))
	}
	return changes
}

func listText(list []string) message.Text {
	if len(list) == 0 {
		return message.T("none")
	}
	return message.Data(strings.Join(list, ", "))
}

func portsText(s network.Settings) message.Text {
	text := message.Data(s.Interface)
	if len(s.Bond.Ports) > 0 {
		text = message.F("%s of %s", s.Bond.Mode, strings.Join(s.Bond.Ports, ", "))
	}
	if s.VLAN > 0 {
		text = message.F("%s, VLAN %d", text, s.VLAN)
	}
	return text
}

func familyText(f network.Family) message.Text {
	switch {
	case f.Method == network.Static:
		text := message.F("%s/%d", f.Address, f.Prefix)
		if f.Gateway == "" {
			return message.F("%s, no gateway", text)
		}
		return message.F("%s, gateway %s", text, f.Gateway)
	case f.Automatic():
		return message.Data(strings.ToUpper(f.Method))
	}
	return message.T("none")
}
