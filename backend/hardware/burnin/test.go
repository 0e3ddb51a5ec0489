package burnin

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"touchdown/backend/host"
	"touchdown/backend/layout"
	"touchdown/backend/message"
	"touchdown/backend/problem"
	"touchdown/backend/progress"
)

// Test is the burn-in of a machine.
type Test struct {
	Host *host.Machine
	Load Load // nil: a separate process
}

// Load carries out an order, with the file on the disk, and tells what it has done so far, again and again.
type Load func(ctx context.Context, o Order, file *os.File, tell func(Tally) error) error

// Result is what a burn-in found: figures, which are judged again each time they are told.
type Result struct {
	At      time.Time     `json:"at"`
	For     time.Duration `json:"for"`  // nanoseconds; as long as it was asked for, or there is no result
	Stay    string        `json:"stay"` // which stay on the bench line
	Order   Order         `json:"order"`
	Tally   Tally         `json:"tally"`
	Before  counted       `json:"before"`
	After   counted       `json:"after"`
	Hottest heat          `json:"hottest"`
	NoDisk  message.Text  `json:"noDisk,omitzero"` // why the disk was not tested
}

// toldEvery is how often a burn-in tells how far it is: it may take a day, and each time is a line of a log and of a serial console.
const toldEvery = 10 * time.Second

// late is how much longer than its time the load may take to end.
const late = hang + 40*time.Second

// Run loads the machine for the time d and returns what was found. With the end of ctx it returns within a second,
// without a result.
func (t Test) Run(ctx context.Context, d time.Duration, tell func(progress.Progress)) (*Result, error) {
	tell(progress.Progress{Total: int64(d.Seconds()), Unit: "seconds", Waiting: message.T("the counters of the machine, before the burn-in")})
	r := &Result{For: d, Before: count(ctx, t.Host, true), Hottest: heat{}}
	file := r.plan(t.Host, d)
	if file != nil {
		defer file.Close()
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	tallies, ended, began, told, faults := make(chan Tally), make(chan error, 1), time.Now(), time.Duration(0), int64(0)
	go func() {
		ended <- t.load()(ctx, r.Order, file, func(tally Tally) error {
			select {
			case tallies <- tally:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
	}()
	tooLate := time.After(d + late)
	for tick := time.NewTicker(time.Second); ; {
		select {
		case r.Tally = <-tallies:
		case <-tick.C:
			r.Hottest.feel(t.Host)
		case err := <-ended:
			tick.Stop()
			return r.end(ctx, t.Host, err)
		case <-tooLate:
			tick.Stop()
			return r.end(ctx, t.Host, message.Failed(message.T("it did not end in time")))
		case <-ctx.Done():
			tick.Stop()
			return nil, ctx.Err()
		}
		if now := time.Since(began); now-told >= toldEvery || r.Tally.faults() != faults {
			told, faults = now, r.Tally.faults()
			tell(r.progress(now))
		}
	}
}

// end is the result of a burn-in that was not stopped. A worker that fell has none: nobody can tell what it would still have found.
func (r *Result) end(ctx context.Context, m *host.Machine, err error) (*Result, error) {
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err == nil && !r.Tally.Done:
		err = message.Failed(message.T("it ended before its time"))
		fallthrough
	case err != nil:
		return nil, &problem.Problem{
			Code: "BRN-DEAD", Summary: message.T("The burn-in ended too early."),
			Fix: message.T("Retry. If it happens again, look for machine checks and for memory that ran out in the kernel's messages: journalctl -k."), Err: err,
		}
	}
	r.Hottest.feel(m)
	r.After = count(ctx, m, false)
	return r, ctx.Err()
}

// progress tells how far it is and what was done.
func (r *Result) progress(elapsed time.Duration) progress.Progress {
	elapsed = min(elapsed, r.For)
	t := r.Tally
	return progress.Progress{
		Done: int64(elapsed.Seconds()), Total: int64(r.For.Seconds()), Unit: "seconds",
		Waiting: message.F("the burn-in on %d CPUs: %s of memory and %s of the disk compared, %d errors so far", len(r.Order.CPUs), size(t.Compared), size(t.Read), t.faults()),
	}
}

// load is who carries out the order.
func (t Test) load() Load {
	if t.Load != nil {
		return t.Load
	}
	return apart
}

// overhead is what the worker itself needs of memory, in bytes: a Go program with a thread for each CPU, and a file's pages.
const overhead = 512 << 20

// apart has a separate process carry out the order. A CPU or memory that fails may end that process, but not the engine; it is also the first to be
// ended when memory runs out, and the engine the last.
func apart(ctx context.Context, o Order, file *os.File, tell func(Tally) error) error {
	text, err := json.Marshal(o)
	if err != nil {
		return fmt.Errorf("encoding the order: %w", err)
	}
	var unread error
	err = host.Limits{Memory: uint64(o.Memory) + overhead}.Worker(ctx, []string{WorkerCommand, string(text)}, file, func(line []byte) {
		done, err := readTally(line)
		if err != nil {
			unread = err
			return
		}
		_ = tell(done) // fails with ctx alone, which ends the worker
	})
	if err != nil {
		return err
	}
	return unread
}

// Keep leaves the result on the node: the list goes on with it after each reboot.
func (r *Result) Keep(m *host.Machine, stay string, now time.Time) error {
	r.Stay, r.At = stay, now
	data, err := message.Marshal(r)
	if err != nil {
		return err
	}
	return m.WriteFile(layout.BurnInResult, data, 0o600)
}

// maxResult bounds what is read of a result, in bytes: many times what one with thousands of CPUs has.
const maxResult = 4 << 20

// Kept is the result of a burn-in of this stay that took as long as it was asked for; nil where there is none, or none that can be read.
func Kept(m *host.Machine, stay string) *Result {
	r := &Result{}
	data, _, err := m.ReadHead(layout.BurnInResult, maxResult)
	if err != nil || message.Unmarshal(data, r) != nil || r.Stay != stay || r.For != Asked(m, stay) || r.For == 0 || !r.Tally.Done {
		return nil
	}
	return r
}

// online are the CPUs that run, as the kernel lists them: "0-3,8".
func online(list string) (cpus []int) {
	for part := range strings.SplitSeq(strings.TrimSpace(list), ",") {
		from, to, isRange := strings.Cut(part, "-")
		if !isRange {
			to = from
		}
		first, err1 := strconv.Atoi(from)
		last, err2 := strconv.Atoi(to)
		if err1 != nil || err2 != nil || last-first > maxCPUs {
			continue
		}
		for cpu := first; cpu <= last && len(cpus) < maxCPUs; cpu++ {
			cpus = append(cpus, cpu)
		}
	}
	return cpus
}

// maxCPUs is what a CPUSet of golang.org/x/sys/unix holds.
const maxCPUs = 1024
