package engine

import (
	"context"

	"touchdown/backend/support"
	"touchdown/steps/idle"
)

// Shown implements Session. A console leaves out what is secret; what it does not know to be, because someone typed it into the wrong
// place, is masked here, and once more in the bundle.
func (e *Engine) Shown(ctx context.Context, text string) error {
	e.shown.Add(idle.Console(ctx), support.Scrub(e.mask.Mask(text))) // and only then cut: half a secret is not known for one
	return nil
}
