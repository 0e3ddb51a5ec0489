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
	"syscall"

	"touchdown/test/resume"
)

// hunted is what came of CI's tier, run many times on a machine that is busy otherwise. Each load and seed has its file.
type hunted struct {
	Load   int     `json:"load"` // busy processes beside the tests
	Seed   uint64  `json:"seed"` // of the orders
	Rounds []round `json:"rounds"`
}

// round has one result of each row, or fewer: it was stopped, or what a row rests on has changed since.
type round struct {
	Order   uint64   `json:"order"` // seed of this round's order
	Results []Result `json:"results"`
}

// hunt runs the tier until there are n rounds, with what earlier runs came to, and fails if any test failed in any. A result counts for as
// long as nothing that its row rests on changes.
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
	h := &hunted{Load: load, Seed: seed}
	file := h.file(o, name)
	if !o.fresh {
		h.resume(file)
	}
	o.fresh, o.shuffle = true, true
	stop, err := disturb(ctx, load, o.cache)
	if err != nil {
		return err
	}
	for number := 0; err == nil && number < n && ctx.Err() == nil; number++ {
		err = h.play(ctx, o, rows, number, file)
	}
	return errors.Join(err, stop(), h.verdict(rows, n))
}

// file is where a hunt through the rows or the quick tests is kept.
func (h *hunted) file(o options, name string) string {
	return filepath.Join(o.cache, fmt.Sprintf("%s-load%d-seed%d.json", name, h.Load, h.Seed))
}

// order is the seed of a round's order, which no round of another seed has. It has 32 bits: -test.shuffle takes no number of 64.
func (h *hunted) order(number int) uint64 {
	return uint64(rand.New(rand.NewPCG(h.Seed, uint64(number))).Uint32())
}

// play runs what a round lacks. What came of each row is written when the row has ended.
func (h *hunted) play(ctx context.Context, o options, rows []Row, number int, file string) error {
	k, err := newKeys(ctx, packagesOf(rows))
	if err != nil {
		return err
	}
	now, err := k.ofAll(rows)
	if err != nil {
		return err
	}
	h.only(now)
	if number == len(h.Rounds) {
		h.Rounds = append(h.Rounds, round{Order: h.order(number)})
	}
	r := &h.Rounds[number]
	left := r.left(shuffled(rows, r.Order))
	fmt.Printf("round %d, order %d, %d of %d rows have ended\n", number+1, r.Order, len(rows)-len(left), len(rows))
	o.number, o.order = number, r.Order
	o.ended = func(result Result) (err error) {
		r.Results = append(r.Results, result)
		if !result.Passed {
			err = keepLog(file, result, r.Order)
		}
		return errors.Join(err, resume.Save(file, h))
	}
	_, err = runRows(ctx, o, left)
	return err
}

// only drops the results of rows that rest on something else by now.
func (h *hunted) only(now map[string]string) {
	for n := range h.Rounds {
		h.Rounds[n].Results = slices.DeleteFunc(h.Rounds[n].Results, func(result Result) bool {
			key, ours := now[result.Row] // of the others, those that -match leaves out, nothing is known
			return ours && result.Key != key
		})
	}
}

// left are the rows that the round lacks.
func (r *round) left(rows []Row) []Row {
	return slices.DeleteFunc(slices.Clone(rows), func(row Row) bool { return r.of(row) != nil })
}

// of is what came of a row in this round; nil: it lacks it.
func (r *round) of(row Row) *Result {
	n := slices.IndexFunc(r.Results, func(result Result) bool { return result.Row == row.String() })
	if n < 0 {
		return nil
	}
	return &r.Results[n]
}

// resume goes on with what earlier runs left, beside the same load and in the same orders.
func (h *hunted) resume(file string) {
	if before := resume.Load(file, func(old *hunted) bool { return old.Load == h.Load && old.Seed == h.Seed }); before != nil {
		*h = *before
	}
}

// verdict tells how often each row ran and failed, in the first n rounds.
func (h *hunted) verdict(rows []Row, n int) error {
	whole, bad := 0, false
	rounds := h.Rounds[:min(n, len(h.Rounds))]
	for _, r := range rounds {
		if len(r.left(rows)) == 0 {
			whole++
		}
	}
	for _, row := range rows {
		ran, failed := 0, 0
		for _, r := range rounds {
			if result := r.of(row); result != nil {
				ran++
				if !result.Passed {
					failed++
				}
			}
		}
		fmt.Printf("ran %d times, failed %d times: %s\n", ran, failed, row)
		bad = bad || failed > 0
	}
	fmt.Printf("%d busy processes, seed %d: %d of %d rounds are whole\n", h.Load, h.Seed, whole, n)
	switch {
	case bad:
		return errors.New("there are flakes")
	case whole < n:
		return errors.New("there are rounds that lack rows; the next run goes on")
	}
	return nil
}

// keepLog puts the log of a failure where neither the next round nor another hunt overwrites it.
func keepLog(file string, result Result, order uint64) error {
	data, err := os.ReadFile(result.Log)
	if errors.Is(err, fs.ErrNotExist) { // its tests could not be built
		return nil
	}
	if err != nil {
		return fmt.Errorf("keeping the log of a failure: %w", err)
	}
	hunt := strings.TrimSuffix(filepath.Base(file), ".json")
	name := filepath.Join(filepath.Dir(result.Log), fmt.Sprintf("%s-%d-%s", hunt, order, filepath.Base(result.Log)))
	if err := os.WriteFile(name, data, 0o644); err != nil {
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
	written := make(chan error, 1)
	go func() { written <- writeOver(ctx, filepath.Join(cache, "flake.tmp")) }()
	ends := []<-chan error{written}
	stop = func() (err error) {
		cancel()
		for _, ended := range ends {
			err = errors.Join(err, <-ended)
		}
		return err
	}
	for range load {
		ended, err := busy(ctx, "while kill -0 $PPID 2>/dev/null; do :; done") // it ends with us, however we end
		if err != nil {
			return nil, errors.Join(err, stop())
		}
		ends = append(ends, ended)
	}
	return stop, nil
}

// busy keeps a processor busy until the context ends. A process that ends before, as for want of memory, says so at once. It has a group of its
// own, because Ctrl-C in a terminal would end it first.
func busy(ctx context.Context, script string) (<-chan error, error) {
	cmd := exec.CommandContext(ctx, "sh", "-c", script)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting the load: %w", err)
	}
	ended := make(chan error, 1)
	go func() {
		_ = cmd.Wait()
		if ctx.Err() != nil {
			ended <- nil
			return
		}
		err := fmt.Errorf("a processor is no longer kept busy: %s", cmd.ProcessState)
		fmt.Println(err)
		ended <- err
	}()
	return ended, nil
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
