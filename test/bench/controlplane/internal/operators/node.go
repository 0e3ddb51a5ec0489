package operators

import (
	"context"
	"fmt"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// heartbeat is a tenth of the kubelet's own pace for an unchanged status, so that a Ready is never older than a health check allows. It does not follow the bench's speed.
const heartbeat = 10 * time.Second

// runNode plays the kubelet towards the API: fresh heartbeats in the Node and its Lease. A real kubelet does it itself.
func runNode(ctx context.Context, e *Env) {
	if e.RealNode {
		return
	}
	for ctx.Err() == nil {
		if err := e.beat(ctx); err != nil {
			e.Log.Info("heartbeat failed", "error", err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(heartbeat):
		}
	}
}

func (e *Env) beat(ctx context.Context) error {
	now := metav1.Now()
	err := e.retry(ctx, func() error {
		node, err := e.Kube.CoreV1().Nodes().Get(ctx, e.Node, metav1.GetOptions{})
		if err != nil {
			return err
		}
		for i, c := range node.Status.Conditions {
			if c.Status != v1.ConditionUnknown {
				node.Status.Conditions[i].LastHeartbeatTime = now
			}
		}
		_, err = e.Kube.CoreV1().Nodes().UpdateStatus(ctx, node, metav1.UpdateOptions{})
		return err
	})
	if err != nil {
		return fmt.Errorf("writing the node's heartbeat: %w", err)
	}
	return e.retry(ctx, func() error {
		leases := e.Kube.CoordinationV1().Leases("kube-node-lease")
		lease, err := leases.Get(ctx, e.Node, metav1.GetOptions{})
		if err != nil {
			return err
		}
		micro := metav1.NowMicro()
		lease.Spec.RenewTime = &micro
		_, err = leases.Update(ctx, lease, metav1.UpdateOptions{})
		return err
	})
}
