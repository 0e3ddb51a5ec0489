package support

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"touchdown/backend/kube"
	"touchdown/backend/problem"
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
func objects(ctx context.Context, a Asking, add func(name string, data []byte, err error)) {
	a.Kube = a.Kube.Within(time.Second)
	for i, kind := range kinds {
		data, served, err := list(ctx, a, kind)
		if err == nil && !served {
			err = fmt.Errorf("this cluster has no such kind")
		}
		away := err != nil && strings.HasPrefix(problem.From(err).Code, "CLU-")
		if away && i+1 < len(kinds) {
			err = fmt.Errorf("%w; it was not asked for what follows, from %s on", err, kinds[i+1].Resource)
		}
		add("cluster-"+kind.Resource+".jsonl", data, err)
		if away {
			return
		}
	}
}

func list(ctx context.Context, a Asking, kind kube.Ref) (lines []byte, served bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, perPart)
	defer cancel()
	served, err = a.Kube.Pages(ctx, kind, "", func(object map[string]any) {
		if len(lines) < a.Tail {
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
