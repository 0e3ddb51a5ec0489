package domain_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	configv1 "github.com/openshift/api/config/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"touchdown/backend/certs"
	"touchdown/backend/domain"
	"touchdown/backend/kube"
)

// serveNamed gives the API server's named certificates other entries: each "SECRET NAME NAME".
func serveNamed(t *testing.T, b *bed, save kube.Save, entries ...string) {
	t.Helper()
	_, err := b.c.ChangeSpec(t.Context(), kube.Config("apiservers"), func(spec map[string]any) error {
		var list []any
		for _, e := range entries {
			words := strings.Fields(e)
			var names []any
			for _, n := range words[1:] {
				names = append(names, n)
			}
			list = append(list, map[string]any{"names": names, "servingCertificate": map[string]any{"name": words[0]}})
		}
		spec["servingCerts"] = map[string]any{"namedCertificates": list}
		return nil
	}, save)
	fatal(t, err)
}

// A list that the API server's operator would refuse is told before anything is written, with the entry that is the reason.
func TestListsThatTheOperatorRefuses(t *testing.T) {
	b := newBed(t, "d.site.example")
	ours := b.names.APISecret
	var ten []string
	for i := range 10 {
		ten = append(ten, fmt.Sprintf("%s api%d.vanity.example", ours, i))
	}
	for name, test := range map[string]struct {
		entries    []string
		code, says string
	}{
		"ten entries":           {ten, "CERT-MAX", "no more than 10"},
		"a secret is missing":   {[]string{ours + " x.example", "nowhere api.vanity.example"}, "CERT-ENT", `Entry 1 of the API server's named certificates (api.vanity.example) refers to a secret that does not exist: "nowhere"`},
		"two entries, no ours":  {[]string{ours + " x.example y.example", "other y.example"}, "CERT-ENT", `"other"`},
		"a name twice":          {[]string{ours + " x.example y.example", ours + " y.example"}, "CERT-ENT", "Entries 0 (secret " + ours + ") and 1 (secret " + ours + ") of the API server's named certificates are both for y.example"},
		"ten, one of them ours": {append([]string{ours + " api.d.site.example"}, ten[1:]...), "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			var others bed
			serveNamed(t, b, others.save, test.entries...)
			before := b.specs(t)
			_, err := b.names.Fits(t.Context(), b.c)
			if code(err) != test.code || err != nil && !strings.Contains(err.Error(), test.says) {
				t.Errorf("%v", err)
			}
			if test.code != "" {
				if _, err := domain.Apply(t.Context(), b.c, b.names, b.save); code(err) != test.code {
					t.Errorf("%v", err)
				}
			}
			if now := b.specs(t); now != before {
				t.Errorf("something was written:\n%s\n%s", before, now)
			}
			others.c = b.c
			others.restore(t)
		})
	}
}

// A name that another entry serves moves to ours; that entry keeps its place, its other names and its certificate, and has the name
// again after undo.
func TestANameMovesFromAnotherEntry(t *testing.T) {
	const name, vanity, second = "api.e.site.example", "api.vanity.example", "api.second.example"
	b := newBed(t, "e.site.example")
	ctx := t.Context()
	signer, err := certs.APISigner(ctx, b.c)
	fatal(t, err)
	for secret, names := range map[string][]string{"vanity": {name, vanity}, "second": {second}} {
		_, err = certs.Install(ctx, b.c, certs.Want{
			Secret: secret, Namespaces: []string{domain.ConfigNamespace}, Names: names, Signer: signer, Now: time.Now(),
		}, b.save)
		fatal(t, err)
	}
	var others bed
	serveNamed(t, b, others.save, "vanity "+name+" "+vanity, "second "+second)
	fatal(t, domain.Noticed(ctx, b.c, paced()))
	fatal(t, domain.WaitRolledOut(ctx, b.c, "", paced()))
	before := b.specs(t)

	taken, err := b.names.Fits(ctx, b.c)
	if len(taken) != 1 || taken[0] != (domain.Taken{Index: 0, Secret: "vanity"}) || err != nil {
		t.Error(taken, err)
	}
	b.saved = nil
	_, err = domain.Apply(ctx, b.c, b.names, b.save)
	fatal(t, err)
	want := fmt.Sprintf(`[{"names":[%q],"servingCertificate":{"name":"vanity"}},{"names":[%q],"servingCertificate":{"name":"second"}},{"names":[%q],"servingCertificate":{"name":%q}}]`,
		vanity, second, name, b.names.APISecret)
	if now := b.specs(t); !strings.Contains(now, want) {
		t.Errorf("not %s\nin %s", want, now)
	}
	fatal(t, domain.Noticed(ctx, b.c, paced()))
	fatal(t, domain.WaitRolledOut(ctx, b.c, b.names.Domain, paced()))
	serves := func(want map[string]string) {
		t.Helper()
		for host, other := range want {
			leaf, err := b.Leaf(ctx, "6443", host)
			fatal(t, err)
			if err := leaf.VerifyHostname(other); err != nil {
				t.Errorf("%s is served with the certificate of another entry: %v", host, err)
			}
		}
	}
	serves(map[string]string{vanity: vanity, second: second, name: name})
	if leaf, err := b.Leaf(ctx, "6443", name); err != nil || leaf.VerifyHostname(vanity) == nil {
		t.Errorf("%s is still served with the certificate of vanity, %v", name, err)
	}
	if taken, err := b.names.Fits(ctx, b.c); len(taken) != 0 || err != nil {
		t.Error(taken, err)
	}

	// An entry that comes meanwhile stays behind those that were there before.
	var late bed
	_, err = b.c.ChangeSpec(ctx, kube.Config("apiservers"), func(spec map[string]any) error {
		serving := spec["servingCerts"].(map[string]any)
		serving["namedCertificates"] = append(serving["namedCertificates"].([]any), map[string]any{
			"names": []any{"api.late.example"}, "servingCertificate": map[string]any{"name": "second"},
		})
		return nil
	}, late.save)
	fatal(t, err)
	b.restore(t)
	back := fmt.Sprintf(`[{"names":[%q,%q],"servingCertificate":{"name":"vanity"}},{"names":[%q],"servingCertificate":{"name":"second"}},{"names":["api.late.example"]`, name, vanity, second)
	if now := b.specs(t); !strings.Contains(now, back) {
		t.Errorf("not %s\nin %s", back, now)
	}
	// An entry whose Secret goes while a revision with it is installed has that one fall back, here as on a node.
	fatal(t, domain.Noticed(ctx, b.c, paced()))
	fatal(t, domain.WaitRolledOut(ctx, b.c, "", paced()))
	late.c = b.c
	late.restore(t)
	if now := b.specs(t); now != before {
		t.Errorf("not as before:\n%s\n%s", before, now)
	}
	fatal(t, domain.Noticed(ctx, b.c, paced()))
	fatal(t, domain.WaitRolledOut(ctx, b.c, "", paced()))
	serves(map[string]string{vanity: vanity, second: second, name: vanity})
}

// What the operator refuses is told in its own words, before the ClusterOperator says anything, although a revision comes from elsewhere.
func TestARefusalIsToldAtOnce(t *testing.T) {
	b := newBed(t, "f.site.example")
	ctx := t.Context()
	fatal(t, b.SetDelay("10"))
	_, err := domain.Apply(ctx, b.c, b.names, b.save)
	fatal(t, err)
	_, err = b.c.ChangeSpec(ctx, kube.Config("apiservers"), func(spec map[string]any) error {
		serving := spec["servingCerts"].(map[string]any)
		serving["namedCertificates"] = append(serving["namedCertificates"].([]any), map[string]any{
			"names": []any{"api.f.site.example"}, "servingCertificate": map[string]any{"name": b.names.APISecret},
		})
		spec["audit"] = map[string]any{"profile": "WriteRequestBodies"} // this makes the revision
		return nil
	}, b.save)
	fatal(t, err)
	wait := func(p domain.Timeouts) error {
		if err := domain.Noticed(ctx, b.c, p); err != nil {
			return err
		}
		return domain.WaitRolledOut(ctx, b.c, b.names.Domain, p)
	}
	err = wait(paced())
	if code(err) != "CERT-KAS" || !strings.Contains(err.Error(), `"api.f.site.example" is used by other indexes: [0,1]`) {
		t.Errorf("%v", err)
	}
	all, err := b.c.Operators(ctx)
	fatal(t, err)
	for i := range all {
		if cond := kube.Condition(&all[i], configv1.OperatorDegraded); all[i].Name == "kube-apiserver" && cond.Status == configv1.ConditionTrue {
			t.Log("the ClusterOperator said it as soon")
		}
	}
	fatal(t, b.SetDelay("zero"))
	_, err = b.c.Restore(ctx, b.saved[len(b.saved)-1])
	fatal(t, err)
	if err := wait(recovering()); err != nil { // what was begun slowly ends slowly, and the refusal stands until then
		t.Errorf("after it was put right: %v", err)
	}
}

// The API server's certificate is written when the login's new host is published, and the router's after it: the other order means two
// restarts of the API server.
func TestWritesInTheOrderOfOneRestart(t *testing.T) {
	b := newBed(t, "g.site.example")
	fatal(t, b.SetDelay("10")) // the metadata takes more than half a second
	var order []string
	_, err := domain.Apply(t.Context(), b.c, b.names, func(ref kube.Ref, _ []byte) error {
		order = append(order, ref.Resource)
		if ref.Resource == "apiservers" {
			m, err := b.c.Core.ConfigMaps("openshift-config-managed").Get(t.Context(), "oauth-openshift", metav1.GetOptions{})
			if err != nil || !strings.Contains(m.Data["oauthMetadata"], "oauth-openshift.apps.g.site.example") {
				t.Errorf("the login's new host is not published: %v", err)
			}
		}
		return nil
	})
	fatal(t, err)
	if got := strings.Join(order, " "); got != "ingresses apiservers ingresscontrollers" {
		t.Error(got)
	}
	fatal(t, b.SetDelay("40"))
	fatal(t, domain.Noticed(t.Context(), b.c, paced()))
	long := paced()
	long.Grace, long.Stable = long.Limit, time.Second
	fatal(t, domain.WaitRolledOut(t.Context(), b.c, "g.site.example", long))
	st, err := b.State()
	fatal(t, err)
	t.Logf("%d restarts of the API server, revision %d", st.RollOuts["kube-apiserver"].Done, st.Revision.Current)
	if st.RollOuts["kube-apiserver"].Done > 2 || st.RollOuts["kube-controller-manager"].Done != 1 || st.RollOuts["kube-controller-manager"].Running != 0 {
		t.Errorf("%+v", st.RollOuts)
	}
}
