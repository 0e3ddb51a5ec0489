package health

import (
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"touchdown/backend/check"
	"touchdown/backend/message"
)

// unreadWide is unread for the wide part of a look.
func unreadWide(s *State, c check.Check, whats ...string) (check.Check, bool) {
	if s.Away != nil {
		return unread(s, c, "")
	}
	if s.Wide == nil {
		c.Status, c.Observed, c.Fix = check.Skip, message.T("not checked"), message.Text{}
		return c, true
	}
	var worst error
	for _, what := range whats {
		if err := s.Wide.Errors[what]; err != nil && (worst == nil || missing(worst)) {
			worst = err
		}
	}
	return unread(&State{Errors: map[string]error{"": worst}}, c, "")
}

// judgeControllers finds what the pods do not show: a controller whose pods were never made.
func judgeControllers(s *State) check.Check {
	c := check.Check{
		ID: "controllers", Title: message.T("Controllers have their pods"), Expected: message.T("all replicas available"),
		Source: message.T("Deployment condition Available; DaemonSet numberAvailable; StatefulSet readyReplicas; 5 minutes to become available"),
		Fix:    message.T("Wait a few minutes; if one stays, run: oc describe in its namespace, which says why it makes no pods."),
	}
	if c, no := unreadWide(s, c, "deployments", "daemonsets", "statefulsets"); no {
		return c
	}
	var f faults
	add := func(namespace string, text message.Text, young bool) {
		f.add(!young && platform(namespace) && !dispensable(s, namespace), text)
	}
	w := s.Wide
	for i := range w.Deployments {
		d := &w.Deployments[i]
		if since, bad := unavailable(d); bad && wants(d.Spec.Replicas) > 0 {
			add(d.Namespace, message.F("%s has %d of %d replicas", d.Namespace+"/"+d.Name, d.Status.AvailableReplicas, wants(d.Spec.Replicas)), s.age(since) < startTime)
		} else if d.Status.AvailableReplicas < wants(d.Spec.Replicas) { // a roll-out, or pods that the check of the pods judges
			add(d.Namespace, message.F("%s has %d of %d replicas", d.Namespace+"/"+d.Name, d.Status.AvailableReplicas, wants(d.Spec.Replicas)), true)
		}
	}
	// These do not say since when; where there are pods, those do, which the check of the pods judges.
	for i := range w.DaemonSets {
		if d := &w.DaemonSets[i]; d.Status.NumberAvailable < d.Status.DesiredNumberScheduled {
			add(d.Namespace, message.F("%s has %d of %d pods", d.Namespace+"/"+d.Name, d.Status.NumberAvailable, d.Status.DesiredNumberScheduled), d.Status.CurrentNumberScheduled > 0)
		}
	}
	for i := range w.StatefulSets {
		if d := &w.StatefulSets[i]; d.Status.ReadyReplicas < wants(d.Spec.Replicas) {
			add(d.Namespace, message.F("%s has %d of %d replicas", d.Namespace+"/"+d.Name, d.Status.ReadyReplicas, wants(d.Spec.Replicas)), d.Status.Replicas > 0)
		}
	}
	return f.judge(c, message.F("%d controllers, all well", len(w.Deployments)+len(w.DaemonSets)+len(w.StatefulSets)))
}

// wants is how many replicas a controller shall have; Kubernetes takes one where nothing is said.
func wants(replicas *int32) int32 {
	if replicas == nil {
		return 1
	}
	return *replicas
}

// unavailable tells since when a Deployment has fewer replicas than it needs to serve, or cannot make its pods. One whose only replica may be
// away in a roll-out, such as the router's, says that it is available without any (kubernetes v1.34.1,
// pkg/controller/deployment/util/deployment_util.go, ResolveFenceposts).
func unavailable(d *appsv1.Deployment) (since time.Time, bad bool) {
	since, bad = d.CreationTimestamp.Time, d.Status.AvailableReplicas < wants(d.Spec.Replicas)
	for _, cond := range d.Status.Conditions {
		switch {
		case cond.Type == appsv1.DeploymentReplicaFailure && cond.Status == corev1.ConditionTrue && d.Status.AvailableReplicas < wants(d.Spec.Replicas):
			return cond.LastTransitionTime.Time, true
		case cond.Type == appsv1.DeploymentAvailable:
			since, bad = cond.LastTransitionTime.Time, cond.Status != corev1.ConditionTrue
		}
	}
	return since, bad
}

// defaultClass marks the StorageClass of claims that name none.
const defaultClass = "storageclass.kubernetes.io/is-default-class"

func judgeStorage(s *State) check.Check {
	c := check.Check{
		ID: "storage", Title: message.T("Volumes of applications (storage)"), Expected: message.T("claims bound, volumes usable, at most one default class"),
		Source: message.F("PersistentVolumeClaim and PersistentVolume phase; annotation %s", defaultClass),
		Fix:    message.T("Run: oc describe pvc, which says what a claim waits for; check the storage operator and its disk."),
	}
	if c, no := unreadWide(s, c, "claims", "volumes", "classes"); no {
		return c
	}
	var f faults
	late, defaults := s.classes()
	if len(defaults) > 1 {
		f.add(false, message.F("%d default storage classes: %s", len(defaults), strings.Join(defaults, ", ")))
	}
	for i := range s.Wide.Claims {
		p := &s.Wide.Claims[i]
		waits := p.Spec.StorageClassName != nil && late[*p.Spec.StorageClassName] && !s.used(p) || s.age(p.CreationTimestamp.Time) < startTime
		grave := platform(p.Namespace) && !dispensable(s, p.Namespace)
		switch {
		case p.Status.Phase == corev1.ClaimLost:
			f.add(grave, message.F("claim %s lost its volume", p.Namespace+"/"+p.Name))
		case p.Status.Phase != corev1.ClaimBound && !waits:
			f.add(grave, message.F("claim %s has no volume", p.Namespace+"/"+p.Name))
		}
	}
	for i := range s.Wide.Volumes {
		if v := &s.Wide.Volumes[i]; v.Status.Phase == corev1.VolumeFailed {
			f.add(false, with(message.F("volume %s failed", v.Name), firstLine(v.Status.Message)))
		}
	}
	return f.judge(c, message.F("%d claims, all well", len(s.Wide.Claims)))
}

// classes tells which storage classes bind a claim only when a pod uses it, and which are for claims that name none.
func (s *State) classes() (late map[string]bool, defaults []string) {
	late = map[string]bool{}
	for i := range s.Wide.Classes {
		k := &s.Wide.Classes[i]
		late[k.Name] = k.VolumeBindingMode != nil && *k.VolumeBindingMode == "WaitForFirstConsumer"
		if k.Annotations[defaultClass] == "true" {
			defaults = append(defaults, k.Name)
		}
	}
	slices.Sort(defaults)
	return late, defaults
}

// used tells whether a pod of the cluster mounts a claim.
func (s *State) used(claim *corev1.PersistentVolumeClaim) bool {
	return slices.ContainsFunc(s.Pods, func(p corev1.Pod) bool {
		return p.Namespace == claim.Namespace && slices.ContainsFunc(p.Spec.Volumes, func(v corev1.Volume) bool {
			return v.PersistentVolumeClaim != nil && v.PersistentVolumeClaim.ClaimName == claim.Name
		})
	})
}
