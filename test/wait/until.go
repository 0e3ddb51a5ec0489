package wait

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"
)

// Question is asked again and again until the answer is true, or no error. One with a context has to return when that ends.
type Question interface {
	func() bool | func() error | func(context.Context) bool | func(context.Context) error
}

// Until waits until a question is answered. After Bound it fails the test, with the last error and what Explain was told.
func Until[Q Question](t testing.TB, what string, ask Q) {
	t.Helper()
	until(t, Bound, what, ask)
}

// Soon is Until for what an idle machine does within the given time: it fails after Timeout(idle).
func Soon[Q Question](t testing.TB, idle time.Duration, what string, ask Q) {
	t.Helper()
	until(t, Timeout(idle), what, ask)
}

func until[Q Question](t testing.TB, most time.Duration, what string, ask Q) {
	t.Helper()
	explainMachine(t)
	ctx, cancel := bounded(context.Background(), t, most) // not the test's own: clean-up waits too
	defer cancel()
	if err := For(ctx, what, ask); err != nil {
		t.Fatal(err)
	}
}

// For is Until for code without a test; the context is its bound.
func For[Q Question](ctx context.Context, what string, ask Q) error {
	for {
		begun := time.Now()
		err := answer(ctx, ask)
		if err == nil {
			return nil
		}
		if _, is := errors.AsType[final](err); is {
			return fmt.Errorf("waiting for %s: %w", what, err)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for %s: %w; last: %w", what, context.Cause(ctx), err)
		case <-time.After(pause(time.Since(begun))):
		}
	}
}

// errNo is the last error of a question that only says yes or no.
var errNo = errors.New("not yet")

func answer(ctx context.Context, ask any) error {
	yes := false
	switch ask := ask.(type) {
	case func() error:
		return ask()
	case func(context.Context) error:
		return ask(ctx)
	case func() bool:
		yes = ask()
	case func(context.Context) bool:
		yes = ask(ctx)
	}
	if !yes {
		return errNo
	}
	return nil
}

// pause is as long as the question took, so that asking takes half of the time at most.
func pause(took time.Duration) time.Duration {
	return min(max(took, 10*time.Millisecond), 2*time.Second)
}

type final struct{ error }

// Unwrap returns the error that will not go away.
func (f final) Unwrap() error { return f.error }

// Final marks an error that does not go away: a wait ends with it at once. No error stays none.
func Final(err error) error {
	if err == nil {
		return nil
	}
	return final{err}
}
