package images

import (
	"errors"
	"strings"
	"testing"
	"time"

	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	"touchdown/backend/images/cri/critest"
	"touchdown/backend/kube/kubetest"
)

// TestReadinessOfBeforeCountsForNothing: after a reboot the API still says of each pod that it is ready. A pod is back when CRI-O, which
// knows no container of before, runs all that its status names.
func TestReadinessOfBeforeCountsForNothing(t *testing.T) {
	const up, ended = runtime.ContainerState_CONTAINER_RUNNING, runtime.ContainerState_CONTAINER_EXITED
	for name, c := range map[string]struct {
		statuses string
		runs     map[string]runtime.ContainerState
		back     bool
	}{
		"none of before runs":   {`[{"containerID":"cri-o://before"}]`, nil, false},
		"another one runs":      {`[{"containerID":"cri-o://before"}]`, map[string]runtime.ContainerState{"now": up}, false},
		"it runs":               {`[{"containerID":"cri-o://now"}]`, map[string]runtime.ContainerState{"now": up}, true},
		"it has ended":          {`[{"containerID":"cri-o://now"}]`, map[string]runtime.ContainerState{"now": ended}, false},
		"one of two runs":       {`[{"containerID":"cri-o://now"},{"containerID":"cri-o://before"}]`, map[string]runtime.ContainerState{"now": up}, false},
		"the status names none": {`[]`, map[string]runtime.ContainerState{"now": up}, false},
	} {
		api, cluster := kubetest.New(t)
		api.Put("/api/v1/namespaces/plant/pods/app", `{"metadata":{"name":"app","namespace":"plant"},"status":{"phase":"Running",
			"conditions":[{"type":"Ready","status":"True"}],"containerStatuses":`+c.statuses+`}}`)
		crio := critest.Start(t)
		for id, state := range c.runs {
			crio.Containers = append(crio.Containers, &runtime.Container{Id: id, State: state})
		}
		w := watching{Node: &Node{kube: cluster, cri: crio.Client(t), now: time.Now}, limit: time.Nanosecond}
		missing, err := w.pods(t.Context(), []string{"plant/app"})
		if err != nil || (len(missing) == 0) != c.back {
			t.Errorf("%s: missing %q, %v; is it to be back: %t", name, missing, err, c.back)
		}
		crio.Trouble(errors.New("store is locked"), 0)
		if missing, err := w.pods(t.Context(), []string{"plant/app"}); err != nil || len(missing) != 1 || !strings.Contains(missing[0].String(), "store is locked") {
			t.Errorf("%s, and CRI-O does not tell: %q, %v", name, missing, err)
		}
	}
}
