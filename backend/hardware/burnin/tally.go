package burnin

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"touchdown/backend/message"
)

// The kinds of fault that the load itself sees.
const (
	kindCPU    = "cpu"
	kindMemory = "memory"
	kindDisk   = "disk"
)

// maxTold is how many faults of a kind are told one by one; all are counted.
const maxTold = 10

// Tally is what the load has done so far. The worker prints one as a line of JSON each second.
type Tally struct {
	Rounds   map[int]int64    `json:"rounds,omitempty"`   // by CPU: how often it did all its computations
	Passes   map[int]int64    `json:"passes,omitempty"`   // by CPU: how often its share of the memory was written and read back
	Unloaded unloadedCPUs     `json:"unloaded,omitempty"` // CPUs that were not loaded as they should be
	Compared int64            `json:"compared,omitempty"` // bytes of memory that were read back
	Memory   message.Text     `json:"memory,omitzero"`    // why the test of the memory ended early
	Written  int64            `json:"written,omitempty"`  // bytes, to the disk
	Read     int64            `json:"read,omitempty"`     // bytes, from the disk and past the page cache where Direct
	Direct   bool             `json:"direct,omitempty"`   // the file system lets a file be read past the page cache (O_DIRECT)
	Disk     message.Text     `json:"disk,omitzero"`      // why the test of the disk ended early
	Wrong    map[string]int64 `json:"wrong,omitempty"`    // by kind: results that were wrong
	Told     []fault          `json:"told,omitempty"`     // the first of each kind
	Done     bool             `json:"done,omitempty"`     // the time is over: this is the last one
}

// unloaded is a CPU that was not loaded as it should be.
type unloaded struct {
	CPU int          `json:"cpu"`
	Why message.Text `json:"why"`
}

// unloadedCPUs are in the order in which they were found.
type unloadedCPUs []unloaded

// UnmarshalJSON also reads what an earlier release kept: a reason in English by CPU.
func (u *unloadedCPUs) UnmarshalJSON(data []byte) error {
	var old map[int]string
	if json.Unmarshal(data, &old) != nil {
		if err := json.Unmarshal(data, (*[]unloaded)(u)); err != nil {
			return fmt.Errorf("reading which CPUs were not loaded: %w", err)
		}
		return nil
	}
	for _, cpu := range slices.Sorted(maps.Keys(old)) {
		*u = append(*u, unloaded{cpu, message.Verbatim(old[cpu])})
	}
	return nil
}

// fault is a result that was wrong.
type fault struct {
	Kind string       `json:"kind"`
	What message.Text `json:"what"`
}

// UnmarshalJSON also reads what an earlier release kept: "kind: what", in English.
func (f *fault) UnmarshalJSON(data []byte) error {
	var old string
	if json.Unmarshal(data, &old) != nil {
		type plain fault // without this method
		if err := json.Unmarshal(data, (*plain)(f)); err != nil {
			return fmt.Errorf("reading what was wrong: %w", err)
		}
		return nil
	}
	kind, what, _ := strings.Cut(old, ": ")
	*f = fault{kind, message.Verbatim(what)}
	return nil
}

// printed is a tally as the worker prints it: texts in English, and beside them which messages they are.
type printed struct {
	Tally
	Messages message.Messages `json:"messages,omitempty"`
}

// readTally reads a line of the worker.
func readTally(line []byte) (Tally, error) {
	var p printed
	if err := json.Unmarshal(line, &p); err != nil {
		return Tally{}, fmt.Errorf("reading what the load has done: %w", err)
	}
	message.Restore(&p.Tally, p.Messages)
	return p.Tally, nil
}

// books are a tally that many threads keep.
type books struct {
	tamper tamper
	mu     sync.Mutex
	t      Tally
}

// tamper is for tests: what spoils a result as a broken part would.
type tamper struct {
	cpu       func(cpu int, result uint64) uint64
	memory    func(cpu int, block []uint64)
	disk      func(block []byte)
	available func() (int64, error) // in place of MemAvailable, in bytes
}

func newBooks(spoil tamper) *books {
	return &books{tamper: spoil, t: Tally{Rounds: map[int]int64{}, Passes: map[int]int64{}, Wrong: map[string]int64{}}}
}

// keep changes the tally.
func (b *books) keep(change func(*Tally)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	change(&b.t)
}

// now is a copy of the tally.
func (b *books) now() Tally {
	b.mu.Lock()
	defer b.mu.Unlock()
	t := b.t
	t.Rounds, t.Passes, t.Wrong = maps.Clone(t.Rounds), maps.Clone(t.Passes), maps.Clone(t.Wrong)
	t.Unloaded, t.Told = slices.Clone(t.Unloaded), slices.Clone(t.Told)
	return t
}

func (b *books) round(cpu int)               { b.keep(func(t *Tally) { t.Rounds[cpu]++ }) }
func (b *books) pass(cpu int)                { b.keep(func(t *Tally) { t.Passes[cpu]++ }) }
func (b *books) compared(n int64)            { b.keep(func(t *Tally) { t.Compared += n }) }
func (b *books) memoryEnds(why message.Text) { b.keep(func(t *Tally) { t.Memory = why }) }
func (b *books) diskEnds(why message.Text)   { b.keep(func(t *Tally) { t.Disk = why }) }

func (b *books) unloaded(cpu int, err error) {
	b.keep(func(t *Tally) { t.Unloaded = append(t.Unloaded, unloaded{cpu, message.Detail(err)}) })
}

// wrong counts a wrong result, and keeps the first ones of its kind.
func (b *books) wrong(kind string, what message.Text) {
	b.keep(func(t *Tally) {
		if t.Wrong[kind]++; t.Wrong[kind] <= maxTold {
			t.Told = append(t.Told, fault{kind, what})
		}
	})
}

// idle tells whether a CPU was not loaded as it should be, and why.
func (t Tally) idle(cpu int) (why message.Text, is bool) {
	for _, u := range slices.Backward(t.Unloaded) {
		if u.CPU == cpu {
			return u.Why, true
		}
	}
	return message.T("it computed nothing"), t.Rounds[cpu] == 0
}

// faults is how many results were wrong.
func (t Tally) faults() (n int64) {
	for _, count := range t.Wrong {
		n += count
	}
	return n
}
