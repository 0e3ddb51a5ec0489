package support

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"touchdown/backend/kube"
)

// kinds are listed in all namespaces. Neither Secrets nor ConfigMaps are among them.
var kinds = []kube.Ref{
	{Group: "config.openshift.io", Version: "v1", Resource: "clusterversions"},
	{Group: "config.openshift.io", Version: "v1", Resource: "clusteroperators"},
	{Version: "v1", Resource: "nodes"},
	{Group: "machineconfiguration.openshift.io", Version: "v1", Resource: "machineconfigpools"},
	{Version: "v1", Resource: "pods"},
	{Group: "certificates.k8s.io", Version: "v1", Resource: "certificatesigningrequests"},
	{Version: "v1", Resource: "events"},
}

// kept are the keys of an object that say how it is: what it was told to be may hold passwords, as a pod's environment does.
var kept = []string{"status", "reason", "message", "type", "count", "firstTimestamp", "lastTimestamp", "eventTime", "involvedObject"}

// metadata are the keys of an object's metadata that are kept.
var metadata = []string{"name", "namespace", "creationTimestamp", "deletionTimestamp", "generation"}

// objects lists the kinds, a JSON line for each object. An API that is away is asked once.
func objects(ctx context.Context, c *kube.Cluster, add func(name string, data []byte, err error)) {
	c = c.Within(time.Second)
	for _, kind := range kinds {
		name := "cluster-" + kind.Resource + ".jsonl"
		data, served, err := list(ctx, c, kind)
		if err == nil && !served {
			err = fmt.Errorf("this cluster has no such kind")
		}
		add(name, data, err)
		if err != nil && served {
			return
		}
	}
}

func list(ctx context.Context, c *kube.Cluster, kind kube.Ref) (lines []byte, served bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, perPart)
	defer cancel()
	served, err = c.Pages(ctx, kind, "", func(object map[string]any) {
		if len(lines) < Tail {
			lines = append(append(lines, line(object)...), '\n')
		}
	})
	return lines, served || err != nil, err
}

// line is what is kept of an object.
func line(object map[string]any) []byte {
	short := map[string]any{}
	for _, key := range kept {
		if v, ok := object[key]; ok {
			short[key] = v
		}
	}
	if status, ok := short["status"].(map[string]any); ok {
		delete(status, "certificate") // of a signing request; long, and of no use
	}
	about := map[string]any{}
	full, _ := object["metadata"].(map[string]any)
	for _, key := range metadata {
		if v, ok := full[key]; ok {
			about[key] = v
		}
	}
	short["metadata"] = about
	text, err := json.Marshal(short)
	if err != nil { // it came from JSON
		panic(err)
	}
	return text
}
