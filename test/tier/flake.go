package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"touchdown/test/resume"
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
	for err == nil && len(h.Rounds) < n && ctx.Err() == nil {
		err = h.play(ctx, o, rows, file)
	}
	return errors.Join(err, stop(), h.verdict(n))
}

// play begins a round, or goes on with the one that was stopped. What came of each row is written when the row has ended.
func (h *hunted) play(ctx context.Context, o options, rows []Row, file string) error {
	if h.Begun == nil {
		h.Begun = &round{Order: h.Seed + uint64(len(h.Rounds)), When: time.Now().UTC()}
	}
	r := h.Begun
	fmt.Printf("round %d, order %d, %d of %d rows have ended\n", len(h.Rounds)+1, r.Order, len(r.Results), len(rows))
	begun, before := time.Now(), r.Seconds
	o.order, o.shuffle = r.Order, true
	o.ended = func(result Result) (err error) {
		r.Results, r.Seconds = append(r.Results, result), before+time.Since(begun).Seconds()
		if !result.Passed {
			r.Failed = append(r.Failed, result.Row)
			err = keepLog(o.cache, result, r.Order)
		}
		return errors.Join(err, h.write(file))
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
	commit, err := resume.Commit(ctx)
	if err != nil {
		return nil, err
	}
	before := resume.Load(file, commit, func(h *hunted) bool { return h.Commit == commit && h.Load == load && h.Seed == seed })
	if before == nil {
		return &hunted{Commit: commit, Load: load, Seed: seed}, nil
	}
	fmt.Printf("%d rounds of commit %s are there already\n", len(before.Rounds), commit)
	return before, nil
}

func (h *hunted) write(file string) error { return resume.Save(file, h) }

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
func keepLog(cache string, result Result, order uint64) error {
	data, err := os.ReadFile(result.Log)
	if errors.Is(err, fs.ErrNotExist) { // its tests could not be built
		return nil
	}
	if err != nil {
		return fmt.Errorf("keeping the log of a failure: %w", err)
	}
	name := strings.TrimSuffix(filepath.Base(result.Log), ".log")
	if err := os.WriteFile(filepath.Join(cache, "log", fmt.Sprintf("flake-%d-%s.log", order, name)), data, 0o644); err != nil {
		return fmt.Errorf("keeping the log of a failure: %w", err)
	}
	return nil
}

// disturb keeps processors busy, and the disk with a file that is written and synced over and over. stop tells why one of them ended before.
func disturb(ctx context.Context, load int, cache string) (stop func() error, err error) {
	if load == 0 {
		return func() error { return nil }, nil
	}
	ctx, cancel := context.WithCancel(ctx)
	var busy []*exec.Cmd
	written := make(chan error, 1)
	go func() { written <- writeOver(ctx, filepath.Join(cache, "flake.tmp")) }()
	stop = func() error {
		cancel()
		for _, cmd := range busy {
			_ = cmd.Wait()
		}
		return <-written
	}
	for range load {
		cmd := exec.CommandContext(ctx, "sh", "-c", "while :; do :; done")
		if err := cmd.Start(); err != nil {
			return nil, errors.Join(fmt.Errorf("starting the load: %w", err), stop())
		}
		busy = append(busy, cmd)
	}
	return stop, nil
}

// writeOver writes until the context ends. Where it cannot, as on a full disk, it says so at once and ends: from then on the tests
// run beside less than was asked for.
func writeOver(ctx context.Context, name string) (err error) {
	defer os.Remove(name)
	defer func() {
		if err != nil {
			err = fmt.Errorf("the disk is no longer kept busy: %w", err)
			fmt.Println(err)
		}
	}()
	block := make([]byte, 1<<20)
	for i := range block {
		block[i] = byte(rand.Uint32())
	}
	for ctx.Err() == nil {
		if err := writeOnce(name, block); err != nil {
			return err
		}
	}
	return nil
}

func writeOnce(name string, block []byte) error {
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	for range 64 {
		if _, err := file.Write(block); err != nil {
			return errors.Join(err, file.Close())
		}
	}
	return errors.Join(file.Sync(), file.Close())
}
