package engine

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"touchdown/backend"
	"touchdown/backend/kube/kubetest"
	"touchdown/backend/message"
	"touchdown/backend/problem"
	"touchdown/steps"
	"touchdown/steps/event"
	"touchdown/steps/session"
	"touchdown/steps/site"
	"touchdown/steps/view"
)

// halved is a setting that is half done between two writes.
type halved struct {
	*setting
	part func(context.Context) error // what Abandon does first; it does no more where that returns an error
	lost error                       // what reading the note comes to
}

// errLazy lets Abandon end well with nothing put right.
var errLazy = errors.New("lazy")

func (s *halved) sets(part func(context.Context) error) {
	s.w.mu.Lock()
	defer s.w.mu.Unlock()
	s.part = part
}

func (s *halved) Half(report steps.Report) (message.Text, error) {
	s.w.mu.Lock()
	defer s.w.mu.Unlock()
	if s.lost != nil {
		return message.Text{}, s.lost
	}
	if noted, err := report.Noted("half"); err != nil || string(noted) != "begun" {
		return message.Text{}, nil
	}
	return message.T("the lamp hangs"), nil
}

func (s *halved) Abandon(ctx context.Context, _ *backend.Node, report steps.Report) error {
	s.w.mu.Lock()
	part := s.part
	s.w.mu.Unlock()
	if part != nil {
		if err := part(ctx); err != nil {
			if errors.Is(err, errLazy) {
				return nil
			}
			return err
		}
	}
	s.w.set(s.id, "off")
	return report.Note("half", []byte("whole"))
}

// hanging is a rig whose lamp hangs: its Run was begun and fails.
func hanging(t *testing.T) (r *rig, lamp *halved) {
	t.Helper()
	w := newWorld()
	lamp = &halved{setting: &setting{w: w, id: "lamp", want: func() string { return "on" }}}
	w.more = []steps.Stage{{ID: "more", Title: message.T("More"), Steps: []steps.Step{lamp}}}
	w.run["lamp"] = func(_ context.Context, _ *backend.Node, report steps.Report) error {
		w.set("lamp", "hangs")
		return errors.Join(report.Note("half", []byte("begun")), broken())
	}
	r = newRig(t, w)
	token := take(t, r)
	r.start(t, r, token, false)
	until(t, r, "the failure", inState(view.HasFailed))
	return r, lamp
}

func said(s *view.Snapshot) string {
	return strings.Join(message.English(s.Stages[2].Steps[0].Said), " ")
}

// TestWhatIsLeftOutIsPutRightFirst: whether a person or the answers leave a step out that is half done.
func TestWhatIsLeftOutIsPutRightFirst(t *testing.T) {
	for _, how := range []string{"by a person", "by the answers", "by the answers, after a restart"} {
		t.Run(how, func(t *testing.T) {
			r, lamp := hanging(t)
			token := take(t, r)
			if how == "by a person" {
				must(t, r.Do(t.Context(), token, session.Action{Verb: session.Skip, Step: "lamp"}))
			} else {
				lamp.skip = "not asked for any more"
				if strings.Contains(how, "restart") {
					r.reopen(t)
					token = take(t, r)
				}
				must(t, r.Do(t.Context(), token, session.Action{Verb: session.Edit}))
				review := r.fill(t, r, token).Review
				must(t, r.Do(t.Context(), token, session.Action{Verb: session.Start, Fingerprint: review.Fingerprint}))
			}
			s := until(t, r, "the end", inState(view.IsDone))
			if r.w.get("lamp") != "off" || !strings.Contains(said(s), "the lamp hangs") || s.Stages[2].Steps[0].Status != view.StepSkip {
				t.Errorf("the lamp is %q, the step %s said %q", r.w.get("lamp"), s.Stages[2].Steps[0].Status, said(s))
			}
			r.reopen(t)
			if s := until(t, r, "the end", inState(view.IsDone)); s.Stages[2].Steps[0].Status != view.StepSkip || !strings.Contains(said(s), "the lamp hangs") {
				t.Errorf("by the journal the step is %s and said %q", s.Stages[2].Steps[0].Status, said(s))
			}
			var told []event.Kind
			for _, e := range journalOf(t, r) {
				if e.Step == "lamp" && (e.Kind == event.Skipped || e.Kind == event.Repairing) {
					told = append(told, e.Kind)
				}
			}
			if n := len(told); n < 2 || told[n-2] != event.Repairing || told[n-1] != event.Skipped {
				t.Errorf("the journal tells %q", told)
			}
			must(t, r.Do(t.Context(), take(t, r), session.Action{Verb: session.HandOver}))
		})
	}
}

// TestStopBeforeWhatIsLeftOut: the stop comes while an earlier step works, which ends all the same. What is half done stays so until a person leaves the step out again.
func TestStopBeforeWhatIsLeftOut(t *testing.T) {
	r, _ := hanging(t)
	begun := make(chan struct{})
	r.w.mu.Lock()
	r.w.run["light"] = func(ctx context.Context, _ *backend.Node, _ steps.Report) error {
		close(begun)
		<-ctx.Done()
		return nil
	}
	r.w.mu.Unlock()
	token := take(t, r)
	must(t, r.Do(t.Context(), token, session.Action{Verb: session.Skip, Step: "lamp"}))
	<-begun
	must(t, r.Do(t.Context(), token, session.Action{Verb: session.Cancel}))
	if s := until(t, r, "the stop", inState(view.HasFailed)); s.Problem.Code != view.Halted || r.w.get("lamp") != "hangs" {
		t.Errorf("the lamp is %q after %+v", r.w.get("lamp"), s.Problem)
	}
	r.w.mu.Lock()
	delete(r.w.run, "light")
	r.w.mu.Unlock()
	must(t, r.Do(t.Context(), token, session.Action{Verb: session.Skip, Step: "lamp"}))
	until(t, r, "the end", inState(view.IsDone))
	if r.w.get("lamp") != "off" {
		t.Errorf("the lamp is %q in the end", r.w.get("lamp"))
	}
}

// TestWhatCannotBePutRightIsNotLeftOut: the step has failed as before, and may be retried, left out again and undone.
func TestWhatCannotBePutRightIsNotLeftOut(t *testing.T) {
	r, lamp := hanging(t)
	away := &problem.Problem{Code: "AWAY", Summary: message.T("It is away."), Fix: message.T("Wait.")}
	lamp.sets(func(context.Context) error { return away })
	must(t, r.Do(t.Context(), take(t, r), session.Action{Verb: session.Skip, Step: "lamp"}))
	for range 2 { // live, and by the journal
		s := until(t, r, "the failure", inState(view.HasFailed))
		if s.Problem == nil || s.Problem.Code != "AWAY" || s.Current != "lamp" || s.Stages[2].Steps[0].Status != view.StepFailed {
			t.Errorf("current %q, %s, problem %+v", s.Current, s.Stages[2].Steps[0].Status, s.Problem)
		}
		r.reopen(t)
	}
	until(t, r, "the failure", inState(view.HasFailed))
	lamp.sets(nil)
	must(t, r.Do(t.Context(), take(t, r), session.Action{Verb: session.Skip, Step: "lamp"}))
	until(t, r, "the end", inState(view.IsDone))
}

// TestNodeThatGoesDownWhileAStepIsLeftOut begins with it again, be it that the power failed or that the step asked for a reboot.
func TestNodeThatGoesDownWhileAStepIsLeftOut(t *testing.T) {
	for _, asked := range []bool{false, true} {
		r, lamp := hanging(t)
		begun := make(chan struct{})
		lamp.sets(func(ctx context.Context) error {
			close(begun)
			if asked {
				return &steps.Reboot{Reason: message.T("the lamp takes its name")}
			}
			<-ctx.Done()
			return ctx.Err()
		})
		must(t, r.Do(t.Context(), take(t, r), session.Action{Verb: session.Skip, Step: "lamp"}))
		<-begun
		if s := until(t, r, "the work", inState(view.Working)); s.Current != "lamp" || s.Stages[2].Steps[0].Status != view.Running {
			t.Errorf("the console shows %q, %s", s.Current, s.Stages[2].Steps[0].Status)
		}
		if asked {
			until(t, r, "the reboot", func(*view.Snapshot) bool {
				r.mu.Lock()
				defer r.mu.Unlock()
				return len(r.core.job.step("lamp").reboots) > 0
			})
		}
		lamp.sets(nil)
		must(t, r.Close())
		r.host.Boot()
		r.open(t)
		until(t, r, "the end", inState(view.IsDone))
		if r.w.get("lamp") != "off" {
			t.Errorf("the lamp is %q", r.w.get("lamp"))
		}
	}
}

// TestWhatIsPutRightWaitsForARebootThatWasAskedFor: the step may count on it.
func TestWhatIsPutRightWaitsForARebootThatWasAskedFor(t *testing.T) {
	r, _ := hanging(t)
	r.host.On("systemctl reboot", "", errors.New("the bus is away"))
	r.w.mu.Lock()
	r.w.run["lamp"] = func(context.Context, *backend.Node, steps.Report) error {
		return &steps.Reboot{Reason: message.T("the lamp takes its name")}
	}
	r.w.mu.Unlock()
	must(t, r.Do(t.Context(), take(t, r), session.Action{Verb: session.Retry}))
	refused := func(s *view.Snapshot) bool { return s.State == view.HasFailed && s.Problem.Code == "PWR-ERR" }
	until(t, r, "the failure", refused)
	r.host.Forget()
	must(t, r.Do(t.Context(), take(t, r), session.Action{Verb: session.Skip, Step: "lamp"}))
	until(t, r, "the next failure", func(s *view.Snapshot) bool { return refused(s) && len(r.host.Calls()) > 0 })
	if r.w.get("lamp") != "hangs" {
		t.Errorf("the lamp is %q before the reboot", r.w.get("lamp"))
	}
	r.host.Boot()
	must(t, r.Do(t.Context(), take(t, r), session.Action{Verb: session.Skip, Step: "lamp"}))
	until(t, r, "the end", inState(view.IsDone))
	if r.w.get("lamp") != "off" {
		t.Errorf("the lamp is %q", r.w.get("lamp"))
	}
}

// TestNodeThatGoesDownAgainAndAgainWhileAStepIsLeftOut fails in the end, as one does whose step takes it down, and a person may try again.
func TestNodeThatGoesDownAgainAndAgainWhileAStepIsLeftOut(t *testing.T) {
	r, lamp := hanging(t)
	begun := make(chan struct{}, 1)
	lamp.sets(func(ctx context.Context) error {
		begun <- struct{}{}
		<-ctx.Done()
		return ctx.Err()
	})
	must(t, r.Do(t.Context(), take(t, r), session.Action{Verb: session.Skip, Step: "lamp"}))
	for boot := 1; boot <= maxStarts; boot++ {
		<-begun
		must(t, r.Close())
		r.host.Boot()
		r.open(t)
	}
	if s := until(t, r, "the failure", inState(view.HasFailed)); s.Problem.Code != "RBT-CNT" || s.Current != "lamp" {
		t.Errorf("at %s, the problem: %+v", s.Current, s.Problem)
	}
	lamp.sets(nil)
	must(t, r.Do(t.Context(), take(t, r), session.Action{Verb: session.Skip, Step: "lamp"}))
	until(t, r, "the end", inState(view.IsDone))
}

// TestWhatAStepNotedCannotBeRead: neither is the step left out nor the hand-over accepted, and it is told why.
func TestWhatAStepNotedCannotBeRead(t *testing.T) {
	r, lamp := hanging(t)
	reads := func(err error) {
		r.w.mu.Lock()
		defer r.w.mu.Unlock()
		lamp.lost = err
	}
	reads(syscall.EIO)
	must(t, r.Do(t.Context(), take(t, r), session.Action{Verb: session.Skip, Step: "lamp"}))
	if s := until(t, r, "the failure", inState(view.HasFailed)); s.Problem.Code != "HALF-RD" || s.Current != "lamp" {
		t.Errorf("at %s, the problem: %+v", s.Current, s.Problem)
	}
	reads(nil)
	must(t, r.Do(t.Context(), take(t, r), session.Action{Verb: session.Skip, Step: "lamp"}))
	until(t, r, "the end", inState(view.IsDone))
	reads(syscall.EIO)
	err := r.Do(t.Context(), take(t, r), session.Action{Verb: session.HandOver})
	if p, ok := errors.AsType[*problem.Problem](err); !ok || p.Code != "HALF-RD" || !errors.Is(err, syscall.EIO) {
		t.Fatalf("the hand-over is %v", err)
	}
}

// TestHandOverWaitsForWhatIsHalfDone: its notes would be wiped, and nobody could put it right.
func TestHandOverWaitsForWhatIsHalfDone(t *testing.T) {
	r, lamp := hanging(t)
	lamp.sets(func(context.Context) error { return errLazy })
	must(t, r.Do(t.Context(), take(t, r), session.Action{Verb: session.Skip, Step: "lamp"}))
	until(t, r, "the end", inState(view.IsDone))
	err := r.Do(t.Context(), take(t, r), session.Action{Verb: session.HandOver})
	if p, ok := errors.AsType[*problem.Problem](err); !ok || p.Code != "HND-HALF" || !errors.Is(err, session.ErrState) || !strings.Contains(err.Error(), "the lamp hangs") {
		t.Fatalf("the hand-over is %v", err)
	}
	must(t, r.Do(t.Context(), take(t, r), session.Action{Verb: session.Undo}))
	until(t, r, "everything back", inState(view.IsUndone))
}

const (
	machineConfigs = "/apis/machineconfiguration.openshift.io/v1/machineconfigs/"
	masterPool     = "/apis/machineconfiguration.openshift.io/v1/machineconfigpools/master"
)

// pooled is a rig with the node-config step of the product on a cluster whose Machine Config Operator renders nothing.
func pooled(t *testing.T) (*rig, *kubetest.API, func()) {
	t.Helper()
	api, c := kubetest.New(t)
	api.Put(machineConfigs+"50-x", `{"metadata":{"labels":{"machineconfiguration.openshift.io/role":"master"}},"spec":{"config":{}}}`)
	api.Put(machineConfigs+"rendered-1", `{"spec":{"config":{}}}`)
	api.Put("/apis/config.openshift.io/v1/proxies/cluster", `{"spec":{}}`)
	api.Put("/api/v1/nodes/n", `{"metadata":{"annotations":{"machineconfiguration.openshift.io/state":"Done"}}}`)
	for _, d := range []string{"machine-config-operator", "machine-config-controller"} {
		api.Put("/apis/apps/v1/namespaces/openshift-machine-config-operator/deployments/"+d,
			`{"spec":{"replicas":1},"status":{"readyReplicas":1,"availableReplicas":1,"replicas":1}}`)
	}
	api.Put(masterPool, `{"spec":{"paused":false,"configuration":{"name":"rendered-1"}},"status":{"configuration":{"name":"rendered-1"},
		"machineCount":1,"updatedMachineCount":1,"readyMachineCount":1,"conditions":[{"type":"Updated","status":"True"},
		{"type":"Updating","status":"False"},{"type":"Degraded","status":"False"}]}}`)
	w := newWorld()
	w.asks = func(cfg *site.Config) []steps.Stage {
		return []steps.Stage{{ID: "relocation", Title: message.T("Relocation"), Steps: []steps.Step{
			&setting{w: w, id: "gate", want: func() string { return "on" }}, siteStep(cfg, "node-config"),
		}}}
	}
	r := newRig(t, w)
	must(t, r.Close())
	open := func() {
		t.Helper()
		o := r.options()
		o.Node.Kube = c
		e, err := Open(o)
		must(t, err)
		t.Cleanup(func() { _ = e.Close() })
		r.Engine = e
	}
	open()
	return r, api, open
}

// siteStep is a step of the product.
func siteStep(cfg *site.Config, id string) steps.Step {
	for _, stage := range steps.Site(cfg, steps.Wiring{NodeNet: &steps.NodeNetwork{}}) {
		for _, step := range stage.Steps {
			if step.ID() == id {
				return step
			}
		}
	}
	return nil
}

// TestPauseOfAStepThatIsLeftOutEnds: the power fails in the pause, and the person takes the answers back that need it.
func TestPauseOfAStepThatIsLeftOutEnds(t *testing.T) {
	r, api, open := pooled(t)
	token := take(t, r)
	until(t, r, "the form", inState(view.Collecting))
	must(t, r.Set(t.Context(), token, "spec.sshKeys", "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIFEhKYdsUNo7ejaR2MbxdiH2gmUAYsEXIVFiSl93COaZ"))
	must(t, r.Set(t.Context(), token, "spec.policy.allowReboot", "true"))
	r.start(t, r, token, false)
	until(t, r, "the pause", func(s *view.Snapshot) bool {
		return api.Get(masterPool, "spec", "paused") == "true" && api.Get(machineConfigs+"99-master-touchdown-ssh") != ""
	})
	disk := r.dir + "-cut" // the power fails: the next boot finds what is on the disk and in the database now
	if out, err := exec.Command("cp", "-a", r.dir, disk).CombinedOutput(); err != nil {
		t.Fatal(string(out))
	}
	database := api.Get(masterPool)
	must(t, r.Close())
	api.Put(masterPool, database)
	must(t, os.RemoveAll(r.dir))
	must(t, os.Rename(disk, r.dir))
	begun := make(chan struct{})
	r.w.run["gate"] = func(ctx context.Context, _ *backend.Node, _ steps.Report) error { // the cluster takes a while to start
		close(begun)
		<-ctx.Done()
		return ctx.Err()
	}
	open()
	<-begun
	token = take(t, r)
	must(t, r.Do(t.Context(), token, session.Action{Verb: session.Cancel}))
	until(t, r, "the stop", inState(view.HasFailed))
	r.w.mu.Lock()
	delete(r.w.run, "gate")
	r.w.mu.Unlock()
	must(t, r.Do(t.Context(), token, session.Action{Verb: session.Edit}))
	must(t, r.Set(t.Context(), token, "spec.sshKeys", ""))
	review := r.fill(t, r, token).Review
	must(t, r.Do(t.Context(), token, session.Action{Verb: session.Start, Fingerprint: review.Fingerprint}))
	if s := until(t, r, "the end", func(s *view.Snapshot) bool { return s.State == view.IsDone || s.State == view.HasFailed }); s.State != view.IsDone {
		t.Fatalf("%+v", s.Problem)
	}
	if paused, left := api.Get(masterPool, "spec", "paused"), api.Get(machineConfigs+"99-master-touchdown-ssh"); paused != "false" || left != "" {
		t.Errorf("paused %s, MachineConfig %q", paused, left)
	}
	must(t, r.Do(t.Context(), token, session.Action{Verb: session.HandOver}))
}

// TestUndoKnowsThePauseOfAnotherStep: node-config was cut off in its pause, and an earlier start of the same job brought the pull secret
// alone and the image store, which are undone before it.
func TestUndoKnowsThePauseOfAnotherStep(t *testing.T) {
	r, api, _ := pooled(t)
	api.Put(masterPool, strings.Replace(api.Get(masterPool), `"paused":false`, `"paused":true`, 1))
	must(t, (&stepReport{e: r.Engine, step: "node-config"}).Note("job-pause", []byte("paused")))
	prepared := siteStep(site.New(), "node-config").(steps.UndoPreparer)
	for _, id := range []string{"images", "pull-secret"} {
		report := &stepReport{e: r.Engine, step: id}
		must(t, report.Save("change-001", []byte(`{"format":1,"ref":{"Version":"v1","Resource":"secrets","Namespace":"openshift-config",`+
			`"Name":"pull-secret"},"part":"data","existed":true,"had":true,"original":{},"ours":{}}`)))
		must(t, report.Save("rendered-001", []byte("rendered-1")))
		err := siteStep(site.New(), id).(steps.Undoer).Undo(t.Context(), r.o.Node, report)
		if p, refused := errors.AsType[*problem.Problem](err); refused && p.Code == "NCF-HELD" {
			t.Errorf("%s: %v", id, err)
		}
	}
	api.Put(masterPool, strings.Replace(api.Get(masterPool), `"paused":false`, `"paused":true`, 1))
	report := &stepReport{e: r.Engine, step: "node-config"}
	must(t, errors.Join(report.Note("pause", []byte("paused")), report.Note("job-pause", []byte("paused"))))
	must(t, prepared.PrepareUndo(t.Context(), r.o.Node, report)) // comes before any of them
	if paused := api.Get(masterPool, "spec", "paused"); paused != "false" {
		t.Errorf("the undo begins with a pool whose pause is %s", paused)
	}
}

// TestABatchThatCouldNotBePutBackStaysHalf: its pause ends all the same, for the node takes nothing in it.
func TestABatchThatCouldNotBePutBackStaysHalf(t *testing.T) {
	r, api, _ := pooled(t)
	api.Put(masterPool, strings.Replace(api.Get(masterPool), `"paused":false`, `"paused":true`, 1))
	report, step := &stepReport{e: r.Engine, step: "node-config"}, siteStep(site.New(), "node-config").(steps.Abandoner)
	must(t, errors.Join(report.Note("pause", []byte("paused")), report.Note("job-pause", []byte("paused")), report.Save("change-001", []byte(`{"format":`))))
	if err := step.Abandon(t.Context(), r.o.Node, report); err == nil {
		t.Error("a damaged original is put back")
	}
	half, err := step.Half(report)
	if paused := api.Get(masterPool, "spec", "paused"); paused != "false" || err != nil || half.String() == "" {
		t.Errorf("paused %s, half %q, %v", paused, half, err)
	}
}
