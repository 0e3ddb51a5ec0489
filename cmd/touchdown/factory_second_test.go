package main

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"touchdown/backend/envelope"
	"touchdown/backend/factory"
	"touchdown/backend/factory/second"
	"touchdown/backend/host"
	"touchdown/backend/kube"
	"touchdown/backend/kube/kubetest"
	"touchdown/backend/layout"
	"touchdown/backend/message"
	"touchdown/backend/report"
	"touchdown/backend/report/proof"
	"touchdown/steps"
	"touchdown/steps/engine"
	"touchdown/steps/session"
	"touchdown/steps/view"
	"touchdown/test/wait"
)

// twoPeople is a node on the bench line whose list has only the seal, for which the factory demands two people, and their keys.
type twoPeople struct {
	t       *testing.T
	dir     string // keys, ledger and a stick
	machine *host.Machine
	hooks   hooks
	anna    envelope.SigningKey
}

func newTwoPeople(t *testing.T) *twoPeople {
	t.Helper()
	p := &twoPeople{t: t, dir: t.TempDir()}
	root := t.TempDir()
	p.machine = host.Open(host.Options{Root: root, NoPower: true})
	for path, text := range map[string]string{"/proc/sys/kernel/hostname": "sno-1\n", "/sys/class/dmi/id/product_serial": "SN1\n", "/kubeconfig": noCluster} {
		if err := p.machine.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const config = "/apis/config.openshift.io/v1/"
	api, cluster := kubetest.New(t)
	api.Put(config+"clusterversions/version", `{"kind":"ClusterVersion","apiVersion":"config.openshift.io/v1","spec":{"clusterID":"id"},"status":{"desired":{"version":"4.18.12"}}}`)
	api.Put(config+"infrastructures/cluster", `{"kind":"Infrastructure","apiVersion":"config.openshift.io/v1","status":{"apiServerURL":"https://api.sno.factory.example:6443"}}`)
	api.Put(config+"networks/cluster", `{"kind":"Network","apiVersion":"config.openshift.io/v1","status":{"serviceNetwork":["172.30.0.0/16"]}}`)
	api.Put("/api/v1/nodes/n", `{"kind":"Node","apiVersion":"v1","status":{"addresses":[{"type":"InternalIP","address":"192.168.127.10"}]}}`)
	p.hooks = hooks{root: root, cluster: func(c *kube.Cluster) { *c = *cluster }, stages: func(stages []steps.Stage) {
		for i := range stages {
			stages[i].Steps = slices.DeleteFunc(stages[i].Steps, func(s steps.Step) bool {
				return stages[i].ID != "seal" || s.ID() == "bake-record" // it reads the network
			})
			for _, s := range stages[i].Steps {
				if r, ok := s.(*steps.FactoryReport); ok {
					r.At = report.Where{API: "127.0.0.1:1", Ingress: "127.0.0.1:1"}
				}
			}
		}
	}}
	p.anna = newPair(t, p.in("anna"))
	newPair(t, p.in("ben"))
	return p
}

func (p *twoPeople) in(name string) string { return filepath.Join(p.dir, name) }

func (p *twoPeople) put(name, text string) string {
	p.t.Helper()
	if err := os.WriteFile(p.in(name), []byte(text), 0o600); err != nil {
		p.t.Fatal(err)
	}
	return p.in(name)
}

func (p *twoPeople) text(name string) string {
	p.t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		p.t.Fatal(err)
	}
	return string(text)
}

func (p *twoPeople) report(name string) string {
	return p.machine.Path(layout.FactoryState + "/" + name)
}

// run is a command on the node, its exit code and what it said.
func (p *twoPeople) run(line ...string) (int, string) {
	p.t.Helper()
	root := newRoot(p.hooks)
	var said strings.Builder
	root.SetOut(&said)
	root.SetErr(&said)
	code := execute(p.t.Context(), root, line)
	return code, said.String()
}

// factory runs the list with nobody there.
func (p *twoPeople) factory(line ...string) (int, string) {
	p.t.Helper()
	return p.run(append([]string{"factory", "--unattended", "--local", "--state", p.machine.Path(layout.State), "--kubeconfig", p.machine.Path("/kubeconfig")}, line...)...)
}

// refused holds that a run ends without a seal.
func (p *twoPeople) refused(want int, says []string, line ...string) {
	p.t.Helper()
	code, said := p.factory(line...)
	for _, word := range says {
		if code != want || !strings.Contains(said, word) {
			p.t.Errorf("%q: exit %d, not %d with %q\n%s", line, code, want, word, said)
		}
	}
	if p.machine.Exists(layout.Armed) || strings.Contains(p.text(p.in("ledger.jsonl")), "SN1") {
		p.t.Errorf("%q: the node is sealed, or in the ledger", line)
	}
}

// TestTwoPeopleSeal: where the factory demands a second person, no seal is made until one has signed: someone else, with a key of the list
// that was not revoked, in a file that is theirs alone. Then report and ledger name both, and verify demands both.
func TestTwoPeopleSeal(t *testing.T) {
	p := newTwoPeople(t)
	p.put("ledger.jsonl", "")
	demand := []string{"--second-key", p.in("anna.pub"), "--ledger", p.in("ledger.jsonl")}
	for _, c := range []struct{ says, line []string }{
		{[]string{"--revoked goes with --second-key"}, []string{"--revoked", p.in("anna.pub")}},
		{[]string{"give --second-key"}, []string{"--second", "Anna"}},
		{[]string{"the same person"}, append([]string{"--by", "Anna Huber", "--second", " anna  HUBER."}, demand...)},
		{[]string{"--second has to have a letter"}, append([]string{"--second", "..."}, demand...)},
		{[]string{"--by has to be one line"}, append([]string{"--by", "Ben\nWeber"}, demand...)},
		{[]string{"--second-sign has to be the whole path"}, append([]string{"--second-sign", "anna.key"}, demand...)},
		{[]string{"something else than public keys"}, []string{"--second-key", p.in("anna.key")}},
		{[]string{"make no sense"}, []string{"--second-key", "none", "--second", "Anna"}},
	} {
		p.refused(exitUsage, c.says, c.line...)
	}
	if d, err := second.Of(p.machine); d != nil || err != nil || factory.OnLine(p.machine) {
		t.Fatalf("what was refused is kept: %+v, %v", d, err)
	}
	p.refused(exitFailed, []string{"FAC-2ND", "not both are named", "--by NAME --second NAME"}, demand...)
	p.refused(exitFailed, []string{"FAC-2ND", "not both are named"}, "--by", "Ben Weber")
	p.refused(exitFailed, []string{"FAC-2ND", "ben-weber is named twice"}, "--second", "ben-weber")
	p.refused(exitFailed, []string{"FAC-2ND", "Anna Huber has not signed", "--second-sign FILE"}, "--second", "Anna Huber")
	if text := p.text(p.report(report.TextFile)); !strings.Contains(text, "Sealed by      Ben Weber") || !strings.Contains(text, "Second person  Anna Huber") {
		t.Errorf("the report to be read names nobody:\n%s", text)
	}
	p.put("list", p.anna.ID()+" left\n")
	p.put("open.key", p.text(p.in("anna.key")))
	if err := os.Chmod(p.in("open.key"), 0o640); err != nil {
		t.Fatal(err)
	}
	nodeToo := p.put("node-too.pub", p.text(p.in("anna.pub"))+p.text(p.machine.Path(layout.ReportPublic)))
	for _, c := range []struct{ says, line []string }{
		{[]string{"FAC-2KEY", "no such file"}, []string{"--second-sign", p.in("nothing.key")}},
		{[]string{"FAC-2KEY", "others may read it", "umask=077"}, []string{"--second-sign", p.in("open.key")}},
		{[]string{"FAC-2KEY", "no private key in it"}, []string{"--second-sign", p.put("public.key", p.text(p.in("anna.pub")))}},
		{[]string{"FAC-2KEY", "not among those that may sign"}, []string{"--second-sign", p.in("ben.key")}},
		{[]string{"FAC-2KEY", "key " + p.anna.ID() + " was revoked"}, []string{"--second-sign", p.in("anna.key"), "--second-key", p.in("anna.pub"), "--revoked", p.in("list")}},
		{[]string{"RPT-SCND", "the key of a person, not the node's own"}, []string{"--second-sign", p.machine.Path(layout.ReportKey), "--second-key", nodeToo}},
		{[]string{"FAC-2ND"}, demand}, // the key that was named still is, but nobody says that it signs now
	} {
		p.refused(exitFailed, c.says, c.line...)
	}
	policy := p.put("line.yaml", "apiVersion: touchdown.dev/v1alpha1\nkind: SiteConfig\nspec: {policy: {answers: {seal-second: sign}}}\n")
	p.refused(exitFailed, []string{"FAC-2KEY"}, append(demand, "-f", policy)...) // who is not there is not asked again and again
	own := p.text(p.machine.Path(layout.ReportKey))
	p.nodeKey("damaged")
	p.refused(exitFailed, []string{"FAC-2RPT"}, append(demand, "--second-sign", p.in("anna.key"))...) // the node cannot sign first
	p.nodeKey(own)
	p.takenBack(demand)
	if code, said := p.run("factory", "bake", "--arm", "--state", p.machine.Path(layout.State), "--kubeconfig", p.machine.Path("/kubeconfig")); code != exitFailed || !strings.Contains(said, "FAC-2ND") || p.machine.Exists(layout.Armed) {
		t.Errorf("armed by one person: %d %s", code, said)
	}
	if code, said := p.factory(append(demand, "--second-sign", p.in("anna.key"))...); code != exitOK || !p.machine.Exists(layout.Armed) || factory.OnLine(p.machine) {
		t.Fatalf("with both: exit %d\n%s", code, said)
	}
	p.sealedByBoth()
}

// nodeKey puts a text in the place of the key by which the node signs its reports.
func (p *twoPeople) nodeKey(text string) {
	p.t.Helper()
	if err := p.machine.WriteFile(layout.ReportKey, []byte(text), 0o600); err != nil {
		p.t.Fatal(err)
	}
}

// takenBack has the demand taken back, and made again. A dry run does neither.
func (p *twoPeople) takenBack(demand []string) {
	p.t.Helper()
	if code, said := p.factory("--second-key", "none", "--dry-run"); code != exitFailed || !strings.Contains(said, "has failed") {
		p.t.Errorf("%d %s", code, said)
	}
	if d, err := second.Of(p.machine); d == nil || err != nil {
		p.t.Errorf("a dry run takes the demand back: %v", err)
	}
	p.hooks.console = func() error { return nil }
	if code, said := p.run("factory", "--second-key", "none", "--local", "--state", p.machine.Path(layout.State), "--kubeconfig", p.machine.Path("/kubeconfig")); code != exitOK {
		p.t.Errorf("%d %s", code, said)
	}
	if d, err := second.Of(p.machine); d != nil || err != nil {
		p.t.Errorf("%+v, %v", d, err)
	}
	p.refused(exitFailed, []string{"FAC-2ND", "Ben Weber, and Anna Huber, who signs the report at the end"}, append(demand, "--by", "Ben Weber", "--second", "Anna Huber")...)
}

// sealedByBoth holds a sealed node, its report and its line of the ledger to what two people stand behind.
func (p *twoPeople) sealedByBoth() {
	t := p.t
	t.Helper()
	signed := p.report(report.SignedFile)
	other := append([]string{"report", "verify", signed, "--ledger", p.in("ledger.jsonl"), "--second-key"}, p.in("ben.pub"))
	for _, c := range []struct {
		code int
		says string
		line []string
	}{
		{exitOK, "and by:     key " + p.anna.ID() + "; the one that", []string{"report", "verify", signed, "--ledger", p.in("ledger.jsonl"), "--second-key", p.in("anna.pub")}},
		{exitOK, "sealed by:  Ben Weber, and Anna Huber as the second person", []string{"report", "verify", signed, "--ledger", p.in("ledger.jsonl")}},
		{exitFailed, "RPT-2KEY", other},
		{exitFailed, "RPT-2KEY", append(slices.Clone(other[:len(other)-1]), p.in("anna.pub"), "--revoked", p.in("list"))},
		{exitOK, "Anna Huber", []string{"report", "export", signed, "--format", "html"}},
		{exitOK, "Anna Huber", []string{"report", "export", signed, "--format", "csv"}},
		{exitOK, `<property name="secondPerson" value="Anna Huber">`, []string{"report", "export", signed, "--format", "junit"}},
		{exitOK, `"sealedBy": "Ben Weber"`, []string{"report", "export", signed, "--format", "json"}},
	} {
		if code, said := p.run(c.line...); code != c.code || !strings.Contains(said, c.says) {
			t.Errorf("%q: exit %d without %q\n%s", c.line, code, c.says, said)
		}
	}
	var line struct{ SealedBy, SecondPerson, SecondKey, ReportKey string }
	if err := json.Unmarshal([]byte(p.text(p.in("ledger.jsonl"))), &line); err != nil {
		t.Fatal(err)
	}
	is, err := proof.Open([]byte(p.text(signed)))
	if err != nil || line.SealedBy != "Ben Weber" || line.SecondPerson != "Anna Huber" || line.SecondKey != p.anna.Public().String() || line.ReportKey != is.Key.String() {
		t.Errorf("the ledger says %+v (%v)", line, err)
	}
	secret := strings.Split(p.text(p.in("anna.key")), "\n")[1]
	err = filepath.WalkDir(p.machine.Root(), func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && strings.Contains(p.text(path), secret) {
			t.Errorf("%s has the key of the second person", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestTheSecondPersonSignsAtAConsole: the page of the seal asks who both are, and the seal whether the second person signs. Who gave a key
// that cannot be used is asked again, without a new report; who does not sign yet finds the node unsealed.
func TestTheSecondPersonSignsAtAConsole(t *testing.T) {
	p := newTwoPeople(t)
	p.put("ledger.jsonl", "")
	if _, err := factory.OpenLine(p.machine, time.Now()); err != nil {
		t.Fatal(err)
	}
	demand := second.Person{Keys: p.text(p.in("anna.pub")), Stay: "an earlier one", First: "Carl", Name: "Dora"}
	if err := demand.Keep(p.machine); err != nil {
		t.Fatal(err)
	}
	e, closeEngine, err := (&engineFlags{state: p.machine.Path(layout.State), kubeconfig: p.machine.Path("/kubeconfig")}).open(t.Context(), p.hooks)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := closeEngine(); err != nil {
			t.Error(err)
		}
	}()
	c := &consoleOf{t: t, Engine: e}
	if c.token, err = e.TakeControl(t.Context(), "tty1", false); err != nil {
		t.Fatal(err)
	}
	c.do(session.Action{Verb: session.Review})
	if r := c.snapshot().Review; r == nil || !strings.Contains(strings.Join(message.English(r.Problems), " "), "FAC-2ND") {
		t.Errorf("two people of an earlier stay stand behind this seal: %+v", r)
	}
	c.do(session.Action{Verb: session.Edit})
	for _, v := range [][2]string{{"seal.second", "Ben Weber"}, {"seal.first", "Ben Weber"}, {"seal.key", p.in("anna.key")}} {
		c.set(v[0], v[1])
	}
	if why := c.field("seal.second").Problem.String(); why != "is the first person; it takes another one" {
		t.Errorf("beside the name that stands twice: %q", why)
	}
	c.set("seal.second", "Anna Huber")
	if v := c.field("seal.second"); v.Value != "Anna Huber" || v.Problem.String() != "" || v.Changed {
		t.Errorf("%+v", v)
	}
	if err := os.Chmod(p.in("anna.key"), 0o644); err != nil {
		t.Fatal(err)
	}
	c.start()
	q := c.asked("")
	if q.Default == signs || !strings.Contains(q.Text.String(), "Anna Huber") || !strings.Contains(q.Detail.String(), report.Digest([]byte(p.text(p.report(report.JSONFile))))) {
		t.Errorf("%+v", q)
	}
	read := p.text(p.report(report.JSONFile))
	c.do(session.Action{Verb: session.Reply, Question: q.ID, Value: signs})
	q = c.asked(q.Detail.String())
	if !strings.Contains(q.Detail.String(), "NOT SIGNED (FAC-2KEY)") || !strings.Contains(q.Detail.String(), "others may read it") {
		t.Errorf("%+v", q)
	}
	c.do(session.Action{Verb: session.Reply, Question: q.ID, Value: "wait"})
	if s := c.until(view.HasFailed); s.Problem.Code != "FAC-2ND" || p.machine.Exists(layout.Armed) || p.text(p.report(report.JSONFile)) != read {
		t.Errorf("%+v", s.Problem)
	}
	if err := os.Chmod(p.in("anna.key"), 0o600); err != nil {
		t.Fatal(err)
	}
	c.do(session.Action{Verb: session.Retry})
	q = c.asked("")
	c.do(session.Action{Verb: session.Reply, Question: q.ID, Value: signs})
	c.until(view.IsDone)
	is, err := proof.Open([]byte(p.text(p.report(report.SignedFile))))
	if err != nil || is.Second != p.anna.ID() || is.Report.SecondPerson != "Anna Huber" || !p.machine.Exists(layout.Armed) {
		t.Errorf("%+v, %v", is, err)
	}
}

// signs is the answer of a second person who does.
const signs = "sign"

// consoleOf is a person at a console of an engine.
type consoleOf struct {
	*engine.Engine
	t     *testing.T
	token string
}

func (c *consoleOf) snapshot() *view.Snapshot {
	c.t.Helper()
	s, err := c.Snapshot(c.t.Context())
	if err != nil {
		c.t.Fatal(err)
	}
	return s
}

func (c *consoleOf) do(a session.Action) {
	c.t.Helper()
	if err := c.Do(c.t.Context(), c.token, a); err != nil {
		c.t.Fatalf("%s: %v", a.Verb, err)
	}
}

func (c *consoleOf) set(path, value string) {
	c.t.Helper()
	if err := c.Set(c.t.Context(), c.token, path, value); err != nil {
		c.t.Fatalf("%s: %v", path, err)
	}
}

func (c *consoleOf) start() { c.begin(false) }

// begin starts the list, by a person or for nobody.
func (c *consoleOf) begin(unattended bool) {
	c.t.Helper()
	c.do(session.Action{Verb: session.Review})
	r := c.snapshot().Review
	if len(r.Problems) > 0 {
		c.t.Fatalf("%q", r.Problems)
	}
	c.do(session.Action{Verb: session.Start, Fingerprint: r.Fingerprint, Unattended: unattended})
}

func (c *consoleOf) field(path string) (found view.Field) {
	c.t.Helper()
	for _, stage := range c.snapshot().Stages {
		for _, step := range stage.Steps {
			for _, f := range step.Fields {
				if f.Path == path && f.Visible {
					return f
				}
			}
		}
	}
	c.t.Fatalf("%s is not asked", path)
	return found
}

func (c *consoleOf) until(state view.State) *view.Snapshot {
	c.t.Helper()
	return c.shows(state, func(*view.Snapshot) bool { return true })
}

// shows waits for a state of the work in which something else holds, too.
func (c *consoleOf) shows(state view.State, and func(*view.Snapshot) bool) (s *view.Snapshot) {
	c.t.Helper()
	wait.Until(c.t, fmt.Sprint("the state ", state), func() error {
		if s = c.snapshot(); s.State != state || !and(s) {
			return fmt.Errorf("it is %s: question %+v, problem %+v", s.State, s.Question, s.Problem)
		}
		return nil
	})
	return s
}

// asked waits for a question whose detail is another one.
func (c *consoleOf) asked(before string) *view.Question {
	c.t.Helper()
	return c.shows(view.InQuestion, func(s *view.Snapshot) bool {
		return s.Question != nil && s.Question.Detail.String() != before
	}).Question
}
