package steps

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"touchdown/backend"
	"touchdown/backend/message"
	"touchdown/backend/network"
	"touchdown/backend/problem"
	"touchdown/backend/progress"
	"touchdown/steps/site"
)

// siteNetwork moves the node to the site's network: it tries the settings in memory, looks whether the site answers, keeps
// them or puts the old ones back, and leaves them where OpenShift's own boot finds them.
type siteNetwork struct {
	Site    *site.Config
	NodeNet *NodeNetwork
}

var (
	_ Skipper   = (*siteNetwork)(nil)
	_ Planner   = (*siteNetwork)(nil)
	_ Undoer    = (*siteNetwork)(nil)
	_ Recoverer = (*siteNetwork)(nil)
	_ Abandoner = (*siteNetwork)(nil)
	_ Reader    = (*siteNetwork)(nil)
)

// ID names the step in the journal.
func (*siteNetwork) ID() string { return "network" }

// Title says what the step does.
func (*siteNetwork) Title() message.Text { return message.T("Move to the site's network") }

// Reads names what NetworkEntry asks for, and what its probes look at.
func (*siteNetwork) Reads() []string {
	entry := &NetworkEntry{}
	var paths []string
	for _, f := range entry.Fields() {
		paths = append(paths, f.Path)
	}
	return slices.Concat(paths, entry.Reads(), []string{"spec.policy.keepNetworkWhenProbesPass", "spec.policy.keepNetworkUnanswered"})
}

// Skip tells when nothing was asked for.
func (s *siteNetwork) Skip() message.Text {
	if s.Site.Spec.Network.IsZero() && s.Site.Spec.NetworkConfig == "" {
		return message.T("the network stays unchanged")
	}
	return message.Text{}
}

// Plan tells what changes, and that connections break for a moment.
func (s *siteNetwork) Plan(ctx context.Context, node *backend.Node) (Plan, error) {
	now, err := s.NodeNet.net.Read(ctx)
	if err != nil {
		return Plan{}, err
	}
	originals, err := s.NodeNet.net.Originals(ctx)
	if err != nil {
		return Plan{}, err
	}
	plan, err := s.NodeNet.net.Compile(ctx, settingsOn(node, s.Site), originals)
	if err != nil {
		return Plan{}, err
	}
	p := Plan{Changes: networkChanges(now, plan.Settings)}
	if done, err := s.inPlace(ctx, plan); err == nil && !done {
		p.Seconds = trialSeconds
		p.Disturbances = []Disturbance{{What: message.T("network"), Cause: message.T("the new addresses take the place of the old ones"), Seconds: 10}}
	}
	return p, nil
}

// Run tries the settings out and keeps them, or puts the old ones back and fails.
func (s *siteNetwork) Run(ctx context.Context, node *backend.Node, report Report) error {
	trial := s.trial()
	settings := settingsOn(node, s.Site)
	if err := trial.putBackTrial(ctx, report); err != nil {
		return err
	}
	if err := trial.alone(ctx, report); err != nil {
		return err
	}
	now, err := s.waitForBoot(ctx, report)
	if err != nil {
		return err
	}
	originals, err := s.originals(ctx, report)
	if err != nil {
		return err
	}
	plan, err := s.NodeNet.net.Compile(ctx, settings, originals)
	if err != nil {
		return err
	}
	// Before a crash, or before a failure. What was decided may be in force in a trial only, whose end is still to come, and br-ex not be built.
	if decided, err := trial.decided(report); err != nil {
		return err
	} else if decided {
		return s.commit(ctx, plan)
	}
	if done, err := s.inPlace(ctx, plan); err != nil {
		return err
	} else if done {
		if err := trial.note(report, kept); err != nil {
			return err
		}
		return s.commit(ctx, plan)
	}
	ports, err := s.NodeNet.net.Ports(ctx)
	if err != nil {
		return err
	}
	facts := networkFacts(now, ports, node)
	facts.Before = plan.Before
	if faults := s.NodeNet.net.Validate(ctx, settings, facts); len(faults) > 0 {
		return &problem.Problem{
			Code: "NET-SUTS", Summary: message.F("The network settings do not fit this node: %s.", faults[0].Text),
			Fix: message.F("Go back to the answers and fix %s.", faults[0].Path),
		}
	}
	return s.try(ctx, node, plan, report)
}

func (s *siteNetwork) trial() *networkTrial { return &networkTrial{s.Site, s.NodeNet.net} }

// waitForBoot waits until the boot has made of the network what it will, and returns that. A boot that finds neither lease nor
// static address goes on looking for ever; then it is we who bring the address.
func (s *siteNetwork) waitForBoot(ctx context.Context, report Report) (*network.Current, error) {
	report.Progress(progress.Progress{Waiting: message.T("the network of this boot"), Usual: 10})
	if err := s.NodeNet.net.WaitForBoot(ctx); err != nil {
		return nil, err
	}
	// A bridge that does not come up on the old settings is no reason to keep them: the new ones are tried.
	if again, err := s.NodeNet.net.Revive(ctx); err != nil && problem.From(err).Code != network.NoBridge {
		return nil, err
	} else if err != nil {
		report.Say(problem.From(err).Summary)
	} else if again {
		report.Say(message.T("br-ex hung on its way up and was started again"))
	}
	return s.NodeNet.net.Read(ctx)
}

// originals are the settings before the first change: what undo brings back, and what the answers leave unchanged.
func (s *siteNetwork) originals(ctx context.Context, report Report) ([]byte, error) {
	saved, ok, err := savedAt(report, "originals")
	if ok || err != nil {
		return saved, err
	}
	if saved, err = s.NodeNet.net.Originals(ctx); err != nil {
		return nil, err
	}
	return saved, report.Save("originals", saved)
}

// inPlace tells whether the settings work now and will after a boot.
func (s *siteNetwork) inPlace(ctx context.Context, plan *network.Plan) (bool, error) {
	live, err := s.NodeNet.net.InForce(ctx, plan)
	return live && s.NodeNet.net.Persisted(plan), err
}

// try applies, looks and decides.
func (s *siteNetwork) try(ctx context.Context, node *backend.Node, plan *network.Plan, report Report) error {
	trial := s.trial()
	before, err := s.NodeNet.net.Originals(ctx) // of this trial; a job may try more than once
	if err != nil {
		return err
	}
	if err := report.Note("before", before); err != nil {
		return err
	}
	if err := trial.note(report, trying); err != nil { // who finds this puts back what the other note holds
		return err
	}
	if err := s.apply(ctx, plan, report); err != nil {
		return trial.reason(ctx, node, plan, report, trial.refuse(ctx, report, err))
	}
	report.Progress(progress.Progress{Waiting: message.T("the site to answer"), Usual: leaseWait.Seconds()})
	wrong := trial.look(ctx, node, plan, report)
	answer, err := trial.decide(ctx, wrong, report)
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("trying the network settings: %w", context.Cause(ctx))
	case err != nil:
		return trial.refuse(ctx, report, err)
	case answer == "edit":
		if err := trial.refuse(ctx, report, nil); err != nil {
			return err
		}
		p := wrong.problem()
		p.Correct = true
		return p
	case answer != "keep":
		return trial.refuse(ctx, report, wrong.problem())
	}
	if err := s.NodeNet.net.Keep(ctx, plan, func() error { return trial.note(report, kept) }); err != nil {
		return trial.refuse(ctx, report, err)
	}
	wrong.accept(report)
	report.Say(message.T("the new network settings are kept"))
	return s.commit(ctx, plan)
}

// apply brings the settings about. A NetworkManager that loses the trial, as one does that is restarted, may leave half of
// it: that is put back, and the settings are tried once more.
func (s *siteNetwork) apply(ctx context.Context, plan *network.Plan, report Report) error {
	trial := s.trial()
	taking := progress.Progress{Waiting: message.T("the new settings to take"), Usual: 5}
	report.Progress(taking)
	err := s.NodeNet.net.Apply(ctx, plan, trialTime)
	if p, ok := errors.AsType[*problem.Problem](err); !ok || p.Code != network.NoManager || ctx.Err() != nil {
		return err
	}
	report.Say(message.T("NetworkManager lost the trial halfway; the settings are tried once more"))
	if err := trial.putBackTrial(ctx, report); err != nil {
		return err
	}
	if err := trial.note(report, trying); err != nil {
		return err
	}
	report.Progress(taking)
	return s.NodeNet.net.Apply(ctx, plan, trialTime)
}

// commit ends a decision to keep: also after a crash in the middle of it.
func (s *siteNetwork) commit(ctx context.Context, plan *network.Plan) error {
	if err := s.NodeNet.net.Persist(plan); err != nil {
		return err
	}
	if err := s.NodeNet.net.Commit(ctx, plan); err != nil {
		return err
	}
	return s.NodeNet.net.BuildBridge(ctx, bridgeWait)
}

// Recover puts back what a crash or a power cut left undecided.
func (s *siteNetwork) Recover(ctx context.Context, _ *backend.Node, report Report) error {
	return s.trial().putBackTrial(ctx, report)
}

// Half tells of settings that were neither kept nor put back.
func (*siteNetwork) Half(report Report) (message.Text, error) {
	if last, err := new(networkTrial).noted(report); err != nil || last.State != trying {
		return message.Text{}, err
	}
	return message.T("network settings that were not kept are still there"), nil
}

// Abandon puts the old ones back.
func (s *siteNetwork) Abandon(ctx context.Context, node *backend.Node, report Report) error {
	return s.Recover(ctx, node, report)
}

// Undo brings the factory's settings back.
func (s *siteNetwork) Undo(ctx context.Context, _ *backend.Node, report Report) error {
	originals, ok, err := savedAt(report, "originals")
	if !ok {
		return err
	}
	if err := s.NodeNet.net.PutBack(ctx, originals); err != nil {
		return err
	}
	return s.trial().note(report, back)
}
