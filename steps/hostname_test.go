package steps_test

import (
	"errors"
	"testing"
	"time"

	"touchdown/backend/host/hosttest"
	"touchdown/backend/kube/kubetest"
	"touchdown/steps"
	"touchdown/steps/site"
)

// TestHostnameAgain: a node that gets one more name in the same landing leaves no Node behind, keeps its labels, and is not taken from the
// cluster again when it gets an earlier name back.
func TestHostnameAgain(t *testing.T) {
	type named struct {
		name            string
		started, joined bool // the machine starts with the name; its Node registers
	}
	for what, c := range map[string]struct {
		names  []named
		labels []string // what the last Node has beside its own
	}{
		"after the first was in force":                 {[]named{{"first", true, true}, {"second", true, true}}, []string{"site", "by-first"}},
		"after the first was in force, and back again": {[]named{{"first", true, true}, {"old", true, true}}, []string{"site", "by-first"}},
		"before a start with the first":                {[]named{{"first", false, false}, {"second", true, true}}, []string{"site"}},
		"before a start with the first, back again":    {[]named{{"first", false, false}, {"old", true, true}}, []string{"site"}},
		"before the first one's Node":                  {[]named{{"first", true, false}, {"second", true, true}}, []string{"site"}},
		"three names":                                  {[]named{{"first", true, true}, {"second", true, true}, {"first", true, true}}, []string{"site", "by-first", "by-second"}},
	} {
		t.Run(what, func(t *testing.T) {
			m := hosttest.New(t)
			api, kc := kubetest.New(t)
			m.File("/var/lib/kubelet/x", "")
			m.File("/etc/hostname", "old\n")
			register := func(name, labels string) {
				now := time.Now().UTC().Format(time.RFC3339)
				api.Put("/api/v1/nodes/"+name, `{"metadata":{"labels":{`+labels+`}},"status":{"conditions":[{"type":"Ready","status":"True","lastHeartbeatTime":"`+now+`"}]}}`)
			}
			register("old", `"site":"store1"`)
			m.OnFunc("hostnamectl hostname", func(argv []string, _ []byte) (string, error) {
				m.File("/etc/hostname", argv[2]+"\n")
				m.File("/proc/sys/kernel/hostname", argv[2]+"\n")
				return "", nil
			})
			cfg := site.New()
			cfg.Spec.Policy.AllowHostnameChange = true
			s, r := &steps.Hostname{Site: cfg, Limit: time.Second}, newReport()
			for _, n := range c.names {
				cfg.Spec.Hostname = n.name
				if _, reboot := errors.AsType[*steps.Reboot](s.Run(t.Context(), node(m, kc), r)); !reboot {
					t.Fatalf("no reboot for %s", n.name)
				}
				if !n.started {
					continue
				}
				m.Boot()
				if !n.joined {
					continue
				}
				pki(t, m)
				register(n.name, `"by-`+n.name+`":"yes"`)
				if err := s.Run(t.Context(), node(m, kc), r); err != nil {
					t.Fatal(err)
				}
			}
			last := c.names[len(c.names)-1].name
			for _, name := range []string{"old", "first", "second"} {
				if there := api.Get("/api/v1/nodes/"+name) != ""; there != (name == last) {
					t.Errorf("is the Node %s there: %v", name, there)
				}
			}
			for _, label := range append(c.labels, "by-"+last) {
				if api.Get("/api/v1/nodes/"+last, "metadata", "labels", label) == "" {
					t.Errorf("%s has no label %s", last, label)
				}
			}
		})
	}
}

// TestHostnameTakenBack: a rename that was cut off before the machine took the name ends with a start, so that the cluster knows the node
// again.
func TestHostnameTakenBack(t *testing.T) {
	m := hosttest.New(t)
	api, kc := kubetest.New(t)
	m.File("/var/lib/kubelet/x", "")
	m.File("/etc/hostname", "old\n")
	api.Put("/api/v1/nodes/old", `{"metadata":{"labels":{"site":"store1"}}}`)
	m.On("hostnamectl hostname", "", errors.New("cut off"))
	cfg := site.New()
	cfg.Spec.Policy.AllowHostnameChange = true
	cfg.Spec.Hostname = "new"
	s, r := &steps.Hostname{Site: cfg, Limit: time.Second}, newReport()
	if err := s.Run(t.Context(), node(m, kc), r); err == nil {
		t.Fatal("the name was set")
	}
	cfg.Spec.Hostname = "old"
	if _, reboot := errors.AsType[*steps.Reboot](s.Run(t.Context(), node(m, kc), r)); !reboot {
		t.Fatal("no reboot")
	}
	m.Boot()
	pki(t, m)
	api.Put("/api/v1/nodes/old", `{"metadata":{"labels":{}},"status":{"conditions":[{"type":"Ready","status":"True","lastHeartbeatTime":"`+time.Now().UTC().Format(time.RFC3339)+`"}]}}`)
	if err := s.Run(t.Context(), node(m, kc), r); err != nil {
		t.Fatal(err)
	}
	if got := api.Get("/api/v1/nodes/old", "metadata", "labels", "site"); got != `"store1"` {
		t.Errorf("the label is %s", got)
	}
}
