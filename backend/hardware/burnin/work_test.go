package burnin

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"touchdown/backend/host"
	"touchdown/backend/host/hosttest"
	"touchdown/backend/message"
)

// TestMain lets this test be the worker that it starts.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == WorkerCommand {
		if err := Serve(context.Background(), os.Args[2], os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// ours are CPUs that this process may use.
func ours(t *testing.T) []int {
	t.Helper()
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		t.Fatal(err)
	}
	for cpu := range maxCPUs {
		if set.IsSet(cpu) {
			return []int{cpu}
		}
	}
	t.Fatal("no CPU")
	return nil
}

// scratch is a file in a folder, whose names are told.
func scratch(t *testing.T) (*os.File, func() []string) {
	t.Helper()
	m := hosttest.New(t)
	m.File("/var/lib/x", "")
	file, err := host.Scratch(m.Machine, "/var/lib")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	return file, func() []string {
		names, _ := filepath.Glob(m.Path("/var/lib/*"))
		return names
	}
}

// TestKnownAnswers: the works give on this machine what they have to give on all.
func TestKnownAnswers(t *testing.T) {
	data := kernelData()
	for _, k := range kernels {
		if got := k.work(data); got != k.answer {
			t.Errorf("%s gives %016x", k.name, got)
		}
	}
	data[100] ^= 1
	for _, k := range kernels[:2] {
		if k.work(data) == k.answer {
			t.Errorf("%s does not see one wrong bit", k.name)
		}
	}
}

// loaded runs a small load until a tally has what is wanted, and returns its last tally. Its threads have the lowest priority: how long
// that takes, the other programs of the machine say.
func loaded(t *testing.T, spoil tamper, until func(Tally) bool, change func(*Order)) Tally {
	t.Helper()
	file, names := scratch(t)
	o := Order{Seconds: 300, CPUs: ours(t), Memory: 2 * memoryBlock, File: 2 * diskBlock, Writes: 4 * diskBlock}
	if change != nil {
		change(&o)
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var last Tally
	tell := func(t Tally) error {
		if last = t; until(t) {
			stop()
		}
		return nil
	}
	if err := work(ctx, o, file, spoil, tell); err != nil {
		t.Fatal(err)
	}
	if got := names(); len(got) != 1 {
		t.Errorf("the load left files: %v", got)
	}
	if !last.Done {
		t.Errorf("not told as the last one: %+v", last)
	}
	return last
}

// TestGoodMachine: all is loaded and compared, nothing is wrong, and no more is written than may be.
func TestGoodMachine(t *testing.T) {
	cpu := ours(t)[0]
	got := loaded(t, tamper{}, func(t Tally) bool {
		return t.Passes[cpu] > 0 && t.Compared >= 2*memoryBlock && t.Written == 4*diskBlock && t.Read >= 4*diskBlock
	}, nil)
	if got.faults() != 0 || len(got.Told)+len(got.Unloaded) != 0 || got.Rounds[cpu] == 0 || got.Passes[cpu] == 0 || got.Compared < 2*memoryBlock {
		t.Errorf("%+v", got)
	}
	if got.Written != 4*diskBlock || got.Read < 4*diskBlock || got.Disk != (message.Text{}) || got.Memory != (message.Text{}) {
		t.Errorf("disk: %+v", got)
	}
}

// TestWrongResults: a result that is wrong is counted under its kind, and told with the CPU or the place.
func TestWrongResults(t *testing.T) {
	cpu := ours(t)[0]
	once := func() func() bool {
		var done atomic.Bool
		return func() bool { return done.CompareAndSwap(false, true) }
	}
	for kind, c := range map[string]struct {
		spoil func() tamper
		want  string
	}{
		kindCPU: {func() tamper {
			now := once()
			return tamper{cpu: func(_ int, r uint64) uint64 {
				if now() {
					return r ^ 1<<17
				}
				return r
			}}
		}, fmt.Sprintf("CPU %d: hash (SHA-256) gave", cpu)},
		kindMemory: {func() tamper {
			now := once()
			return tamper{memory: func(_ int, block []uint64) {
				if now() {
					block[3] ^= 1 << 5
				}
			}}
		}, "byte 24 of the"},
		kindDisk: {func() tamper {
			now := once()
			return tamper{disk: func(block []byte) {
				if now() {
					block[4096] ^= 1
				}
			}}
		}, "block 0 of the file differs from what was written, at byte 4096; pass 1"},
	} {
		got := loaded(t, c.spoil(), func(t Tally) bool { return t.Wrong[kind] > 0 }, nil)
		if got.Wrong[kind] != 1 || got.faults() != 1 || len(got.Told) != 1 || !strings.Contains(got.Told[0].What.String(), c.want) {
			t.Errorf("%s: %v, %q", kind, got.Wrong, got.Told)
		}
	}
}

// TestManyWrongResults: all are counted, and few are told.
func TestManyWrongResults(t *testing.T) {
	got := loaded(t, tamper{cpu: func(int, uint64) uint64 { return 1 }}, func(t Tally) bool { return t.Wrong[kindCPU] > maxTold }, nil)
	if got.Wrong[kindCPU] <= maxTold || len(got.Told) != maxTold {
		t.Errorf("%v, %d told", got.Wrong, len(got.Told))
	}
}

// TestMemoryIsGivenBack: once others need it, the test of the memory ends, and the rest goes on.
func TestMemoryIsGivenBack(t *testing.T) {
	got := loaded(t, tamper{available: func() (int64, error) { return 5 << 20, nil }}, func(t Tally) bool { return t.Memory != (message.Text{}) }, func(o *Order) { o.Leave = 6 << 20 })
	if got.faults() != 0 || !strings.Contains(got.Memory.String(), "5 MiB") {
		t.Errorf("%+v", got)
	}
}

// TestUnusableCPU: a CPU that this process may not use is told as not loaded.
func TestUnusableCPU(t *testing.T) {
	got := loaded(t, tamper{}, func(t Tally) bool { return len(t.Unloaded) > 0 }, func(o *Order) { o.CPUs = []int{maxCPUs - 1} })
	if got.Unloaded[0].CPU != maxCPUs-1 || got.faults() != 0 {
		t.Errorf("%+v", got)
	}
}

// TestReasonsKeepTheirLanguage: what the worker gives as reasons are messages to whoever reads its lines, and after a reboot too.
func TestReasonsKeepTheirLanguage(t *testing.T) {
	unusable := maxCPUs - 1
	file, _ := scratch(t)
	r := &Result{For: time.Minute, Order: Order{Seconds: 300, CPUs: []int{unusable}, Memory: memoryBlock, Leave: 1 << 62, File: diskBlock}}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	err := apart(ctx, r.Order, file, func(t Tally) error {
		if r.Tally = t; t.Memory != (message.Text{}) && len(t.Unloaded) > 0 { // both reasons are there, however late
			stop()
		}
		return nil
	})
	if !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	r.Tally.Done = true // as at the end of its time
	r.Tally.Wrong, r.Tally.Told = map[string]int64{kindDisk: 1}, []fault{{kindDisk, message.F("writing block %d", 7)}}
	m := hosttest.New(t).Machine
	if err := errors.Join(Ask(m, "stay", time.Minute), r.Keep(m, "stay", time.Now())); err != nil {
		t.Fatal(err)
	}
	german, err := message.NewLanguage("de", map[string]string{
		"CPU %d: %s": "CPU %d: %s", "%s: %s": "%s: %s", message.Technical: "(technisch) %[1]s",
		"binding a thread to it":                        "Bindung eines Threads daran",
		"only %d MiB were available: it was given back": "nur %d MiB waren frei: Er wurde zurückgegeben",
		"writing block %d":                              "Schreiben von Block %d",
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range []*Result{r, Kept(m, "stay")} {
		said := ""
		for _, c := range r.Checks() {
			for _, line := range c.Evidence {
				said += german.Show(line) + "\n"
			}
		}
		for _, want := range []string{"CPU 1023: Bindung eines Threads daran: (technisch) invalid argument", "MiB waren frei: Er", "Schreiben von Block 7"} {
			if !strings.Contains(said, want) {
				t.Errorf("%q is missing in:\n%s", want, said)
			}
		}
	}
}

// TestBadDisk: a file that cannot be written is a fault of the disk.
func TestBadDisk(t *testing.T) {
	file, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var last Tally
	o := Order{Seconds: 300, CPUs: ours(t), File: diskBlock, Writes: diskBlock}
	tell := func(t Tally) error {
		if last = t; t.Wrong[kindDisk] > 0 {
			stop()
		}
		return nil
	}
	if err := work(ctx, o, file, tamper{}, tell); err != nil || last.Wrong[kindDisk] != 1 || last.Disk == (message.Text{}) {
		t.Errorf("%v, %+v", err, last)
	}
}

// TestStopsSoon: a load that is stopped does not go on to its end. How soon it ends on a machine at rest, some 0.1 s, no test can hold.
func TestStopsSoon(t *testing.T) {
	file, names := scratch(t)
	ctx, stop := context.WithCancel(t.Context())
	time.AfterFunc(100*time.Millisecond, stop)
	began := time.Now()
	_ = work(ctx, Order{Seconds: 3600, CPUs: ours(t), Memory: 4 * memoryBlock, File: 8 * diskBlock, Writes: 1 << 30}, file, tamper{}, func(Tally) error { return nil })
	if took := time.Since(began); took > time.Minute {
		t.Errorf("it took %s", took)
	}
	if got := names(); len(got) != 1 {
		t.Errorf("it left files: %v", got)
	}
}

// TestServeRefuses: started by a person, the worker does nothing and says who starts it.
func TestServeRefuses(t *testing.T) {
	for _, text := range []string{"", "{}", `{"seconds":1}`, `{"cpus":[0]}`, "30m"} {
		if err := Serve(t.Context(), text, nil, nil); err == nil || !strings.Contains(err.Error(), "touchdown factory --burn-in") {
			t.Errorf("%q: %v", text, err)
		}
	}
}
