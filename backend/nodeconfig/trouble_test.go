package nodeconfig_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"touchdown/backend/kube"
	"touchdown/test/wait"
)

// taken is a pool whose machine has its configuration, rendered-1; degraded is the same while the machine's daemon fails.
const (
	taken = `{"spec":{"configuration":{"name":"rendered-1"}},"status":{"configuration":{"name":"rendered-1"},"conditions":[
		{"type":"Updated","status":"True"},{"type":"Updating","status":"False"},{"type":"Degraded","status":"False"}]}}`
	degraded = `{"spec":{"configuration":{"name":"rendered-1"}},"status":{"configuration":{"name":"rendered-0"},"conditions":[
		{"type":"NodeDegraded","status":"True","reason":"1 nodes are reporting degraded status on sync","message":"disk full"},{"type":"Degraded","status":"True","message":"disk full"}]}}`
)

// desiring is the node while it shall have a configuration.
func desiring(config string) string {
	return `{"metadata":{"annotations":{"machineconfiguration.openshift.io/currentConfig":"rendered-1",
		"machineconfiguration.openshift.io/desiredConfig":"` + config + `","machineconfiguration.openshift.io/state":"Done"}}}`
}

func TestTroubleOfThePoolIsTold(t *testing.T) {
	for name, test := range map[string]struct{ pool, desired, want, says string }{
		"not rendered": {
			`{"spec":{"configuration":{"name":"rendered-1"}},"status":{"conditions":[{"type":"RenderDegraded","status":"True","message":"bad ignition"}]}}`,
			"rendered-1", "NCF-BAD", "bad ignition",
		},
		"not taken":           {degraded, "rendered-1", "NCF-DGRD", "disk full"},
		"not told to take it": {degraded, "rendered-0", "NCF-LATE", "disk full"}, // old news, or what it does not take is another configuration
		"not moving":          {strings.Replace(taken, `"status":{"configuration":{"name":"rendered-1"}`, `"status":{"configuration":{"name":"rendered-0"}`, 1), "rendered-1", "NCF-LATE", "old"},
	} {
		t.Run(name, func(t *testing.T) {
			o, c := newOperator(t)
			o.api.After = nil
			o.api.Put(pool, test.pool)
			o.api.Put("/api/v1/nodes/n", desiring(test.desired))
			b := batch(c, false)
			b.Timeouts.Render, b.Timeouts.Roll = 300*time.Millisecond, 2*time.Second // of a pool that does not move
			err := b.Run(t.Context(), nil)
			if code(err) != test.want || !strings.Contains(err.Error(), test.says) {
				t.Errorf("err is %v, want %s", err, test.want)
			}
			looks := slices.DeleteFunc(o.api.Requests(), func(r string) bool { return r != "GET "+pool })
			if few := len(looks) < 5; few != (test.want == "NCF-BAD") {
				t.Errorf("%s after %d looks", test.want, len(looks))
			}
		})
	}
}

// A machine can be degraded from before the change, or by the first error of its daemon, which goes on trying: that passes, and is told while
// it lasts.
func TestTroubleThatPasses(t *testing.T) {
	o, c := newOperator(t)
	o.api.After = nil
	o.api.Put(pool, degraded)
	looks := 0
	o.api.Fault = func(_ http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path == pool {
			if looks++; looks == 8 {
				o.api.Put(pool, taken)
			}
		}
		return false
	}
	var told []string
	b := batch(c.WithProgress(func(p kube.Progress) { told = append(told, p.Waiting.String()) }), false)
	b.Timeouts.Render, b.Timeouts.Roll = wait.Timeout(0), 2*wait.Timeout(0)
	if err := b.Run(t.Context(), nil); err != nil {
		t.Errorf("err is %v", err)
	}
	if !slices.ContainsFunc(told, func(text string) bool { return strings.Contains(text, "disk full") }) {
		t.Errorf("told is %q", told)
	}
}
