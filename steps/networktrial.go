package steps

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"touchdown/backend"
	"touchdown/backend/check"
	"touchdown/backend/message"
	"touchdown/backend/network"
	"touchdown/backend/probe"
	"touchdown/backend/problem"
	"touchdown/backend/progress"
	"touchdown/steps/site"
)

// How long new settings are tried. The checkpoint outlives the wait for a lease and the probes, and is extended beyond
// the question before that is asked, so that it is we who put the old ones back, unless we died.
const (
	leaseWait       = 30 * time.Second                                 // dhclient and NetworkManager give up after 45 s; a server that lives answers in seconds
	lookWait        = 15 * time.Second                                 // what does not answer at once is asked again for so long: a switch may still be learning
	trialTime       = leaseWait + lookWait + probe.Whole + time.Minute // the minute is for a busy processor
	questionTime    = 2 * time.Minute                                  // to walk to the switch and back
	questionMore    = questionTime + time.Minute
	questionLongest = 40 * time.Minute // the half hour for which a person may stop the countdown, and what comes before and after
	bridgeWait      = 5 * time.Minute  // configure-ovs waits a minute for a default route; the rest is for a busy processor
)

// trial is the note of where a trial is. Only with state kept may settings stay that are not the old ones.
type trial struct {
	State    string `json:"state"`    // trying, kept or back
	Settings string `json:"settings"` // fingerprint of what was tried
}

// networkTrial tries settings out, and notes how far it is.
type networkTrial struct {
	site *site.Config
	net  *network.Network
}

const (
	trying = "trying"
	kept   = "kept"
	back   = "back"
)

func (s *networkTrial) note(report Report, state string) error {
	b, err := json.Marshal(trial{state, s.fingerprint()})
	if err != nil {
		return fmt.Errorf("noting the trial: %w", err)
	}
	return report.Note("trial", b)
}

// noted is where the last trial is; the zero value where there was none.
func (*networkTrial) noted(report Report) (t trial, err error) {
	b, ok, err := notedAt(report, "trial")
	if ok {
		err = json.Unmarshal(b, &t)
	}
	if err != nil {
		return trial{}, fmt.Errorf("reading the noted trial: %w", err)
	}
	return t, nil
}

// decided tells whether the settings of the site config were tried, and kept.
func (s *networkTrial) decided(report Report) (bool, error) {
	last, err := s.noted(report)
	return last == (trial{kept, s.fingerprint()}), err
}

func (s *networkTrial) fingerprint() string {
	b, err := json.Marshal(networkSettings(s.site))
	if err != nil {
		panic(err) // settings are text and numbers
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// alone makes sure that nobody else is trying out settings, which would be taken for the old ones. A trial of our own that
// was decided is for commit.
func (s *networkTrial) alone(ctx context.Context, report Report) error {
	if decided, err := s.decided(report); err != nil || decided {
		return err
	}
	busy := s.net.Free(ctx)
	if busy == nil || problem.From(busy).Code != network.Busy {
		return busy
	}
	answer, err := report.Ask(ctx, Question{
		ID: "network-busy", Text: message.T("Someone else is trying out network settings on this node. Put theirs back and go on?"),
		Detail:  message.T("Going on ends their trial: the network is then as it was before they began. Stopping leaves it to them."),
		Choices: []Choice{{"stop", message.T("Stop here")}, {"take-over", message.T("Put theirs back and go on")}},
		Default: "stop", Deadline: questionTime.Seconds(),
	})
	switch {
	case err != nil:
		return err
	case answer != "take-over":
		return busy
	}
	if err := s.net.TakeOver(ctx); err != nil {
		return err
	}
	report.Say(message.T("someone else's trial of network settings was ended; theirs were put back"))
	return nil
}

// reason finds out why settings did not come about: NetworkManager does not take an address that someone else has, and a
// port that lost its cable, but says neither. The old settings are back by then.
func (s *networkTrial) reason(ctx context.Context, node *backend.Node, plan *network.Plan, report Report, err error) error {
	if problem.From(err).Code != network.NotTaken {
		return err
	}
	var wrong doubts
	_, failed := probe.Run(ctx, probeTarget(s.site, plan.Settings, node), func(c check.Check) {
		report.Check(c)
		if c.Status == check.Fail {
			wrong = append(wrong, c)
		}
	})
	if failed != nil || len(wrong) == 0 {
		return err
	}
	return wrong.problem()
}

// look waits for an address and probes the network as it is now. What does not answer at once is asked again for a while:
// after a boot or a change, switches, neighbours and servers take their time.
func (s *networkTrial) look(ctx context.Context, node *backend.Node, plan *network.Plan, report Report) doubts {
	for end := time.Now().Add(lookWait); ; {
		wrong := s.lookOnce(ctx, node, plan, report)
		if len(wrong) == 0 || ctx.Err() != nil || time.Now().After(end) {
			return wrong
		}
		report.Progress(progress.Progress{Waiting: message.F("the site to answer: %s", wrong[0].Title), Usual: lookWait.Seconds()})
	}
}

func (s *networkTrial) lookOnce(ctx context.Context, node *backend.Node, plan *network.Plan, report Report) (wrong doubts) {
	tell := func(c check.Check) {
		report.Check(c)
		if c.Status == check.Fail {
			wrong = append(wrong, c)
		}
	}
	fail := func(id string, title message.Text, err error) doubts {
		p := problem.From(err)
		tell(check.Check{ID: id, Title: title, Status: check.Fail, Observed: p.Summary, Fix: p.Fix})
		return wrong
	}
	carrier, err := s.net.Await(ctx, plan, leaseWait)
	if err != nil {
		return fail("net-up", message.T("Address from the site"), err)
	}
	report.Check(check.Check{ID: "net-up", Title: message.T("Address and route"), Status: check.Pass, Observed: message.T("there")})
	settings := plan.Settings
	if len(settings.DNS) == 0 { // those that came with the lease are in force by now
		if now, err := s.net.Read(ctx); err == nil {
			settings.DNS = now.DNS
		}
	}
	target := probeTarget(s.site, settings, node)
	target.Interface = carrier
	if _, err := probe.After(ctx, target, tell); err != nil {
		return fail("net-probe", message.T("Network tried out"), err)
	}
	return wrong
}

// doubts are what speaks against keeping the settings.
type doubts []check.Check

func (d doubts) text() message.Text {
	if len(d) == 0 {
		return message.T("Everything answers.")
	}
	if strings.HasSuffix(d[0].Observed.String(), ".") {
		return message.F("%s: %s", d[0].Title, d[0].Observed)
	}
	return message.F("%s: %s.", d[0].Title, d[0].Observed)
}

func (d doubts) problem() *problem.Problem {
	p := &problem.Problem{
		Code: "NET-BACK", Summary: message.T("The new network settings were not kept; the old ones are back."),
		Fix: message.T("Look at the answers about the network, fix them and start again."),
	}
	if len(d) > 0 {
		p.Summary = message.F("%s The old network settings are back.", d.text())
		p.Fix = message.F("%s Or edit the answers.", d[0].Fix)
	}
	return p
}

// accept turns failures that a person saw and kept into warnings; otherwise they would end the step.
func (d doubts) accept(report Report) {
	for _, c := range d {
		c.Status, c.Evidence = check.Warn, append(c.Evidence, message.T("kept all the same"))
		report.Check(c)
	}
}
