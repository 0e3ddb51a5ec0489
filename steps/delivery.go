package steps

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"

	"touchdown/backend"
	"touchdown/backend/check"
	"touchdown/backend/delivery"
	"touchdown/backend/host"
	"touchdown/backend/message"
	"touchdown/backend/problem"
	"touchdown/backend/report"
	"touchdown/backend/report/proof"
	"touchdown/steps/site"
)

// deliver hands the report over to what brings it to the site's monitor. It waits for nothing, and nothing about it fails a landing.
// The engine forgets the monitor at the end of an undo: a fault of the hardware may have set it, in a landing that came no further.
type deliver struct {
	Site   *site.Config
	Dir    string           // where the report lies
	Outbox *delivery.Outbox // nil: nothing is delivered from here
}

var (
	_ Skipper = (*deliver)(nil)
	_ Planner = (*deliver)(nil)
	_ Reader  = (*deliver)(nil)
)

// Skip tells that there is no monitor.
func (s *deliver) Skip() message.Text {
	if s.Outbox == nil || s.Site.Spec.Monitor.URL == "" && s.Outbox.Status().Monitor == "" {
		return message.T("the site config names no monitor")
	}
	return message.Text{}
}

// Plan names the monitor.
func (s *deliver) Plan(context.Context, *backend.Node) (Plan, error) {
	if s.Skip().String() != "" {
		return Plan{}, nil
	}
	what := message.T("Report and hardware faults")
	if s.Site.Spec.Monitor.URL == "" {
		return Plan{Changes: []Change{{What: what, Old: message.F("sent to %s", s.Outbox.Status().Monitor), New: message.T("not sent")}}}, nil
	}
	u, err := url.Parse(s.Site.Spec.Monitor.URL)
	if err != nil { // the site config has its own words for that
		return Plan{}, nil //nolint:nilerr // see above
	}
	return Plan{Changes: []Change{{What: what, New: message.F("sent to %s", u.Host)}}}, nil
}

// ID names the step in the journal.
func (*deliver) ID() string { return "delivery" }

// Title says what the step does.
func (*deliver) Title() message.Text { return message.T("Send the report to the monitor") }

// Run keeps the monitor's settings and the report for the sender.
func (s *deliver) Run(_ context.Context, node *backend.Node, rep Report) error {
	if s.Skip().String() != "" { // the answers are the ones that were reviewed, but a list may be run by others
		return nil
	}
	if s.Site.Spec.Monitor.URL == "" { // the one of an earlier site has no business with this one
		if err := s.Outbox.Forget(); err != nil {
			undelivered(node, rep, err)
		}
		return nil
	}
	item, err := signedReport(s.Dir)
	if err == nil {
		err = send(s.Outbox, s.Site, item)
	}
	if err != nil {
		undelivered(node, rep, err)
		return nil
	}
	rep.Say(message.T("The report is on its way to the monitor; the status shows when it has arrived."))
	return nil
}

// Reads names what the target is made of.
func (*deliver) Reads() []string {
	return []string{
		"spec.monitor.url", "spec.monitor.token", "spec.monitor.ca", "spec.monitor.cert", "spec.monitor.key",
		"spec.additionalTrustBundle", "spec.proxy.httpProxy", "spec.proxy.httpsProxy", "spec.proxy.noProxy",
	}
}

// signedReport is the report as it leaves the node: signed, where it is.
func signedReport(dir string) (delivery.Item, error) {
	// The media type is that of DSSE (secure-systems-lab/dsse, envelope.md).
	body, whole, err := host.ReadRegular(filepath.Join(dir, report.SignedFile), proof.MaxSigned)
	if err == nil && whole {
		return delivery.Item{Kind: delivery.Report, Type: "application/vnd.dsse.envelope.v1+json", Body: body}, nil
	}
	body, whole, err = host.ReadRegular(filepath.Join(dir, report.JSONFile), report.MaxJSON)
	if err == nil && !whole {
		err = fmt.Errorf("%s has more than %d bytes", report.JSONFile, report.MaxJSON)
	}
	return delivery.Item{Kind: delivery.Report, Type: "application/json", Body: body}, err
}

// send keeps something for the monitor of a site.
func send(out *delivery.Outbox, cfg *site.Config, item delivery.Item) error {
	m, proxy := cfg.Spec.Monitor, cfg.Spec.Proxy
	var ca []string
	for _, bundle := range []string{m.CA, cfg.Spec.AdditionalTrustBundle} {
		if bundle != "" {
			ca = append(ca, strings.TrimRight(bundle, "\n")+"\n")
		}
	}
	err := out.Aim(delivery.Target{
		URL: m.URL, Token: string(m.Token), CA: strings.Join(ca, ""), Cert: m.Cert, Key: string(m.Key),
		HTTPProxy: string(proxy.HTTPProxy), HTTPSProxy: string(proxy.HTTPSProxy), NoProxy: proxy.NoProxy,
	})
	if err != nil {
		return err
	}
	return out.Post(item)
}

// undelivered tells that the monitor will not have something.
func undelivered(node *backend.Node, rep Report, err error) {
	p := problem.From(err)
	node.Log.Warn("nothing is sent to the monitor", "error", err)
	rep.Check(check.Check{
		ID: "delivery", Title: message.T("Delivery to the monitor"), Status: check.Warn, Observed: p.Summary,
		Expected: message.T("kept on the node until the monitor has it"), Fix: p.Fix,
	})
}

// fault is what a monitor is told of broken hardware. The day is all of the time in it: the same fault found again on that day is no news.
type fault struct {
	Schema   string        `json:"schema"`
	Day      string        `json:"day"`
	Serial   string        `json:"serial"`
	Hostname string        `json:"hostname"`
	Checks   []check.Check `json:"checks"` // those that failed
}

// tellFaults sends what is broken to the monitor, where there is one.
func tellFaults(out *delivery.Outbox, cfg *site.Config, node *backend.Node, rep Report, checks []check.Check) {
	if out == nil || cfg == nil || cfg.Spec.Monitor.URL == "" {
		return
	}
	f := fault{Schema: "touchdown.dev/hardware-fault/v1alpha1", Day: node.Now().UTC().Format("2006-01-02"), Serial: node.Host.Serial()}
	f.Hostname, _ = node.Host.Hostname()
	for _, c := range checks {
		if c.Status == check.Fail {
			f.Checks = append(f.Checks, c)
		}
	}
	if len(f.Checks) == 0 {
		return
	}
	body, err := json.Marshal(f)
	if err == nil {
		err = send(out, cfg, delivery.Item{Kind: delivery.Fault, Type: "application/json", Body: body})
	}
	if err != nil {
		undelivered(node, rep, err)
	}
}
