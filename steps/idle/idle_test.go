package idle

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/bcrypt"

	"touchdown/backend/host/hosttest"
	"touchdown/backend/layout"
	"touchdown/steps/site/pin"
)

// quick is the hash of a PIN that costs as little as is taken.
func quick(t *testing.T, text string) pin.Hash {
	t.Helper()
	h, err := bcrypt.GenerateFromPassword([]byte(text), 10)
	if err != nil {
		t.Fatal(err)
	}
	return pin.Hash(h)
}

// rig is a lock with its folder and its clock.
type rig struct {
	*Lock
	dir string
	now time.Time
	log strings.Builder
}

func newRig(t *testing.T) *rig {
	r := &rig{dir: t.TempDir(), now: time.Unix(1_800_000_000, 0)}
	r.open()
	return r
}

// open is a start of the engine.
func (r *rig) open() {
	r.Lock = Open(Options{
		Dir: r.dir, Now: func() time.Time { return r.now }, Log: slog.New(slog.NewTextHandler(&r.log, nil)),
		Baked: func() ([]byte, error) { return os.ReadFile(filepath.Join(r.dir, "baked")) },
	})
}

func (r *rig) wants(t *testing.T, ctx context.Context, typed string, want error) {
	t.Helper()
	if err := r.Present(ctx, typed); !errors.Is(err, want) || want == nil && err != nil {
		t.Errorf("%q with the PIN %q: %v, want %v", Console(ctx), typed, err, want)
	}
}

func TestLocksWhatNobodyUses(t *testing.T) {
	r, tty, serial := newRig(t), At(t.Context(), "tty1"), At(t.Context(), "ttyS0")
	if r.View(tty) != nil {
		t.Error("there is a lock without a PIN")
	}
	r.wants(t, tty, "", nil)
	if err := r.Set(quick(t, "739215"), 10*time.Minute); err != nil {
		t.Fatal(err)
	}
	r.wants(t, tty, "", nil) // it was used when the PIN was set
	r.wants(t, serial, "", ErrLocked)
	r.wants(t, t.Context(), "", nil) // a command of root
	r.now = r.now.Add(9 * time.Minute)
	r.wants(t, tty, "", nil)
	r.now = r.now.Add(9 * time.Minute)
	if v := r.View(tty); v == nil || v.Left != 60 || v.After != 600 {
		t.Errorf("a minute before it locks: %+v", v)
	}
	r.now = r.now.Add(time.Minute)
	r.wants(t, tty, "", ErrLocked)
	if v := r.View(tty); v.Left != 0 {
		t.Errorf("it is locked: %+v", v)
	}
	r.wants(t, tty, "739215", nil)
	r.wants(t, tty, "", nil)
	r.wants(t, serial, "", ErrLocked) // one PIN opens one console
	r.open()
	r.wants(t, tty, "", ErrLocked) // after a restart nobody is known to be there
	r.wants(t, tty, "739215", nil)
	if err := r.Set("", 10*time.Minute); err != nil {
		t.Fatal(err)
	}
	r.wants(t, serial, "", nil)
}

// TestWrongPINsSlowDown: for all consoles, over restarts, longer each time, and never for good.
func TestWrongPINsSlowDown(t *testing.T) {
	r, tty, serial := newRig(t), At(t.Context(), "tty1"), At(t.Context(), "ttyS0")
	if err := r.Set(quick(t, "739215"), time.Minute); err != nil {
		t.Fatal(err)
	}
	var last time.Duration
	for n := 1; n <= 12; n++ {
		r.wants(t, tty, "000001", ErrWrong)
		r.wants(t, serial, "739215", ErrSoon) // the right one is not tried either
		if n%3 == 0 {
			r.now = r.now.Add(time.Hour)
			r.open() // waits again, whatever the clock says
			r.wants(t, tty, "739215", ErrSoon)
		}
		wait := time.Duration(r.View(tty).Wait * float64(time.Second))
		if wait < last || wait > slowest || n > 1 && n < 9 && wait != 2*last {
			t.Errorf("%s after %d wrong ones, %s before", wait, n, last)
		}
		last = wait
		r.now = r.now.Add(wait)
	}
	if last != slowest {
		t.Errorf("the longest wait is %s", last)
	}
	r.wants(t, serial, "739215", nil)
	r.now = r.now.Add(time.Hour)
	r.wants(t, tty, "000001", ErrWrong)
	if v := r.View(tty); v.Wait != 1 {
		t.Errorf("after a right one the wait begins at %v s", v.Wait)
	}
	if strings.Contains(r.log.String(), "739215") || strings.Contains(r.log.String(), "000001") || !strings.Contains(r.log.String(), "wrong PIN") {
		t.Errorf("the log:\n%s", r.log.String())
	}
}

// TestARightPINForgivesNoOtherTry: while the hash of a wrong PIN was computed, for longer than the wait, another console typed the right one.
func TestARightPINForgivesNoOtherTry(t *testing.T) {
	r, tty, serial := newRig(t), At(t.Context(), "tty1"), At(t.Context(), "ttyS0")
	if err := r.Set(quick(t, "739215"), time.Minute); err != nil {
		t.Fatal(err)
	}
	r.count(1) // as try does before it lets the lock go
	r.now = r.now.Add(time.Second)
	r.wants(t, serial, "739215", nil)
	r.mu.Lock()
	err := r.tried("tty1", 1, false)
	r.mu.Unlock()
	if !errors.Is(err, ErrWrong) {
		t.Errorf("the wrong PIN: %v", err)
	}
	if v := r.View(tty); v.Wait != 1 {
		t.Errorf("after the wrong PIN the wait is %v s", v.Wait)
	}
	r.wants(t, tty, "739215", ErrSoon)
}

func TestKept(t *testing.T) {
	r, tty := newRig(t), At(t.Context(), "tty1")
	h := quick(t, "739215")
	if err := r.Set(h, time.Minute); err != nil {
		t.Fatal(err)
	}
	r.wants(t, tty, "000001", ErrWrong)
	for _, name := range []string{siteFile, wrongFile} {
		info, err := os.Stat(filepath.Join(r.dir, name))
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", name, info, err)
		}
		data, _ := os.ReadFile(filepath.Join(r.dir, name))
		if strings.Contains(string(data), "739215") {
			t.Errorf("%s has the PIN: %s", name, data)
		}
	}
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(r.dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(wrongFile, "lots\n")
	r.open()
	if v := r.View(tty); v == nil || v.Wait != slowest.Seconds() {
		t.Errorf("a damaged count: %+v", v)
	}
	for _, damaged := range []string{"", "{", `{"pin":"739215"}`, `{"pin":"` + string(h) + `","lockAfter":"soon"}`} {
		write(siteFile, damaged)
		if r.open(); !r.Broken() || r.View(tty) != nil {
			t.Errorf("%q: broken %t, %+v", damaged, r.Broken(), r.View(tty))
		}
	}
	write("baked", string(setting{pin: h}.encode()))
	if v := r.View(tty); r.Broken() || v == nil || v.After != usual.Seconds() {
		t.Errorf("the PIN of the bake does not stand in: %+v", v)
	}
	if err := r.Set("", time.Minute); err != nil {
		t.Fatal(err)
	}
	if v := r.View(tty); v == nil || v.After != 60 {
		t.Errorf("the time of the site config does not count for the PIN of the bake: %+v", v)
	}
}

func TestKeepsWithoutADisk(t *testing.T) {
	r, tty := newRig(t), At(t.Context(), "tty1")
	if err := r.Set(quick(t, "739215"), time.Minute); err != nil {
		t.Fatal(err)
	}
	r.o.Dir = filepath.Join(r.dir, "gone")
	r.wants(t, tty, "000001", ErrWrong)
	r.wants(t, tty, "739215", ErrSoon)
	if err := r.Set("", time.Minute); err == nil || r.View(tty) == nil {
		t.Error("a setting that cannot be kept is taken")
	}
	none := Open(Options{Now: time.Now, Log: slog.New(slog.DiscardHandler)})
	if err := none.Set("", time.Minute); err != nil || none.View(tty) != nil || none.May(tty) != nil {
		t.Errorf("without a folder: %v", err)
	}
}

func TestBake(t *testing.T) {
	m := hosttest.New(t)
	if p, bad := Baked(m.Machine); p != "" || bad {
		t.Errorf("without a bake: %v, %t", p, bad)
	}
	if err := Bake(m.Machine, quick(t, "739215")); err != nil {
		t.Fatal(err)
	}
	if p, bad := Baked(m.Machine); !p.Matches("739215") || bad {
		t.Errorf("after it: %v, %t", p, bad)
	}
	if info, err := os.Stat(m.Path(layout.ConsolePIN)); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
}
