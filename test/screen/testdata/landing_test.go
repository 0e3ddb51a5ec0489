package screen

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"time"

	"touchdown/backend"
	"touchdown/backend/check"
	"touchdown/backend/host/hosttest"
	"touchdown/backend/kube/kubetest"
	"touchdown/backend/message"
	"touchdown/backend/progress"
	"touchdown/steps"
	"touchdown/steps/site"
)

const (
	configs = "/apis/machineconfiguration.openshift.io/v1/machineconfigs/"
	pool    = "/apis/machineconfiguration.openshift.io/v1/machineconfigpools/master"
	laid    = configs + "99-master-touchdown-syslog"
)

// operator stands in for the Machine Config Operator: the name of what it renders is made of the content, and a pool that is not
// paused takes it at once.
type operator struct {
	*kubetest.API
	rolled string
}

func (o *operator) render() {
	spec := o.Get(laid, "spec")
	if spec == "" {
		spec = "{}"
	}
	name := fmt.Sprintf("rendered-master-%x", sha256.Sum256([]byte(spec)))
	paused := o.Get(pool, "spec", "paused") == "true"
	if !paused {
		o.rolled = name
	}
	o.Put(configs+name, `{"spec":`+spec+`}`)
	o.Put(pool, fmt.Sprintf(`{"spec":{"paused":%t,"configuration":{"name":%q}},"status":{"configuration":{"name":%q},"machineCount":1,"updatedMachineCount":1,
		"readyMachineCount":1,"conditions":[{"type":"Updated","status":"True"},{"type":"Updating","status":"False"},{"type":"Degraded","status":"False"}]}}`, paused, name, o.rolled))
	o.Put("/api/v1/nodes/n", fmt.Sprintf(`{"metadata":{"annotations":{"machineconfiguration.openshift.io/currentConfig":%q,
		"machineconfiguration.openshift.io/desiredConfig":%q,"machineconfiguration.openshift.io/state":"Done"}}}`, o.rolled, o.rolled))
}

// memory is what the engine keeps of a step.
type memory struct {
	steps.Report
	kept map[string][]byte
}

func (memory) Progress(progress.Progress) {}
func (memory) Check(check.Check)          {}
func (memory) Say(message.Text)           {}

func (m memory) Save(key string, original []byte) error {
	if m.kept[key] == nil {
		m.kept[key] = original
	}
	return nil
}

func (m memory) Note(key string, value []byte) error {
	m.kept["note-"+key] = value
	return nil
}

func (m memory) Noted(key string) ([]byte, error) { return m.Saved("note-" + key) }

func (m memory) Saved(key string) ([]byte, error) {
	if b, there := m.kept[key]; there {
		return b, nil
	}
	return nil, fs.ErrNotExist
}

func node(t *testing.T) (*operator, *backend.Node) {
	api, c := kubetest.New(t)
	o := &operator{API: api}
	for _, name := range []string{"machine-config-controller", "machine-config-operator"} {
		api.Put("/apis/apps/v1/namespaces/openshift-machine-config-operator/deployments/"+name,
			`{"spec":{"replicas":1},"status":{"replicas":1,"readyReplicas":1,"availableReplicas":1,"updatedReplicas":1}}`)
	}
	api.Put("/apis/operator.openshift.io/v1/machineconfigurations/cluster", `{"metadata":{}}`)
	o.render()
	api.After = func(string, string) { o.render() }
	return o, &backend.Node{Host: hosttest.New(t).Machine, Kube: c, Now: time.Now}
}

// nodeConfig is the step of the node's configuration.
type nodeConfig interface {
	steps.Step
	steps.Reader
	steps.Skipper
	steps.Planner
	steps.Undoer
}

// wizard is the real list, and of its steps those of the example and of the node's configuration.
func wizard(t *testing.T, document string) (asked []steps.Field, s nodeConfig) {
	cfg, err := site.Parse([]byte(document), "site.yaml", nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, stage := range steps.Site(cfg, steps.Wiring{NodeNet: &steps.NodeNetwork{}}) {
		for _, step := range stage.Steps {
			if step.ID() == "syslog" && stage.ID == "site" {
				asked = steps.FieldsOf(step)
			}
			if found, ok := step.(nodeConfig); ok && step.ID() == "node-config" {
				s = found
			}
		}
	}
	if len(asked) != 1 || s == nil {
		t.Fatalf("the list asks %v and has %v", asked, s)
	}
	return asked, s
}

const head = "apiVersion: touchdown.dev/v1alpha1\nkind: SiteConfig\nspec:\n  clusterName: store1\n  baseDomain: site.example\n"

// TestLanding: the site's syslog server is asked, checked, shown in the review, laid with one roll-out, not again, and undone.
func TestLanding(t *testing.T) {
	o, n := node(t)
	before := o.rolled
	asked, s := wizard(t, head+"  syslogServer: 198.51.100.14\n  policy: {allowReboot: true}\n")
	if asked[0].Check("log server") == nil || asked[0].Check("log.site.example") != nil {
		t.Error("the form takes the wrong names")
	}
	if s.Skip().String() != "" || !slices.Contains(s.Reads(), "spec.syslogServer") {
		t.Errorf("the node's configuration is skipped (%s), or does not read the answer", s.Skip())
	}
	plan, err := s.Plan(t.Context(), n)
	if err != nil {
		t.Fatal(err)
	}
	if len(plan.Changes) != 1 || plan.Changes[0].What.String() != "Syslog server" || plan.Changes[0].New.String() != "198.51.100.14" || len(plan.Disturbances) != 1 {
		t.Errorf("the review says %+v", plan)
	}
	m := memory{kept: map[string][]byte{}}
	if err := s.Run(t.Context(), n, m); err != nil {
		t.Fatal(err)
	}
	if got := content(t, o.Get(laid, "spec")); got != `*.* action(type="omfwd" target="198.51.100.14" port="514" protocol="tcp")`+"\n" {
		t.Errorf("the file is %q", got)
	}
	if o.rolled == before || o.Get(pool, "spec", "paused") != "false" {
		t.Errorf("the node has %s, paused %s", o.rolled, o.Get(pool, "spec", "paused"))
	}
	o.Requests()
	if err := s.Run(t.Context(), n, m); err != nil {
		t.Fatal(err)
	}
	if again := o.Changes(); len(again) > 0 {
		t.Errorf("the second run writes: %v", again)
	}
	if err := s.Undo(t.Context(), n, m); err != nil {
		t.Fatal(err)
	}
	if o.Get(laid) != "" || o.rolled != before {
		t.Errorf("after undo the node has %s: %s", o.rolled, o.Get(laid))
	}
}

// TestNothingAsked: without the answer nothing changes, and a wrong one is refused with its line.
func TestNothingAsked(t *testing.T) {
	if _, s := wizard(t, head); s.Skip().String() == "" {
		t.Error("there is something to do")
	}
	cfg, err := site.Parse([]byte(head+"  syslogServer: log_1\n"), "site.yaml", nil)
	if err != nil {
		t.Fatal(err)
	}
	errs, _ := cfg.Validate(time.Now())
	if err := errs.Error(); !strings.Contains(err, "site.yaml:6") || !strings.Contains(err, "spec.syslogServer") {
		t.Errorf("err is %v", err)
	}
}

func content(t *testing.T, spec string) string {
	var doc struct {
		Config struct {
			Storage struct {
				Files []struct{ Contents struct{ Source string } }
			}
		}
	}
	if err := json.Unmarshal([]byte(spec), &doc); err != nil || len(doc.Config.Storage.Files) != 1 {
		t.Fatalf("%v: %s", err, spec)
	}
	_, body, _ := strings.Cut(doc.Config.Storage.Files[0].Contents.Source, "base64,")
	text, err := base64.StdEncoding.DecodeString(body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
