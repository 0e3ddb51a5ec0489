package layerstore_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"touchdown/backend/images/layerstore"
	"touchdown/backend/images/store"
	"touchdown/test/wait"
)

// The child process does one operation and kills itself at one of the points that could be cut.
const (
	childOp      = "TOUCHDOWN_POOL_OP"
	childPoint   = "TOUCHDOWN_POOL_POINT"
	childStore   = "TOUCHDOWN_POOL_DIR"
	childPrimary = "TOUCHDOWN_POOL_PRIMARY"
)

func child() int {
	left, _ := strconv.Atoi(os.Getenv(childPoint))
	p, err := layerstore.Open(os.Getenv(childStore))
	if err != nil {
		fmt.Println(err)
		return 1
	}
	p.Step = func(string) {
		if left--; left == 0 {
			_ = unix.Kill(os.Getpid(), unix.SIGKILL)
			select {}
		}
	}
	if err := operate(p, os.Getenv(childOp), os.Getenv(childPrimary)); err != nil {
		fmt.Println(err)
		return 1
	}
	return 0
}

// operate does an operation to its end.
func operate(p *layerstore.Store, op, primary string) error {
	ctx := context.Background()
	if op == "move" {
		_, err := p.Move(ctx, primary, layerstore.Selection{})
		return err
	}
	s, err := store.Open(ctx, primary)
	if err != nil {
		return err
	}
	g, err := p.Add(ctx, s, layerstore.Selection{}, nil)
	if err != nil {
		return err
	}
	if err := p.Switch(ctx, g.N); err != nil {
		return err
	}
	if op == "prune" {
		return p.Prune(ctx, primary)
	}
	return nil
}

// run starts the operation in a child that dies at a point, or after -point milliseconds, and tells whether it came so far.
func (b *bench) run(op string, point int, with ...string) (died bool) {
	b.Helper()
	argv := append(slices.Clone(with), "/proc/self/exe")
	if len(with) > 0 {
		self, err := os.Executable()
		b.must(err)
		argv[len(argv)-1] = self
	}
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env = append(os.Environ(), childOp+"="+op, childPoint+"="+strconv.Itoa(point), childStore+"="+b.seeded.Dir, childPrimary+"="+b.primary)
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	b.must(cmd.Start())
	if point < 0 { // dies at a time instead
		timer := time.AfterFunc(time.Duration(-point)*time.Millisecond, func() { _ = cmd.Process.Kill() })
		defer timer.Stop()
	}
	err := cmd.Wait()
	if err != nil && cmd.ProcessState.ExitCode() != -1 {
		b.Fatalf("%s to point %d: %v\n%s", op, point, err, said.String())
	}
	return err != nil
}

// rest recovers and verifies everything: the image store, the primary, what both hold together, and what the container stands on.
func (b *bench) rest(where string) (sound bool) {
	b.Helper()
	fault := func(format string, args ...any) {
		sound = false
		b.Logf("%s: %s", where, fmt.Sprintf(format, args...))
	}
	sound = true
	p, err := layerstore.Open(b.seeded.Dir)
	if err == nil {
		err = p.Recover(b.Context())
	}
	if err != nil {
		fault("recovering: %v", err)
		return sound
	}
	g, err := p.Current()
	if err != nil {
		fault("%v", err)
		return sound
	}
	if n := len(g.Images); n != 1 && n != 4 {
		fault("generation %d with %d images is neither the old nor the new one", g.N, n)
	}
	seeded, err := p.Store(b.Context(), g.N)
	if err != nil {
		fault("%v", err)
		return sound
	}
	primary, err := store.Open(b.Context(), b.primary)
	if err != nil {
		fault("%v", err)
		return sound
	}
	for _, s := range []*store.Store{seeded, primary} {
		quick, err1 := s.Quick(b.Context(), store.VerifyOptions{Beside: seeded})
		full, err2 := s.Full(b.Context(), store.VerifyOptions{Beside: seeded})
		for _, d := range append(quick, full...) {
			fault("%s: %s", s.Root, d)
		}
		if err1 != nil || err2 != nil {
			fault("%s: %v, %v", s.Root, err1, err2)
		}
	}
	for _, id := range b.images {
		_, here := primary.Image(id)
		_, there := seeded.Image(id)
		if !here && !there {
			fault("image %s is lost", id)
		}
	}
	if lost := b.standsOn(); lost != "" {
		fault("the container stands on %s, which leads nowhere", lost)
	}
	return sound
}

// standsOn follows the container's list of ancestors as the library does: in the primary, then in the additional store.
func (b *bench) standsOn() string {
	lower, err := os.ReadFile(filepath.Join(b.primary, "overlay", b.box, "lower"))
	b.must(err)
	for link := range strings.SplitSeq(string(lower), ":") {
		_, here := os.Stat(filepath.Join(b.primary, "overlay", link))
		_, there := os.Stat(filepath.Join(b.seeded.Dir, "current", "overlay", link))
		if here != nil && there != nil {
			return link
		}
	}
	return ""
}

// begun is a bench with one image seeded, saved.
func begun(t *testing.T) *bench {
	t.Helper()
	wait.Slow(t)
	b := newBench(t, "xfs")
	b.must(b.seeded.Switch(t.Context(), b.add(layerstore.Selection{Images: b.images[3:]}).N))
	b.disk.Save()
	return b
}

// TestKillAtEveryPoint: killed at any point of adding, moving and pruning, the store has the old or the new images, and the work can be done again.
func TestKillAtEveryPoint(t *testing.T) {
	for _, op := range []string{"add", "move", "prune"} {
		t.Run(op, func(t *testing.T) {
			b := begun(t)
			points := 0
			for point := 1; ; point++ {
				b.disk.Restore()
				died := b.run(op, point)
				if !b.rest(fmt.Sprintf("%s killed at point %d", op, point)) {
					t.Fail()
				}
				if !died {
					break
				}
				points++
				b.must(operate(b.seeded, op, b.primary))
				if g := b.whole(); len(g.Images) != 4 {
					t.Errorf("done again after point %d, there are %d images", point, len(g.Images))
				}
			}
			t.Logf("%s was killed at %d points", op, points)
			if points < 10 {
				t.Errorf("only %d points", points)
			}
		})
	}
}

// TestWipeBeforeTheMoveGoesOn: CRI-O starts after the crash before Recover has run, and wipes its store.
func TestWipeBeforeTheMoveGoesOn(t *testing.T) {
	b := begun(t)
	for point := 1; ; point++ {
		b.disk.Restore()
		if !b.run("move", point) {
			break
		}
		b.must(os.RemoveAll(b.primary))
		b.must(b.seeded.Recover(t.Context()))
		if g := b.whole(); len(g.Images) != 1 && len(g.Images) != 4 {
			t.Errorf("after point %d generation %d has %d images", point, g.N, len(g.Images))
		}
		b.repulled()
		b.must(operate(b.seeded, "add", b.primary))
		b.whole()
	}
}

// cuts is how many power cuts there are; TOUCHDOWN_CUTS asks for more.
func cuts() int {
	if n, err := strconv.Atoi(os.Getenv("TOUCHDOWN_CUTS")); err == nil {
		return n
	}
	return 45
}

// cut does an operation up to a random point, takes the power away, and tells whether all is well afterwards.
func (b *bench) cut(rnd *rand.Rand, with ...string) bool {
	b.Helper()
	op := []string{"add", "move", "prune"}[rnd.IntN(3)]
	point, flush := 1+rnd.IntN(30), rnd.IntN(2) == 0
	if rnd.IntN(2) == 0 {
		point = -1 - rnd.IntN(150)
	}
	b.disk.Restore()
	died := b.run(op, point, with...)
	b.disk.Cut(flush)
	where := fmt.Sprintf("%s, power cut at point %d, died %v, log flushed %v", op, point, died, flush)
	if !b.rest(where) {
		return false
	}
	if g, err := b.seeded.Current(); !died && (err != nil || len(g.Images) != 4) {
		b.Logf("%s: it was done, and generation %d has %d images", where, g.N, len(g.Images))
		return false
	}
	return true
}

// TestPowerCut: after power cuts at random moments, of which what was not synced is lost, the store has the old or the new images.
func TestPowerCut(t *testing.T) {
	b := begun(t)
	seed := rand.Uint64()
	rnd := rand.New(rand.NewPCG(seed, 0))
	for range cuts() {
		if !b.cut(rnd) {
			t.Errorf("seed %d", seed)
		}
		b.must(operate(b.seeded, "add", b.primary))
		b.whole()
	}
}

// TestPowerCutFindsAMissingSync: with syncs that do nothing, the same test must fail, or it proves nothing.
func TestPowerCutFindsAMissingSync(t *testing.T) {
	b := begun(t)
	nosync := filepath.Join(t.TempDir(), "nosync")
	if out, err := exec.Command("go", "build", "-o", nosync, "touchdown/test/bench/nosync").CombinedOutput(); err != nil {
		t.Fatalf("building: %v\n%s", err, out)
	}
	rnd := rand.New(rand.NewPCG(1, 0))
	for n := range 30 {
		if !b.cut(rnd, nosync) {
			t.Logf("found out by cut %d", n+1)
			return
		}
	}
	t.Error("syncs that do nothing are not found out")
}
