package tui

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"touchdown/test/rounds"
)

// What a round consists of, and what it may use.
const (
	monkeyKeys  = 100_000 // of a long round
	monkeyShort = 1_500
	monkeyHang  = 2 * time.Second // of a processor's time, for one thing that happens
	monkeyHeap  = 256 << 20
)

// TestMonkey presses random keys at three consoles of one engine, whatever state the job is in. The keys come from the same
// decoder as a person's; commands run at once or late, and the clock stands between two keys, so that a round is the same each
// time. After each thing that happens the rules of monkeyrules_test.go must hold.
func TestMonkey(t *testing.T) {
	rounds.Play(t, func(t *testing.T, r rounds.Round) map[string]int {
		m := newMonkey(t, r)
		stop := m.watch()
		defer stop()
		keys := monkeyShort
		if r.Long {
			keys = monkeyKeys
			debug.SetGCPercent(400)
		}
		for m.counts["keys"] < keys && !t.Failed() {
			m.step()
		}
		m.memory()
		return m.counts
	})
}

// monkey is one round.
type monkey struct {
	t      *testing.T
	r      rounds.Round
	now    time.Time
	engine *jungle
	seats  []*seat
	counts map[string]int
	past   [200]happening // the last ones, for whoever looks for the cause of a failure
	n      atomic.Int64   // how many there were
}

// happening is one thing that happened. Its text is made only when it is printed.
type happening struct {
	at   string // the console, or the engine
	what any
}

func newMonkey(t *testing.T, r rounds.Round) *monkey {
	m := &monkey{t: t, r: r, now: epoch, counts: map[string]int{}}
	m.engine = newJungle(m)
	for _, name := range []string{"tty1", "ttyS0", "ssh pts/3"} {
		s := &seat{m: m, name: name}
		s.sit()
		m.seats = append(m.seats, s)
	}
	return m
}

// note remembers what happens now.
func (m *monkey) note(at string, what any) {
	m.past[m.n.Load()%int64(len(m.past))] = happening{at, what}
	m.n.Add(1)
}

// step lets one thing happen.
func (m *monkey) step() {
	began := worked()
	defer func() {
		if p := recover(); p != nil {
			m.fail("panic: %v\n%s", p, debug.Stack())
		}
		if took := worked() - began; took > monkeyHang {
			m.fail("it took %s of a processor's time", took)
		}
	}()
	s := m.seats[m.r.IntN(len(m.seats))]
	if m.r.Chance(2) {
		s = m.seats[0] // one console is busier than the others
	}
	switch n := m.r.IntN(1000); {
	case n < 12:
		m.engine.turn()
	case n < 20:
		m.pass(rounds.One(m.r, time.Second, 3*time.Second, time.Minute, time.Hour))
	case n < 24:
		s.resize()
	case n == 24:
		s.hangUp()
	case n < 60:
		s.late()
	default:
		s.press()
	}
}

// pass lets time pass: ticks that are due come.
func (m *monkey) pass(d time.Duration) {
	m.now = m.now.Add(d)
	for _, s := range m.seats {
		if s.tick != nil && !m.now.Before(s.due) {
			tick := s.tick
			s.tick = nil
			m.note(s.name, "tick")
			s.deliver(tick(m.now), cause{})
		}
	}
}

// watch ends a round that does not come to its end. A step that hangs cannot tell it itself.
func (m *monkey) watch() (stop func()) {
	ctx, stop := context.WithCancel(context.Background())
	go func() {
		last, since := int64(-1), worked()
		for ctx.Err() == nil {
			time.Sleep(500 * time.Millisecond) // only how often it looks: a hang is measured in processor time
			if n := m.n.Load(); n != last {
				last, since = n, worked()
			}
			if worked()-since > 5*monkeyHang {
				panic(fmt.Sprintf("seed %d, round %d hangs after:\n%s", m.r.Seed, m.r.Number, m.story()))
			}
		}
	}()
	return stop
}

// memory fails when a round left more behind than three consoles need.
func (m *monkey) memory() {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	if stats.HeapAlloc > monkeyHeap {
		m.fail("the heap has %d MiB", stats.HeapAlloc>>20)
	}
}

// fail tells what went wrong and how to see it again.
func (m *monkey) fail(format string, args ...any) {
	m.t.Helper()
	if !m.t.Failed() {
		m.t.Errorf("seed %d, round %d: %s\nbefore it:\n%s", m.r.Seed, m.r.Number, fmt.Sprintf(format, args...), m.story())
	}
}

// story is what happened last.
func (m *monkey) story() string {
	var out strings.Builder
	n := m.n.Load()
	for i := max(0, n-int64(len(m.past))); i < n; i++ {
		h := m.past[i%int64(len(m.past))]
		text := fmt.Sprintf("%q", h.what)
		if msg, ok := h.what.(tea.Msg); ok && !strings.HasPrefix(fmt.Sprintf("%T", h.what), "[]") {
			text = fmt.Sprint(msg)
		}
		fmt.Fprintf(&out, "  %-10s %.200s\n", h.at, text)
	}
	return out.String()
}
