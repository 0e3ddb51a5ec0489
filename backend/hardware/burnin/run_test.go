package burnin

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"touchdown/backend/check"
	"touchdown/backend/host/hosttest"
	"touchdown/backend/layout"
	"touchdown/backend/message"
	"touchdown/backend/problem"
	"touchdown/backend/progress"
)

// machine has a port, a memory controller, a sensor, and a core that counts its throttling.
func machine(t *testing.T) *hosttest.Fake {
	t.Helper()
	m := hosttest.New(t)
	for file, content := range map[string]string{
		"/sys/devices/system/cpu/online":                                    "0-1,4",
		"/proc/meminfo":                                                     "MemTotal: 99999 kB\nMemAvailable: 8388608 kB\n",
		"/sys/class/net/eno1/device/vendor":                                 "0x8086",
		"/sys/class/net/eno1/carrier":                                       "1",
		"/sys/class/net/eno1/carrier_changes":                               "2",
		"/sys/class/net/eno1/statistics/rx_crc_errors":                      "7",
		"/sys/class/net/eno2/device/vendor":                                 "0x8086",
		"/sys/class/net/eno2/carrier_changes":                               "0",
		"/sys/class/net/br-ex/carrier_changes":                              "1",
		"/sys/devices/system/edac/mc/mc0/ce_count":                          "1",
		"/sys/devices/system/edac/mc/mc0/ue_count":                          "0",
		"/sys/devices/system/edac/mc/mc0/dimm0/dimm_label":                  "DIMM_A1",
		"/sys/devices/system/edac/mc/mc0/dimm0/dimm_ce_count":               "1",
		"/sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count": "0",
		"/sys/class/hwmon/hwmon0/name":                                      "coretemp",
		"/sys/class/hwmon/hwmon0/temp1_input":                               "51000",
		"/sys/class/hwmon/hwmon0/temp1_max":                                 "80000",
		"/sys/class/hwmon/hwmon0/temp1_crit":                                "100000",
		"/var/lib/x":                                                        "",
	} {
		m.File(file, content)
	}
	return m
}

// done is a load that ends well, after it did something to the machine.
func done(what func()) Load {
	return func(_ context.Context, o Order, _ *os.File, tell func(Tally) error) error {
		what()
		t := Tally{Done: true, Direct: true, Rounds: map[int]int64{}, Passes: map[int]int64{}, Compared: o.Memory, Written: o.File, Read: o.File}
		for _, cpu := range o.CPUs {
			t.Rounds[cpu], t.Passes[cpu] = 1, 1
		}
		return tell(t)
	}
}

func burn(t *testing.T, m *hosttest.Fake, load Load) map[string]check.Check {
	t.Helper()
	r, err := Test{Host: m.Machine, Load: load}.Run(t.Context(), time.Minute, func(progress.Progress) {})
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]check.Check{}
	for _, c := range r.Checks() {
		found[c.ID] = c
	}
	return found
}

// TestQuietCounters: what was there before is not a fault of this burn-in.
func TestQuietCounters(t *testing.T) {
	for id, c := range burn(t, machine(t), done(func() {})) {
		want := check.Pass
		if id == "burn-in-smart" || id == "burn-in-disk" && c.Status == check.Skip { // no smartctl; the disk of this machine may be full
			want = check.Skip
		}
		if c.Status != want || c.Observed.String() == "" || c.Expected.String() == "" || c.Source.String() == "" {
			t.Errorf("%+v", c)
		}
	}
}

// TestCountersThatRise: what rises during the burn-in fails, by the name of what counts it; heat and throttling warn.
func TestCountersThatRise(t *testing.T) {
	m := machine(t)
	disks := map[bool]string{false: `{"smart_status":{"passed":true},"ata_smart_attributes":{"table":[{"id":5,"raw":{"value":3}}]}}`}
	disks[true] = strings.ReplaceAll(disks[false], "3}", "5}")
	worse := false
	m.File("/sys/block/sda/size", "2000000")
	m.File("/sys/block/sda/queue/rotational", "0")
	m.OnFunc("smartctl", func([]string, []byte) (string, error) { return disks[worse], nil })
	got := burn(t, m, done(func() {
		worse = true
		m.File("/sys/class/net/eno1/statistics/rx_crc_errors", "9")
		m.File("/sys/class/net/eno1/carrier_changes", "4")
		m.File("/sys/class/net/eno2/carrier_changes", "1") // a cable that was plugged in
		m.File("/sys/devices/system/edac/mc/mc0/dimm0/dimm_ce_count", "2")
		m.File("/sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count", "12")
		m.File("/sys/class/hwmon/hwmon0/temp1_input", "93000")
	}))
	for id, want := range map[string]struct {
		status check.Status
		says   string
	}{
		"burn-in-ports":       {check.Fail, "eno1 carrier_changes +2; eno1 rx_crc_errors +2"},
		"burn-in-ecc":         {check.Fail, "mc0 dimm0 (DIMM_A1) corrected +1"},
		"burn-in-smart":       {check.Fail, "sda reallocated sectors +2"},
		"burn-in-throttling":  {check.Warn, "cpu0 core_throttle_count +12"},
		"burn-in-temperature": {check.Warn, "93 degrees Celsius: coretemp"},
		"burn-in-cpu":         {check.Pass, "3 CPUs"},
	} {
		if c := got[id]; c.Status != want.status || !strings.Contains(c.Observed.String(), want.says) {
			t.Errorf("%s: %s, %s", id, c.Status, c.Observed)
		}
	}
}

// TestFaultsOfTheLoad: wrong results fail, with the places where they were.
func TestFaultsOfTheLoad(t *testing.T) {
	got := burn(t, machine(t), func(_ context.Context, _ Order, _ *os.File, tell func(Tally) error) error {
		return tell(Tally{Done: true, Wrong: map[string]int64{kindCPU: 2, kindMemory: 1, kindDisk: 1}, Told: []fault{{kindCPU, message.Data("CPU 4: x")}}})
	})
	for _, id := range []string{"burn-in-cpu", "burn-in-memory", "burn-in-disk"} {
		if c := got[id]; c.Status != check.Fail || c.Fix.String() == "" {
			t.Errorf("%+v", c)
		}
	}
	if c := got["burn-in-cpu"]; c.Evidence[0].String() != "CPU 4: x" {
		t.Errorf("%+v", c)
	}
}

// TestBounds: nothing is taken that would have kubelet evict pods or remove images.
func TestBounds(t *testing.T) {
	const gib = int64(1) << 30
	for free, want := range map[int64]int64{0: 0, gib: 0, 2 * gib: 0, 3 * gib: gib, 16 * gib: 8 * gib} {
		if got := memoryFor(free, 8); got != want {
			t.Errorf("%d GiB available: %d", free/gib, got)
		}
	}
	for free, want := range map[int64]int64{0: 0, 20 * gib: 0, 20*gib + diskLeast: diskLeast, 90 * gib: diskFile} {
		if got := fileFor(free, 100*gib); got != want {
			t.Errorf("%d MiB free of 100 GiB: %d", free>>20, got)
		}
	}
	if got := online("0-2,8\n"); len(got) != 4 || got[3] != 8 || online("x") != nil || online("") != nil {
		t.Errorf("%v", got)
	}
}

// TestStoppedRun: it ends within a second, has no result, and leaves no file.
func TestStoppedRun(t *testing.T) {
	m := machine(t)
	ctx, stop := context.WithCancel(t.Context())
	hangs := make(chan struct{})
	defer close(hangs)
	time.AfterFunc(50*time.Millisecond, stop)
	began := time.Now()
	r, err := Test{Host: m.Machine, Load: func(context.Context, Order, *os.File, func(Tally) error) error { <-hangs; return nil }}.
		Run(ctx, time.Hour, func(progress.Progress) {})
	if r != nil || !errors.Is(err, context.Canceled) || time.Since(began) > time.Minute || m.Exists(layout.BurnInResult) {
		t.Errorf("%v, %v after %s", r, err, time.Since(began))
	}
	if left := glob(m.Machine, "/var/lib/*"); len(left) != 1 {
		t.Errorf("left: %v", left)
	}
}

// TestFallenLoad: without its last tally a burn-in is not over.
func TestFallenLoad(t *testing.T) {
	for _, fell := range []error{nil, errors.New("signal: bus error")} {
		_, err := Test{Host: machine(t).Machine, Load: func(context.Context, Order, *os.File, func(Tally) error) error { return fell }}.
			Run(t.Context(), time.Hour, func(progress.Progress) {})
		if p := problem.From(err); p.Code != "BRN-DEAD" {
			t.Errorf("%v", err)
		}
	}
}

// TestProcess: the load is a separate process, which is killed when the burn-in is stopped. It starts from one that hides its memory, as
// the engine does.
func TestProcess(t *testing.T) {
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Prctl(unix.PR_SET_DUMPABLE, 1, 0, 0, 0) }()
	file, _ := scratch(t)
	o := Order{Seconds: 2, CPUs: ours(t), Memory: memoryBlock, File: diskBlock, Writes: diskBlock}
	var last Tally
	tell := func(t Tally) error { last = t; return nil }
	if err := apart(t.Context(), o, file, tell); err != nil || !last.Done || last.faults() != 0 {
		t.Errorf("%v, %+v", err, last)
	}
	ctx, stop := context.WithCancel(t.Context())
	time.AfterFunc(300*time.Millisecond, stop)
	o.Seconds = 3600
	began := time.Now()
	if err := apart(ctx, o, file, tell); !errors.Is(err, context.Canceled) || time.Since(began) > time.Minute {
		t.Errorf("%v after %s", err, time.Since(began))
	}
}

// TestWishAndResult: a wish counts in its stay alone; the same wish keeps its result, another one does not.
func TestWishAndResult(t *testing.T) {
	for text, good := range map[string]bool{"30m": true, "1m": true, "24h": true, "59s": false, "25h": false, "x": false, "": false, "-5m": false} {
		if _, err := Parse(text); (err == nil) != good {
			t.Errorf("%q: %v", text, err)
		}
	}
	m := machine(t).Machine
	ask := func(d time.Duration) {
		if err := Ask(m, "stay", d); err != nil {
			t.Fatal(err)
		}
	}
	ask(time.Minute)
	if Asked(m, "stay") != time.Minute || Asked(m, "another") != 0 {
		t.Error("the wish of a stay")
	}
	r, err := Test{Host: m, Load: done(func() {})}.Run(t.Context(), time.Minute, func(progress.Progress) {})
	if err == nil {
		err = r.Keep(m, "stay", time.Now())
	}
	if ask(time.Minute); err != nil || Kept(m, "stay") == nil || Kept(m, "another") != nil {
		t.Errorf("%v, %v", err, Kept(m, "stay"))
	}
	if ask(time.Hour); Kept(m, "stay") != nil {
		t.Error("the result of a shorter burn-in counts")
	}
	if ask(0); Asked(m, "stay") != 0 {
		t.Error("a wish that was taken back")
	}
}
