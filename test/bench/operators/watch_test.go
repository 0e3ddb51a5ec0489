package operators

import (
	"context"
	"time"

	configv1 "github.com/openshift/api/config/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"touchdown/backend/kube"
)

// watch is what was away in the course of a move.
type watch struct {
	api, router time.Duration
	ingressGone bool // the ClusterOperator was not available

	cancel context.CancelFunc
	done   chan struct{}
}

func (b *bed) watch() *watch {
	ctx, cancel := context.WithCancel(b.t.Context())
	w := &watch{cancel: cancel, done: make(chan struct{})}
	go func() {
		defer close(w.done)
		for last := time.Now(); ctx.Err() == nil; {
			_, api := b.Leaf(ctx, "6443", "api."+b.Domain)
			_, router := b.Leaf(ctx, "443", "console.apps."+b.Domain)
			if api == nil {
				w.look(ctx, b.c)
			}
			time.Sleep(250 * time.Millisecond)
			passed := time.Since(last)
			last = last.Add(passed)
			if api != nil {
				w.api += passed
			}
			if router != nil {
				w.router += passed
			}
		}
	}()
	return w
}

func (w *watch) look(ctx context.Context, c *kube.Cluster) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	co, err := c.Config.ClusterOperators().Get(ctx, "ingress", metav1.GetOptions{})
	if err != nil {
		return
	}
	if cond := kube.Condition(co, configv1.OperatorAvailable); cond == nil || cond.Status != configv1.ConditionTrue {
		w.ingressGone = true
	}
}

func (w *watch) stop() { w.cancel(); <-w.done }
