package operators

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	configv1 "github.com/openshift/api/config/v1"
	operatorv1 "github.com/openshift/api/operator/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// arrived tells that a revision is there. It is done again by an operator that was interrupted in it.
func (e *Env) arrived(ctx context.Context, r Revision) error {
	err := e.updateRevision(ctx, func(s *operatorv1.StaticPodOperatorStatus) {
		s.NodeStatuses[0].CurrentRevision, s.NodeStatuses[0].TargetRevision = r.Latest, 0
		tellInstalled(s)
		setCondition(s, operatorv1.OperatorCondition{Type: fellBack, Status: operatorv1.ConditionFalse})
	})
	if err != nil {
		return err
	}
	if !e.refused.Load() {
		if err := e.degraded(ctx, kas, false, "AsExpected", ""); err != nil {
			return err
		}
	}
	if err := e.atRest(ctx, r); err != nil {
		return err
	}
	e.Stats.done(kas)
	e.Log.Info("revision ends", "revision", r.Latest)
	return nil
}

// atRest tells that the operator does not work on a revision.
func (e *Env) atRest(ctx context.Context, r Revision) error {
	message := fmt.Sprintf("NodeInstallerProgressing: 1 node is at revision %d", r.Latest)
	return e.condition(ctx, kas, configv1.OperatorProgressing, false, "AsExpected", message)
}

// fallBack plays a server that does not come up: the API is away until the startup monitor goes back to the last good revision, and the operator says why.
func fallBack(ctx context.Context, e *Env, r Revision, old []string, cause error) error {
	e.Log.Warn("revision does not start", "revision", r.Latest, "error", cause)
	wait := func(ctx context.Context) error { return e.Pace.Sleep(ctx, fallback) }
	if err := e.API.RollOut(ctx, old, wait); err != nil {
		return fmt.Errorf("falling back: %w", err)
	}
	if err := e.markFallback(ctx, r.Latest, cause); err != nil {
		return err
	}
	message := fmt.Sprintf("a static pod %s-%s was rolled back to revision %d due to %v", kas, e.Node, r.Latest, cause) // library-go's words: it names the one that failed
	err := e.updateRevision(ctx, func(s *operatorv1.StaticPodOperatorStatus) {
		setCondition(s, operatorv1.OperatorCondition{Type: fellBack, Status: operatorv1.ConditionTrue, Reason: "NetworkError", Message: message})
	})
	if err != nil {
		return err
	}
	if err := e.degraded(ctx, kas, true, "StaticPodFallbackRevision_NetworkError", fellBack+": "+message); err != nil {
		return err
	}
	// The node's status is not written before the server has been ready for a while, and the failed revision stays its target.
	if err := e.Pace.Sleep(ctx, minReady); err != nil {
		return err
	}
	err = e.updateRevision(ctx, func(s *operatorv1.StaticPodOperatorStatus) {
		n, now := &s.NodeStatuses[0], metav1.Now()
		n.LastFailedRevision, n.LastFailedReason, n.LastFailedTime = r.Latest, "OperandFailedFallback", &now
		n.LastFallbackCount, n.LastFailedCount = 1, 0 // of this revision
		n.LastFailedRevisionErrors = []string{fmt.Sprintf("fallback to last-known-good revision %d took place after: %v (NetworkError)", r.Current, cause)}
		tellInstalled(s)
	})
	if err != nil {
		return err
	}
	e.Stats.fail(kas)
	return nil // a revision that crashed is not tried again before something changes
}

// fellBack is the condition of library-go's controller staticpodfallback.
const fellBack = "StaticPodFallbackRevisionDegraded"

// tellInstalled sets the conditions that library-go's installer controller writes with each change of a node's status
// (installer_controller.go, prepareNodeInstallerConditionApplyConfiguration).
func tellInstalled(s *operatorv1.StaticPodOperatorStatus) {
	current, latest := s.NodeStatuses[0].CurrentRevision, s.LatestAvailableRevision
	at := fmt.Sprintf("1 node is at revision %d", current)
	status, reason := operatorv1.ConditionFalse, "AllNodesAtLatestRevision"
	if current != latest {
		at += fmt.Sprintf("; 0 nodes have achieved new revision %d", latest)
		status, reason = operatorv1.ConditionTrue, ""
	}
	setCondition(s, operatorv1.OperatorCondition{Type: "StaticPodsAvailable", Status: operatorv1.ConditionTrue, Message: "1 nodes are active; " + at})
	setCondition(s, operatorv1.OperatorCondition{Type: "NodeInstallerProgressing", Status: status, Reason: reason, Message: at})
}

// setCondition sets one of an operator's own conditions; its time changes with its status.
func setCondition(s *operatorv1.StaticPodOperatorStatus, c operatorv1.OperatorCondition) {
	c.LastTransitionTime = metav1.Now()
	i := slices.IndexFunc(s.Conditions, func(have operatorv1.OperatorCondition) bool { return have.Type == c.Type })
	switch {
	case i < 0:
		s.Conditions = append(s.Conditions, c)
		return
	case s.Conditions[i].Status == c.Status:
		c.LastTransitionTime = s.Conditions[i].LastTransitionTime
	}
	s.Conditions[i] = c
}

// mark begins the names of what the startup monitor writes on a static pod that falls back.
const mark = "startup-monitor.static-pods.openshift.io/fallback-"

// markFallback writes on the static pod what the startup monitor writes there.
func (e *Env) markFallback(ctx context.Context, revision int32, cause error) error {
	return e.annotateServer(ctx, map[string]any{mark + "for-revision": fmt.Sprint(revision), mark + "reason": "NetworkError", mark + "message": cause.Error()})
}

// clearFallback takes the marks off. The startup monitor writes them into the manifest of the last good revision; a later revision
// has a manifest without them, and so another pod. The stand-in has one pod for all of them.
func (e *Env) clearFallback(ctx context.Context) error {
	return e.annotateServer(ctx, map[string]any{mark + "for-revision": nil, mark + "reason": nil, mark + "message": nil})
}

// annotateServer changes the annotations of the static pod, where there is one; nil removes.
func (e *Env) annotateServer(ctx context.Context, annotations map[string]any) error {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": annotations}})
	if err != nil {
		return fmt.Errorf("encoding annotations: %w", err)
	}
	err = e.retry(ctx, func() error {
		_, err := e.Kube.CoreV1().Pods(kasNamespace).Patch(ctx, kas+"-"+e.Node, types.MergePatchType, patch, metav1.PatchOptions{})
		return err
	})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("changing the static pod of kube-apiserver: %w", err)
	}
	return nil
}

// updateRevision changes the status of the KubeAPIServer operator resource.
func (e *Env) updateRevision(ctx context.Context, change func(*operatorv1.StaticPodOperatorStatus)) error {
	err := e.retry(ctx, func() error {
		o, err := e.Operator.KubeAPIServers().Get(ctx, "cluster", metav1.GetOptions{})
		if err != nil {
			return err
		}
		change(&o.Status.StaticPodOperatorStatus)
		o, err = e.Operator.KubeAPIServers().UpdateStatus(ctx, o, metav1.UpdateOptions{})
		if err == nil {
			e.Stats.setRevision(revisionOf(o))
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("changing the revision of kube-apiserver: %w", err)
	}
	return nil
}

// readRevision reads where kube-apiserver is, and which revision failed last.
func (e *Env) readRevision(ctx context.Context) (r Revision, failed int32, err error) {
	o, err := e.Operator.KubeAPIServers().Get(ctx, "cluster", metav1.GetOptions{})
	if err != nil {
		return r, 0, fmt.Errorf("reading the revision of kube-apiserver: %w", err)
	}
	return revisionOf(o), o.Status.NodeStatuses[0].LastFailedRevision, nil
}

func revisionOf(o *operatorv1.KubeAPIServer) Revision {
	n := o.Status.NodeStatuses[0]
	return Revision{Current: n.CurrentRevision, Target: n.TargetRevision, Latest: o.Status.LatestAvailableRevision}
}
