package steps

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"

	"touchdown/backend"
	"touchdown/backend/check"
	"touchdown/backend/csr"
	"touchdown/backend/kube"
	"touchdown/backend/layout"
	"touchdown/backend/layout/rhcos"
	"touchdown/backend/message"
	"touchdown/backend/nodeconfig"
	"touchdown/backend/problem"
	"touchdown/backend/registry"
	"touchdown/steps/site"
)

// nodeConfig brings what the Machine Config Operator puts on the node: SSH keys, time servers, mirrors, registries' authorities,
// the proxy and the trust bundle. The pull secret goes along, so that the node takes one new configuration instead of two.
//
// Where the operator reboots the node for it, it does so automatically: Run is called again after that and goes on waiting.
type nodeConfig struct {
	rollsOut
	Site     *site.Config
	Timeouts nodeconfig.Timeouts // zero: nodeconfig.Usual

	bringers fileBringers // among the steps of its list
}

var (
	_ Inspector    = (*nodeConfig)(nil)
	_ Skipper      = (*nodeConfig)(nil)
	_ Planner      = (*nodeConfig)(nil)
	_ Undoer       = (*nodeConfig)(nil)
	_ UndoPreparer = (*nodeConfig)(nil)
	_ Abandoner    = (*nodeConfig)(nil)
	_ Recoverer    = (*nodeConfig)(nil)
	_ Reader       = (*nodeConfig)(nil)
)

// ID names the step in the journal.
func (*nodeConfig) ID() string { return "node-config" }

// Title says what the step does.
func (*nodeConfig) Title() message.Text { return message.T("Set up the node for the site") }

// Reads names what the configuration is made of.
func (s *nodeConfig) Reads() []string {
	return append(s.bringers.asked(),
		"spec.sshKeys", "spec.additionalNTPSources", "spec.imageDigestMirrors", "spec.imageTagMirrors", "spec.removeFactoryMirrors",
		"spec.registryCerts", "spec.proxy.httpProxy", "spec.proxy.httpsProxy", "spec.proxy.noProxy", "spec.additionalTrustBundle",
		"spec.ingressCert.ca", "spec.pullSecret", "spec.clusterName", "spec.baseDomain",
		"spec.network.ipv4.address", "spec.network.ipv6.address", "spec.policy.allowReboot",
	)
}

// Skip applies where the site brings none of it. The pull secret alone has its own step.
func (s *nodeConfig) Skip() message.Text {
	p := s.Site.Spec
	if len(p.SSHKeys)+len(p.AdditionalNTPSources)+len(p.ImageDigestMirrors)+len(p.ImageTagMirrors)+len(p.RegistryCerts) == 0 &&
		!p.RemoveFactoryMirrors && p.Proxy.HTTPProxy == "" && p.Proxy.HTTPSProxy == "" &&
		p.AdditionalTrustBundle == "" && p.IngressCert.CA == "" && len(s.bringers.files()) == 0 {
		return message.T("the site brings no keys, time servers, mirrors, proxy or authorities")
	}
	return message.Text{}
}

// Inspect tells whether the node may take what is asked for.
func (s *nodeConfig) Inspect(ctx context.Context, node *backend.Node, report Report) error {
	if s.Skip().String() != "" {
		return nil
	}
	ch := check.Check{
		ID: "node-config-reboot", Title: message.T("Node takes the configuration without a reboot"), Status: check.Pass, Observed: message.T("yes"),
		Source: message.T("node disruption policies of the cluster"),
	}
	changes, reboots, known, err := s.look(ctx, node)
	switch {
	case err != nil:
		return err
	case !known:
		ch.Status, ch.Observed = check.Skip, message.T("the cluster does not run yet")
	case len(reboots) > 0 && s.Site.Spec.Policy.AllowReboot:
		ch.Observed = message.F("no: it reboots for %s", changeNames(reboots))
	case len(reboots) > 0:
		ch.Status, ch.Observed = check.Fail, message.F("no: it would reboot for %s", changeNames(reboots))
		ch.Fix = message.T("Set spec.policy.allowReboot to true, or leave these values out.")
	}
	report.Check(ch)
	if known && nodeconfig.Renders(nodeconfig.Pending(changes)) {
		ch := check.Check{
			ID: "node-config-taken", Title: message.T("Node takes a new configuration"), Status: check.Pass, Observed: message.T("yes"),
			Source: message.T("MachineConfigPool master: spec.paused; deployments of the Machine Config Operator"),
		}
		err := poolTakes(ctx, node.Kube.Within(formTimeout), report)
		if p, refused := errors.AsType[*problem.Problem](err); refused && strings.HasPrefix(p.Code, "NCF-") {
			ch.Status, ch.Observed, ch.Fix = check.Fail, p.Summary, p.Fix
		} else if err != nil {
			ch.Status, ch.Observed = check.Skip, message.T("the cluster does not answer")
		}
		report.Check(ch)
	}
	return nil
}

// Plan tells old and new of everything that the cluster does not have yet, and the reboot where there will be one.
func (s *nodeConfig) Plan(ctx context.Context, node *backend.Node) (Plan, error) {
	changes, reboots, _, err := s.look(ctx, node)
	if err != nil {
		return Plan{}, err
	}
	var plan Plan
	if len(nodeconfig.Pending(changes)) > 0 {
		plan.Seconds = configSeconds
	}
	for _, ch := range nodeconfig.Pending(changes) {
		if !ch.PullSecret { // its own step tells it
			plan.Changes = append(plan.Changes, Change{What: ch.What, Old: ch.Old, New: ch.New})
		}
	}
	if len(reboots) > 0 {
		plan.Seconds += rebootSeconds
		plan.Disturbances = append(plan.Disturbances, Disturbance{
			What: message.T("reboot"), Cause: message.F("the Machine Config Operator reboots the node for %s", changeNames(reboots)), Seconds: rebootSeconds,
		})
	}
	return plan, nil
}

// look compares with the cluster, or with what is known of it while its API does not run.
func (s *nodeConfig) look(ctx context.Context, node *backend.Node) (changes, reboots []nodeconfig.Change, known bool, err error) {
	c := node.Kube.Within(formTimeout)
	if _, err := kube.Rendered(ctx, c, layout.Pool); err != nil {
		changes, err := nodeconfig.Changes(ctx, nodeconfig.Unread{}, s.want(ctx, node, nil))
		if err != nil {
			return nil, nil, false, fmt.Errorf("reading the site's values: %w", err)
		}
		noReboot := nodeconfig.WithoutReboot()
		if node.Host.Exists(layout.FactoryRecord) {
			noReboot = nodeconfig.Baked()
		}
		return changes, nodeconfig.Disruptive(changes, noReboot), false, nil
	}
	changes, err = s.changes(ctx, node, c)
	if err == nil {
		reboots, err = nodeconfig.Reboots(ctx, c, changes)
	}
	if err != nil {
		return nil, nil, true, fmt.Errorf("comparing with the cluster: %w", err)
	}
	return changes, reboots, true, nil
}

func (s *nodeConfig) changes(ctx context.Context, node *backend.Node, c *kube.Cluster) ([]nodeconfig.Change, error) {
	changes, err := nodeconfig.Changes(ctx, c, s.want(ctx, node, c))
	if err != nil || s.Site.Spec.PullSecret == "" {
		return changes, err
	}
	secret := []byte(string(s.Site.Spec.PullSecret))
	pending, err := registry.Pending(ctx, c, secret)
	if err != nil {
		return nil, err
	}
	return append(changes, nodeconfig.PullSecret(pending, func(content []byte) bool {
		return registry.Has(content, secret)
	}, func(ctx context.Context, c *kube.Cluster, save kube.Save) (bool, error) {
		return registry.Apply(ctx, c, secret, save)
	})), nil
}

// Run writes what is missing in one batch and waits until the node has it.
func (s *nodeConfig) Run(ctx context.Context, node *backend.Node, report Report) error {
	c, o := node.Kube.WithProgress(report.Progress), newOriginals(report)
	changes, err := s.changes(ctx, node, c)
	if err != nil {
		return fmt.Errorf("comparing with the cluster: %w", err)
	}
	reboots, err := nodeconfig.Reboots(ctx, c, changes)
	if err != nil {
		return fmt.Errorf("looking for what needs a reboot: %w", err)
	}
	if len(reboots) > 0 && !s.Site.Spec.Policy.AllowReboot {
		return &problem.Problem{
			Code:    "NCF-RBT",
			Summary: message.F("The node would reboot for %s, which the site config does not allow.", changeNames(reboots)),
			Fix:     message.T("Set spec.policy.allowReboot to true, or leave these values out."),
		}
	}
	if pending := nodeconfig.Pending(changes); len(pending) > 0 {
		report.Say(message.F("The node gets: %s.", changeNames(pending)))
	}
	if err := runBatch(ctx, node, o, s.Timeouts, changes); err != nil {
		return fmt.Errorf("changing the node's configuration: %w", err)
	}
	return nil
}

// want is the site's part of the node's configuration. c is nil while the cluster does not run.
func (s *nodeConfig) want(ctx context.Context, node *backend.Node, c *kube.Cluster) nodeconfig.Want {
	p := s.Site.Spec
	w := nodeconfig.Want{
		SSHKeys: p.SSHKeys, NTPSources: p.AdditionalNTPSources, RemoveFactoryMirrors: p.RemoveFactoryMirrors,
		DigestMirrors: mirrors(p.ImageDigestMirrors), TagMirrors: mirrors(p.ImageTagMirrors),
		Proxy: nodeconfig.Proxy{HTTP: string(p.Proxy.HTTPProxy), HTTPS: string(p.Proxy.HTTPSProxy)},
		Files: s.bringers.files(),
	}
	// A node without the file has only what the cluster lays.
	conf, _ := node.Host.ReadFile(rhcos.Chrony)
	w.Chrony = string(conf)
	for _, ca := range p.RegistryCerts {
		w.RegistryCAs = append(w.RegistryCAs, nodeconfig.RegistryCA{Host: ca.RegistryHostname, Port: ca.RegistryPort, PEM: ca.Certificate})
	}
	for _, bundle := range []string{p.AdditionalTrustBundle, p.IngressCert.CA} {
		if bundle != "" {
			w.Trust = append(w.Trust, bundle)
		}
	}
	if w.Proxy.HTTP != "" || w.Proxy.HTTPS != "" {
		w.Proxy.NoProxy = s.noProxy(ctx, node, c)
	}
	return w
}

// noProxy is what the site names, and the node's own addresses and names, which the cluster reaches itself by.
func (s *nodeConfig) noProxy(ctx context.Context, node *backend.Node, c *kube.Cluster) []string {
	p := s.Site.Spec
	list := strings.FieldsFunc(p.Proxy.NoProxy, func(r rune) bool { return r == ',' || r == ' ' })
	add := func(entry string) {
		for _, have := range list {
			if have == entry {
				return
			}
		}
		if entry != "" {
			list = append(list, entry)
		}
	}
	if node.Host.Exists(layout.FactoryRecord) {
		if own, err := node.Host.Own(); err == nil {
			for _, a := range own {
				add(a.String())
			}
		}
	}
	if c != nil { // the node's current addresses, as DHCP may have given them
		if self, _, err := csr.Self(ctx, c, ""); err == nil {
			for _, a := range self.Addresses {
				if _, err := netip.ParseAddr(a); err == nil {
					add(a)
				}
			}
		}
	}
	add(p.Network.IPv4.Address)
	add(p.Network.IPv6.Address)
	if d := s.Site.Domain(); d != "" {
		add("." + d)
	}
	return list
}

func mirrors(list []site.Mirror) []nodeconfig.Mirror {
	var out []nodeconfig.Mirror
	for _, m := range list {
		out = append(out, nodeconfig.Mirror{Source: m.Source, Mirrors: m.Mirrors, Policy: m.MirrorSourcePolicy})
	}
	return out
}

func changeNames(changes []nodeconfig.Change) message.Text {
	names := make([]message.Text, len(changes))
	for i, ch := range changes {
		names[i] = ch.What
	}
	return message.Join(names, ", ")
}

// withNodeFiles hands nodeConfig the steps before it in its list that bring files.
func withNodeFiles(stages []Stage) []Stage {
	var bringers fileBringers
	for _, stage := range stages {
		for _, step := range stage.Steps {
			switch step := step.(type) {
			case fileBringer:
				bringers = append(bringers, step)
			case *nodeConfig:
				step.bringers = bringers
			}
		}
	}
	return stages
}
