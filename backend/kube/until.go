package kube

import (
	"context"
	"fmt"
	"time"

	"touchdown/backend/message"
	"touchdown/backend/problem"
	"touchdown/backend/progress"
)

// Progress is how far a wait is.
type Progress = progress.Progress

// Wait is something that the cluster does automatically.
type Wait struct {
	What  message.Text  // "the roll-out of the new names": the subject of a sentence
	Limit time.Duration // after that it is a Problem
	Usual time.Duration // at most, on a healthy cluster
	Code  string        // of the Problem
	Fix   message.Text  // one thing to try
}

// Until looks every Pace.Poll until look says done, and tells the progress that look returns. An error of look ends it;
// look calls the API through Do, so an API that is away is not an error.
func (c *Cluster) Until(ctx context.Context, w Wait, look func(context.Context) (p Progress, done bool, err error)) error {
	start := time.Now()
	for {
		p, done, err := look(ctx)
		if err != nil || done {
			return err
		}
		if p.Usual == 0 {
			p.Usual = w.Usual.Seconds()
		}
		c.tell(p)
		if time.Since(start) >= w.Limit {
			return &problem.Problem{
				Code:    w.Code,
				Summary: message.F("Not finished within %s: %s.", w.Limit, w.What),
				Fix:     w.Fix,
				Err:     fmt.Errorf("still waiting for %s", p.Waiting),
			}
		}
		if err := sleep(ctx, c.Pace.Poll); err != nil {
			return fmt.Errorf("waiting for %s: %w", w.What, err)
		}
	}
}
