package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// hunted is .cache/bench/flake.json, or flake-quick.json: what came of CI's tier, run many times on a machine that is busy otherwise.
type hunted struct {
	Commit string  `json:"commit"` // with another one the count begins again
	Load   int     `json:"load"`   // busy processes beside the tests
	Seed   uint64  `json:"seed"`   // of the orders
	Rounds []round `json:"rounds"`
	Begun  *round  `json:"begun,omitempty"` // was stopped, and goes on with the rows that it lacks
}

type round struct {
	Order   uint64    `json:"order"` // seed of this round's order
	When    time.Time `json:"when"`
	Seconds float64   `json:"seconds"`
	Results []Result  `json:"results"`
	Failed  []string  `json:"failed"`
}

// hunt runs the tier until there are n rounds of this commit, of earlier runs too, and fails if any test failed in any.
func hunt(ctx context.Context, o options, n, load int, seed uint64) error {
	name, rows, err := "flake", []Row(nil), error(nil)
	if len(o.quick) > 0 {
		name, rows = "flake-quick", quickRows(o)
	} else {
		rows, err = chosen(o)
	}
	if err != nil {
		return err
	}
	unlock, err := lock(ctx, o.cache)
	if err != nil {
		return err
	}
	defer unlock()
	o.fresh = true
	file := filepath.Join(o.cache, name+".json")
	h, err := resumed(ctx, file, load, seed)
	if err != nil {
		return err
	}
	stop, err := disturb(ctx, load, o.cache)
	if err != nil {
		return err
	}
	defer stop()
	for len(h.Rounds) < n && ctx.Err() == nil {
		if err := h.play(ctx, o, rows, file); err != nil {
			return errors.Join(err, h.verdict(n))
		}
	}
	return h.verdict(n)
}

// play begins a round, or goes on with the one that was stopped. What came of each row is written when the row has ended.
func (h *hunted) play(ctx context.Context, o options, rows []Row, file string) error {
	if h.Begun == nil {
		h.Begun = &round{Order: h.Seed + uint64(len(h.Rounds)), When: time.Now().UTC()}
	}
	r := h.Begun
	fmt.Printf("round %d, order %d, %d of %d rows have ended\n", len(h.Rounds)+1, r.Order, len(r.Results), len(rows))
	begun, before := time.Now(), r.Seconds
	o.order = r.Order
	o.ended = func(result Result) error {
		r.Results, r.Seconds = append(r.Results, result), before+time.Since(begun).Seconds()
		if !result.Passed {
			r.Failed = append(r.Failed, result.Row)
			keepLog(o.cache, result, r.Order)
		}
		return h.write(file)
	}
	if _, err := runRows(ctx, o, r.left(shuffled(rows, r.Order))); err != nil {
		return err
	}
	h.Rounds, h.Begun = append(h.Rounds, *r), nil
	return h.write(file)
}

// left are the rows that the round lacks.
func (r *round) left(rows []Row) []Row {
	return slices.DeleteFunc(slices.Clone(rows), func(row Row) bool {
		return slices.ContainsFunc(r.Results, func(result Result) bool { return result.Row == row.String() })
	})
}

// resumed reads what earlier runs of the same commit left.
func resumed(ctx context.Context, file string, load int, seed uint64) (*hunted, error) {
	out, err := exec.CommandContext(ctx, "git", "describe", "--always", "--dirty", "--abbrev=12").Output()
	if err != nil {
		return nil, fmt.Errorf("asking for the commit: %w", withOutput(err))
	}
	h := &hunted{Commit: string(bytes.TrimSpace(out)), Load: load, Seed: seed}
	var before hunted
	data, err := os.ReadFile(file)
	clean := !strings.HasSuffix(h.Commit, "-dirty")
	if err == nil && json.Unmarshal(data, &before) == nil && clean && before.Commit == h.Commit && before.Load == load && before.Seed == seed {
		fmt.Printf("%d rounds of commit %s are there already\n", len(before.Rounds), h.Commit)
		return &before, nil
	}
	return h, nil
}

func (h *hunted) write(file string) error {
	data, err := json.MarshalIndent(h, "", "  ")
	if err != nil {
		return fmt.Errorf("writing %s: %w", file, err)
	}
	return os.WriteFile(file, append(data, '\n'), 0o644)
}

func (h *hunted) verdict(n int) error {
	times := map[string]int{}
	bad := 0
	rounds := h.Rounds
	if h.Begun != nil {
		fmt.Printf("round %d was stopped after %d rows\n", len(rounds)+1, len(h.Begun.Results))
		rounds = append(slices.Clone(rounds), *h.Begun)
	}
	for _, r := range rounds {
		if len(r.Failed) > 0 {
			bad++
		}
		for _, name := range r.Failed {
			times[name]++
		}
	}
	for name, count := range times {
		fmt.Printf("failed %d times: %s\n", count, name)
	}
	fmt.Printf("commit %s, %d busy processes, seed %d: %d of %d rounds failed\n", h.Commit, h.Load, h.Seed, bad, len(rounds))
	if len(h.Rounds) < n {
		return errors.New("stopped; the next run goes on")
	}
	if bad > 0 {
		return errors.New("there are flakes")
	}
	return nil
}

// keepLog puts the log of a failure where the next round does not overwrite it.
func keepLog(cache string, result Result, order uint64) {
	data, err := os.ReadFile(result.Log)
	if err != nil {
		return
	}
	name := strings.TrimSuffix(filepath.Base(result.Log), ".log")
	_ = os.WriteFile(filepath.Join(cache, "log", fmt.Sprintf("flake-%d-%s.log", order, name)), data, 0o644)
}

// disturb keeps processors busy, and the disk with a file that is written and synced over and over.
func disturb(ctx context.Context, load int, cache string) (stop func(), err error) {
	if load == 0 {
		return func() {}, nil
	}
	ctx, cancel := context.WithCancel(ctx)
	var busy []*exec.Cmd
	stop = func() {
		cancel()
		for _, cmd := range busy {
			_ = cmd.Wait()
		}
	}
	for range load {
		cmd := exec.CommandContext(ctx, "sh", "-c", "while :; do :; done")
		if err := cmd.Start(); err != nil {
			stop()
			return nil, fmt.Errorf("starting the load: %w", err)
		}
		busy = append(busy, cmd)
	}
	go writeOver(ctx, filepath.Join(cache, "flake.tmp"))
	return stop, nil
}

func writeOver(ctx context.Context, name string) {
	defer os.Remove(name)
	block := make([]byte, 1<<20)
	for i := range block {
		block[i] = byte(rand.Uint32())
	}
	for ctx.Err() == nil {
		file, err := os.Create(name)
		if err != nil {
			return
		}
		for range 64 {
			_, _ = file.Write(block)
		}
		_ = file.Sync()
		_ = file.Close()
	}
}
