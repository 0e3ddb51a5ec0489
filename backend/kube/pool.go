package kube

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	machinev1 "github.com/openshift/api/machineconfiguration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"touchdown/backend/message"
	"touchdown/backend/problem"
)

// The annotations by which the Machine Config Operator tells what a node has and what it shall have.
const (
	currentConfig = "machineconfiguration.openshift.io/currentConfig"
	desiredConfig = "machineconfiguration.openshift.io/desiredConfig"
	configState   = "machineconfiguration.openshift.io/state"
	configReason  = "machineconfiguration.openshift.io/reason"
)

// Pool returns a pool of machines, and the cluster's nodes.
func (c *Cluster) Pool(ctx context.Context, name string) (*machinev1.MachineConfigPool, []corev1.Node, error) {
	var pool *machinev1.MachineConfigPool
	var nodes []corev1.Node
	err := c.Do(ctx, "reading machineconfigpools/"+name, func(ctx context.Context) error {
		var err error
		pool, err = c.MachineConfig.MachineConfigPools().Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		list, err := c.Core.Nodes().List(ctx, metav1.ListOptions{})
		if err == nil {
			nodes = list.Items
		}
		return err
	})
	return pool, nodes, err
}

// Rendered is the name of the configuration that a pool's machines shall have now. Its bytes make its name.
func Rendered(ctx context.Context, c *Cluster, name string) (string, error) {
	pool, _, err := c.Pool(ctx, name)
	if err != nil {
		return "", err
	}
	return pool.Spec.Configuration.Name, nil
}

// RollOut says how long to wait for the machines of a pool, and for what.
type RollOut struct {
	Wait
	Pool   string
	Before string // rendered configuration from before the change; "" takes any
	// Degraded is the problem that a degraded pool is told as, with the pool's own reason as its cause; nil: it is waited out.
	Degraded *problem.Problem
	// Stands is for how long a machine that desires the pool's configuration has to be degraded until that is believed. It can be old, as
	// the operator tells it on after a power cut until it has its lease again, or pass: the machine's daemon says so of its first error and
	// goes on trying (openshift/machine-config-operator ab14c8e2843b, pkg/daemon/daemon.go, handleErr).
	Stands time.Duration
	// Drifted is told of a configuration that a machine has, and whose files its daemon does not find there, which stops it for good; again
	// at each look. nil: that is waited out.
	Drifted func(ctx context.Context, current string)
	// Lacks says what is still missing once the machines have the pool's newest configuration, "" for nothing; nil: nothing is.
	Lacks func(ctx context.Context, pool *machinev1.MachineConfigPool) (message.Text, error)
}

// Await waits until the machines of a pool have its newest configuration. "Updated" alone may be old news.
func (r RollOut) Await(ctx context.Context, c *Cluster) error {
	var since time.Time // when a machine that desires the configuration was first seen degraded, without a break
	return c.Until(ctx, r.Wait, func(ctx context.Context) (Progress, bool, error) {
		pool, nodes, err := c.Pool(ctx, r.Pool)
		if err != nil {
			return Progress{}, false, err
		}
		if current := drifted(poolNodes(pool, nodes)); current != "" && r.Drifted != nil {
			r.Drifted(ctx, current)
		}
		reported := PoolDegraded(pool)
		switch {
		case reported == "" || !poolDesired(pool, nodes, r.Before):
			since = time.Time{}
		case since.IsZero():
			since = time.Now()
		}
		sure := PoolUnrendered(pool) != "" || !since.IsZero() && time.Since(since) >= r.Stands
		if reported != "" && r.Degraded != nil && sure {
			degraded := *r.Degraded
			degraded.Err = errors.New(reported)
			return Progress{}, false, &degraded
		}
		why := PoolPending(pool, nodes, r.Before)
		if reported != "" {
			why = message.F("%s; the MachineConfigPool reports: %s", why, reported)
		}
		if why.String() == "" && r.Lacks != nil {
			why, err = r.Lacks(ctx, pool)
		}
		return Progress{Waiting: why}, why.String() == "" && err == nil, err
	})
}

// drifted is the configuration of a machine whose daemon does not find its files there, "" where none says so. The words are those of
// validateOnDiskStateOrImage (openshift/machine-config-operator ab14c8e2843b, pkg/daemon/daemon.go).
func drifted(nodes []corev1.Node) string {
	for i := range nodes {
		a := nodes[i].Annotations
		_, rest, found := strings.Cut(a[configReason], "unexpected on-disk state validating against ")
		if name, _, named := strings.Cut(rest, ": "); found && named && a[configState] == "Degraded" {
			return name
		}
	}
	return ""
}

// poolDesired tells whether all machines of a pool have been told to take its newest configuration, which is another one than before.
func poolDesired(pool *machinev1.MachineConfigPool, nodes []corev1.Node, before string) bool {
	want := pool.Spec.Configuration.Name
	return want != before && !slices.ContainsFunc(poolNodes(pool, nodes), func(n corev1.Node) bool { return n.Annotations[desiredConfig] != want })
}

// PoolPending says why a pool's machines do not have its newest configuration yet; "" when they have. before is the
// rendered configuration from before a change: while the pool still has it, "updated" is old news. "" takes any.
func PoolPending(pool *machinev1.MachineConfigPool, nodes []corev1.Node, before string) message.Text {
	s := pool.Status
	switch {
	case pool.Spec.Paused:
		return message.T("the configuration of the machines is paused")
	case before != "" && pool.Spec.Configuration.Name == before:
		return message.T("the new configuration is not rendered yet")
	case pool.Spec.Configuration.Name != s.Configuration.Name:
		return message.T("the machine still has its old configuration")
	case !poolIs(pool, machinev1.MachineConfigPoolUpdated, corev1.ConditionTrue),
		!poolIs(pool, machinev1.MachineConfigPoolUpdating, corev1.ConditionFalse):
		return message.T("the machine is taking its new configuration")
	case !poolIs(pool, machinev1.MachineConfigPoolDegraded, corev1.ConditionFalse):
		return message.T("the machine could not take its new configuration")
	case s.MachineCount != s.UpdatedMachineCount || s.MachineCount != s.ReadyMachineCount:
		return message.F("%d of %d machines are ready", s.ReadyMachineCount, s.MachineCount)
	}
	nodes = poolNodes(pool, nodes)
	for i := range nodes {
		a := nodes[i].Annotations
		if a[currentConfig] != a[desiredConfig] || a[configState] != "Done" {
			return message.F("node %s is taking its new configuration", nodes[i].Name)
		}
	}
	return message.Text{}
}

// PoolDegraded returns why a pool is degraded, "" when it is not. The pool's own condition repeats the reason of one of its parts, and of
// RenderDegraded none (openshift/machine-config-operator 7ff337a4f, pkg/controller/node/status.go, calculateStatus).
func PoolDegraded(pool *machinev1.MachineConfigPool) string {
	why := whyPool(pool, machinev1.MachineConfigPoolDegraded)
	if why == "" {
		return ""
	}
	return cmp.Or(PoolUnrendered(pool), poolNodeDegraded(pool), why)
}

// PoolUnrendered returns why the operator cannot make a pool's next configuration, "" when it can.
func PoolUnrendered(pool *machinev1.MachineConfigPool) string {
	return whyPool(pool, machinev1.MachineConfigPoolRenderDegraded)
}

// poolNodeDegraded returns why a machine of a pool could not take its configuration, or no longer has what that says, "" when all have it.
func poolNodeDegraded(pool *machinev1.MachineConfigPool) string {
	return whyPool(pool, machinev1.MachineConfigPoolNodeDegraded)
}

// whyPool says why a condition is true: the operator leaves out its reason, or its message too.
func whyPool(pool *machinev1.MachineConfigPool, kind machinev1.MachineConfigPoolConditionType) string {
	for _, cond := range pool.Status.Conditions {
		if cond.Type == kind && cond.Status == corev1.ConditionTrue {
			return cmp.Or(firstLine(strings.Trim(cond.Reason+": "+cond.Message, ": ")), string(kind))
		}
	}
	return ""
}

func poolIs(pool *machinev1.MachineConfigPool, kind machinev1.MachineConfigPoolConditionType, want corev1.ConditionStatus) bool {
	for _, cond := range pool.Status.Conditions {
		if cond.Type == kind {
			return cond.Status == want
		}
	}
	return false
}
