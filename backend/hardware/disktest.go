package hardware

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"touchdown/backend/check"
	"touchdown/backend/host"
	"touchdown/backend/layout"
	"touchdown/backend/message"
)

// DiskTest measures the disk's latency once and keeps the result on the node, so that a restart, and the report, have it without
// another test.
type DiskTest struct{ Host *host.Machine }

// diskResult is what is kept of a test: figures, which are judged again when they are told.
type diskResult struct {
	At     time.Time     `json:"at"`
	Folder string        `json:"folder"`
	Writes int           `json:"writes"`
	P99    time.Duration `json:"p99"` // nanoseconds, as Max
	Max    time.Duration `json:"max"`
	Fault  message.Text  `json:"fault,omitzero"` // why the disk could not be measured

	Messages message.Messages `json:"messages,omitempty"` // which message Fault is
}

// maxDiskResult is many times what a result has, in bytes.
const maxDiskResult = 4 << 10

// Kept is the result of the last test, and whether there is one. What cannot be read is none.
func (d DiskTest) Kept() (check.Check, bool) {
	data, _, err := d.Host.ReadHead(layout.DiskTest, maxDiskResult)
	if err != nil {
		return check.Check{}, false
	}
	var r diskResult
	if err := json.Unmarshal(data, &r); err != nil || r.Fault == (message.Text{}) && (r.Writes <= 0 || r.P99 <= 0 || r.Max < r.P99) {
		return check.Check{}, false
	}
	message.Restore(&r, r.Messages)
	return r.check(), true
}

func (r diskResult) check() check.Check {
	c := latencyCheck()
	if r.Fault != (message.Text{}) {
		c = skipped(c, r.Fault)
	} else {
		c = latency{r.Writes, r.P99, r.Max}.judge(c, r.Folder)
	}
	c.Evidence = []message.Text{message.F("tested at %s", r.At.UTC().Format(time.RFC3339))} // which a test that still runs does not have
	return c
}

// Measure tests the disk, tells its progress as checks without a verdict, and keeps the result. A test that ctx ended has none.
func (d DiskTest) Measure(ctx context.Context, now time.Time, tell func(check.Check)) error {
	c := latencyCheck()
	tenth := -1
	folder, l, why := tryDisk(ctx, d.Host, func(done, all int) {
		if part := done * 10 / all; part != tenth { // each is an event of the journal
			tenth = part
			tell(skipped(c, message.F("measuring: %d %% of the writes", part*10)))
		}
	})
	if ctx.Err() != nil {
		return ctx.Err()
	}
	r := diskResult{At: now, Folder: folder, Writes: l.writes, P99: l.p99, Max: l.max}
	if l.writes == 0 {
		r.Fault = why
	}
	tell(r.check())
	r.Messages = message.Of(&r)
	data, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("encoding the result of the disk test: %w", err)
	}
	return d.Host.WriteFile(layout.DiskTest, data, 0o600)
}

// Forget takes the result away: the next wish is a new test.
func (d DiskTest) Forget() error {
	if !d.Host.Exists(layout.DiskTest) {
		return nil
	}
	return d.Host.Remove(layout.DiskTest)
}
