package steps

import (
	"context"

	"touchdown/backend"
	"touchdown/backend/factory"
	"touchdown/backend/hardware"
	"touchdown/backend/media"
	"touchdown/backend/message"
	"touchdown/backend/progress"
	"touchdown/backend/report"
)

// FactoryReport writes what the bench line found, for the factory's files and for the technician, who compares the node as it
// arrived with the node as it was shipped.
type FactoryReport struct {
	Dir string       // where the report lies: the state folder of the bench line
	At  report.Where // where the servers are asked; zero: where people reach them

	second *secondPerson // who has to sign it, too
}

// ID names the step in the journal.
func (*FactoryReport) ID() string { return "factory-report" }

// Title says what the step does.
func (*FactoryReport) Title() message.Text { return message.T("Write the factory report") }

// Run writes the report. One that already tells the same stays to the byte.
func (s *FactoryReport) Run(ctx context.Context, node *backend.Node, rep Report) error {
	rep.Progress(progress.Progress{Waiting: message.T("the cluster's identity and certificates")})
	facts, err := report.Look(ctx, node.Host, node.Kube.WithProgress(rep.Progress), "", s.At)
	if err != nil {
		return err
	}
	machine := hardware.Inspect(ctx, node.Host, hardware.Options{Now: node.Now, Parts: true})
	if err := hardware.SaveShipped(node.Host, machine); err != nil {
		return err
	}
	key := reportKey(node, rep)
	job := rep.Job()
	job.Kind = report.Factory
	d := report.New(job, facts, node.Now())
	if err := s.second.names(d); err != nil {
		return err
	}
	unsigned, err := keepReport(node, s.Dir, d, key, rep.Job().Started)
	if err != nil {
		return err
	}
	say(rep, unsigned)
	s.second.found(key != nil && unsigned == (message.Text{}))
	rep.Say(message.F("The factory report is written: %s, %s in %s.", d.Verdict, report.TextFile, s.Dir))
	return nil
}

// Pace is how much longer than its plan this node took on the bench line for what is mostly reboots; 1 where the report is not there. A landing's time left begins with it.
func (s *FactoryReport) Pace() float64 {
	d, err := (report.Folder{Dir: s.Dir}).Open()
	if err != nil {
		return 1
	}
	planned, took := 0., 0.
	for _, step := range d.Steps {
		usual := map[string]float64{
			(*bakeConfiguration)(nil).ID(): configSeconds + rebootSeconds, (*rehearsal)(nil).ID(): 2 * rebootSeconds,
		}[step.ID]
		if usual > 0 && step.Seconds > rebootSeconds/20 { // else it found its work done
			planned, took = planned+usual, took+step.Seconds
		}
	}
	if planned == 0 {
		return 1
	}
	return report.Pace(took, planned)
}

// seal ends the work on the bench line: the next boot waits for the site, and its engine loads the site's list.
type seal struct {
	bakeArm

	second *secondPerson // who has to sign the report before
}

var (
	_ Undoer  = (*seal)(nil)
	_ Planner = (*seal)(nil)
	_ asker   = (*seal)(nil)
)

// ID names the step in the journal.
func (*seal) ID() string { return "seal" }

// Title says what the step does.
func (*seal) Title() message.Text { return message.T("Seal the node") }

// Fields asks who stands behind the seal, where two people have to.
func (s *seal) Fields() []Field { return s.second.fields() }

// Plan names who stands behind the seal, and the site config that goes with the node. It refuses where that was lost, or nobody is named,
// before the work begins, not after three reboots.
func (s *seal) Plan(_ context.Context, node *backend.Node) (Plan, error) {
	people, err := s.second.plan()
	if err != nil {
		return Plan{}, err
	}
	d, err := media.Of(node.Host).Baked()
	if err != nil || d == nil {
		return Plan{Changes: people}, err
	}
	is := message.F("document %s; a person starts the landing", d.ID)
	if d.Unattended {
		is = message.F("document %s; THE LANDING STARTS WITHOUT A PERSON", d.ID)
	}
	return Plan{Changes: append(people, Change{What: message.T("Site config in the node"), New: is})}, nil
}

// Run has a second person sign, where one has to, enters the node into the ledger, arms it, and closes the bench line's list last: a power cut in between leaves a node that does the
// rest again.
func (s *seal) Run(ctx context.Context, node *backend.Node, report Report) error {
	d, err := media.Of(node.Host).Baked() // an undo of the bake took it away
	if err != nil {
		return err
	}
	noteDrives(ctx, node, report)
	by, err := s.second.sign(ctx, report)
	if err != nil {
		return err
	}
	if d != nil {
		report.Say(message.F("Document %s, the site config in the node, is there and can be used.", d.ID))
	}
	if d != nil && d.Unattended {
		if err := media.StartOf(node.Host, d.ID).Seal(); err != nil {
			return err
		}
		report.Say(message.F("The next boot of machine %s STARTS THE LANDING WITHOUT A PERSON, after a countdown of a minute on each console.", d.Serial))
	}
	if !rests(node.Host) { // else it is in the ledger, which asks its API
		if err := starts(ctx, node, report); err != nil {
			return err
		}
		if err := enter(ctx, node, report, by); err != nil {
			return err
		}
	}
	if err := s.bakeArm.Run(ctx, node, report); err != nil {
		return err
	}
	return factory.Close(node.Host)
}

// noteDrives tells which drives cannot be read: whoever seals the node may want to know, and the site is never held up by one.
func noteDrives(ctx context.Context, node *backend.Node, report Report) {
	drives, err := media.Unreadable(ctx, node.Host)
	if err != nil {
		node.Log.Warn("the drives cannot be searched for media", "error", err)
	}
	for _, d := range drives {
		report.Say(message.F("Drive %s was not readable: %s", d.Device, d.Refused.Summary))
	}
}

// Undo opens the list again, and the gate in front of kubelet. A ledger is only added to: the node stays in it, and is known when it
// is sealed again.
func (s *seal) Undo(ctx context.Context, node *backend.Node, report Report) error {
	if _, err := factory.OpenLine(node.Host, node.Now()); err != nil {
		return err
	}
	return s.bakeArm.Undo(ctx, node, report)
}
