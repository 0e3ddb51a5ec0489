package health

import (
	"context"
	"time"

	"touchdown/backend/kube"
	"touchdown/test/wait"
)

func init() { alertsTime = wait.Timeout(alertsTime) } //nolint:gochecknoinits // for all tests: a busy machine answers late

// Gathering is how long a Watcher lets changes gather.
const Gathering = gathering

// RestartTime is for how long an API that is away is not a fault.
const RestartTime = restartTime

// NewWatcher is a Watcher with a clock of the test's.
func NewWatcher(c *kube.Cluster, o func(context.Context) Options, after func(time.Duration) <-chan time.Time) *Watcher {
	return &Watcher{Cluster: c, Options: o, after: after}
}

// ErrNoRoute is what a cluster without the route of a web console answers.
var ErrNoRoute = errNoRoute

// AskNames asks the cluster's DNS service.
func (s *State) AskNames(ctx context.Context, c *kube.Cluster, o Options) { s.askNames(ctx, c, o) }
