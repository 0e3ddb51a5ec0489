package operators

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// runInstallers plays the kubelet, the installer pods and the startup monitor for a real operator of kube-apiserver: an installer
// pod that ends well is followed by the server's restart with that revision's certificates, and by its mirror pod. It counts each
// start of the server as a roll-out.
func runInstallers(ctx context.Context, e *Env) {
	watched := []resource{core("pods"), core("secrets")}
	e.loop(ctx, "installers", watched, func(ctx context.Context) error {
		if r, _, err := e.readRevision(ctx); err == nil {
			e.Stats.setRevision(r)
		}
		list, err := e.Kube.CoreV1().Pods(kasNamespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return fmt.Errorf("listing installer pods: %w", err)
		}
		for i := range list.Items {
			if err := e.runPod(ctx, &list.Items[i]); err != nil {
				return err
			}
		}
		return e.syncRunning(ctx)
	})
}

// runPod does what the pod would do. Others than those of the operator's installer stay unchanged.
func (e *Env) runPod(ctx context.Context, p *v1.Pod) error {
	installs, prunes := strings.HasPrefix(p.Name, "installer-"), strings.HasPrefix(p.Name, "revision-pruner-")
	if !installs && !prunes {
		return nil
	}
	if p.DeletionTimestamp != nil {
		return e.removePod(ctx, p)
	}
	if p.Status.Phase == v1.PodSucceeded || p.Status.Phase == v1.PodFailed {
		return nil
	}
	if prunes {
		return e.setPhase(ctx, p, v1.PodSucceeded, false)
	}
	revision, err := strconv.ParseInt(strings.Split(p.Name, "-")[1], 10, 32)
	if err != nil {
		return fmt.Errorf("reading the revision of pod %s: %w", p.Name, err)
	}
	if err := e.setPhase(ctx, p, v1.PodRunning, true); err != nil {
		return err
	}
	if deleted, err := e.outlived(ctx, p); deleted || err != nil {
		return err
	}
	e.Log.Info("installer ends", "revision", revision)
	if err := e.setPhase(ctx, p, v1.PodSucceeded, false); err != nil {
		return err
	}
	return e.startRevision(ctx, int32(revision))
}

// outlived waits for as long as an installer takes, and says whether the operator removed it before: a newer revision takes its
// place, and the server was not restarted.
func (e *Env) outlived(ctx context.Context, p *v1.Pod) (deleted bool, err error) {
	for gone := time.Duration(0); gone < installer; gone += time.Second {
		now, err := e.Kube.CoreV1().Pods(p.Namespace).Get(ctx, p.Name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) || err == nil && now.UID != p.UID {
			return true, nil
		}
		if err == nil && now.DeletionTimestamp != nil {
			e.Log.Info("installer is overtaken", "pod", p.Name)
			return true, e.removePod(ctx, p)
		}
		if err := e.Pace.Sleep(ctx, time.Second); err != nil {
			return false, err
		}
	}
	return false, nil
}

// startRevision restarts the server as the static pod of a revision. One that does not start is followed by the one before, as
// the startup monitor does it.
func (e *Env) startRevision(ctx context.Context, revision int32) error {
	config, err := e.Kube.CoreV1().ConfigMaps(kasNamespace).Get(ctx, inputName("config", revision), metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("reading the configuration of revision %d: %w", revision, err)
	}
	named, err := namedIn(config.Data["config.yaml"])
	if err != nil {
		return err
	}
	dir, old := e.certDir(revision), e.API.SNI()
	if err := e.syncCerts(ctx, len(named), dir); err != nil {
		return err
	}
	e.Stats.begin(kas)
	before, _, err := e.readRevision(ctx)
	if err != nil {
		return err
	}
	outage := func(ctx context.Context) error { return e.Pace.Sleep(ctx, apiOutage) }
	cause := e.API.RollOut(ctx, sni(named, dir), outage)
	if cause == nil {
		e.Stats.done(kas)
		return e.mirror(ctx, revision)
	}
	e.Log.Warn("revision does not start", "revision", revision, "error", cause)
	if err := e.API.RollOut(ctx, old, func(ctx context.Context) error { return e.Pace.Sleep(ctx, fallback) }); err != nil {
		return fmt.Errorf("falling back: %w", err)
	}
	e.Stats.fail(kas)
	if err := e.mirror(ctx, before.Current); err != nil {
		return err
	}
	return e.markFallback(ctx, revision, cause)
}

// mirror makes the pod by which a kubelet shows the static pod: another revision is another pod, ready after a while.
func (e *Env) mirror(ctx context.Context, revision int32) error {
	pods, now := e.Kube.CoreV1().Pods(kasNamespace), metav1.Now()
	p := &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: kas + "-" + e.Node, Namespace: kasNamespace,
			Labels:      map[string]string{"app": "openshift-" + kas, "apiserver": "true", "revision": fmt.Sprint(revision)},
			Annotations: map[string]string{"kubernetes.io/config.source": "file", "kubernetes.io/config.mirror": fmt.Sprint(now.UnixNano())},
		},
		Spec: v1.PodSpec{NodeName: e.Node, HostNetwork: true, Containers: []v1.Container{{Name: kas, Image: "bench"}}},
	}
	err := e.retry(ctx, func() error {
		if err := pods.Delete(ctx, p.Name, *metav1.NewDeleteOptions(0)); err != nil && !apierrors.IsNotFound(err) {
			return err
		}
		made, err := pods.Create(ctx, p, metav1.CreateOptions{})
		if err == nil {
			p.UID = made.UID
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("making the mirror pod: %w", err)
	}
	return e.setPhase(ctx, p, v1.PodRunning, true)
}

// setPhase writes what a kubelet says of a pod.
func (e *Env) setPhase(ctx context.Context, p *v1.Pod, phase v1.PodPhase, ready bool) error {
	now, status := metav1.Now(), v1.ConditionFalse
	if ready {
		status = v1.ConditionTrue
	}
	s := v1.PodStatus{Phase: phase, StartTime: &now}
	for _, kind := range []v1.PodConditionType{v1.PodInitialized, v1.PodReady, v1.ContainersReady} {
		s.Conditions = append(s.Conditions, v1.PodCondition{Type: kind, Status: status, LastTransitionTime: now})
	}
	for _, c := range slices.Concat(p.Spec.InitContainers, p.Spec.Containers) {
		state := v1.ContainerState{Running: &v1.ContainerStateRunning{StartedAt: now}}
		if phase == v1.PodSucceeded {
			state = v1.ContainerState{Terminated: &v1.ContainerStateTerminated{Reason: "Completed", StartedAt: now, FinishedAt: now}}
		}
		s.ContainerStatuses = append(s.ContainerStatuses, v1.ContainerStatus{Name: c.Name, Image: c.Image, ImageID: c.Image, Ready: ready, Started: &ready, State: state})
	}
	patch, err := json.Marshal(map[string]any{"status": s})
	if err != nil {
		return fmt.Errorf("encoding the status of pod %s: %w", p.Name, err)
	}
	err = e.retry(ctx, func() error {
		_, err := e.Kube.CoreV1().Pods(p.Namespace).Patch(ctx, p.Name, types.MergePatchType, patch, metav1.PatchOptions{}, "status")
		return err
	})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("changing the status of pod %s: %w", p.Name, err)
	}
	return nil
}

// removePod ends a pod that the API only marked: it has a node, and there is no kubelet that would.
func (e *Env) removePod(ctx context.Context, p *v1.Pod) error {
	err := e.retry(ctx, func() error {
		return e.Kube.CoreV1().Pods(p.Namespace).Delete(ctx, p.Name, *metav1.NewDeleteOptions(0))
	})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("removing pod %s: %w", p.Name, err)
	}
	return nil
}
