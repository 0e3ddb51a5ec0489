package cri

import (
	"context"
	"time"
)

// Await waits until CRI-O answers: it takes its time to start behind a restart, and with a large store. It fails with the
// last answer when limit is over.
func (c *Client) Await(ctx context.Context, limit time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	for {
		_, err := c.Version(ctx)
		if err == nil || ctx.Err() != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(200 * time.Millisecond):
		}
	}
}
