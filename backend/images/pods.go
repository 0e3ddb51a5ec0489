package images

import (
	"context"
	"fmt"
	"slices"

	"touchdown/backend/kube"
	"touchdown/backend/message"
)

// containerID is what the kubelet writes before the id of a container of CRI-O.
const containerID = "cri-o://"

// pod is what the API says of one; the zero pod is one that it does not have.
type pod struct {
	ready      bool
	ended      bool         // or is being deleted: it does not start again
	why        message.Text // it is not ready
	containers []string     // ids
}

// podsOf are all pods by "namespace/name".
func podsOf(ctx context.Context, c *kube.Cluster) (map[string]pod, error) {
	list, _, err := c.List(ctx, kube.Ref{Version: "v1", Resource: "pods"})
	if err != nil {
		return nil, err
	}
	pods := map[string]pod{}
	for _, o := range list {
		meta, _ := o["metadata"].(map[string]any)
		status, _ := o["status"].(map[string]any)
		p := pod{ready: isReady(status), ended: meta["deletionTimestamp"] != nil || status["phase"] == "Succeeded" || status["phase"] == "Failed"}
		if !p.ready && status["phase"] != "Succeeded" {
			p.why = waiting(status)
		}
		for _, c := range objects(status["containerStatuses"]) {
			id, _ := c["containerID"].(string)
			p.containers = append(p.containers, id)
		}
		pods[fmt.Sprintf("%v/%v", meta["namespace"], meta["name"])] = p
	}
	return pods, nil
}

// awaited is why a pod that was ready before a reboot is not back; empty when it is. running are the ids of the containers that run.
func (p pod) awaited(running map[string]bool) message.Text {
	switch {
	case !p.ready && p.why.String() == "":
		return message.T("it is gone")
	case !p.ready:
		return p.why
	case len(p.containers) == 0 || slices.ContainsFunc(p.containers, func(id string) bool { return !running[id] }):
		return message.T("the API reports it as ready, but CRI-O does not run its containers")
	}
	return message.Text{}
}

func isReady(status map[string]any) bool {
	for _, c := range objects(status["conditions"]) {
		if c["type"] == "Ready" {
			return c["status"] == "True"
		}
	}
	return false
}

// waiting is what the kubelet says of a pod's first container that does not run.
func waiting(status map[string]any) message.Text {
	for _, list := range []string{"initContainerStatuses", "containerStatuses"} {
		for _, c := range objects(status[list]) {
			state, _ := c["state"].(map[string]any)
			if w, ok := state["waiting"].(map[string]any); ok {
				return message.F("container %s waits: %s", fmt.Sprint(c["name"]), fmt.Sprint(w["reason"]))
			}
		}
	}
	return message.F("it is %s and not ready", fmt.Sprint(status["phase"]))
}

func objects(list any) []map[string]any {
	items, _ := list.([]any)
	var out []map[string]any
	for _, i := range items {
		if m, ok := i.(map[string]any); ok {
			out = append(out, m)
		}
	}
	return out
}
