package steps

import (
	"context"
	"crypto/x509"
	"encoding/pem"
	"sync"
	"time"

	"touchdown/backend"
	"touchdown/backend/check"
	"touchdown/backend/health"
	"touchdown/backend/host"
	"touchdown/backend/kube"
	"touchdown/backend/kubelet"
	"touchdown/backend/message"
	"touchdown/backend/progress"
	"touchdown/backend/report"
	"touchdown/steps/site"
)

// Health waits until the cluster has been well without a break for as long as the site's policy wants. It changes
// nothing.
type Health struct {
	Site    *site.Config
	Window  health.Window // Poll and Limit; zero values are the defaults. For comes from the policy
	At      report.Where  // where the servers are asked; zero: where people reach them
	NodeNet *NodeNetwork  // knows the site's name servers; nil: no pod is sent to ask one

	looker health.Looker // of Look
}

var (
	_ Step    = (*Health)(nil)
	_ Reader  = (*Health)(nil)
	_ Planner = (*Health)(nil)
)

// usualPoll is the time between two looks at a cluster's health: a look reads every pod, so it is not free.
const usualPoll = 5 * time.Second

// ownersTime is how long to wait for an API that is away before the first look: a restart takes about a minute.
const ownersTime = 90 * time.Second

// lookOwnersTime is the same for a single look, which shall not wait for a restart.
const lookOwnersTime = 5 * time.Second

// ID implements Step.
func (*Health) ID() string { return "health" }

// Title implements Step.
func (*Health) Title() message.Text { return message.T("Verify the cluster's health") }

// Reads implements Reader.
func (*Health) Reads() []string {
	return []string{
		"spec.clusterName", "spec.baseDomain", "spec.apiCert.cert", "spec.apiCert.key", "spec.ingressCert.cert",
		"spec.ingressCert.key", "spec.ingressCert.ca", "spec.policy.stabilityWindow", "spec.additionalNTPSources",
		"spec.proxy.httpProxy", "spec.proxy.httpsProxy",
	}
}

// Plan tells how long the cluster has to stay healthy; nothing is changed.
func (h *Health) Plan(context.Context, *backend.Node) (Plan, error) {
	return Plan{Seconds: h.Site.Spec.Policy.StabilityWindow.Seconds() + lookSeconds}, nil
}

// Run looks at the cluster until it is well for long enough. Checks that fail at the end are the engine's to judge, like
// those of Hardware; the Problem names the one that stood in the way.
func (h *Health) Run(ctx context.Context, node *backend.Node, rep Report) error {
	window := h.Window
	window.For = h.Site.Spec.Policy.StabilityWindow
	if window.Poll == 0 {
		window.Poll = min(usualPoll, max(window.For/4, time.Second)) // a short window is looked at more often
	}
	options := h.options(node)
	options.Waived = func(id string) bool { return rep.Job().Waived(h.ID(), id) }
	var err error
	if options.Paused, err = poolPaused(rep); err != nil {
		return err
	}
	if options.Domain != "" {
		h.owners(ctx, node.Kube.WithProgress(rep.Progress).Within(ownersTime), node, &options)
	}
	// A break is worth a line in the journal; each look is not.
	var said sync.Once
	_, err = health.Await(ctx, node.Kube, options, window, rep.Check, func(well time.Duration, waiting message.Text) {
		if waiting.String() != "" {
			said.Do(func() { rep.Say(message.F("Waiting for the cluster. Not healthy yet: %s", waiting)) })
		} else {
			said = sync.Once{}
			waiting = message.T("the cluster to stay healthy")
		}
		rep.Progress(progress.Progress{Done: int64(well.Seconds()), Total: int64(window.For.Seconds()), Unit: "seconds", Waiting: waiting})
	})
	if err != nil {
		return err
	}
	rep.Say(message.F("The cluster was healthy for %s without a break.", window.For))
	return nil
}

// Look looks once at what Run waits for, and changes nothing. Looks that follow within half a minute share what changes slowly.
func (h *Health) Look(ctx context.Context, node *backend.Node) []check.Check {
	options := h.options(node)
	if options.Domain != "" {
		h.owners(ctx, node.Kube.WithProgress(func(progress.Progress) {}).Within(lookOwnersTime), node, &options)
	}
	return h.looker.Look(ctx, node.Kube, options)
}

// Watch judges the cluster until ctx ends, and tells what it finds whenever that changed. told is what it told last, before it ended. It
// changes nothing.
func (h *Health) Watch(ctx context.Context, node *backend.Node, told health.Live, tell func(health.Live, []check.Check)) {
	w := health.Watcher{Cluster: node.Kube, Told: told, Options: func(ctx context.Context) health.Options {
		options := h.options(node)
		if options.Domain != "" {
			h.owners(ctx, node.Kube.WithProgress(func(progress.Progress) {}).Within(lookOwnersTime), node, &options)
		}
		return options
	}}
	w.Run(ctx, tell)
}

// options say what the cluster should look like, but for what its owner chose.
func (h *Health) options(node *backend.Node) health.Options {
	o := health.Options{Domain: h.Site.Domain(), Roots: h.roots(), Ingress: h.At.Ingress, API: h.At.API, Now: node.Now}
	// Of a cluster that did not move, the time servers of the installation are still the right ones; a laptop does not know the node's lease.
	o.OwnTime = o.Domain != "" && host.HasKubelet(node.Host) && !hasTimeServer(h.Site, node.Host)
	o.Database = func() error { return kubelet.Damage(node.Host) }
	o.Needless = needless(node)
	if h.NodeNet != nil {
		o.Site = h.NodeNet.NameServers
	}
	if node.Host.Root() == "" { // the units are those of the machine that this runs on
		o.Units = func(ctx context.Context) ([]string, error) {
			printed, err := node.Host.Run(ctx, "systemctl", "list-units", health.FailedStates, "--plain", "--no-legend", "--no-pager")
			if err != nil {
				return nil, err
			}
			return health.FailedUnits(printed)
		}
	}
	return o
}

// owners adds what the cluster's owner keeps: hosts that the owner chose, and certificates for the new names. A cluster that cannot be
// asked for it is judged without.
func (h *Health) owners(ctx context.Context, c *kube.Cluster, node *backend.Node, o *health.Options) {
	in, err := issuing(ctx, c, h.Site, node)
	if err != nil {
		return
	}
	for i, w := range in.wants {
		if in.kept[i] != "" {
			o.Roots = append(o.Roots, w.Own.Anchor())
		}
	}
	hosts, err := in.names.Hosts(ctx, c)
	if err != nil {
		return
	}
	for _, is := range hosts {
		if is.Owner {
			o.Kept = append(o.Kept, is.Name)
		}
	}
}

// roots are the CAs that came with the site's own certificates: the last certificate of a chain is trusted because the
// site says so.
func (h *Health) roots() []*x509.Certificate {
	var roots []*x509.Certificate
	for _, text := range []string{h.Site.Spec.APICert.Cert, h.Site.Spec.IngressCert.Cert, h.Site.Spec.IngressCert.CA} {
		var last *x509.Certificate
		for rest := []byte(text); ; {
			var block *pem.Block
			if block, rest = pem.Decode(rest); block == nil {
				break
			}
			if cert, err := x509.ParseCertificate(block.Bytes); err == nil {
				last = cert
			}
		}
		if last != nil {
			roots = append(roots, last)
		}
	}
	return roots
}
