// Package idle locks the consoles that nobody uses, where a PIN is set. It counts wrong PINs for all consoles together.
//
// A console is a person's window on the engine: on a screen, a serial line, a Serial-over-LAN or in an SSH session. It says which
// one it is with each request. A command that root runs says nothing and is never locked.
package idle

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"sync"
	"time"

	"touchdown/backend/message"
	"touchdown/steps/site/pin"
)

// The errors that a console can tell apart; they keep their identity over the socket.
var (
	ErrLocked = errors.New("this console is locked; type the PIN")
	ErrWrong  = errors.New("the PIN is wrong")
	ErrSoon   = errors.New("it is too soon after a wrong PIN")
)

// Check is the ID of the check that warns where no console locks. It says nothing about the landing, so it stops none.
const Check = "console-lock"

// slowest is the longest wait after a wrong PIN: a person who mistyped many times still gets in.
const slowest = 5 * time.Minute

// View is what a console is told about its lock.
type View struct {
	After float64 `json:"afterSeconds"`          // how long nobody uses a console before it locks
	Left  float64 `json:"leftSeconds,omitempty"` // until the console that asked locks; 0: it is locked
	Wait  float64 `json:"waitSeconds,omitempty"` // until the next PIN is tried
}

// Options say where a Lock keeps what outlives the engine, and what it is measured by.
type Options struct {
	Dir   string                 // of the engine; "": nothing is kept
	Baked func() ([]byte, error) // the file that the bake left; the error is fs.ErrNotExist where there is none
	Now   func() time.Time
	Log   *slog.Logger
}

// Lock is the lock of all consoles of a node.
type Lock struct {
	o Options

	mu    sync.Mutex
	site  setting              // what the site config says
	bad   bool                 // a PIN was set, and its file cannot be read
	wrong int                  // PINs since the last right one
	next  time.Time            // before that no PIN is tried
	seen  map[string]time.Time // when a person used a console last that is open
}

// Open reads what an earlier engine kept. The wait after wrong PINs begins again, in full: no clock has to be trusted for it.
func Open(o Options) *Lock {
	l := &Lock{o: o, seen: map[string]time.Time{}}
	l.site, l.bad = readSite(o.Dir)
	if l.wrong = readWrong(o.Dir); l.wrong > 0 {
		l.next = o.Now().Add(delay(l.wrong))
	}
	return l
}

// delay is how long nobody may try another PIN after so many wrong ones: 1 s, and twice as long after each.
func delay(wrong int) time.Duration {
	if wrong > 8 { // 256 s
		return slowest
	}
	return time.Second << (wrong - 1)
}

// Set takes over what a person set in the site config, durably. Without a PIN in it, that of the bake counts.
func (l *Lock) Set(p pin.Hash, after time.Duration) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.take(setting{p, after}); err != nil {
		return err
	}
	return forgetBefore(l.o.Dir)
}

// Begin takes over what the accepted site config says, durably, until Back or Keep ends the job: an earlier site's PIN does not
// count at a site that has none.
func (l *Lock) Begin(p pin.Hash, after time.Duration) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := keepBefore(l.o.Dir, l.site); err != nil {
		return err
	}
	return l.take(setting{p, after})
}

// Back has what counted before the first Begin count again; without a Begin it changes nothing.
func (l *Lock) Back() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	was, ok := readBefore(l.o.Dir)
	if !ok {
		return nil
	}
	if err := l.take(was); err != nil {
		return err
	}
	return forgetBefore(l.o.Dir)
}

// Keep ends the job: what counts now is not put back any more.
func (l *Lock) Keep() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return forgetBefore(l.o.Dir)
}

// take keeps a setting and has it count. Whoever calls it holds mu.
func (l *Lock) take(is setting) error {
	if err := keepSite(l.o.Dir, is); err != nil {
		return err
	}
	l.site, l.bad = is, false
	return nil
}

// Broken tells whether a PIN was set that cannot be read, so that consoles stay open.
func (l *Lock) Broken() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	now, bad := l.setting()
	return bad && !now.pin.Valid()
}

// setting is what counts now. Whoever calls it holds mu.
func (l *Lock) setting() (now setting, bad bool) {
	baked, bakedBad := readBaked(l.o.Baked)
	return l.site.over(baked), l.bad || bakedBad
}

// May fails with ErrLocked when a console asks that is locked. What a console does that is open counts as use.
func (l *Lock) May(ctx context.Context) error {
	return l.Present(ctx, "")
}

// Present notes that a person uses the console of ctx. A console that is locked opens by the PIN, and by nothing else.
func (l *Lock) Present(ctx context.Context, typed string) error {
	console := Console(ctx)
	if console == "" {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	now, _ := l.setting()
	switch {
	case !now.pin.Valid():
	case typed != "":
		return l.try(console, now.pin, typed)
	case l.left(console, now) <= 0:
		return ErrLocked
	}
	l.use(console, now)
	return nil
}

// try opens a console by a PIN. The try is counted on the disk before it is made, so that a power cut forgives nothing, and the
// lock is let go while the hash is computed: everybody else finds that it is too soon.
func (l *Lock) try(console string, is pin.Hash, typed string) error {
	if wait := l.next.Sub(l.o.Now()); wait > 0 {
		return fmt.Errorf("%w: wait %s", ErrSoon, wait.Round(time.Second))
	}
	if wrong, _ := pin.Check(typed); wrong != (message.Text{}) { // noise on a line: no PIN looks like this, so nothing is tried
		return ErrWrong
	}
	mine := l.wrong + 1
	l.count(mine)
	l.mu.Unlock()
	right := is.Matches(typed)
	l.mu.Lock()
	return l.tried(console, mine, right)
}

// tried takes in what became of the try number mine. Another console may have typed the right PIN meanwhile, where the hash took longer
// than the wait: that forgives no wrong one.
func (l *Lock) tried(console string, mine int, right bool) error {
	if !right {
		if l.wrong < mine {
			l.count(mine)
		}
		l.next = l.o.Now().Add(delay(l.wrong)) // the wait begins when the answer is there
		l.o.Log.Warn("a wrong PIN was typed", "console", console, "in a row", l.wrong)
		return ErrWrong
	}
	l.count(0)
	now, _ := l.setting()
	l.use(console, now)
	return nil
}

// count keeps how many PINs in a row were wrong. On a disk that takes nothing it counts for this engine.
func (l *Lock) count(wrong int) {
	l.wrong, l.next = wrong, time.Time{}
	if wrong > 0 {
		l.next = l.o.Now().Add(delay(wrong))
	}
	if err := keepWrong(l.o.Dir, wrong); err != nil {
		l.o.Log.Error("the number of wrong PINs cannot be kept", "error", err)
	}
}

// use notes a use of a console, and forgets the consoles that are locked: one that was never seen is locked too.
func (l *Lock) use(console string, now setting) {
	l.seen[console] = l.o.Now()
	maps.DeleteFunc(l.seen, func(name string, _ time.Time) bool { return l.left(name, now) <= 0 })
}

// left is how long a console stays open if nobody uses it.
func (l *Lock) left(console string, now setting) time.Duration {
	at, ok := l.seen[console]
	if !ok {
		return 0
	}
	return max(at.Add(now.time()).Sub(l.o.Now()), 0)
}

// View tells the console of ctx about its lock; nil where no PIN is set.
func (l *Lock) View(ctx context.Context) *View {
	l.mu.Lock()
	defer l.mu.Unlock()
	now, _ := l.setting()
	if !now.pin.Valid() {
		return nil
	}
	return &View{
		After: now.time().Seconds(), Left: l.left(Console(ctx), now).Seconds(), Wait: max(l.next.Sub(l.o.Now()), 0).Seconds(),
	}
}

// key is of the console in a context.
type key struct{}

// At says that a request comes from a person at a console.
func At(ctx context.Context, console string) context.Context {
	return context.WithValue(ctx, key{}, console)
}

// Console is the console that a request comes from, or "".
func Console(ctx context.Context) string {
	console, _ := ctx.Value(key{}).(string)
	return console
}
