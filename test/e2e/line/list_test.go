package line

import (
	"context"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	bench "touchdown/test/bench/images"
	"touchdown/test/bench/landing"
	"touchdown/test/bench/node"
	"touchdown/test/bench/person"
	"touchdown/test/wait"
)

// benchLine is the policy of a bench line without a person.
const benchLine = `apiVersion: touchdown.dev/v1alpha1
kind: SiteConfig
spec:
  policy:
    keepGoingOnWarnings: true
    stabilityWindow: 1s
    answers:
      tick-label: "yes"
      tick-passwords: "yes"
      tick-media: "yes"
      tick-kubeconfig: "yes"
      tick-packed: "yes"
`

// ticks are the questions that only a person can answer, in their order.
var ticks = []string{
	"Does the serial number on the node match its delivery note?",
	"Has the BMC's default password been changed",
	"Is the site config on its USB stick",
	"Are the cluster's kubeconfig and the core user's SSH key stored",
	"Is the node packed in an antistatic bag",
}

// TestFactoryList prepares an installed node at its serial line: hardware, bake, images, a rehearsal without registries,
// health, ticks, report and seal, over three reboots. Its next boot waits for the site. Then the node is taken back to the
// bench line, and one command without a person seals it again.
func TestFactoryList(t *testing.T) {
	l := installed(t)
	boots := l.Node.Boots()
	p := person.Sit(t, l.Node.Console("ttyS0"))
	login(l, p)
	p.Types("touchdown factory\r")
	throughTheList(l, p)
	if got := l.Node.Boots() - boots; got != 3 {
		t.Errorf("%d reboots, want 3: the bake's, the rehearsal's, the one back", got)
	}
	l.sealed()
	p.Types("r")
	p.Shows("TOUCHDOWN FACTORY REPORT")
	p.Keep("The factory's report")
	p.Types("b")
	p.Press("Power off")
	p.Shows("Switch this machine off?")
	p.Types(person.Sure)
	<-l.Node.Off()

	l.must(l.Node.Boot(l.ctx))
	l.waitsForItsSite()
	p.Shows("This wizard moves this node to its site.")
	l.takenBack(p)
	p.Leave(os.Getenv("TRANSCRIPT"))
}

// factoryLine is an installed node on the bench line, not baked.
type factoryLine struct {
	*landing.Landing
	t   *testing.T
	ctx context.Context //nolint:containedctx // the time that the test has; ends with it
}

// built makes the node of an image whose store is filled; it is not booted yet.
func built(t *testing.T, from func(context.Context, bench.Size) (string, error)) *factoryLine {
	t.Helper()
	wait.Slow(t)
	ctx := wait.Within(t, 20*time.Minute)
	image, err := from(ctx, bench.Small)
	node.Require(t, err)
	m, err := node.New(ctx, node.Options{Image: image})
	node.Require(t, err)
	m.EndsWith(t)
	l := &factoryLine{&landing.Landing{Node: m}, t, ctx}
	l.must(m.Program())
	return l
}

func installed(t *testing.T) *factoryLine {
	t.Helper()
	l := built(t, node.Stocked)
	l.must(l.Node.Boot(l.ctx))
	stop, err := l.Node.ServeFactory(l.ctx)
	l.must(err)
	t.Cleanup(stop)
	l.must(l.Node.PodsReady(l.ctx))
	return l
}

func (l *factoryLine) must(err error) {
	l.t.Helper()
	if err != nil {
		l.t.Fatal(err)
	}
}

// login is what a person does at a line without a wizard.
func login(l *factoryLine, p *person.Person) {
	l.t.Helper()
	_, err := l.Node.Shell(l.ctx, "echo root:letmein | chpasswd")
	l.must(err)
	p.Types("\r")
	p.Says("login:", "root", "Password:")
	p.Says("Password:", "letmein", "~#")
}

// throughTheList goes from the first page to the seal.
func throughTheList(l *factoryLine, p *person.Person) {
	l.t.Helper()
	p.Shows("Stage 1 of 6: Hardware check")
	p.Take()
	p.Waive("J. Doe", "a build machine")
	p.Keep("The hardware check on the bench line")
	p.GoesOn("Stage 3 of 6: Image store") // none yet
	p.GoesOn("To start, type ")
	p.Keep("What the bench line would do")
	p.At("[ Go back")
	p.Word(node.HostName)
	p.Types("\r")
	p.Shows("Running for")
	p.Keep("At work")
	for i, question := range ticks {
		p.Shows(question)
		p.HasControl() // the consoles were started again with each reboot
		if i == 0 {
			p.Keep("What only a person sees")
		}
		p.Answers(question, 1)
	}
	p.Shows("This node is checked and sealed.")
	p.Keep("Sealed")
}

// sealed looks at what the list left behind.
func (l *factoryLine) sealed() {
	t := l.t
	t.Helper()
	s, err := l.Await(l.ctx, "the end of the list", func(s *landing.Status) bool { return s.State == "done" })
	l.must(err)
	if s.List != "factory" || s.Life != "armed" {
		t.Fatalf("the list ended %s (%s, node %s): %+v", s.State, s.List, s.Life, s.Problem)
	}
	passed := verdicts(s)
	for _, id := range []string{"images-rehearsed", "images-missing", "tick-packed", "tick-label"} {
		if passed[id] != "pass" {
			t.Errorf("%s: %q, want pass", id, passed[id])
		}
	}
	report := factoryReport(t, l.Node)
	if report.Kind != "factory" || !strings.HasPrefix(report.Verdict, "passed") || len(report.Checks) < 20 {
		t.Errorf("the report tells %q, %q, %d checks", report.Kind, report.Verdict, len(report.Checks))
	}
}

// waitsForItsSite looks at the sealed node after its boot.
func (l *factoryLine) waitsForItsSite() {
	t := l.t
	t.Helper()
	s, err := l.Await(l.ctx, "the site's list", func(s *landing.Status) bool { return s.List == "site" && verdicts(s)["hw-shipped"] != "" })
	l.must(err)
	for _, c := range s.Stages[0].Steps[0].Checks { // compared with the inventory of the bench line
		if c.ID == "hw-shipped" && c.Status != "pass" {
			t.Errorf("the node as it arrived: %+v", c)
		}
	}
	if s.Life != "armed" || len(s.Stages) != 8 { // the closed one too
		t.Errorf("after the seal the engine has %d stages, the node is %s", len(s.Stages), s.Life)
	}
	if out, err := l.Node.Shell(l.ctx, "systemctl is-active kubelet || true"); err != nil || strings.TrimSpace(out) != "inactive" {
		t.Errorf("kubelet of the sealed node is %q, %v", out, err)
	}
	if out, code, err := l.Touchdown(l.ctx, "factory", "--unattended"); err != nil || code == 0 || !strings.Contains(out, "FAC-SEAL") {
		t.Errorf("a sealed node went back to the bench line: exit %d, %v\n%s", code, err, out)
	}
}

// takenBack opens the sealed node at its console, and has it sealed again without a person.
func (l *factoryLine) takenBack(p *person.Person) {
	t := l.t
	t.Helper()
	p.Types("\x03")
	p.Shows("Leave this console?")
	p.Types(person.Sure)
	login(l, p)
	p.Types("touchdown factory --reopen\r")
	p.Shows("Stage 1 of 6: Hardware check")
	p.Keep("A sealed node that was taken back")
	s, err := l.Status(l.ctx)
	l.must(err)
	if s.List != "factory" || s.Life != "baked" || s.State != "collecting" {
		t.Errorf("taken back: %s, %s, %s", s.List, s.Life, s.State)
	}
	l.must(l.Node.WriteFile("/var/tmp/line.yaml", []byte(benchLine), 0o600))
	args := []string{"factory", "--unattended", "-f", "/var/tmp/line.yaml", "--by", "the bench", "--force"}
	for _, check := range landing.Waived {
		args = append(args, "--waive", check+"=the bench has the hardware of a build machine")
	}
	boots := l.Node.Boots()
	out, code, err := l.Touchdown(l.ctx, args...)
	if err != nil || code != 0 || !strings.Contains(out, "TOUCHDOWN FACTORY REPORT") {
		t.Errorf("sealing again: exit %d, %v\n%s", code, err, out)
	}
	if l.Node.Boots() != boots {
		t.Error("a node that was baked and rehearsed before reboots")
	}
	p.Shows("This node is checked and sealed.")
	l.sealed()
}

// verdicts are the checks of all steps by ID.
func verdicts(s *landing.Status) map[string]string {
	all := map[string]string{}
	for _, stage := range s.Stages {
		for _, step := range stage.Steps {
			for _, c := range step.Checks {
				all[c.ID] = c.Status
			}
		}
	}
	return all
}

type factoryDocument struct {
	Kind, Verdict string
	Checks        []struct{ ID, Status string }
}

// factoryReport reads the report on the node, whose files have to fit together.
func factoryReport(t *testing.T, m *node.Machine) factoryDocument {
	t.Helper()
	out, err := m.Shell(t.Context(), "cd /var/lib/touchdown/factory && sha256sum -c SHA256SUMS >&2 && grep -q '<testsuites' report.junit.xml && cat report.json")
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var d factoryDocument
	if err := json.Unmarshal([]byte(out), &d); err != nil {
		t.Fatal(err)
	}
	return d
}
