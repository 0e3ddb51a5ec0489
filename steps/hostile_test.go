package steps_test

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"touchdown/backend/certs"
	"touchdown/backend/check"
	"touchdown/backend/domain"
	"touchdown/backend/health"
	"touchdown/backend/kube"
	"touchdown/steps"
	"touchdown/test/bench"
)

// A cluster whose owner has a default certificate, a named certificate and their own console host lands with all of them in
// service, on a real API, and is as before after undo.
func TestALandingKeepsWhatTheOwnerServes(t *testing.T) {
	const vanity = "console.vanity.example"
	l := newLand(t, bench.Options{})
	ctx, c := t.Context(), l.node.Kube
	none := func(kube.Ref, []byte) error { return nil }
	signer, err := certs.AppsSigner(ctx, c)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range []certs.Want{
		{Secret: "their-apps", Namespaces: []string{domain.RouterNamespace}, Names: []string{"*.apps.store1.site.example", "*.apps." + l.cluster.Domain}},
		{Secret: "their-console", Namespaces: []string{domain.ConfigNamespace}, Names: []string{vanity}},
		{Secret: "their-api", Namespaces: []string{domain.ConfigNamespace}, Names: []string{"api.store1.site.example"}},
	} {
		w.Signer, w.Now = signer, time.Now()
		if _, err := certs.Install(ctx, c, w, none); err != nil {
			t.Fatal(err)
		}
	}
	named := func(secret string) map[string]any { return map[string]any{"name": secret} }
	for ref, set := range map[kube.Ref]map[string]any{
		kube.IngressController("default"): {"defaultCertificate": named("their-apps")},
		kube.Config("ingresses"): {"componentRoutes": []any{map[string]any{
			"namespace": "openshift-console", "name": "console", "hostname": vanity, "servingCertKeyPairSecret": named("their-console"),
		}}},
		kube.Config("apiservers"): {"servingCerts": map[string]any{"namedCertificates": []any{map[string]any{
			"names": []any{"api.store1.site.example"}, "servingCertificate": named("their-api"),
		}}}},
	} {
		_, err := c.ChangeSpec(ctx, ref, func(spec map[string]any) error {
			maps.Copy(spec, set)
			return nil
		}, none)
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(domain.Noticed(ctx, c, quick()), domain.WaitRolledOut(ctx, c, "", quick())); err != nil {
		t.Fatal(err)
	}
	before := l.specs(t)
	if err := l.run(t); err != nil {
		t.Fatal(err)
	}
	var proved []string
	for _, ch := range l.checks() {
		if ch.Status == check.Pass {
			proved = append(proved, ch.ID)
		}
	}
	if want := []string{"name-api", "name-apps", "name-oauth"}; !slices.Equal(proved, want) {
		t.Errorf("proved are %s, want %s", proved, want)
	}
	after := l.specs(t)
	if after["apiserver"] != before["apiserver"] || after["router"] != before["router"] || !strings.Contains(after["ingress"], `"hostname":"`+vanity+`","servingCertKeyPairSecret":{"name":"their-console"}`) {
		t.Errorf("not what the owner serves:\n%s\n%s\n%s", after["apiserver"], after["router"], after["ingress"])
	}
	o := health.Options{Domain: "store1.site.example", Kept: []string{vanity}}
	for _, ch := range health.Judge(health.Look(ctx, c, o), o) {
		if ch.Status != check.Pass && (ch.ID == "routes" || strings.HasPrefix(ch.ID, "web-")) {
			t.Errorf("%s is %s: %s", ch.ID, ch.Status, ch.Observed)
		}
	}
	if err := l.undo(t); err != nil {
		t.Fatal(err)
	}
	for name, spec := range l.specs(t) {
		if spec != before[name] {
			t.Errorf("%s is not as before:\n%s\n%s", name, before[name], spec)
		}
	}
}

// A cluster's proxy that would be asked for the new names stands against a start, unless the site brings one: that gets the exceptions
// before the names are written.
func TestTheProxyOfTheFactory(t *testing.T) {
	o := newOwned(t)
	o.api.Put("/apis/config.openshift.io/v1/proxies/cluster", `{"status":{"httpsProxy":"http://proxy.plant.example:3128","noProxy":".svc,.`+oldDomain+`"}}`)
	o.api.Put("/apis/operator.openshift.io/v1/consoles/cluster", `{"spec":{"managementState":"Managed"}}`)
	step := &steps.Domain{Site: o.site}
	if _, err := step.Plan(t.Context(), o.node); err == nil || !strings.Contains(err.Error(), "PRX-NAME") {
		t.Errorf("the review: %v", err)
	}
	o.site.Spec.Proxy.HTTPSProxy = "http://proxy.site.example:3128"
	if _, err := step.Plan(t.Context(), o.node); err != nil {
		t.Errorf("the review with a proxy of the site: %v", err)
	}
}
