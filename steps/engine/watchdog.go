package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"touchdown/backend/problem"
)

// errWatchdog is the cause with which a step's context ends that takes longer than the policy allows.
var errWatchdog = errors.New("longer than spec.policy.watchdog")

// watchdog ends a step that hangs. It rests while a question waits for a person.
type watchdog struct {
	limit time.Duration
	timer *time.Timer
}

// watchOver returns a context that ends when limit has passed; 0 is no limit.
func watchOver(ctx context.Context, limit time.Duration) (context.Context, *watchdog) {
	if limit == 0 {
		return ctx, nil
	}
	ctx, end := context.WithCancelCause(ctx)
	return ctx, &watchdog{limit, time.AfterFunc(limit, func() { end(errWatchdog) })}
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

func (d *watchdog) stop() { d.rest() }

func tooLong(limit time.Duration, err error) error {
	return &problem.Problem{
		Code: "WATCHDOG", Summary: fmt.Sprintf("This step was at work for %s without an end and was stopped.", limit),
		Fix: "Read what it waited for. Retry to go on from here, or undo to put everything back.", Err: err,
	}
}
