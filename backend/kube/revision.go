package kube

import (
	"fmt"
	"strings"

	"touchdown/backend/message"

	operatorv1 "github.com/openshift/api/operator/v1"
	corev1 "k8s.io/api/core/v1"
)

// fallback marks an API server that went back to its last good revision after five minutes without success.
const fallback = "startup-monitor.static-pods.openshift.io/fallback-"

// Revisions is the state of the API server's roll-out on the node.
type Revisions struct {
	Latest, Current, Target int32
	Failed                  int32  // the revision that failed last
	FellBack                bool   // it ran, and the API server went back to the one before
	Why                     string // it failed, or what the API server fell back from
}

// RevisionsOf takes the state of a roll-out from the operator's status and the API server's static pods.
func RevisionsOf(ks *operatorv1.KubeAPIServer, pods []corev1.Pod) Revisions {
	r := Revisions{Latest: ks.Status.LatestAvailableRevision}
	if nodes := ks.Status.NodeStatuses; len(nodes) > 0 {
		n := nodes[0]
		r.Current, r.Target, r.Failed = n.CurrentRevision, n.TargetRevision, n.LastFailedRevision
		r.FellBack = n.LastFallbackCount > 0
		r.Why = firstLine(strings.Join(append([]string{n.LastFailedReason}, n.LastFailedRevisionErrors...), " "))
	}
	for i := range pods {
		a := pods[i].Annotations
		if a[fallback+"for-revision"] == "" {
			continue
		}
		var revision int32
		if _, err := fmt.Sscan(a[fallback+"for-revision"], &revision); err == nil && revision >= r.Failed {
			r.Failed, r.FellBack = revision, true
			r.Why = firstLine(a[fallback+"reason"] + " " + a[fallback+"message"])
		}
	}
	return r
}

// Pending says why the roll-out is not over; "" when it is. after is the newest revision from before a change: while there is
// no newer one, "done" is old news. 0 takes any.
func (r Revisions) Pending(after int32) message.Text {
	switch {
	case after > 0 && r.Latest <= after:
		return message.F("the API server's revision after %d", after)
	case r.Current != r.Latest:
		return message.F("revision %d of the API server, which is at %d", r.Latest, r.Current)
	case r.Target != 0 && r.Target != r.Current:
		return message.F("revision %d of the API server", r.Target)
	}
	return message.Text{}
}

// Fell reports whether a revision newer than after failed and is still the one to reach.
func (r Revisions) Fell(after int32) bool {
	return r.Failed > after && r.Failed == r.Latest && r.Current < r.Failed
}

// Followed reports whether a newer revision than the one that failed last is still to be reached.
func (r Revisions) Followed() bool { return r.Failed < r.Latest && r.Current < r.Latest }
