package engine

import (
	"context"
	"net/http"

	"touchdown/backend/support"
	"touchdown/steps/idle"
)

// Shown implements Session. A console leaves out what is secret; what it does not know to be, because someone typed it into the wrong
// place, is masked here, and once more in the bundle.
func (e *Engine) Shown(ctx context.Context, text string) error {
	e.shown.Add(idle.Console(ctx), support.Scrub(e.mask.Mask(text))) // and only then cut: half a secret is not known for one
	return nil
}

type wireShown struct {
	Text string `json:"text"`
}

// Shown implements Session.
func (c *Client) Shown(ctx context.Context, text string) error {
	return c.call(ctx, http.MethodPost, "/shown", "", wireShown{Text: text}, nil)
}

func (s server) shown(w http.ResponseWriter, r *http.Request) {
	var body wireShown
	if read(w, r, &body) {
		answer(w, nil, s.session.Shown(r.Context(), body.Text))
	}
}
