package engine

import (
	"context"
	"fmt"
	"regexp"

	"touchdown/backend"
	"touchdown/backend/message"
	"touchdown/steps"
	"touchdown/steps/event"
	"touchdown/steps/handout"
	"touchdown/steps/session"
	"touchdown/steps/view"
)

// giver is a step that makes what the people of the site are given. last is what it made before, nil when this engine made nothing.
type giver interface {
	steps.Step
	Give(ctx context.Context, node *backend.Node, report steps.Report, ask handout.Ask, last *handout.LogIn) (*handout.LogIn, error)
}

// handsOut is the verb of Give in the errors of may.
const handsOut session.Verb = "credentials"

// Give implements Session.
func (e *Engine) Give(ctx context.Context, token string, ask handout.Ask) (*handout.LogIn, error) {
	if err := e.idle.May(ctx); err != nil {
		return nil, err
	}
	select { // one at a time: each replaces what the one before has made
	case e.oneGift <- struct{}{}:
		defer func() { <-e.oneGift }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	defer context.AfterFunc(e.closing, stop)()
	e.mu.Lock()
	step, err := giverOf(e.core, token)
	last := e.core.given
	e.mu.Unlock()
	if err != nil {
		return nil, err
	}
	var got *handout.LogIn
	err = guard(func() (err error) {
		got, err = step.Give(ctx, e.o.Node, &stepReport{e: e, step: step.ID()}, ask, last)
		return err
	})
	if got != nil {
		e.mask.also(append(keys(got.Kubeconfig), got.Password)...)
	}
	if err != nil {
		if got != nil {
			e.mu.Lock()
			keepGiven(e.core, *got)
			e.mu.Unlock()
		}
		e.o.Node.Log.Warn("the credentials cannot be given", "error", e.mask.Mask(err.Error()))
		return nil, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return gave(e.core, token, step, *got)
}

// giverOf finds the step, for a console that may have what it makes. A node that landed for good has to be unlocked.
func giverOf(c *core, token string) (giver, error) {
	if err := c.may(token, handsOut, []view.State{view.IsDone}); err != nil {
		return nil, err
	}
	for _, stage := range c.draft.stages() {
		for _, step := range stage.Steps {
			if g, ok := step.(giver); ok {
				return g, nil
			}
		}
	}
	return nil, fmt.Errorf("%w: this list hands out no credentials", session.ErrNotFound)
}

// keyData is the client's key in a kubeconfig.
var keyData = regexp.MustCompile(`client-key-data"?\s*:\s*"?([0-9A-Za-z+/=]+)`)

// keys are the secrets in a kubeconfig: its keys, in base64 and as PEM. The rest is not a secret, and has words that logs need.
func keys(kubeconfig string) []string {
	return coded(keyData, kubeconfig, func(text string) string { return text })
}

// keepGiven keeps what was made for who asks again; what was not made now stays.
func keepGiven(c *core, got handout.LogIn) {
	if c.given != nil && got.Password == "" {
		got.Password = c.given.Password
	}
	if c.given != nil && got.Kubeconfig == "" {
		got.Kubeconfig, got.Until, got.Server = c.given.Kubeconfig, c.given.Until, c.given.Server
	}
	c.given = &got
}

// gave keeps what was made for who asks again, and tells the consoles that it was asked for, not what it is. A console that lost
// control meanwhile gets nothing.
func gave(c *core, token string, step steps.Step, got handout.LogIn) (*handout.LogIn, error) {
	keepGiven(c, got)
	if err := c.may(token, handsOut, []view.State{view.IsDone}); err != nil {
		return nil, err
	}
	for _, what := range []struct {
		secret string
		told   message.Text
	}{
		{got.Password, message.F("The password was given to %s.", c.control.holder)},
		{got.Kubeconfig, message.F("The kubeconfig was given to %s.", c.control.holder)},
	} {
		if what.secret != "" {
			c.recorder.warn(step.ID(), c.recorder.emit(event.Event{
				Kind: event.Said, Step: step.ID(), Text: what.told,
			}))
		}
	}
	return &got, nil
}
