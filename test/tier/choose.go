package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"syscall"
	"time"
)

type options struct {
	tier  string
	cache string
	jobs  int
	fresh bool
	match *regexp.Regexp
	quick []string // packages whose quick tests are hunted through, in place of the rows

	number  int    // of a hunt's round
	order   uint64 // seed of the order of rows and tests
	shuffle bool   // the tests of a row come in another order than that of its files

	ended func(Result) error // is told of each row that has ended, one after the other; nil: nobody is
}

// chosen are the rows of the tier, the longest first, and before them those that need the machine alone.
func chosen(o options) ([]Row, error) {
	if o.tier != string(Test) && o.tier != string(All) {
		return nil, fmt.Errorf("there is no tier %q; there are %s and %s", o.tier, Test, All)
	}
	var rows []Row
	for _, r := range table {
		if (o.tier == string(All) && r.Tier == All || r.Tier == Test) && o.match.MatchString(r.String()) {
			rows = append(rows, r)
		}
	}
	if len(rows) == 0 {
		return nil, errors.New("no test matches")
	}
	slices.SortStableFunc(rows, func(a, b Row) int {
		if a.Alone != b.Alone {
			if a.Alone {
				return -1
			}
			return 1
		}
		return b.Seconds - a.Seconds
	})
	return rows, nil
}

// shuffled is another order of the rows, always the same for a seed.
func shuffled(rows []Row, seed uint64) []Row {
	rows = slices.Clone(rows)
	r := rand.New(rand.NewPCG(seed, 0))
	r.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
	return rows
}

// lock lets one run at a time use the nodes of a cache.
func lock(ctx context.Context, cache string) (unlock func(), err error) {
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(filepath.Join(cache, "tier.lock"), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	for told := false; ; told = true {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return func() { _ = file.Close() }, nil
		}
		if !told {
			fmt.Println("waiting for another run of the bench's tests in this tree")
		}
		select {
		case <-ctx.Done():
			_ = file.Close()
			return nil, fmt.Errorf("waiting for another run: %w", ctx.Err())
		case <-time.After(time.Second):
		}
	}
}
