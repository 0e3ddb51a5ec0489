package main

import (
	"context"
	"time"

	"touchdown/backend"
	"touchdown/backend/check"
	"touchdown/backend/health"
	"touchdown/steps"
)

func (k *checking) checked(node *backend.Node, began time.Time, checks []check.Check) *checked {
	name, _ := node.Host.Hostname()
	c := &checked{Schema: checkSchema, Subject: k.subject, Node: name, At: began.UTC(), Seconds: node.Now().Sub(began).Seconds(), Checks: checks}
	c.count()
	return c
}

// follow prints what the watcher of the cluster tells, until ctx ends.
func (k *checking) follow(ctx context.Context, node *backend.Node, step *steps.Health, show func(*checked) error) (err error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var last *checked
	step.Watch(ctx, node, health.Live{}, func(_ health.Live, checks []check.Check) {
		if err == nil {
			last = k.checked(node, node.Now(), checks)
			err = show(last)
		}
		if err != nil { // nobody reads
			stop()
		}
	})
	if err != nil || last == nil {
		return err
	}
	return last.verdict(k.asJSON())
}
