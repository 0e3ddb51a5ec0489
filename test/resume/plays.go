package resume

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
)

// Plays are random scenes that take minutes each, several at once and in any order. For one fingerprint they are kept by seed, so that
// another seed, or a larger number of them, throws nothing away. A scene that went wrong is over too: what it showed stays.
type Plays struct {
	mu   sync.Mutex
	file string // empty: nothing is kept
	lock *os.File
	seed uint64

	Of    string                  `json:"of"`    // fingerprint of what is tested
	Seeds map[uint64]map[int]Play `json:"seeds"` // by seed and number
	Drawn map[uint64][][]string   `json:"drawn"` // what the scenes of a seed are drawn from
}

// Play is one scene that is over.
type Play struct {
	Scene  string         `json:"scene"` // in words; with other words it is another one
	Wrong  string         `json:"wrong,omitempty"`
	Counts map[string]int `json:"counts,omitempty"` // of what happened
}

// OpenPlays goes on with the plays of a file, if they have this fingerprint; fresh begins this seed again all the same. Without a
// fingerprint each run begins again. Until Close, or the end of the process, no other run can open the file: each would replace what
// the other one adds.
func OpenPlays(file, of string, seed uint64, fresh bool) (*Plays, error) {
	p := &Plays{}
	if file != "" {
		lock, err := lock(file + ".lock")
		if err != nil {
			return nil, err
		}
		if old := Load(file, func(old *Plays) bool { return of != "" && old.Of == of && old.Seeds != nil }); old != nil {
			p = old
		}
		p.lock = lock
	}
	if p.Seeds == nil {
		p.Seeds = map[uint64]map[int]Play{}
	}
	p.file, p.seed, p.Of = file, seed, of
	if p.Drawn == nil {
		p.Drawn = map[uint64][][]string{}
	}
	if p.Seeds[seed] == nil || fresh {
		p.Seeds[seed] = map[int]Play{}
		delete(p.Drawn, seed)
	}
	return p, nil
}

// Draw returns what the scenes of this seed are drawn from: what was given for its first run. Runs of one program may differ a little
// in what is drawn from, and from other lists would come other scenes, none of which was played.
func (p *Plays) Draw(from ...[]string) ([][]string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if old := p.Drawn[p.seed]; len(old) == len(from) {
		return old, nil
	}
	p.Drawn[p.seed] = from
	if p.file == "" {
		return from, nil
	}
	return from, Save(p.file, p)
}

// lock takes an exclusive lock on a separate file, since the file with the results is replaced whenever one is added.
func lock(file string) (*os.File, error) {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return nil, fmt.Errorf("locking what is kept: %w", err)
	}
	f, err := os.OpenFile(file, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, fmt.Errorf("locking what is kept: %w", err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, fmt.Errorf("another run keeps its results in the same file: wait for its end, or stop it (it holds %s)", file)
		}
		return nil, fmt.Errorf("locking %s: %w", file, err)
	}
	return f, nil
}

// Close lets another run open the file.
func (p *Plays) Close() {
	if p.lock != nil {
		_ = p.lock.Close()
	}
}

// Over tells whether this scene was played already, whatever its end.
func (p *Plays) Over(number int, scene string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	old, ok := p.Seeds[p.seed][number]
	return ok && old.Scene == scene
}

// Add keeps what came of a scene. What went wrong before under its number stays, before what went wrong now.
func (p *Plays) Add(number int, play Play) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if old := p.Seeds[p.seed][number]; old.Wrong != "" {
		wrong := fmt.Sprintf("%s (in the scene %s)", old.Wrong, old.Scene)
		play.Wrong = strings.Join(slices.DeleteFunc([]string{wrong, play.Wrong}, func(s string) bool { return s == "" }), "\n")
	}
	p.Seeds[p.seed][number] = play
	if p.file == "" {
		return nil
	}
	return Save(p.file, p)
}

// Wrong is what went wrong with this seed, a line or more for each scene, in order; empty if nothing did.
func (p *Plays) Wrong() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var b strings.Builder
	all := p.Seeds[p.seed]
	for _, number := range slices.Sorted(maps.Keys(all)) {
		if play := all[number]; play.Wrong != "" {
			fmt.Fprintf(&b, "%02d %s: %s\n", number, play.Scene, play.Wrong)
		}
	}
	return b.String()
}

// String counts what was done with this seed.
func (p *Plays) String() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	wrong, counts := 0, map[string]int{}
	for _, play := range p.Seeds[p.seed] {
		if play.Wrong != "" {
			wrong++
			continue
		}
		for what, n := range play.Counts {
			counts[what] += n
		}
	}
	return fmt.Sprintf("fingerprint %q, seed %d: %d scenes, %d wrong, in the others %v", p.Of, p.seed, len(p.Seeds[p.seed]), wrong, counts)
}
