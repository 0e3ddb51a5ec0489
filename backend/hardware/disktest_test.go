package hardware

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"touchdown/backend/check"
	"touchdown/backend/host/hosttest"
	"touchdown/backend/layout"
)

// TestKeptDiskTest: figures are judged again when they are told; what is not a result of a test is none.
func TestKeptDiskTest(t *testing.T) {
	m := hosttest.New(t)
	d := DiskTest{m.Machine}
	for content, want := range map[string]check.Status{
		`{"at":"2026-06-01T12:00:00Z","folder":"/var/lib/etcd","writes":10029,"p99":900000,"max":40000000}`: check.Pass,
		`{"at":"2026-06-01T12:00:00Z","folder":"/var/lib/etcd","writes":300,"p99":12000000,"max":40000000}`: check.Fail,
		`{"fault":"the machine has no /var/lib"}`:                                                           check.Skip,
		"": "", "{": "", "{}": "", `{"writes":-1,"p99":1,"max":1}`: "", `{"writes":9,"p99":9,"max":1}`: "", strings.Repeat(" ", 2*maxDiskResult) + "{}": "",
	} {
		m.File(layout.DiskTest, content)
		c, done := d.Kept()
		if done != (want != "") || c.Status != want {
			t.Errorf("%.80s: %v, %+v", content, done, c)
		}
		if done && (c.ID != "hw-disk-latency" || len(c.Evidence) != 1) { // without the time it seems to run still
			t.Errorf("%.80s: %+v", content, c)
		}
	}
	for range 2 { // there is nothing to forget the second time
		if err := d.Forget(); err != nil {
			t.Error(err)
		}
	}
	if _, done := d.Kept(); done {
		t.Error("what was forgotten is told")
	}
}

// TestDiskTestIsKept: a disk that could not be measured is not measured again and again; a test that was stopped leaves nothing.
func TestDiskTestIsKept(t *testing.T) {
	m := hosttest.New(t)
	d := DiskTest{m.Machine}
	var told []check.Check
	tell := func(c check.Check) { told = append(told, c) }
	stopped, stop := context.WithCancel(t.Context())
	stop()
	if err := d.Measure(stopped, time.Now(), tell); !errors.Is(err, context.Canceled) || len(told) > 0 || m.Exists(layout.DiskTest) {
		t.Errorf("stopped: %v, %+v", err, told)
	}
	if err := d.Measure(t.Context(), time.Now(), tell); err != nil || len(told) != 1 || told[0].Status != check.Skip {
		t.Errorf("no folder: %v, %+v", err, told)
	}
	m.File("/var/lib/etcd/x", "")
	if c, done := d.Kept(); !done || c.Status != check.Skip || !strings.Contains(c.Observed.String(), "/var/lib") {
		t.Errorf("kept: %v, %+v", done, c)
	}
}
