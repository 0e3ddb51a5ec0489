package steps

import (
	"context"
	"net/netip"
	"strings"

	"touchdown/backend"
	"touchdown/backend/check"
	"touchdown/backend/kubelet"
	"touchdown/backend/message"
	"touchdown/backend/progress"
	"touchdown/backend/report"
	"touchdown/steps/site"
)

// handOver writes the report that the technician leaves behind.
type handOver struct {
	Site *site.Config
	Dir  string       // where the report lies: the engine's state folder
	At   report.Where // where the servers are asked; zero: where people reach them

	Reached func(context.Context) ([]netip.Addr, error) // the node's addresses in the site's network
	Servers func(context.Context) []netip.Addr          // the site's name servers; nil: it has none
}

var (
	_ Step   = (*handOver)(nil)
	_ Reader = (*handOver)(nil)
)

// ID implements Step.
func (*handOver) ID() string { return "hand-over" }

// Title implements Step.
func (*handOver) Title() message.Text { return message.T("Write the hand-over report") }

// Reads implements Reader.
func (*handOver) Reads() []string { return []string{"spec.clusterName", "spec.baseDomain"} }

// Run writes the report. One that already tells the same stays to the byte.
func (h *handOver) Run(ctx context.Context, node *backend.Node, rep Report) error {
	rep.Progress(progress.Progress{Done: 0, Total: 2, Unit: "parts", Waiting: message.T("the cluster's identity and certificates")})
	facts, err := report.Look(ctx, node.Host, node.Kube, h.Site.Domain(), h.At)
	if err != nil {
		return err
	}
	facts.Reach(h.Reached(ctx))
	if len(facts.Addresses) > 0 {
		rep.Check(check.Check{ID: check.SiteAddress, Title: message.T("The node's address at this site"), Status: check.Pass, Observed: message.Data(joined(facts.Addresses))})
	}
	if h.Servers != nil {
		facts.Servers = h.Servers(ctx)
	}
	rep.Progress(progress.Progress{Done: 1, Total: 2, Unit: "parts", Waiting: message.T("the disk")})
	key := reportKey(node, rep)
	d := report.New(rep.Job(), facts, node.Now())
	unsigned, err := keepReport(node, h.Dir, d, key, rep.Job().Started)
	if err != nil {
		return err
	}
	say(rep, unsigned)
	h.tell(rep, d)
	if d.URLs.Console != "" {
		rep.Say(message.F("Web console: %s", d.URLs.Console))
	}
	if err := kubelet.Keep(ctx, node.Host); err != nil { // from here on people use the cluster
		return err
	}
	rep.Say(message.F("The hand-over report is written: %s, %s.", d.Verdict, report.TextFile))
	return nil
}

func joined(addresses []netip.Addr) string {
	texts := make([]string, len(addresses))
	for i, a := range addresses {
		texts[i] = a.String()
	}
	return strings.Join(texts, ", ")
}

// tell says what the site's people have to add: records for a DNS server, or lines for the clients' hosts files.
func (h *handOver) tell(rep Report, d *report.Document) {
	if len(d.NameServers) == 0 && len(d.Hosts) > 0 {
		rep.Say(message.F("This site has no DNS server: give each client the %d lines of %s for its hosts file.", len(d.Hosts), report.HostsFile))
		return
	}
	for _, r := range d.DNS {
		if !r.Optional {
			rep.Say(message.F("DNS record for the site's administrator: %s %s %s", r.Name, r.Type, r.Value))
		}
	}
}
