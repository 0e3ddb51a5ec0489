package health

import (
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"touchdown/backend/check"
	"touchdown/backend/message"
)

// startTime is how long a pod may take to become ready before that is a fault.
const startTime = 5 * time.Minute

// pulling and crashing are reasons for which a container waits that do not pass without a change (kubernetes v1.34.1,
// pkg/kubelet/images/types.go, pkg/kubelet/kuberuntime/kuberuntime_container.go).
var (
	pulling  = []string{"ImagePullBackOff", "ErrImagePull", "ErrImageNeverPull", "InvalidImageName", "RegistryUnavailable", "SignatureValidationFailed"}
	crashing = []string{"CrashLoopBackOff", "CreateContainerConfigError", "CreateContainerError", "RunContainerError", "ImageInspectError", "PreCreateHookError", "PreStartHookError", "PostStartHookError"}
)

// ailment is what is wrong with a pod.
type ailment struct {
	text  message.Text
	image bool // the registry, or an image that was not brought along, is the cause
	young bool // it may still pass
}

func judgePods(s *State) check.Check {
	c := check.Check{
		ID: "pods", Title: message.T("Programs of the cluster (pods)"), Expected: message.T("all running and ready, or done"),
		Source: message.T("Pod phase and container states; 5 minutes to become ready"),
		Fix:    message.T("Wait a few minutes; if one stays, its reason and its log are in the support bundle."),
	}
	return judgeSick(s, c, false, message.F("%d pods, all well", len(s.Pods)))
}

func judgeImages(s *State) check.Check {
	c := check.Check{
		ID: "images", Title: message.T("Images of the cluster's programs (registry)"), Expected: message.T("all there, or to be fetched"),
		Source: message.T("Pod container states ImagePullBackOff, ErrImagePull and the like"),
		Fix:    message.T("Check registry, mirror settings and pull secret, then run `touchdown images seed`."),
	}
	return judgeSick(s, c, true, message.T("all there"))
}

// judgeSick judges what is wrong with pods: gravely with the platform's, lightly with those that may still come up, that a
// site without Internet can do without, or that are the user's own.
func judgeSick(s *State, c check.Check, image bool, fine message.Text) check.Check {
	if c, no := unread(s, c, "pods"); no {
		return c
	}
	var f faults
	for i := range s.Pods {
		p := &s.Pods[i]
		a := s.examine(p)
		if a == nil || a.image != image {
			continue
		}
		f.add(!a.young && platform(p.Namespace) && !dispensable(s, p.Namespace), message.F("%s %s", p.Namespace+"/"+p.Name, a.text))
	}
	return f.judge(c, fine)
}

func platform(namespace string) bool {
	return strings.HasPrefix(namespace, "openshift-") || strings.HasPrefix(namespace, "kube-") || namespace == "openshift"
}

func dispensable(s *State, namespace string) bool {
	for _, ns := range optional {
		if ns == namespace {
			return offline(s)
		}
	}
	return false
}

// examine returns what is wrong with a pod, nil when nothing is.
func (s *State) examine(p *corev1.Pod) *ailment {
	if p.Status.Phase == corev1.PodSucceeded || ofJob(p) {
		return nil
	}
	if p.DeletionTimestamp != nil {
		// It goes away in its own time.
		if s.age(p.DeletionTimestamp.Time) < 2*startTime {
			return nil
		}
		return &ailment{text: message.T("does not end")}
	}
	if p.Status.Phase == corev1.PodFailed {
		if record(p) {
			return nil
		}
		return &ailment{text: with(message.T("ended in failure"), p.Status.Reason), young: true}
	}
	if a := stuck(p); a != nil {
		return a
	}
	ready := podCondition(p, corev1.PodReady)
	if ready != nil && ready.Status == corev1.ConditionTrue {
		return nil
	}
	since, why := p.CreationTimestamp.Time, message.T("is not ready")
	if ready != nil && ready.LastTransitionTime.After(since) {
		since = ready.LastTransitionTime.Time
	}
	if placed := podCondition(p, corev1.PodScheduled); placed != nil && placed.Status == corev1.ConditionFalse {
		why = message.F("has no place: %s", firstLine(placed.Message))
	}
	age := s.age(since)
	if age == forever {
		return &ailment{text: message.F("%s since before the clock was set back", why)}
	}
	return &ailment{text: message.F("%s since %s", why, age.Round(time.Second)), young: age < startTime}
}

// stuck looks for a container that waits for something that does not come.
func stuck(p *corev1.Pod) *ailment {
	for _, c := range slices.Concat(p.Status.InitContainerStatuses, p.Status.ContainerStatuses) {
		w := c.State.Waiting
		switch {
		case w == nil:
		case slices.Contains(pulling, w.Reason):
			text := message.F("misses its image %s (%s)", c.Image, w.Reason)
			if why := pullCause(w.Message); why != (message.Text{}) {
				text = message.F("%s: %s", text, why)
			}
			return &ailment{text: text, image: true}
		case slices.Contains(crashing, w.Reason):
			return &ailment{text: message.F("fails to start (%s, %d restarts)", w.Reason, c.RestartCount)}
		}
	}
	return nil
}

func ofJob(p *corev1.Pod) bool {
	return slices.ContainsFunc(p.OwnerReferences, func(o metav1.OwnerReference) bool { return o.Kind == "Job" })
}

func podCondition(p *corev1.Pod, kind corev1.PodConditionType) *corev1.PodCondition {
	for i := range p.Status.Conditions {
		if p.Status.Conditions[i].Type == kind {
			return &p.Status.Conditions[i]
		}
	}
	return nil
}
