package burnin

import (
	"slices"
	"testing"
	"time"

	"touchdown/backend/host/hosttest"
	"touchdown/backend/layout"
	"touchdown/backend/message"
)

// earlier is a result with faults as a release kept it whose reasons were English alone.
const earlier = `{"at":"2026-11-02T08:00:00Z","for":60000000000,"stay":"stay","order":{"seconds":60,"cpus":[0,2,11],"memory":1048576,"leave":0,"file":0},` +
	`"tally":{"rounds":{"0":7},"unloaded":{"11":"binding a thread to it: invalid argument","2":"it computed nothing"},"memory":"only 3 MiB were available: it was given back",` +
	`"wrong":{"cpu":1,"disk":1},"told":["cpu: CPU 0: 1 instead of 2","disk: writing block 7"],"done":true},` +
	`"before":{},"after":{},"hottest":{},"noDisk":"no room","messages":{"/noDisk":{"id":"no room"}}}`

// TestAResultOfAnEarlierRelease: an update takes nothing from a result, least of all its faults.
func TestAResultOfAnEarlierRelease(t *testing.T) {
	m := hosttest.New(t).Machine
	if err := Ask(m, "stay", time.Minute); err != nil {
		t.Fatal(err)
	}
	if err := m.WriteFile(layout.BurnInResult, []byte(earlier), 0o600); err != nil {
		t.Fatal(err)
	}
	r := Kept(m, "stay")
	if r == nil {
		t.Fatal("it is lost")
	}
	check := func(r *Result) {
		t.Helper()
		said := message.Verbatim
		if want := (unloadedCPUs{{2, said("it computed nothing")}, {11, said("binding a thread to it: invalid argument")}}); !slices.Equal(r.Tally.Unloaded, want) {
			t.Errorf("unloaded: %v", r.Tally.Unloaded)
		}
		if want := []fault{{kindCPU, said("CPU 0: 1 instead of 2")}, {kindDisk, said("writing block 7")}}; !slices.Equal(r.Tally.Told, want) {
			t.Errorf("told: %v", r.Tally.Told)
		}
		if r.Tally.Memory != said("only 3 MiB were available: it was given back") || r.NoDisk != message.T("no room") || r.Tally.faults() != 2 {
			t.Errorf("%+v", r)
		}
	}
	check(r)
	if err := r.Keep(m, "stay", r.At); err != nil { // in today's form
		t.Fatal(err)
	}
	if r = Kept(m, "stay"); r == nil {
		t.Fatal("it is lost in today's form")
	}
	check(r)
}
