package steps

import (
	"fmt"
	"strings"

	"touchdown/backend/network"
)

func networkChanges(now *network.Current, want network.Settings) []Change {
	if len(want.Raw) > 0 {
		return []Change{{What: "Network", Old: familyText(now.IPv4), New: "as the nmstate document says"}}
	}
	var changes []Change
	line := func(what, before, after string) {
		if before != after {
			changes = append(changes, Change{What: what, Old: before, New: after})
		}
	}
	line("Network port", portsText(now.Settings), portsText(want))
	line("IPv4", familyText(now.IPv4), familyText(want.IPv4))
	line("IPv6", familyText(now.IPv6), familyText(want.IPv6))
	if len(want.DNS) > 0 || !want.IPv4.Automatic() && !want.IPv6.Automatic() {
		line("DNS servers", listText(now.DNS), listText(want.DNS))
	}
	if want.MTU != 0 {
		line("MTU", fmt.Sprint(now.MTU), fmt.Sprint(want.MTU))
	}
	return changes
}

func listText(list []string) string {
	if len(list) == 0 {
		return "none"
	}
	return strings.Join(list, ", ")
}

func portsText(s network.Settings) string {
	text := s.Interface
	if len(s.Bond.Ports) > 0 {
		text = s.Bond.Mode + " of " + strings.Join(s.Bond.Ports, " and ")
	}
	if s.VLAN > 0 {
		text += fmt.Sprintf(", VLAN %d", s.VLAN)
	}
	return text
}

func familyText(f network.Family) string {
	switch {
	case f.Method == network.Static:
		text := fmt.Sprintf("%s/%d", f.Address, f.Prefix)
		if f.Gateway == "" {
			return text + ", no gateway"
		}
		return text + " by " + f.Gateway
	case f.Automatic():
		return "by " + strings.ToUpper(f.Method)
	}
	return "none"
}
