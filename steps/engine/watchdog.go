package engine

import (
	"context"
	"errors"
	"time"

	"touchdown/backend/message"
	"touchdown/backend/problem"
	"touchdown/backend/progress"
)

// errWatchdog is the cause with which the context of a step ends that made no progress for longer than the policy allows.
var errWatchdog = errors.New("no progress for longer than spec.policy.watchdog")

// watchdog ends what makes no progress: a step, a look, a recovery. It rests while a question waits for a person.
type watchdog struct {
	limit time.Duration
	timer *time.Timer
	done  int64 // units of work of the last progress; under the engine's mu
}

// watchOver returns a context that ends with cause when limit has passed without progress; 0 is not a limit.
func watchOver(ctx context.Context, limit time.Duration, cause error) (context.Context, *watchdog) {
	if limit == 0 {
		return ctx, nil
	}
	ctx, end := context.WithCancelCause(ctx)
	return ctx, &watchdog{limit: limit, timer: time.AfterFunc(limit, func() { end(cause) })}
}

func (d *watchdog) rest() {
	if d != nil {
		d.timer.Stop()
	}
}

func (d *watchdog) wake() {
	if d != nil {
		d.timer.Reset(d.limit)
	}
}

// sees gives the step its whole time again once more work is done than before. A step that reports the same again and again
// hangs all the same. The caller holds the engine's mu.
func (d *watchdog) sees(p progress.Progress) {
	if d != nil && p.Done != d.done {
		d.done = p.Done
		d.wake()
	}
}

func (d *watchdog) stop() { d.rest() }

func tooLong(limit time.Duration, err error) error {
	return &problem.Problem{
		Code: "ENG-STLL", Summary: message.F("This step made no progress for %s and was stopped.", limit),
		Fix: message.T("Read what it was waiting for. Retry to go on from here, or undo to put everything back."), Err: err,
	}
}
