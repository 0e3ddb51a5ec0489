package domain_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"touchdown/backend/certs"
	"touchdown/backend/check"
	"touchdown/backend/domain"
	"touchdown/backend/kube"
	"touchdown/backend/problem"
	"touchdown/test/bench"
	"touchdown/test/wait"
)

// bed is a cluster with the certificates for a new domain in it.
type bed struct {
	*bench.Cluster
	c     *kube.Cluster
	names domain.Names
	saved [][]byte
}

func newBed(t *testing.T, d string) *bed {
	t.Helper()
	b := &bed{Cluster: bench.Start(t, bench.Options{})}
	c, err := kube.Open(b.Kubeconfig, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	c.Pace = kube.Pace{Limit: 3 * time.Minute, Pause: 50 * time.Millisecond, Poll: 50 * time.Millisecond}
	b.c = c
	b.install(t, d)
	return b
}

func (b *bed) install(t *testing.T, d string) {
	t.Helper()
	b.names = domain.Names{Domain: d, APISecret: certs.APISecret(d), AppsSecret: certs.AppsSecret(d), Ours: certs.Ours}
	api, err := certs.APISigner(t.Context(), b.c)
	fatal(t, err)
	apps, err := certs.AppsSigner(t.Context(), b.c)
	fatal(t, err)
	for _, w := range []certs.Want{
		{Secret: b.names.APISecret, Namespaces: []string{domain.ConfigNamespace}, Names: []string{domain.API(d)}, Signer: api, Now: time.Now()},
		{
			Secret: b.names.AppsSecret, Namespaces: []string{domain.ConfigNamespace, domain.RouterNamespace},
			Names: []string{"*." + domain.Apps(d), "*." + domain.Apps(b.Domain)}, Signer: apps, Now: time.Now(),
		},
	} {
		_, err := certs.Install(t.Context(), b.c, w, b.save)
		fatal(t, err)
	}
}

func (b *bed) save(_ kube.Ref, original []byte) error {
	b.saved = append(b.saved, original)
	return nil
}

func (b *bed) restore(t *testing.T) {
	t.Helper()
	for i := len(b.saved) - 1; i >= 0; i-- {
		_, err := b.c.Restore(t.Context(), b.saved[i])
		fatal(t, err)
	}
}

// specs are the three that Apply writes.
func (b *bed) specs(t *testing.T) string {
	t.Helper()
	var out []string
	fatal(t, b.c.Do(t.Context(), "reading the specs", func(ctx context.Context) error {
		out = nil
		api, err := b.c.Config.APIServers().Get(ctx, "cluster", metav1.GetOptions{})
		if err != nil {
			return err
		}
		ingress, err := b.c.Config.Ingresses().Get(ctx, "cluster", metav1.GetOptions{})
		if err != nil {
			return err
		}
		router, err := b.c.Operator.IngressControllers("openshift-ingress-operator").Get(ctx, "default", metav1.GetOptions{})
		if err != nil {
			return err
		}
		for _, spec := range []any{api.Spec, ingress.Spec, router.Spec} {
			text, err := json.Marshal(spec)
			if err != nil {
				return err
			}
			out = append(out, string(text))
		}
		return nil
	}))
	return strings.Join(out, "\n")
}

func (b *bed) waitRolledOut(t *testing.T) {
	t.Helper()
	fatal(t, b.ClearFaults())
	fatal(t, domain.WaitRolledOut(t.Context(), b.c, "", recovering()))
}

func paced() domain.Timeouts {
	return domain.Timeouts{Notice: 3 * time.Minute, Limit: 5 * time.Minute, Grace: time.Second, Stable: 500 * time.Millisecond, Answer: 3 * time.Minute}
}

// recovering is for the time after a fault: an operator goes on to report its trouble until it has looked again, and the API server's
// until the new revision has run for a while.
func recovering() domain.Timeouts {
	p := paced()
	p.Grace = p.Limit
	return p
}

func fatal(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func code(err error) string {
	if err == nil {
		return ""
	}
	return problem.From(err).Code
}

// What others have in the same lists survives the change, and what they add meanwhile survives the undo.
func TestApplyMergesAndRestores(t *testing.T) {
	b := newBed(t, "store1.site.example")
	ctx := t.Context()
	untouched := b.specs(t)
	foreign := func(name string) func(map[string]any) error {
		return func(spec map[string]any) error {
			serving, _ := spec["servingCerts"].(map[string]any)
			if serving == nil {
				serving = map[string]any{}
				spec["servingCerts"] = serving
			}
			list, _ := serving["namedCertificates"].([]any)
			serving["namedCertificates"] = append(list, map[string]any{
				"names": []any{name}, "servingCertificate": map[string]any{"name": b.names.APISecret},
			})
			return nil
		}
	}
	var others bed
	_, err := b.c.ChangeSpec(ctx, kube.Config("apiservers"), foreign("api.vanity.example"), others.save)
	fatal(t, err)
	_, err = b.c.ChangeSpec(ctx, kube.Config("ingresses"), func(spec map[string]any) error {
		spec["componentRoutes"] = []any{map[string]any{"namespace": "plant", "name": "portal", "hostname": "portal.vanity.example"}}
		return nil
	}, others.save)
	fatal(t, err)
	before := b.specs(t)

	changed, err := domain.Apply(ctx, b.c, b.names, b.save)
	fatal(t, err)
	after := b.specs(t)
	for _, want := range []string{"api.vanity.example", "portal.vanity.example", "api.store1.site.example", "oauth-openshift.apps.store1.site.example"} {
		if !changed || !strings.Contains(after, want) {
			t.Errorf("%s is missing in %s", want, after)
		}
	}
	if strings.Contains(after, "api-int.") {
		t.Error("the internal name is served")
	}
	fatal(t, domain.Noticed(ctx, b.c, paced()))
	fatal(t, domain.WaitRolledOut(ctx, b.c, "store1.site.example", paced()))
	writes := b.c.Writes()
	if changed, err := domain.Apply(ctx, b.c, b.names, b.save); changed || err != nil || b.c.Writes() != writes {
		t.Error("a second run changed something", err)
	}

	var late bed
	_, err = b.c.ChangeSpec(ctx, kube.Config("apiservers"), foreign("api.late.example"), late.save)
	fatal(t, err)
	b.saved = b.saved[3:] // the secrets stay in use by the others' entries
	b.restore(t)
	if now := b.specs(t); !strings.Contains(now, "api.late.example") || strings.Contains(now, "store1") {
		t.Errorf("after undo: %s", now)
	}
	late.c = b.c
	late.restore(t)
	if now := b.specs(t); now != before {
		t.Errorf("not as before:\n%s\n%s", before, now)
	}
	others.c = b.c
	others.restore(t)
	if now := b.specs(t); now != untouched {
		t.Errorf("not untouched:\n%s\n%s", untouched, now)
	}
}

// TestFaultsOnTheWay: writes that meet conflicts, a throttled, slow or absent API come to their end; what never ends and what is forbidden
// has its own code; and each time what was saved brings the cluster back to what it was.
func TestFaultsOnTheWay(t *testing.T) {
	b := newBed(t, "a.site.example")
	ctx := t.Context()
	before := b.specs(t)
	for _, test := range []struct {
		name  string
		fault bench.Fault
		code  string
	}{
		{"conflicts", bench.Fault{Kind: bench.Conflict, Verb: "patch", Times: 4}, ""},
		{"conflicts for ever", bench.Fault{Kind: bench.Conflict, Verb: "patch"}, "CLU-RACE"},
		{"throttled", bench.Fault{Kind: bench.Throttled, Millis: 900, Times: 2}, ""},
		{"slow", bench.Fault{Kind: bench.Slow, Millis: 300, Times: 6}, ""},
		{"forbidden", bench.Fault{Kind: bench.Forbidden, Verb: "patch", Resource: "apiservers"}, "CLU-DENY"},
		{"away", bench.Fault{Kind: bench.Down, Seconds: 3}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			b.saved = nil
			fatal(t, b.SetFault(test.fault))
			_, err := domain.Apply(ctx, b.c, b.names, b.save)
			if code(err) != test.code {
				t.Fatal(err)
			}
			if test.code == "CLU-DENY" && !strings.Contains(problem.From(err).Summary.String(), "patch apiservers") {
				t.Error(err)
			}
			fatal(t, b.ClearFaults())
			b.restore(t)
			if now := b.specs(t); now != before {
				t.Errorf("not as before:\n%s\n%s", before, now)
			}
		})
	}
	b.waitRolledOut(t)
	t.Run("degraded for ever", func(t *testing.T) {
		fatal(t, b.SetFault(bench.Fault{Kind: bench.Degraded, Operator: "authentication"}))
		var err error
		wait.Until(t, "the fault to show", func() bool {
			err = domain.WaitRolledOut(ctx, b.c, "", paced())
			return err != nil
		})
		if code(err) != "CLU-DEGR" || !strings.Contains(err.Error(), "authentication") {
			t.Error(err)
		}
		b.waitRolledOut(t)
	})
	t.Run("stuck", func(t *testing.T) {
		b.saved = nil
		fatal(t, b.SetFault(bench.Fault{Kind: bench.Stuck, Operator: "console"}))
		_, err := domain.Apply(ctx, b.c, b.names, b.save)
		fatal(t, err)
		short := paced()
		short.Limit = 8 * time.Second // of a roll-out that never ends
		if err := domain.WaitRolledOut(ctx, b.c, b.names.Domain, short); code(err) != "REV-LATE" {
			t.Error(err)
		}
		fatal(t, b.ClearFaults())
		fatal(t, domain.WaitRolledOut(ctx, b.c, b.names.Domain, recovering()))
	})
}

// A secret that cannot be served is never referred to, whoever changed it; one that goes bad later is told as a fall-back.
func TestBadSecrets(t *testing.T) {
	b := newBed(t, "b.site.example")
	ctx := t.Context()
	before := b.specs(t)
	ref := func(s *corev1.Secret) *corev1.Secret {
		return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: s.Name}, Type: s.Type, Data: s.Data}
	}
	good, err := b.c.Core.Secrets(domain.ConfigNamespace).Get(ctx, b.names.APISecret, metav1.GetOptions{})
	fatal(t, err)
	apps, err := b.c.Core.Secrets(domain.ConfigNamespace).Get(ctx, b.names.AppsSecret, metav1.GetOptions{})
	fatal(t, err)
	for name, data := range map[string]map[string][]byte{
		"other name": {"tls.crt": apps.Data["tls.crt"], "tls.key": apps.Data["tls.key"]},
		"other key":  {"tls.crt": good.Data["tls.crt"], "tls.key": apps.Data["tls.key"]},
		"no PEM":     {"tls.crt": []byte("x"), "tls.key": []byte("y")},
	} {
		t.Run(name, func(t *testing.T) {
			bad := ref(good)
			bad.Data = data
			_, err := b.c.PutSecret(ctx, bad, b.save)
			fatal(t, err)
			if _, err := domain.Apply(ctx, b.c, b.names, b.save); code(err) != "CERT-BCK" {
				t.Error(err)
			}
			if now := b.specs(t); now != before {
				t.Errorf("something was written: %s", now)
			}
		})
	}
	_, err = b.c.PutSecret(ctx, ref(good), b.save)
	fatal(t, err)
	bad := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: domain.ConfigNamespace, Name: "not-a-pair"}, Type: corev1.SecretTypeTLS}
	bad.Data = map[string][]byte{"tls.crt": []byte("x"), "tls.key": []byte("y")}
	_, err = b.c.PutSecret(ctx, bad, b.save)
	fatal(t, err)
	_, err = b.c.ChangeSpec(ctx, kube.Config("apiservers"), func(spec map[string]any) error {
		spec["servingCerts"] = map[string]any{"namedCertificates": []any{map[string]any{
			"names": []any{"api.b.site.example"}, "servingCertificate": map[string]any{"name": "not-a-pair"},
		}}}
		return nil
	}, b.save)
	fatal(t, err)
	fatal(t, domain.Noticed(ctx, b.c, paced()))
	err = domain.WaitRolledOut(ctx, b.c, "", paced())
	if c := code(err); c != "REV-FALL" && c != "CLU-DEGR" {
		t.Error(err)
	}
	t.Log(err)
	_, err = b.c.Restore(ctx, b.saved[len(b.saved)-1])
	fatal(t, err)
	fatal(t, domain.Noticed(ctx, b.c, paced()))
	fatal(t, domain.WaitRolledOut(ctx, b.c, "", recovering()))
}

// TestProveTellsAnotherCertificate: an API that serves another certificate than the one expected, or does not answer, fails the proof.
func TestProveTellsAnotherCertificate(t *testing.T) {
	b := newBed(t, "c.site.example")
	short := paced()
	short.Answer = time.Second
	now, err := domain.Read(t.Context(), b.c)
	fatal(t, err)
	checks, err := domain.Prove(t.Context(), b.c, []domain.Proof{
		{ID: "x", Name: "api.c.site.example", Address: now.API, Fingerprint: strings.Repeat("0", 64)},
		{ID: "y", Name: "api.c.site.example", Address: "127.0.0.1:1", Fingerprint: strings.Repeat("0", 64)},
	}, time.Now, short)
	if code(err) != "CERT-SRV" || len(checks) != 2 || checks[0].Status != check.Fail || checks[1].Observed.String() != "no answer" {
		t.Error(err, checks)
	}
}
