package steps

import (
	"context"
	"fmt"

	"touchdown/backend"
	"touchdown/backend/check"
	"touchdown/backend/clock"
	"touchdown/backend/host"
	"touchdown/backend/message"
	"touchdown/backend/problem"
	"touchdown/steps/dated"
	"touchdown/steps/site"
)

// siteClock sets the machine's clock before anything starts that looks at certificates. The site's time servers tell the time, else
// those that the node knows, else a person.
type siteClock struct {
	Site  *site.Config
	Typed *clock.Watch
}

var (
	_ asker     = (*siteClock)(nil)
	_ Inspector = (*siteClock)(nil)
	_ Planner   = (*siteClock)(nil)
	_ Undoer    = (*siteClock)(nil)
	_ Reader    = (*siteClock)(nil)
)

// ID names the step in the journal.
func (*siteClock) ID() string { return "clock" }

// Title says what the step does.
func (*siteClock) Title() message.Text { return message.T("Set the clock") }

// Fields asks for the time, for a site without time servers; those are asked for with the network.
func (*siteClock) Fields() []Field {
	return []Field{
		{
			Path: "spec.time.utc", Kind: Text, Label: message.T("Time now (UTC)"), Example: "2026-06-01T12:00:00Z", Optional: true,
			Check: site.UTC, Help: message.T("Only for a site without a time server: the time of day in UTC, which is not your local time."),
		},
	}
}

// Reads names what the time comes from.
func (*siteClock) Reads() []string { return []string{"spec.additionalNTPSources", "spec.time.utc"} }

// Inspect asks the time servers and looks at the battery clock.
func (s *siteClock) Inspect(ctx context.Context, node *backend.Node, report Report) error {
	offsets, v := s.judge(ctx, node)
	taken, err := s.taken(report, v)
	if err != nil {
		return err
	}
	report.Check(batteryCheck(node, sets(node, v)))
	if taken {
		report.Check(typedCheck())
		return nil
	}
	report.Check(clockCheck(offsets, v, s.named(node)))
	return nil
}

// Plan tells by how much the clock would move.
func (s *siteClock) Plan(ctx context.Context, node *backend.Node) (Plan, error) {
	_, v := s.judge(ctx, node)
	changes := planWait(ctx, node, s.named(node), v)
	if v.Ahead == 0 || v.Reject != (message.Text{}) || !host.HasKubelet(node.Host) {
		return Plan{Changes: changes}, nil
	}
	now := node.Now()
	change := Change{What: message.T("Clock"), Old: message.Data(clockTime(now)), New: message.F("%s, after %s", clockTime(now.Add(v.Ahead)), v.From)}
	if v.Ask != (message.Text{}) {
		change.New = message.F("%s; asks first", change.New)
	}
	return Plan{Changes: append(changes, change)}, nil
}

// Run moves the clock where that is needed and believable, and looks again.
func (s *siteClock) Run(ctx context.Context, node *backend.Node, report Report) error {
	offsets, v := s.judge(ctx, node)
	if err := noWait(ctx, node, report, s.named(node), v); err != nil {
		return err
	}
	if taken, err := s.taken(report, v); err != nil || taken {
		report.Check(typedCheck())
		return err
	}
	report.Check(clockCheck(offsets, v, s.named(node)))
	report.Check(batteryCheck(node, sets(node, v)))
	if !host.HasKubelet(node.Host) {
		return nil // someone's laptop keeps its own time
	}
	if v.Ahead == 0 || v.Reject != (message.Text{}) {
		if sets(node, v) {
			setBattery(ctx, node, report)
		}
		return stillWrong(v)
	}
	if v.Ask != (message.Text{}) {
		yes, err := s.ask(ctx, node, report, offsets, v)
		if err != nil || !yes {
			return err
		}
	}
	was := node.Now()
	if err := clock.Set(ctx, node.Host, v.Ahead); err != nil {
		return err
	}
	report.Check(batteryCheck(node, false))
	report.Say(message.F("The clock was set from %s to %s, according to %s.", clockTime(was), clockTime(node.Now()), v.From))
	if v.Typed {
		return s.done(report)
	}
	offsets, v = s.judge(ctx, node)
	report.Check(clockCheck(offsets, v, s.named(node)))
	return stillWrong(v)
}

// taken tells whether the clock was set to the typed time before: set again it would be an old one.
func (s *siteClock) taken(report Report, v clock.Verdict) (bool, error) {
	if !v.Typed || v.Wrong != (message.Text{}) { // a dead battery forgot what was set
		return false, nil
	}
	before, _, err := notedAt(report, "typed")
	return err == nil && string(before) == s.Site.Spec.Time.UTC, err
}

// done keeps that the typed time was taken.
func (s *siteClock) done(report Report) error {
	report.Check(typedCheck())
	if err := report.Note("typed", []byte(s.Site.Spec.Time.UTC)); err != nil {
		return fmt.Errorf("noting the typed time: %w", err)
	}
	return nil
}

func typedCheck() check.Check {
	return check.Check{ID: "clock", Title: message.T("Clock"), Status: check.Pass, Observed: message.T("set to the time that was typed")}
}

// stillWrong refuses to go on with a time at which the cluster cannot work.
func stillWrong(v clock.Verdict) error {
	if v.Wrong == (message.Text{}) {
		return nil
	}
	return &problem.Problem{
		Code:    "CLK-BAD",
		Summary: message.F("The machine's clock is wrong: %s.", v.Wrong),
		Fix:     message.T("Give a time server that answers, or type the time (UTC)."),
	}
}

func (s *siteClock) ask(ctx context.Context, node *backend.Node, report Report, offsets []clock.Offset, v clock.Verdict) (bool, error) {
	now := node.Now()
	answer, err := report.Ask(ctx, Question{
		ID:      "clock-jump",
		Text:    message.F("Set the clock from %s to %s?", clockTime(now), clockTime(now.Add(v.Ahead))),
		Detail:  message.F("%s. A wrong time would make the node's certificates look expired or not yet valid; look at your watch before you say yes.", v.Ask),
		Choices: []Choice{{"keep", message.T("Keep the machine's time")}, {"set", message.T("Set the clock")}},
		Default: "keep", Deadline: 120,
	})
	if err != nil {
		return false, fmt.Errorf("asking about the clock: %w", err)
	}
	if answer != "set" {
		report.Say(message.F("The clock stays unchanged, although %s.", v.Ask))
		report.Check(keptCheck(offsets, v, s.named(node)))
		report.Check(batteryCheck(node, false))
	}
	return answer == "set", nil
}

// judge asks the time servers, or takes the typed time where none answers.
func (s *siteClock) judge(ctx context.Context, node *backend.Node) ([]clock.Offset, clock.Verdict) {
	servers := s.Site.Spec.AdditionalNTPSources
	if len(servers) == 0 {
		servers = clock.Known(node.Host)
	}
	bounds := dated.Bounds(node.Host)
	offsets := clock.Query(ctx, servers, node.Now)
	v := clock.Judge(offsets, node.Now(), bounds)
	if v.From != (message.Text{}) || v.Reject != (message.Text{}) {
		return offsets, v
	}
	if s.Typed == nil {
		s.Typed = clock.NewWatch(node.Now)
	}
	s.Typed.Set(s.Site.Spec.Time.UTC)
	switch ahead, old, ok := s.Typed.Ahead(node.Now()); {
	case ok && old:
		v.Typed, v.Reject = true, message.T("it was typed before Touchdown or this machine started again, so its age is not known")
	case ok:
		v = clock.Typed(ahead, node.Now(), bounds)
	}
	return offsets, v
}

// Undo lets a boot wait again. The time stays: nobody wants a wrong one back.
func (*siteClock) Undo(ctx context.Context, node *backend.Node, report Report) error {
	if _, off, err := savedAt(report, "boot-wait"); !off {
		return err
	}
	return clock.BootWait(ctx, node.Host, true)
}

// named tells whether the site has a time server: one that was typed, or that came by DHCP. Those of the installation are not
// servers of this site.
func (s *siteClock) named(node *backend.Node) bool { return hasTimeServer(s.Site, node.Host) }

func hasTimeServer(s *site.Config, m *host.Machine) bool {
	return len(s.Spec.AdditionalNTPSources)+len(clock.Leased(m)) > 0
}

func clockCheck(offsets []clock.Offset, v clock.Verdict, named bool) check.Check {
	ch := check.Check{
		ID: "clock", Title: message.T("Clock"), Status: check.Pass, Expected: message.T("within 1 s of most time servers"),
		Source: message.T("chrony's limit for a jump (makestep); certificates are good between two times"),
	}
	for _, o := range offsets {
		line := message.F("%s: %s", o.Source, clock.Describe(o.Ahead))
		if o.Err != nil {
			line = message.Detail(o.Err)
		}
		ch.Evidence = append(ch.Evidence, line)
	}
	switch {
	case v.Reject != (message.Text{}) && v.Typed:
		ch.Status, ch.Observed = check.Warn, message.F("the time that was typed is not believed: %s", v.Reject)
		ch.Fix = message.T("Type the time of day now, in UTC.")
	case v.Reject != (message.Text{}):
		ch.Status, ch.Observed = check.Warn, message.F("the time servers are not believed: %s", v.Reject)
		ch.Fix = message.T("Check which time servers the site has; one of them tells a wrong time.")
	case v.From == (message.Text{}) && v.Wrong == (message.Text{}) && !named:
		ch.Status, ch.Observed = check.Skip, message.T("time server absent, not needed: the machine keeps its own time, which can be right")
		ch.Fix = message.T("Compare the time with your watch; type it where it is wrong.")
	case v.From == (message.Text{}) && v.Wrong == (message.Text{}):
		ch.Status, ch.Observed = check.Warn, message.T("no time server answers; the machine's time can be right")
		ch.Fix = message.T("Compare the time with your watch; type it where it is wrong, or give a time server.")
	case v.From == (message.Text{}):
		ch.Status, ch.Observed = check.Fail, message.F("no time server answers, and the machine's time is wrong: %s", v.Wrong)
		ch.Fix = message.T("Give a time server that answers, or type the time (UTC).")
	case v.Ahead != 0:
		ch.Status, ch.Observed = check.Warn, message.F("off by %s according to %s", clock.Describe(v.Ahead), v.From)
		ch.Fix = message.T("None needed: Touchdown sets it.")
		if v.Ask != (message.Text{}) {
			ch.Fix = message.T("Compare the time with your watch; Touchdown asks before it sets it.")
		}
	default:
		ch.Observed = message.F("correct according to %s", v.From)
	}
	if len(v.Strays) > 0 {
		ch.Observed = message.F("%s; %s", ch.Observed, message.Join(v.Strays, ", "))
		if ch.Status == check.Pass {
			ch.Status, ch.Fix = check.Warn, message.T("Have the site's administrator look at the time server that is wrong.")
		}
	}
	return ch
}

// keptCheck is for a clock that was left alone on an answer, also on the one that a node gives itself with nobody there: the question is over,
// and the report is where a person learns of it.
func keptCheck(offsets []clock.Offset, v clock.Verdict, named bool) check.Check {
	ch := clockCheck(offsets, v, named)
	ch.Status, ch.Observed = check.Warn, message.F("the machine's time was kept; off by %s according to %s", clock.Describe(v.Ahead), v.From)
	ch.Fix = message.T("Compare the time with your watch. If it is wrong, set the clock at a shell as root with date --set, then the hardware clock with hwclock --systohc.")
	return ch
}
