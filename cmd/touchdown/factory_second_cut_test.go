package main

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	"touchdown/backend"
	"touchdown/backend/check"
	"touchdown/backend/factory"
	"touchdown/backend/factory/second"
	"touchdown/backend/layout"
	"touchdown/backend/message"
	"touchdown/backend/report"
	"touchdown/backend/report/proof"
	"touchdown/steps"
	"touchdown/steps/session"
	"touchdown/steps/view"
)

// demanded puts the node on the bench line, where the factory demands two people for the seal who are named.
func (p *twoPeople) demanded(agreed bool) {
	p.t.Helper()
	if _, err := factory.OpenLine(p.machine, time.Now()); err != nil {
		p.t.Fatal(err)
	}
	d := second.Person{
		Keys: p.text(p.in("anna.pub")), Stay: factory.Stay(p.machine), First: "Ben Weber", Name: "Anna Huber", KeyFile: p.in("anna.key"), Agreed: agreed,
	}
	if err := d.Keep(p.machine); err != nil {
		p.t.Fatal(err)
	}
}

// console opens an engine on the node, with a person who has control.
func (p *twoPeople) console() (c *consoleOf, ends func()) {
	p.t.Helper()
	e, closeEngine, err := (&engineFlags{state: p.machine.Path(layout.State), kubeconfig: p.machine.Path("/kubeconfig")}).open(p.t.Context(), p.hooks)
	if err != nil {
		p.t.Fatal(err)
	}
	c = &consoleOf{t: p.t, Engine: e}
	if c.token, err = e.TakeControl(p.t.Context(), "tty1", false); err != nil {
		p.t.Fatal(err)
	}
	return c, func() {
		if err := closeEngine(); err != nil {
			p.t.Error(err)
		}
	}
}

// cutOff is a seal whose power is cut behind the second signature.
type cutOff struct {
	steps.Step
	signed chan struct{}
}

func (s cutOff) Run(ctx context.Context, node *backend.Node, rep steps.Report) error {
	go func() { _ = s.Step.Run(ctx, node, cutReport{rep, s.signed}) }()
	<-ctx.Done()
	return ctx.Err()
}

// cutReport ends the goroutine of a step that says that someone signed.
type cutReport struct {
	steps.Report
	signed chan struct{}
}

func (r cutReport) Say(text message.Text) {
	r.Report.Say(text)
	if strings.Contains(text.String(), "signed the factory report") {
		close(r.signed)
		runtime.Goexit()
	}
}

// TestAPowerCutBehindTheSecondSignature: what the second person has signed counts after it. Nobody is asked again, and the report is the same
// to the byte. With a key that was revoked meanwhile it counts no more: the second person is asked, and signs with another one.
func TestAPowerCutBehindTheSecondSignature(t *testing.T) {
	for _, revoked := range []bool{false, true} {
		p := newTwoPeople(t)
		p.demanded(false)
		whole := p.hooks.stages
		signed := make(chan struct{})
		p.hooks.stages = func(stages []steps.Stage) {
			whole(stages)
			stages[0].Steps = []steps.Step{moving{}}
			last := stages[len(stages)-1].Steps
			last[len(last)-1] = cutOff{last[len(last)-1], signed}
		}
		c, ends := p.console()
		c.start()
		c.do(session.Action{Verb: session.Reply, Question: c.asked("").ID, Value: signs})
		<-signed
		ends()
		file := p.report(report.SignedFile)
		before := p.text(file)
		if is, err := proof.Open([]byte(before)); err != nil || is.Second != p.anna.ID() {
			t.Fatalf("not signed by two: %+v, %v", is, err)
		}
		if revoked {
			d, err := second.Of(p.machine)
			if err != nil {
				t.Fatal(err)
			}
			d.Keys, d.KeyFile = p.text(p.in("ben.pub")), p.in("ben.key")
			if err := d.Keep(p.machine); err != nil {
				t.Fatal(err)
			}
		}
		p.hooks.stages = func(stages []steps.Stage) {
			whole(stages)
			stages[0].Steps = []steps.Step{moving{}}
		}
		c, ends = p.console()
		if revoked {
			c.do(session.Action{Verb: session.Reply, Question: c.asked("").ID, Value: signs})
		}
		c.until(view.IsDone) // with a question it comes to no end
		ends()
		if after := p.text(file); (after == before) == revoked || !p.machine.Exists(layout.Armed) {
			t.Errorf("revoked %t: the report was signed again, or the node is not sealed\n%s", revoked, after)
		}
	}
}

// TestAnAgreementIsForOneRun: the second person agreed on the command line of a list that nobody watches. Where it failed, or a person
// starts a list instead, it may be someone else who has it signed: the second person is asked.
func TestAnAgreementIsForOneRun(t *testing.T) {
	for _, c := range []struct {
		fails   int
		watched bool
		then    []session.Verb // what a person does when the list has failed
	}{{}, {fails: 1, then: []session.Verb{session.Retry}}, {fails: 1, then: []session.Verb{session.Edit}}, {watched: true}} {
		p := newTwoPeople(t)
		p.demanded(true)
		whole, left := p.hooks.stages, c.fails
		p.hooks.stages = func(stages []steps.Stage) {
			whole(stages)
			stages[0].Steps = []steps.Step{failing{&left}}
		}
		sits, ends := p.console()
		sits.set("spec.policy.rollbackOnFailure", "false") // what failed is left for the next person
		sits.begin(!c.watched)
		for _, verb := range c.then {
			sits.until(view.HasFailed)
			sits.do(session.Action{Verb: verb})
			if verb == session.Edit {
				sits.start()
			}
		}
		if c.watched || c.fails > 0 {
			sits.do(session.Action{Verb: session.Reply, Question: sits.asked("").ID, Value: "wait"})
			if s := sits.until(view.HasFailed); s.Problem.Code != "FAC-2ND" || p.machine.Exists(layout.Armed) {
				t.Errorf("%+v", s.Problem)
			}
			sits.do(session.Action{Verb: session.Retry})
			sits.do(session.Action{Verb: session.Reply, Question: sits.asked("").ID, Value: signs})
		}
		sits.until(view.IsDone)
		ends()
		if d, err := second.Of(p.machine); err != nil || d.Agreed || !p.machine.Exists(layout.Armed) {
			t.Errorf("%+v: %+v, %v", c, d, err)
		}
	}
}

// failing is a step that fails so often.
type failing struct{ times *int }

func (failing) ID() string          { return "failing" }
func (failing) Title() message.Text { return message.T("Fail") }
func (s failing) Run(context.Context, *backend.Node, steps.Report) error {
	if *s.times--; *s.times >= 0 {
		return errors.New("no")
	}
	return nil
}

// moving is a step with a check that sees something else each time, and comes to the same verdict.
type moving struct{}

func (moving) ID() string          { return "moving" }
func (moving) Title() message.Text { return message.T("Move") }
func (moving) Run(_ context.Context, _ *backend.Node, rep steps.Report) error {
	rep.Check(check.Check{ID: "hw-clock", Title: message.T("Clock"), Status: check.Pass, Observed: message.F("%s", time.Now().Format(time.RFC3339Nano))})
	return nil
}
