package engine

import (
	"context"
	"fmt"
	"slices"
	"time"

	"touchdown/steps"
	"touchdown/steps/session"
)

// actLimit ends what a field offers when it does not end before. A person looks for a blinking lamp for seconds.
const actLimit = time.Minute

// act has a step do what a field of it offers. Whoever tries one value after the other waits for none: the next act ends
// the one before.
func act(ctx context.Context, e *Engine, token string, a session.Action) error {
	ctx, stop := context.WithTimeout(ctx, actLimit)
	defer stop()
	defer context.AfterFunc(e.closing, stop)()
	e.mu.Lock()
	if f, ok := fileField(e.core, a.Path); ok {
		e.mu.Unlock()
		return offerFiles(ctx, e, token, f, a)
	}
	actor, field, err := e.core.actor(a)
	if err == nil && field.Act.Fill == nil {
		e.core.stopAct()
		e.core.stopAct = stop
	}
	e.mu.Unlock()
	if err != nil {
		return err
	}
	if field.Act.Fill != nil {
		return fill(e, token, field, a.Value)
	}
	if err = guard(func() error { return actor.Act(ctx, e.o.Node, a.Path, a.Value) }); err != nil {
		e.o.Node.Log.Warn("what a field offers cannot be done", "path", a.Path, "value", a.Value, "error", e.mask.Mask(err.Error()))
	}
	return err
}

// actor finds the field that offers something for a value, and its step where that is what does it.
func (c *core) actor(a session.Action) (steps.Actor, steps.Field, error) {
	for _, stage := range c.draft.stages() {
		for _, step := range stage.Steps {
			actor, ok := step.(steps.Actor)
			fields := steps.FieldsOf(step)
			i := slices.IndexFunc(fields, func(f steps.Field) bool { return f.Path == a.Path && f.Act != nil && (ok || f.Act.Fill != nil) })
			if i < 0 {
				continue
			}
			v := c.draft.view(fields[i])
			if fields[i].Act.Fill != nil { // a value that has gone meanwhile has its own problem
				return actor, fields[i], nil
			}
			if !slices.ContainsFunc(v.Choices, func(choice steps.Choice) bool { return choice.Value == a.Value }) {
				return nil, steps.Field{}, fmt.Errorf("%w: %q is not one of the choices for %s", session.ErrInvalid, a.Value, v.Label)
			}
			return actor, fields[i], nil
		}
	}
	return nil, steps.Field{}, fmt.Errorf("%w: nothing can be done for %q", session.ErrNotFound, a.Path)
}
