package operators

import (
	"context"
	"errors"
	"fmt"

	mcv1 "github.com/openshift/api/machineconfiguration/v1"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const mcoAnnotation = "machineconfiguration.openshift.io/"

// aim sets what a pool shall have, and tells whether it is paused.
func (e *Env) aim(ctx context.Context, pool, rendered string, sources []string) (paused bool, err error) {
	err = e.retry(ctx, func() error {
		p, err := e.MCO.MachineConfigPools().Get(ctx, pool, metav1.GetOptions{})
		if err != nil {
			return err
		}
		paused = p.Spec.Paused
		if !paused || p.Spec.Configuration.Name == rendered {
			return nil
		}
		p.Spec.Configuration.Name, p.Spec.Configuration.Source = rendered, references(sources)
		if p, err = e.MCO.MachineConfigPools().Update(ctx, p, metav1.UpdateOptions{}); err != nil {
			return err
		}
		setPoolCondition(p, mcv1.MachineConfigPoolUpdated, false, "")
		_, err = e.MCO.MachineConfigPools().UpdateStatus(ctx, p, metav1.UpdateOptions{})
		return err
	})
	if err != nil {
		return false, fmt.Errorf("aiming pool %s: %w", pool, err)
	}
	return paused, nil
}

func references(sources []string) []v1.ObjectReference {
	var refs []v1.ObjectReference
	for _, name := range sources {
		refs = append(refs, v1.ObjectReference{APIVersion: mcv1.GroupVersion.String(), Kind: "MachineConfig", Name: name})
	}
	return refs
}

// updatePool sets what a pool wants and where it is.
func (e *Env) updatePool(ctx context.Context, pool, rendered string, sources []string, updating bool) error {
	err := e.retry(ctx, func() error {
		p, err := e.MCO.MachineConfigPools().Get(ctx, pool, metav1.GetOptions{})
		if err != nil {
			return err
		}
		p.Spec.Configuration.Name, p.Spec.Configuration.Source = rendered, references(sources)
		if p, err = e.MCO.MachineConfigPools().Update(ctx, p, metav1.UpdateOptions{}); err != nil {
			return err
		}
		p.Status.ObservedGeneration = p.Generation
		p.Status.UpdatedMachineCount, p.Status.ReadyMachineCount = 0, 0
		if !updating {
			p.Status.Configuration = p.Spec.Configuration
			p.Status.UpdatedMachineCount, p.Status.ReadyMachineCount = p.Status.MachineCount, p.Status.MachineCount
		}
		p.Status.UnavailableMachineCount = p.Status.MachineCount - p.Status.ReadyMachineCount
		setPoolCondition(p, mcv1.MachineConfigPoolUpdated, !updating, "All nodes are updated with "+rendered)
		setPoolCondition(p, mcv1.MachineConfigPoolUpdating, updating, "All nodes are updating to "+rendered)
		_, err = e.MCO.MachineConfigPools().UpdateStatus(ctx, p, metav1.UpdateOptions{})
		return err
	})
	if err != nil {
		return fmt.Errorf("moving pool %s: %w", pool, err)
	}
	return nil
}

func setPoolCondition(p *mcv1.MachineConfigPool, kind mcv1.MachineConfigPoolConditionType, on bool, message string) {
	for i := range p.Status.Conditions {
		c := &p.Status.Conditions[i]
		if c.Type != kind {
			continue
		}
		status := v1.ConditionFalse
		if on {
			status = v1.ConditionTrue
		} else {
			message = ""
		}
		if c.Status != status {
			c.LastTransitionTime = metav1.Now()
		}
		c.Status, c.Message = status, message
	}
}

// moveNode plays machine-config-daemon: annotations, time and, where the change needs it, a reboot.
func (e *Env) moveNode(ctx context.Context, rendered string, in poolInput, reboot bool) error {
	if err := e.firstLook(ctx); err != nil {
		return err
	}
	if err := e.annotate(ctx, e.works(map[string]string{"desiredConfig": rendered})); err != nil {
		return err
	}
	d := nodeUpdate
	if reboot {
		if !e.RealNode { // a real one takes its own time
			d = nodeReboot
		}
		e.Stats.rebooted()
		if err := e.nodeReady(ctx, v1.ConditionUnknown, "NodeStatusUnknown", "Kubelet stopped posting node status."); err != nil {
			return err
		}
	}
	if err := e.Pace.Sleep(ctx, d); err != nil {
		return err
	}
	if err := e.Faults.unstuck(ctx, "machine-config"); err != nil {
		return err
	}
	if err := e.applyFiles(ctx, rendered, in, reboot); err != nil {
		return err
	}
	if reboot {
		if err := e.nodeReady(ctx, v1.ConditionTrue, "KubeletReady", "kubelet is posting ready status"); err != nil {
			return err
		}
	}
	if err := e.Faults.unstuck(ctx, "machine-config-done"); err != nil {
		return err
	}
	e.drifted.Store(false)
	return e.annotate(ctx, map[string]string{"currentConfig": rendered, "state": "Done", "reason": ""})
}

// works adds that the daemon is at work, unless it has refused the node: it then says Degraded, and why, until it is done (pkg/daemon/update.go,
// update, and writer.go, SetDone).
func (e *Env) works(set map[string]string) map[string]string {
	if !e.drifted.Load() {
		set["state"] = "Working"
	}
	return set
}

// firstLook is what the daemon does before its first update: a node that is not as its configuration says is Degraded, for good
// (openshift/machine-config-operator ab14c8e2843b, pkg/daemon/daemon.go, checkStateOnFirstRun).
func (e *Env) firstLook(ctx context.Context) error {
	if e.NodeRoot == "" || e.looked.Load() {
		return nil
	}
	d := daemon{root: e.NodeRoot, real: e.RealNode}
	old, name, err := d.current()
	if err != nil {
		return err
	}
	if err := d.drift(old); err != nil {
		err = fmt.Errorf("unexpected on-disk state validating against %s: %w", name, err)
		e.drifted.Store(true)
		return errors.Join(err, e.annotate(ctx, map[string]string{"state": "Degraded", "reason": err.Error()}))
	}
	e.looked.Store(true)
	return nil
}

// annotate writes the daemon's annotations. It does not cordon: the daemon neither cordons nor drains the only node of a cluster
// (openshift/machine-config-operator, pkg/daemon/drain.go, drainRequired).
func (e *Env) annotate(ctx context.Context, set map[string]string) error {
	err := e.retry(ctx, func() error {
		node, err := e.Kube.CoreV1().Nodes().Get(ctx, e.Node, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if node.Annotations == nil {
			node.Annotations = map[string]string{}
		}
		for k, v := range set {
			node.Annotations[mcoAnnotation+k] = v
		}
		_, err = e.Kube.CoreV1().Nodes().Update(ctx, node, metav1.UpdateOptions{})
		return err
	})
	if err != nil {
		return fmt.Errorf("annotating the node: %w", err)
	}
	return nil
}

func (e *Env) nodeReady(ctx context.Context, status v1.ConditionStatus, reason, message string) error {
	if e.RealNode {
		return nil
	}
	err := e.retry(ctx, func() error {
		node, err := e.Kube.CoreV1().Nodes().Get(ctx, e.Node, metav1.GetOptions{})
		if err != nil {
			return err
		}
		for i, c := range node.Status.Conditions {
			if c.Type == v1.NodeReady {
				c.Status, c.Reason, c.Message, c.LastTransitionTime = status, reason, message, metav1.Now()
				node.Status.Conditions[i] = c
			}
		}
		_, err = e.Kube.CoreV1().Nodes().UpdateStatus(ctx, node, metav1.UpdateOptions{})
		return err
	})
	if err != nil {
		return fmt.Errorf("setting the node's readiness: %w", err)
	}
	return nil
}
