package operators

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// runNodeDaemon plays machine-config-daemon for a real machine-config-controller: the node goes where its annotation says, and gets the
// files of the controller's rendering. Whether it reboots for that is asked of the daemon's own code elsewhere (test/bench/daemon).
func runNodeDaemon(ctx context.Context, e *Env) {
	const pool = "machine-config-master"
	go runControllerConfig(ctx, e)
	e.loop(ctx, "node-daemon", []resource{core("nodes")}, func(ctx context.Context) error {
		node, err := e.Kube.CoreV1().Nodes().Get(ctx, e.Node, metav1.GetOptions{})
		if err != nil {
			return fmt.Errorf("reading the node: %w", err)
		}
		want := node.Annotations[mcoAnnotation+"desiredConfig"]
		if want == "" || want == node.Annotations[mcoAnnotation+"currentConfig"] {
			return nil
		}
		if err := e.firstLook(ctx); err != nil {
			return err
		}
		e.Stats.begin(pool)
		if err := e.annotate(ctx, e.works(map[string]string{})); err != nil {
			return err
		}
		if err := e.Pace.Sleep(ctx, nodeUpdate); err != nil {
			return err
		}
		if err := e.applyRendered(ctx, want); err != nil {
			return err
		}
		e.drifted.Store(false)
		err = e.annotate(ctx, map[string]string{
			"currentConfig": want, "state": "Done", "reason": "", "desiredDrain": "uncordon-" + want, "lastAppliedDrain": "uncordon-" + want,
		})
		if err == nil {
			e.Stats.done(pool)
		}
		return err
	})
}

// applyRendered lays what the controller has rendered, where the bench has files of a node.
func (e *Env) applyRendered(ctx context.Context, name string) error {
	if e.NodeRoot == "" {
		return nil
	}
	mc, err := e.MCO.MachineConfigs().Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("reading %s: %w", name, err)
	}
	return e.applyRaw(ctx, name, mc.Spec.Config.Raw, false)
}
