package kube

import (
	"context"
	"errors"

	"touchdown/backend/message"
	"touchdown/backend/problem"
)

// Held is the Problem of a pool that the cluster's owner has paused: whatever was written, the node would not take it.
func (Pause) Held() *problem.Problem {
	return &problem.Problem{
		Code:    "NCF-HELD",
		Summary: message.T("The configuration of this node is paused (MachineConfigPool master), and Touchdown has not paused it."),
		Fix: message.T("Nothing was written. Find out why it is paused; then its owner can end the pause: " +
			"oc patch machineconfigpool master --type merge -p '{\"spec\":{\"paused\":false}}'. Then retry."),
	}
}

// Takes refuses, before anything is written, what needs a new configuration of the pool where none would be made: its owner has paused
// it, nobody renders, or the operator cannot render what the cluster has already. Once the work has paused the pool, that may be its own
// doing, which correcting the values repairs. A node that is NodeDegraded is not refused: the condition can be old, pass, or be what a new
// configuration repairs, such as an image that only the site's mirrors have.
func (p Pause) Takes(ctx context.Context, c *Cluster) error {
	pool, _, err := c.Pool(ctx, p.Pool)
	if err != nil {
		return err
	}
	unrendered := PoolUnrendered(pool)
	switch {
	case pool.Spec.Paused && !p.Ours:
		return p.Held()
	case unrendered != "" && !p.Made:
		return &problem.Problem{
			Code:    "NCF-PAST",
			Summary: message.F("The Machine Config Operator cannot make a configuration of what the cluster has already (MachineConfigPool %s).", p.Pool),
			Fix: message.F("Nothing was written. The cluster's owner has to correct the MachineConfig that the reason names: "+
				"oc describe machineconfigpool %s. Then retry.", p.Pool),
			Err: errors.New(unrendered),
		}
	}
	if !p.Made {
		if err := p.layered(ctx, c); err != nil {
			return err
		}
	}
	return rendering(ctx, c)
}

// layered refuses a pool whose operating system the cluster builds: each of its configurations is another build, which fetches the
// release's image and pushes its own to a registry, and then a reboot, whatever the node disruption policies say
// (openshift/machine-config-operator release-4.21, pkg/controller/build/reconciler.go, updateMachineConfigPool; the API of release-4.18).
func (p Pause) layered(ctx context.Context, c *Cluster) error {
	configs, _, err := c.List(ctx, Ref{Group: "machineconfiguration.openshift.io", Version: "v1", Resource: "machineosconfigs"})
	if err != nil {
		return err
	}
	for _, config := range configs {
		meta, _ := config["metadata"].(map[string]any)
		spec, _ := config["spec"].(map[string]any)
		pool, _ := spec["machineConfigPool"].(map[string]any)
		if pool["name"] != p.Pool {
			continue
		}
		return &problem.Problem{
			Code:    "NCF-BLD",
			Summary: message.F("The cluster builds the operating system of this node (MachineOSConfig %v): each new configuration would build another image, push it to a registry and restart the node.", meta["name"]),
			Fix: message.F("Nothing was written. The cluster's owner can go back to the image of the release, which restarts the node: "+
				"oc delete machineosconfig %v. Then retry.", meta["name"]),
		}
	}
	return nil
}

// rendering refuses what needs a new configuration of the pool where nothing would make one: the operator puts the cluster's own settings
// into its ControllerConfig, and the controller renders (openshift/machine-config-operator 7ff337a4f, pkg/operator/sync.go,
// pkg/controller/render).
func rendering(ctx context.Context, c *Cluster) error {
	const namespace = "openshift-machine-config-operator"
	for _, deployment := range []string{"machine-config-operator", "machine-config-controller"} {
		why, err := Idle(ctx, c, namespace, deployment)
		if err != nil {
			return err
		}
		if why != (message.Text{}) {
			return &problem.Problem{
				Code:    "NCF-REST",
				Summary: message.F("The Machine Config Operator does not run, so the node would not take a new configuration: %s.", why),
				Fix:     message.F("Nothing was written. The cluster's owner can start it: oc scale deployment -n %s %s --replicas 1. Then retry.", namespace, deployment),
			}
		}
	}
	return nil
}
