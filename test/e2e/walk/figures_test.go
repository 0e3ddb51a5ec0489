package walk

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"touchdown/test/bench"
	"touchdown/test/bench/figures"
)

// ledger collects what walks cost; without a folder it keeps nothing.
type ledger struct {
	dir string
	all map[string]figures.Figure
}

func newLedger(dir string) *ledger { return &ledger{dir, map[string]figures.Figure{}} }

// most notes a figure where it is more than what another walk had.
func (l *ledger) most(name string, f figures.Figure) {
	if old, ok := l.all[name]; !ok || f.Value > old.Value {
		l.all[name] = f
	}
}

// add takes the figures of a walk and leaves its transcript.
func (l *ledger) add(t *testing.T, w *walk) {
	t.Helper()
	if l.dir == "" {
		return
	}
	bytes := float64(w.repaint)
	l.all[w.name+"_walk_s"] = figures.Goal(w.whole.Seconds(), "s", 240)
	l.all[w.name+"_hands_s"] = figures.Goal(w.hands.Seconds(), "s", 180)
	l.all[w.name+"_mishaps_s"] = figures.None(w.mishap.Seconds(), "s")
	if tty1, ok := l.all["tty1_hands_s"]; ok && w.baud == 9600 {
		l.all["9600_hands_to_tty1"] = figures.Goal(w.hands.Seconds()/tty1.Value, "times", 1.15)
	}
	l.all[w.name+"_keys"] = figures.Beside(float64(w.p.Keys()), "keys", "seconds of the walk", w.whole.Seconds())
	l.most("largest_screen_b", figures.Goal(bytes, "bytes", screenful))
	if w.baud == 9600 {
		l.most("slowest_screen_9600_s", figures.Goal(w.slowest.Seconds(), "s", 2.3))
	}
	l.most("engine_resident_mib", figures.Goal(w.resident("touchdown-engine"), "MiB", 64))
	for _, console := range w.l.Node.Consoles {
		if unit := "touchdown-console@" + console; w.shell("systemctl show -P MainPID "+unit) != "0" {
			l.most("console_resident_mib", figures.Goal(w.resident(unit), "MiB", 24))
		}
	}
	w.p.Leave(filepath.Join(l.dir, "walk-"+w.name+".txt"))
}

// resident is the memory of a unit's process in MiB.
func (w *walk) resident(unit string) float64 {
	w.t.Helper()
	kib := w.shell("sed -n 's/^VmRSS:[^0-9]*\\([0-9]*\\).*/\\1/p' /proc/$(systemctl show -P MainPID " + unit + ")/status")
	n, err := strconv.ParseFloat(kib, 64)
	if err != nil {
		w.t.Errorf("the memory of %s: %v", unit, err)
	}
	return n / 1024
}

// write leaves the figures of all walks.
func (l *ledger) write(t *testing.T) {
	t.Helper()
	if l.dir == "" || len(l.all) == 0 {
		return
	}
	root, err := bench.Root()
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.Stat(filepath.Join(root, ".cache", "bin", "touchdown"))
	if err != nil {
		t.Fatal(err)
	}
	l.all["binary_mib"] = figures.Goal(float64(program.Size())/(1<<20), "MiB", 60)
	if err := figures.Write(filepath.Join(l.dir, "walk.json"), l.all); err != nil {
		t.Fatal(err)
	}
	figures.Table(os.Stdout, "walk", l.all)
}
