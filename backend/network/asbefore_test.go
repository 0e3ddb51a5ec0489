package network

import (
	"slices"
	"testing"

	"touchdown/backend/host/hosttest"
)

// routed is a node in use that has these default routes configured.
func routed(t *testing.T, all ...route) *Current {
	t.Helper()
	now := standing(t, "enp1s0")
	now.Seen.Routes = &routes{Config: all}
	return now
}

// TestASecondDefaultRoute over a storage port is as it was, too; one that was not there before goes, over whatever port it leads.
func TestASecondDefaultRoute(t *testing.T) {
	out := route{Destination: any4, Interface: Bridge, Gateway: "192.0.2.1", Metric: metric, Table: mainTable}
	storage := route{Destination: any4, Interface: "enp2s0", Gateway: "203.0.113.1", Metric: 500, Table: mainTable}
	for name, c := range map[string]struct {
		before, now *Current
		left        []string
	}{
		"it stays":      {routed(t, out, storage), routed(t, out, storage), nil},
		"it is new":     {routed(t, out), routed(t, out, storage), []string{"route over enp2s0 by 203.0.113.1"}},
		"so is another": {routed(t, out), routed(t, out, route{Destination: any4, Interface: Bridge, Gateway: "192.0.2.2"}), []string{"route over br-ex by 192.0.2.2"}},
	} {
		n := &Network{host: hosttest.New(t).Machine, library: seen{configured: c.now.Seen, live: c.now.Seen}, manager: using{}}
		o := &originals{Version: originalsVersion, Before: c.before}
		if left, err := (puttingBack{n, o}).asBefore(t.Context(), 0); err != nil || !slices.Equal(left, c.left) {
			t.Errorf("%s: left is %q (%v), want %q", name, left, err, c.left)
		}
		text, err := o.desired(c.now)
		if err != nil {
			t.Fatal(err)
		}
		back, err := parseState(text)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range c.now.Seen.Routes.Config {
			gone := slices.ContainsFunc(back.Routes.Config, func(x route) bool { return x.removes(r) })
			if stays := c.before.Seen.has(r); gone == stays {
				t.Errorf("%s: the route over %s is removed: %v", name, r.Interface, gone)
			}
		}
		if _, err := (nmstateLibrary{}).generate(t.Context(), text); err != nil {
			t.Errorf("%s: nmstate refuses it: %v", name, err)
		}
	}
}
