package steps

import (
	"context"
	"slices"
	"testing"
	"time"

	"touchdown/backend"
	"touchdown/backend/check"
	"touchdown/backend/hardware/order"
	"touchdown/backend/host/hosttest"
	"touchdown/backend/layout"
	"touchdown/backend/message"
	"touchdown/backend/progress"
	"touchdown/steps/site"
)

// tellsChecks collects the checks of a look, the last of each id.
type tellsChecks struct {
	Report
	checks map[string]check.Check
}

func (r *tellsChecks) Check(c check.Check)        { r.checks[c.ID] = c }
func (*tellsChecks) Say(message.Text)             {}
func (*tellsChecks) Progress(p progress.Progress) {}

func lookAtHardware(t *testing.T, h *Hardware, m *hosttest.Fake) map[string]check.Check {
	t.Helper()
	seen := &tellsChecks{checks: map[string]check.Check{}}
	if err := h.Inspect(t.Context(), &backend.Node{Host: m.Machine, Now: time.Now}, seen); err != nil {
		t.Fatal(err)
	}
	return seen.checks
}

func runHardware(t *testing.T, h *Hardware, m *hosttest.Fake) map[string]check.Check {
	t.Helper()
	seen := &tellsChecks{checks: map[string]check.Check{}}
	ended, end := context.WithCancel(t.Context())
	end() // it does not wait for a link
	_ = h.Run(ended, &backend.Node{Host: m.Machine, Now: time.Now}, seen)
	return seen.checks
}

func setSite(t *testing.T, cfg *site.Config, path, value string) {
	t.Helper()
	if err := cfg.Set(path, value); err != nil {
		t.Fatal(err)
	}
}

// TestHardwareProfileOfASite: the machine is judged by what the site config names, and the form offers what the document takes.
func TestHardwareProfileOfASite(t *testing.T) {
	var offered []string
	for _, c := range hardwareProfiles() {
		offered = append(offered, c.Value)
		if err := site.Check("spec.hardware.profile")(c.Value); err != nil {
			t.Errorf("%s: %v", c.Value, err)
		}
	}
	if !slices.Equal(offered, append(order.Profiles(), keptOrder)) {
		t.Errorf("the form offers %q", offered)
	}
	m, cfg := hosttest.New(t), site.New()
	h := &Hardware{Site: cfg}
	asks := func() string {
		c := lookAtHardware(t, h, m)["hw-boot-mode"]
		return c.Source.String()
	}
	usual := asks()
	setSite(t, cfg, "spec.hardware.profile", "sno")
	if got := asks(); got != usual {
		t.Errorf("the minimum is judged by %q", got)
	}
	setSite(t, cfg, "spec.hardware.profile", "vdu")
	if got := asks(); got == usual {
		t.Errorf("a vDU is judged by %q", got)
	}
	setSite(t, cfg, "spec.hardware.profile", keptOrder)
	if c := lookAtHardware(t, h, m)["order-sheet"]; c.Status != check.Fail || c.Fix.String() == "" {
		t.Errorf("no sheet: %+v", c)
	}
	m.File(layout.Order, "apiVersion: touchdown.dev/v1alpha1\nkind: OrderSheet\nname: A\nserials: [SN-1]\n")
	m.File("/sys/class/dmi/id/product_serial", "SN-9\n")
	if c := lookAtHardware(t, h, m)["order-serial"]; c.Status != check.Fail || c.Observed.String() != "SN-9" {
		t.Errorf("a sheet: %+v", c)
	}
}

// TestDiskTestOfASite: it is measured once for each wish, the result is told at each look and in the report, and it goes with the wish.
func TestDiskTestOfASite(t *testing.T) {
	m, cfg := hosttest.New(t), site.New()
	h := &Hardware{Site: cfg, Tests: true}
	told := func() (check.Check, bool) {
		c, ok := lookAtHardware(t, h, m)["hw-disk-latency"]
		return c, ok
	}
	if c, ok := told(); ok || m.Exists(layout.DiskTest) {
		t.Errorf("nobody asked: %+v", c)
	}
	setSite(t, cfg, "spec.hardware.diskTest", "true")
	if c, ok := told(); !ok || c.Status != check.Skip || !m.Exists(layout.DiskTest) { // this machine has no /var/lib to measure in
		t.Errorf("asked: %+v", c)
	}
	m.File(layout.DiskTest, `{"at":"2026-06-01T12:00:00Z","folder":"/var/lib/etcd","writes":300,"p99":12000000,"max":40000000}`)
	if c, ok := told(); !ok || c.Status != check.Fail {
		t.Errorf("measured before: %+v", c)
	}
	if c := runHardware(t, h, m)["hw-disk-latency"]; c.Status != check.Fail {
		t.Errorf("the report: %+v", c)
	}
	if c, ok := lookAtHardware(t, &Hardware{Site: cfg}, m)["hw-disk-latency"]; ok {
		t.Errorf("a look that tests nothing: %+v", c)
	}
	setSite(t, cfg, "spec.hardware.diskTest", "false")
	if c, ok := told(); ok || m.Exists(layout.DiskTest) {
		t.Errorf("the wish was taken back: %+v", c)
	}
}
