package health

import (
	"fmt"
	"slices"
	"strings"

	"touchdown/backend/check"
	"touchdown/backend/message"
)

// nodeUnits are without which a node is none: each is wanted by OpenShift's own templates.
var nodeUnits = []string{
	"crio.service", "kubelet.service", "kubelet-auto-node-size.service", "ovs-configuration.service", "ovsdb-server.service", "ovs-vswitchd.service",
	"openvswitch.service", "nodeip-configuration.service", "NetworkManager.service", "chronyd.service", "dnsmasq.service",
}

// waitUnits only delay the start, and fail where a port never gets a lease. The network is judged by other checks, and OpenShift's units want
// them and do not require them (openshift/machine-config-operator templates/common/_base/units/ovs-configuration.service.yaml, 4.14 to 4.22).
var waitUnits = []string{"NetworkManager-wait-online.service"}

func judgeUnits(s *State) check.Check {
	c := check.Check{
		ID: "units", Title: message.T("Services of the node (systemd)"), Expected: message.T("none failed"), Source: message.F("systemctl list-units %s", FailedStates),
		Fix: message.T("Run: systemctl status UNIT, which says why it failed; then systemctl restart UNIT."),
	}
	if c, no := unreadWide(s, c, "units"); no {
		return lenient(c)
	}
	if !s.Wide.Asked {
		c.Status, c.Observed, c.Fix = check.Skip, message.T("not checked: this is not the node"), message.Text{}
		return c
	}
	var f faults
	for _, unit := range s.Wide.Units {
		if slices.Contains(waitUnits, unit) {
			c.Evidence = append(c.Evidence, message.F("%s failed, which only waits for the network", unit))
			continue
		}
		f.add(slices.Contains(nodeUnits, unit), message.F("%s failed", unit))
	}
	return f.judge(c, message.T("none failed"))
}

// FailedStates has systemctl list units that failed, and those that systemd has just to start again since they ended. OpenShift has it do so
// for ever with kubelet, dnsmasq and Open vSwitch (Restart=always), so these hardly ever count as failed.
const FailedStates = "--state=failed,auto-restart"

// FailedUnits reads what `systemctl list-units --plain --no-legend` prints: a unit in each line, its name first.
func FailedUnits(printed string) ([]string, error) {
	var units []string
	for line := range strings.Lines(printed) {
		fields := strings.Fields(line)
		switch {
		case len(fields) == 0:
		case !strings.Contains(fields[0], ".") || len(fields[0]) > 256: // systemd's own limit is 255
			return nil, fmt.Errorf("systemctl printed %.80q, which names no unit", fields[0])
		case len(units) < 100:
			units = append(units, fields[0])
		}
	}
	return units, nil
}
