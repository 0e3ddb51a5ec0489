package kubelet

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"

	"touchdown/backend/kube"
	"touchdown/backend/message"
)

// freshness is how old the node's last sign of life may be: a Ready from before a power cut is worth nothing. OpenShift's CI
// uses the same for single nodes.
const freshness = 100 * time.Second

// Unready says why the node does not work yet; "" when it is Ready and has said so just now.
func Unready(ctx context.Context, c *kube.Cluster, name string, now time.Time) (message.Text, error) {
	node, err := c.Get(ctx, kube.Ref{Version: "v1", Resource: "nodes", Name: name})
	if err != nil {
		return message.Text{}, err
	}
	if node == nil {
		return message.T("the kubelet to register the node"), nil
	}
	conditions, _ := below(node, "status")["conditions"].([]any)
	for _, raw := range conditions {
		cond, _ := raw.(map[string]any)
		if cond["type"] != string(corev1.NodeReady) {
			continue
		}
		if cond["status"] != string(corev1.ConditionTrue) {
			return message.F("the node to become ready: %v", cond["message"]), nil
		}
		beat, _ := cond["lastHeartbeatTime"].(string)
		return stale(ctx, c, name, beat, now)
	}
	return message.T("the node to say whether it is ready"), nil
}

// stale looks at the node's lease too: it is renewed every 10 s, the status of a quiet node only every 5 minutes.
func stale(ctx context.Context, c *kube.Cluster, name, beat string, now time.Time) (message.Text, error) {
	lease, err := c.Get(ctx, kube.Ref{
		Group: "coordination.k8s.io", Version: "v1", Resource: "leases", Namespace: corev1.NamespaceNodeLease, Name: name,
	})
	if err != nil {
		return message.Text{}, err
	}
	renewed, _ := below(lease, "spec")["renewTime"].(string)
	for _, text := range []string{beat, renewed} {
		// One of the future is from before the clock was set back.
		if at, err := time.Parse(time.RFC3339, text); err == nil && now.Sub(at).Abs() <= freshness {
			return message.Text{}, nil
		}
	}
	return message.T("a fresh sign of life of the node"), nil
}

func below(object map[string]any, key string) map[string]any {
	m, _ := object[key].(map[string]any)
	return m
}

// Forget deletes a Node, so that the kubelet can register under another name.
func Forget(ctx context.Context, c *kube.Cluster, name string, save kube.Save) error {
	_, err := c.Delete(ctx, kube.Ref{Version: "v1", Resource: "nodes", Name: name}, save)
	return err
}
