package domain

import (
	"fmt"
	"strings"
	"testing"

	"touchdown/backend/kube/kubetest"
)

// The roll-out of the names ends no sooner than kube-controller-manager runs with the router's new certificate, also while its
// ClusterOperator says nothing yet.
func TestTheControllersRunWithTheNewBundle(t *testing.T) {
	const (
		operator = "/apis/operator.openshift.io/v1/"
		config   = "/apis/config.openshift.io/v1/"
		bundle   = "/api/v1/namespaces/openshift-kube-controller-manager/configmaps/serviceaccount-ca"
		rest     = `{"status":{"conditions":[{"type":"Available","status":"True"},{"type":"Progressing","status":"False"},{"type":"Degraded","status":"False"}]}}`
	)
	for name, c := range map[string]struct {
		latest       int
		next, runs   string // the bundle, and that of revision 5, which runs
		waits, quiet bool
	}{
		"at rest":                             {latest: 5, next: "new", runs: "new"},
		"the operator has yet to see it":      {latest: 5, next: "new", runs: "old", waits: true},
		"the revision is made":                {latest: 6, next: "new", runs: "old", waits: true},
		"a revision for another reason":       {latest: 6, next: "new", runs: "new", waits: true},
		"a cluster that tells of no revision": {latest: 6, next: "new", runs: "old", quiet: true},
	} {
		t.Run(name, func(t *testing.T) {
			api, cluster := kubetest.New(t)
			api.Put(config+"apiservers/cluster", `{"spec":{}}`)
			api.Put(operator+"kubeapiservers/cluster", `{"spec":{},"status":{"latestAvailableRevision":7,"nodeStatuses":[{"nodeName":"n","currentRevision":7}]}}`)
			nodes := `,"nodeStatuses":[{"nodeName":"n","currentRevision":5}]`
			if c.quiet {
				nodes = ""
			}
			api.Put(operator+"kubecontrollermanagers/cluster", fmt.Sprintf(`{"spec":{},"status":{"latestAvailableRevision":%d%s}}`, c.latest, nodes))
			api.Put(bundle, `{"data":{"ca-bundle.crt":"`+c.next+`"}}`)
			api.Put(bundle+"-5", `{"data":{"ca-bundle.crt":"`+c.runs+`"}}`)
			for _, m := range movers {
				api.Put(config+"clusteroperators/"+m.name, rest)
			}
			p, done, err := newGate("", Timeouts{}).look(t.Context(), cluster)
			if err != nil {
				t.Fatal(err)
			}
			if told := strings.Contains(p.Waiting.String(), "a revision of kube-controller-manager after 5"); told != c.waits || done == c.waits {
				t.Errorf("over: %v, waiting for %s", done, p.Waiting)
			}
		})
	}
}
