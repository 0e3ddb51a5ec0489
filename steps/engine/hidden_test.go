package engine

import (
	"context"
	"slices"
	"testing"

	"touchdown/backend"
	"touchdown/backend/check"
	"touchdown/backend/message"
	"touchdown/steps"
	"touchdown/steps/session"
	"touchdown/steps/site"
	"touchdown/steps/view"
)

// bonding asks what the page Network asks, and fails a bond mode without ports, as network.Validate does.
type bonding struct{ steps.NetworkEntry }

func (b *bonding) Inspect(_ context.Context, _ *backend.Node, report steps.Report) error {
	c := check.Check{ID: "network-sense", Title: message.T("Settings fit together"), Status: check.Pass, Observed: message.T("yes")}
	if bond := b.Site.Spec.Network.Bond; bond.Mode != "" && len(bond.Ports) == 0 {
		c.Status, c.Observed, c.Fix = check.Fail, message.T("a bond needs at least one port"), message.T("Go back to the field and fix it.")
	}
	report.Check(c)
	return nil
}

// TestHiddenAnswerFailsNoLook: a bond mode stays in its field when the ports are emptied. The field is hidden then, so nobody could fix
// what a look finds wrong with it.
func TestHiddenAnswerFailsNoLook(t *testing.T) {
	w := newWorld()
	w.asks = func(cfg *site.Config) []steps.Stage {
		return []steps.Stage{{ID: "network", Steps: []steps.Step{&bonding{steps.NetworkEntry{Site: cfg, NodeNet: &steps.NodeNetwork{}}}}}}
	}
	r := newRig(t, w)
	token := take(t, r)
	r.fill(t, r, token)
	const ports, mode = "spec.network.bond.ports", "spec.network.bond.mode"
	must(t, r.Set(t.Context(), token, ports, "enp1s0,enp2s0"))
	must(t, r.Set(t.Context(), token, mode, "active-backup"))
	must(t, r.Set(t.Context(), token, ports, ""))
	snapshot := reviewed(t, r, token)
	if f := field(snapshot, mode); f.Visible || f.Value != "active-backup" {
		t.Fatalf("the bond mode is shown as %+v", f)
	}
	if problems := snapshot.Review.Problems; len(problems) > 0 {
		t.Errorf("the review has problems: %s", problems)
	}
	must(t, r.Do(t.Context(), token, session.Action{Verb: session.Start, Fingerprint: snapshot.Review.Fingerprint}))
	until(t, r, "the end of the work", inState(view.IsDone))
}

// TestHiddenAnswersChangeNoLook: what a look reads stays the same, whatever the fields hold that another answer hides.
func TestHiddenAnswersChangeNoLook(t *testing.T) {
	values := map[string]string{
		"spec.network.interface": "enp1s0", "spec.network.vlanID": "120", "spec.network.mtu": "9000", "spec.network.dnsServers": "198.51.100.53",
		"spec.network.bond.ports": "enp1s0,enp2s0", "spec.network.bond.mode": "active-backup",
		"spec.network.ipv4.method": "dhcp", "spec.network.ipv4.address": "198.51.100.10", "spec.network.ipv4.prefixLength": "24", "spec.network.ipv4.gateway": "198.51.100.1",
		"spec.network.ipv6.method": "dhcp", "spec.network.ipv6.address": "2001:db8:51::10", "spec.network.ipv6.prefixLength": "64", "spec.network.ipv6.gateway": "2001:db8:51::1",
		"spec.apiCert.key": "a key", "spec.ingressCert.key": "a key", "spec.ingressCert.ca": "a CA",
		"spec.hostname": "store-1", "spec.network.dnsSearch": "example.com", "spec.monitor.token": "a token",
		"spec.monitor.ca": "a CA", "spec.monitor.cert": "a certificate", "spec.monitor.key": "a key",
	}
	d := newDraft(t)
	d.list = func(cfg *site.Config) []steps.Stage {
		return steps.Site(cfg, steps.Wiring{NodeNet: &steps.NodeNetwork{}})
	}
	for _, state := range []string{"", "interfaces: []"} { // the document hides all other fields of the network
		for _, path := range mayHide(d) {
			if values[path] == "" {
				t.Errorf("this test knows no value for %s", path)
			}
			d.open(site.New())
			must(t, d.site.Set("spec.networkConfig", state))
			if f, _ := d.field(path); f.Visible() {
				continue
			}
			was := lookInputs(d)
			must(t, d.site.Set(path, values[path]))
			if is := lookInputs(d); !slices.Equal(was, is) {
				t.Errorf("with %q, the hidden %s changes what a look reads:\n%s\n%s", state, path, was, is)
			}
		}
	}
}

// mayHide are the answers of the site config that another one can hide.
func mayHide(d *draft) (paths []string) {
	for _, stage := range d.stages() {
		for _, step := range stage.Steps {
			for _, f := range steps.FieldsOf(step) {
				if f.Visible != nil && !f.Beside && f.Repeats == "" {
					paths = append(paths, f.Path)
				}
			}
		}
	}
	return paths
}

// lookInputs are the steps that look, with the fingerprints of what they read.
func lookInputs(d *draft) (all []string) {
	i := newInspector(d, newJob(), nil)
	list, _ := i.steps()
	for _, step := range list {
		all = append(all, step.ID()+" "+i.begin(step.ID(), nil).inputs)
	}
	return all
}
