package seeded

import (
	"bufio"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// crashes reads how many faults to inject, and from which seed; `make test` injects a few, `make crash-images` many.
func crashes() (n int, seed uint64) {
	n, seed = 6, 7
	if v, err := strconv.Atoi(os.Getenv("CRASH_N")); err == nil {
		n = v
	}
	if v, err := strconv.ParseUint(os.Getenv("CRASH_SEED"), 10, 64); err == nil {
		seed = v
	}
	return n, seed
}

// The kinds of a fault.
const (
	killOne  = "kill"             // of the process that changes the store
	killBoth = "kill, CRI-O too"  // at once
	powerCut = "power cut"        // what is not synced is lost
	cutFlush = "cut, log flushed" // the names are on the disk, their data is not
)

// run is a node that is struck again and again.
type run struct {
	*seeded
	rand *rand.Rand
	made int // images so far

	took   map[string]time.Duration // by operation: the last undisturbed one
	points map[string]int           // by operation: those of the last undisturbed one
	tally  map[string]*tally        // by operation and kind
}

// tally counts faults and what the store held after them.
type tally struct{ faults, behind, old, new int }

// fault is one of them.
type fault struct {
	operation
	kind  string
	point int           // where; 0: at a moment
	wait  time.Duration // when
}

func (b fault) String() string {
	where := fmt.Sprintf("after %.2f s", b.wait.Seconds())
	if b.point > 0 {
		where = fmt.Sprintf("at point %d", b.point)
	}
	return fmt.Sprintf("%s, %s %s", b.name, b.kind, where)
}

// TestCrash strikes the node while the store is being changed. After each fault CRI-O must start, and list and resolve
// exactly the old or the new images.
func TestCrash(t *testing.T) {
	count, number := crashes()
	r := &run{
		seeded: start(t, 10*time.Minute+time.Duration(count)*time.Minute), rand: rand.New(rand.NewPCG(number, 0)),
		took: map[string]time.Duration{}, points: map[string]int{}, tally: map[string]*tally{},
	}
	t.Cleanup(func() { t.Logf("seed %d:\n%s\nfailed: %v", number, r.summary(), t.Failed()) })
	self, err := os.ReadFile("/proc/self/exe")
	r.must(err)
	r.must(r.node.WriteFile(program, self, 0o755))
	r.well("before")
	for n := range count {
		b := r.draw(n)
		begun := time.Now()
		struck := r.inject(b)
		t.Logf("%d: %s: %s (%.1f s)", n+1, b, struck, time.Since(begun).Seconds())
		if n%20 == 19 {
			t.Logf("so far:\n%s", r.summary())
		}
		if t.Failed() {
			t.Fatalf("seed %d, fault %d", number, n+1)
		}
	}
	r.run("images", "seed")
	r.run("images", "verify")
	r.well("at the end")
}

// draw deals operations in turn; half of the faults are injected at a point of those that have points.
func (r *run) draw(n int) fault {
	b := fault{operation: operations[n%len(operations)]}
	kinds := []string{killOne, killOne, killOne, killBoth, killBoth, killBoth, powerCut, cutFlush}
	if os.Getenv("CRASH_KIND") == "kill" { // a boot is much slower than CRI-O's start
		kinds = kinds[:6]
	}
	b.kind = kinds[r.rand.IntN(len(kinds))]
	usual := b.usual
	if took := r.took[b.name]; took > 0 {
		usual = took
	}
	b.wait = time.Duration(r.rand.Float64() * float64(usual))
	if b.points && r.rand.IntN(2) == 0 {
		b.point = 1 + r.rand.IntN(max(r.points[b.name], 20))
	}
	return b
}

// inject lets an operation begin, injects the fault, has the node come up, and judges what it came to.
func (r *run) inject(b fault) string {
	r.Helper()
	env, become := b.prepare(r)
	before, all := r.store(), r.store().with(r.primary())
	if b.offline {
		r.sh("systemctl stop kubelet crio")
	}
	at, pid := r.until(b, env)
	r.injectNow(b, pid)
	r.rise(b)

	t := r.count(b, pid == "")
	now := r.store()
	switch {
	case now.sameIDs(become):
		t.new++
	case now.sameIDs(before):
		t.old++
	default:
		r.Errorf("%s (%s): the store holds %s, the old ones are %s, the new %s", b, at, now, before, become)
	}
	if pid == "" && !now.sameIDs(become) {
		r.Errorf("%s: it had come to its end, and the store holds %s, want %s", b, now, become)
	}
	for id := range now.with(r.primary()) {
		delete(all, id)
	}
	for id, names := range all {
		if become[id] != nil || before[id] == nil {
			r.Errorf("%s (%s): %s is lost: %v", b, at, id, names)
		}
	}
	r.well(b.String() + " (" + at + ")")
	r.ready(b.String())
	r.tidy()
	return at
}

// until runs an operation until it is to be struck. It returns where that is, and the process, which is empty when the
// operation came to its end before.
func (r *run) until(b fault, env string) (at, pid string) {
	r.Helper()
	script := fmt.Sprintf("echo $$; export %s=%d %s; %s 2>&1", childPoint, b.point, env, b.script)
	cmd, err := r.node.Command(r.ctx, "bash", "-c", script)
	r.must(err)
	out, err := cmd.StdoutPipe()
	r.must(err)
	r.must(cmd.Start())
	begun := time.Now()
	lines, ended := make(chan string), make(chan error, 1)
	go func() {
		for s := bufio.NewScanner(out); s.Scan(); {
			lines <- s.Text()
		}
		ended <- cmd.Wait()
	}()
	pid = <-lines
	moment := time.After(b.wait) // it is drawn
	if b.point > 0 {
		moment = nil
	}
	said := ""
	for {
		select {
		case line := <-lines:
			said = line
			if strings.HasPrefix(line, "at ") {
				go drain(lines)
				return line, pid
			}
		case <-moment:
			go drain(lines)
			return "at a moment", pid
		case err := <-ended:
			var failed *exec.ExitError
			if errors.As(err, &failed) {
				r.Fatalf("%s: %v: %s", b, err, said)
			}
			r.took[b.name] = time.Since(begun)
			if n, is := strings.CutPrefix(said, "points "); is {
				r.points[b.name], _ = strconv.Atoi(n)
			}
			return "behind its end", ""
		}
	}
}

func drain(lines <-chan string) {
	for range lines { //nolint:revive // whoever writes into it must not stand still
	}
}

// injectNow injects the fault.
func (r *run) injectNow(b fault, pid string) {
	r.Helper()
	switch b.kind {
	case powerCut, cutFlush:
		r.must(r.node.PowerCut(r.ctx, b.kind == cutFlush))
	case killOne:
		r.sh("kill -9 " + pid + " 2>/dev/null || true")
	case killBoth:
		r.sh("kill -9 " + pid + " $(systemctl show -P MainPID crio | grep -vx 0) 2>/dev/null || true")
	}
}

// rise brings the node up again: as a boot does, or only the units that a boot would start, in their order.
func (r *run) rise(b fault) {
	r.Helper()
	if b.kind == powerCut || b.kind == cutFlush {
		r.must(r.node.Boot(r.ctx))
		r.ready(b.String())
		return
	}
	r.sh("systemctl stop kubelet crio; systemctl restart touchdown-images; systemctl start crio; systemctl start --no-block kubelet")
}

// tidy takes what the seeded store has out of CRI-O's own one, now and then, as a clean-up by the kubelet would.
func (r *run) tidy() {
	r.Helper()
	if r.rand.IntN(2) == 0 {
		return
	}
	store := r.store()
	for id, names := range r.primary() {
		if len(names) > 0 && strings.HasPrefix(names[0], mine) && store[id] != nil {
			r.sh("crictl rmi " + id)
		}
	}
	r.seen("after images were removed")
}

func (r *run) count(b fault, behind bool) *tally {
	var last *tally
	for _, key := range []string{b.name, b.kind} {
		if r.tally[key] == nil {
			r.tally[key] = &tally{}
		}
		last = r.tally[key]
		last.faults++
		if behind {
			last.behind++
		}
	}
	return last
}

func (r *run) summary() string {
	var b strings.Builder
	for _, key := range slices.Sorted(maps.Keys(r.tally)) {
		t := r.tally[key]
		fmt.Fprintf(&b, "%-18s %3d faults, %d of them behind the end", key, t.faults, t.behind)
		if t.old+t.new > 0 {
			fmt.Fprintf(&b, "; then the old images %d times, the new ones %d times", t.old, t.new)
		}
		b.WriteString("\n")
	}
	return strings.TrimSpace(b.String())
}
