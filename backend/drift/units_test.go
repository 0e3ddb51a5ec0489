package drift_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"touchdown/backend/drift"
	"touchdown/backend/host/hosttest"
)

const list = "systemctl list-unit-files"

// TestUnitsAreEnabledAgain: of those that are disabled, what the node's configuration has enabled.
func TestUnitsAreEnabledAgain(t *testing.T) {
	m := hosttest.New(t)
	m.File(noted, `{"metadata":{"name":"rendered-master-1"},"spec":{"config":{"ignition":{"version":"3.2.0"},"systemd":{"units":[
	  {"name":"kubelet.service","enabled":true,"contents":"[Unit]"},{"name":"dnsmasq.service","enabled":true},{"name":"kubens.service","enabled":false},
	  {"name":"off.service","enabled":true,"mask":true},{"name":"crio.service","dropins":[{"name":"10-x.conf","contents":"[Service]"}]},
	  {"name":"chronyd.service","enabled":true}]}}}}`)
	m.On(list, "kubelet.service disabled enabled\nkubens.service disabled disabled\noff.service disabled enabled\ncrio.service disabled disabled\n\ndnsmasq.service disabled disabled\n", nil)
	got, err := drift.EnableUnits(t.Context(), m.Machine)
	if want := []string{"kubelet.service", "dnsmasq.service"}; err != nil || !slices.Equal(got, want) {
		t.Fatalf("enabled were %v, %v", got, err)
	}
	if calls := m.Calls(); len(calls) != 2 || calls[1] != "systemctl enable --quiet kubelet.service dnsmasq.service" {
		t.Errorf("calls were %q", calls)
	}
	refused := errors.New("refused")
	for _, prefix := range []string{"systemctl enable", list} { // each comes before the one that was refused last
		m.On(prefix, "", refused)
		if got, err := drift.EnableUnits(t.Context(), m.Machine); !errors.Is(err, refused) || len(got) > 0 {
			t.Errorf("%s: %v, %v", prefix, got, err)
		}
	}
}

// TestNoUnitIsEnabled: where none is disabled, where no daemon has noted anything, and by a note that cannot be read.
func TestNoUnitIsEnabled(t *testing.T) {
	for name, content := range map[string]string{
		"nothing noted": "", "damaged": "{", "not Ignition": `{"spec":{"config":{"ignition":{"version":"9.9.9"}}}}`,
		"nothing disabled": `{"spec":{"config":{"ignition":{"version":"3.2.0"},"systemd":{"units":[{"name":"kubelet.service","enabled":true}]}}}}`,
	} {
		t.Run(name, func(t *testing.T) {
			m := hosttest.New(t)
			if content != "" {
				m.File(noted, content)
			}
			got, err := drift.EnableUnits(t.Context(), m.Machine)
			unreadable := name == "damaged" || name == "not Ignition"
			if len(got) > 0 || (err != nil) != unreadable {
				t.Errorf("enabled were %v, %v", got, err)
			}
			if calls := m.Calls(); slices.ContainsFunc(calls, func(c string) bool { return !strings.HasPrefix(c, list) }) {
				t.Errorf("calls were %q", calls)
			}
		})
	}
}
