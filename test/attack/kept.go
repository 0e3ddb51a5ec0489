package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"touchdown/test/resume"
)

// kept is the file of what was done for one commit.
type kept struct {
	Commit string    `json:"commit"`
	Runs   []*played `json:"runs"`
}

// played is what was done with one seed.
type played struct {
	Seed     uint64         `json:"seed"`
	Rounds   int            `json:"rounds"` // all before this one are over
	Counts   map[string]int `json:"counts"`
	Findings []found        `json:"findings,omitempty"`
}

// found is a round that failed and what its process wrote.
type found struct {
	Round int    `json:"round"`
	Text  string `json:"text"`
}

// load reads what was done for this commit and work tree; for another one that is nothing.
func load(ctx context.Context, file string, fresh bool) *kept {
	commit, err := resume.Commit(ctx)
	if err == nil && !fresh {
		if old := resume.Load(file, func(old *kept) bool { return resume.Clean(commit) && old.Commit == commit }); old != nil {
			return old
		}
	}
	return &kept{Commit: commit}
}

// of is what was done with a seed.
func (k *kept) of(seed uint64) *played {
	for _, p := range k.Runs {
		if p.Seed == seed {
			return p
		}
	}
	p := &played{Seed: seed, Counts: map[string]int{}}
	k.Runs = append(k.Runs, p)
	return p
}

func (p *played) add(d done) {
	p.Rounds = d.Round + 1
	for what, n := range d.Counts {
		p.Counts[what] += n
	}
}

// text is the last line of an attack.
func (p *played) text(name, unit string, each int, commit string) string {
	counts := ""
	for _, what := range slices.Sorted(maps.Keys(p.Counts)) {
		counts += fmt.Sprintf(", %d %s", p.Counts[what], what)
	}
	return fmt.Sprintf("%s: %d %s in %d rounds, seed %d, commit %s: %d findings%s",
		name, p.Rounds*each, unit, p.Rounds, p.Seed, commit, len(p.Findings), counts)
}

// sumUp prints what each attack of a folder has found, the fuzz targets among them.
func sumUp(dir string) error {
	findings := 0
	for _, name := range []string{"fuzz", "monkey", "damage", "media-attack"} {
		data, err := os.ReadFile(filepath.Join(dir, name+".json"))
		if err != nil {
			return fmt.Errorf("summing up: %w", err)
		}
		var all struct {
			kept
			Outcomes []struct{ Finding string } `json:"outcomes"`
		}
		if err := json.Unmarshal(data, &all); err != nil {
			return fmt.Errorf("summing up %s: %w", name, err)
		}
		bad, what := 0, fmt.Sprintf("%d targets", len(all.Outcomes))
		for _, o := range all.Outcomes {
			if o.Finding != "" {
				bad++
			}
		}
		for _, p := range all.Runs {
			bad += len(p.Findings)
			what = fmt.Sprintf("%d rounds, the last with seed %d", p.Rounds, p.Seed)
		}
		findings += bad
		log.Printf("%-12s %s, commit %.12s: %d findings", name, what, all.Commit, bad)
	}
	if findings > 0 {
		return fmt.Errorf("%d findings in all", findings)
	}
	return nil
}
