package tui

import (
	"context"
	"io"

	"touchdown/steps/engine"
)

// Plain is Run for terminals that cannot place the cursor.
func Plain(ctx context.Context, session engine.Session, name string, in io.Reader, out io.Writer) error {
	return nil
}
