// Package burnin loads the machine on the bench line for as long as a person asks, and counts the errors that this brings out: wrong
// results of CPU, memory and disk, and what the machine counts itself.
//
// The load is our own, as RHEL CoreOS has neither stress-ng nor memtester and no package manager on the bench line.
package burnin

import (
	"encoding/json"
	"fmt"
	"time"

	"touchdown/backend/host"
	"touchdown/backend/layout"
)

// How long a burn-in may be asked to take. A minute is enough to heat a CPU and to see whether the burn-in works; a day is what
// acceptance tests of servers take at most.
const (
	least = time.Minute
	most  = 24 * time.Hour
)

// none as the time of a burn-in takes the wish back.
const none = "none"

// maxWish is many times what a wish has, in bytes.
const maxWish = 4 << 10

// wish is a burn-in that was asked for, in one stay on the bench line.
type wish struct {
	For  time.Duration `json:"for"`  // nanoseconds
	Stay string        `json:"stay"` // which stay on the bench line; that of another one does not count
}

// Parse reads how long a burn-in takes: "30m", "8h". None is 0.
func Parse(text string) (time.Duration, error) {
	if text == none {
		return 0, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < least || d > most {
		return 0, fmt.Errorf("%q: a burn-in takes between 1m and 24h, such as 30m, or is %s", text, none)
	}
	return d, nil
}

// Ask keeps the wish for a burn-in on the node, for each start of the work in this stay on the bench line; 0 takes it back. A wish that is
// there already is not a new one: its result still counts.
func Ask(m *host.Machine, stay string, d time.Duration) error {
	if d == Asked(m, stay) && d > 0 {
		return nil
	}
	if err := m.Remove(layout.BurnInResult); err != nil {
		return fmt.Errorf("forgetting the result of an earlier burn-in: %w", err)
	}
	if d == 0 {
		return m.Remove(layout.BurnIn)
	}
	data, err := json.Marshal(wish{d, stay})
	if err != nil {
		return fmt.Errorf("noting that a burn-in is asked for: %w", err)
	}
	return m.WriteFile(layout.BurnIn, data, 0o600)
}

// Asked is how long the burn-in takes that was asked for in this stay; 0 where none was.
func Asked(m *host.Machine, stay string) time.Duration {
	var w wish
	data, _, err := m.ReadHead(layout.BurnIn, maxWish)
	if err != nil || json.Unmarshal(data, &w) != nil || w.Stay != stay || w.For < least || w.For > most {
		return 0
	}
	return w.For
}
