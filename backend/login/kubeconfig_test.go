package login

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"touchdown/backend/kube"
	"touchdown/backend/kube/kubetest"
	"touchdown/backend/problem"
)

const adminsPath = "/api/v1/namespaces/openshift-config/configmaps/admin-kubeconfig-client-ca"

func nothing(kube.Ref, []byte) error { return nil }

func wants(domain string) Want {
	return Want{Domain: domain, Life: time.Hour, Now: time.Now(), Note: func(string) error { return nil }}
}

// TestTheKubeconfigTrustsWhatTheAPIServes: the cluster's signers, and for a certificate of others the site's CAs or who signed it.
func TestTheKubeconfigTrustsWhatTheAPIServes(t *testing.T) {
	now := time.Now()
	other, err := newClient(now, now.Add(time.Hour)) // a CA that has signed nothing here
	if err != nil {
		t.Fatal(err)
	}
	served := func(c *kube.Cluster) []byte { // the stand-in signs its certificate itself
		p, err := kube.Probe(t.Context(), c.Address(), "api.example.com", x509.NewCertPool(), now)
		if err != nil {
			t.Fatal(err)
		}
		return encode("CERTIFICATE", p.Leaf().Raw)
	}
	for name, test := range map[string]struct {
		own   func(*kube.Cluster) []byte
		trust func(*kube.Cluster) []byte
		wants func(*kube.Cluster) string
	}{
		"signed by the cluster": {served, nil, func(c *kube.Cluster) string { return string(served(c)) }},
		"of others": {func(*kube.Cluster) []byte { return other.ca }, nil, func(c *kube.Cluster) string {
			return string(other.ca) + string(served(c))
		}},
		"of the site": {
			func(*kube.Cluster) []byte { return other.ca },
			func(c *kube.Cluster) []byte { return append([]byte("# the site's\n"), served(c)...) },
			func(c *kube.Cluster) string { return string(other.ca) + "# the site's\n" + string(served(c)) },
		},
		"a CA of the site that signed nothing": {
			func(*kube.Cluster) []byte { return nil }, func(*kube.Cluster) []byte { return other.ca },
			func(c *kube.Cluster) string { return string(served(c)) },
		},
	} {
		t.Run(name, func(t *testing.T) {
			api, c := kubetest.New(t)
			put := func(name string, text []byte) {
				b, err := json.Marshal(map[string]any{"data": map[string]string{"ca-bundle.crt": string(text)}})
				if err != nil {
					t.Fatal(err)
				}
				api.Put("/api/v1/namespaces/openshift-config-managed/configmaps/"+name, string(b))
			}
			if own := test.own(c); own != nil {
				put("kube-apiserver-server-ca", own)
			}
			w := wants("example.com")
			if test.trust != nil {
				w.Trust = test.trust(c)
			}
			ca, leaf, err := trusted(t.Context(), c, "api.example.com", w)
			if err != nil || string(ca) != test.wants(c) || leaf == nil {
				t.Errorf("%v\n%s", err, ca)
			}
			put("default-ingress-cert", other.ca)
			if ca, _, err = trusted(t.Context(), c, "api.example.com", w); err != nil || !strings.Contains(string(ca), string(other.ca)) {
				t.Errorf("the router's signer is not trusted: %v", err)
			}
			if _, err := NewKubeconfig(t.Context(), c, w, nothing); err != nil {
				t.Errorf("a cluster without signers of administrators: %v", err)
			}
			if bundle := api.Get(adminsPath, "data", "ca-bundle.crt"); strings.Count(bundle, "BEGIN CERTIFICATE") != 1 {
				t.Errorf("its signers are %s", bundle)
			}
		})
	}
}

// TestNoKubeconfigWithoutANote: where the signer cannot be noted, or its original not be saved, the cluster gets none.
func TestNoKubeconfigWithoutANote(t *testing.T) {
	api, c := kubetest.New(t)
	broken := errors.New("disk full")
	w := wants("example.com")
	w.Note = func(string) error { return broken }
	if _, err := NewKubeconfig(t.Context(), c, w, nothing); !errors.Is(err, broken) {
		t.Error(err)
	}
	save := func(kube.Ref, []byte) error { return broken }
	if _, err := NewKubeconfig(t.Context(), c, wants("example.com"), save); !errors.Is(err, broken) {
		t.Error(err)
	}
	if _, err := NewKubeconfig(t.Context(), c, wants("elsewhere.example"), nothing); problem.From(err).Code != "PWD-CERT" {
		t.Error(err)
	}
	if changes := api.Changes(); len(changes) > 0 {
		t.Errorf("changed %q", changes)
	}
}

// TestAnAPIThatDoesNotAccept: the wait for it ends with the work, and what is refused is not handed out.
func TestAnAPIThatDoesNotAccept(t *testing.T) {
	api, c := kubetest.New(t)
	asked := make(chan struct{}, 100)
	api.Fault = func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.RawQuery != "limit=1" {
			return false
		}
		asked <- struct{}{}
		return kubetest.Refuse(w, http.StatusUnauthorized, "Unauthorized", "who is it")
	}
	ctx, stop := context.WithCancel(t.Context())
	go func() { <-asked; <-asked; stop() }()
	if k, err := NewKubeconfig(ctx, c, wants("example.com"), nothing); err == nil || k != nil {
		t.Errorf("%v, %v", k, err)
	}
}

// TestWithout: what others put into the bundle stays to the byte, broken or not.
func TestWithout(t *testing.T) {
	now := time.Now()
	ours, err := newClient(now, now.Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	broken := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: []byte("x")}))
	drop := func(cert *x509.Certificate, sum string) bool {
		return strings.HasPrefix(cert.Subject.CommonName, signerName) && sum == fingerprint(ours.ca)
	}
	for _, others := range []string{"", "# a note\n", broken, broken + "no line end"} {
		bundle := with(others, ours.ca)
		if got := without(bundle, drop); strings.TrimSuffix(got, "\n") != strings.TrimSuffix(others, "\n") {
			t.Errorf("%q became %q", others, got)
		}
		if got := without(others, drop); got != others {
			t.Errorf("%q became %q", others, got)
		}
	}
	if fingerprint([]byte("x")) != "" {
		t.Error("a fingerprint of nothing")
	}
}

// TestRevokeWithoutABundle: there is nothing to revoke.
func TestRevokeWithoutABundle(t *testing.T) {
	api, c := kubetest.New(t)
	if err := Revoke(t.Context(), c, []string{"x"}); err != nil {
		t.Error(err)
	}
	api.Put(adminsPath, `{"data":{"other":"x"}}`)
	if err := Revoke(t.Context(), c, []string{"x"}); err != nil || len(api.Changes()) > 0 {
		t.Error(err)
	}
}

// FuzzWithout: whatever lies in the bundle, nothing but the certificates that are to go is taken out of it.
func FuzzWithout(f *testing.F) {
	now := time.Now()
	ours, err := newClient(now, now.Add(time.Hour))
	if err != nil {
		f.Fatal(err)
	}
	f.Add("# others\n", "")
	f.Add(string(ours.cert), "-----BEGIN CERTIFICATE-----\n")
	f.Fuzz(func(t *testing.T, before, behind string) {
		drop := func(_ *x509.Certificate, sum string) bool { return sum == fingerprint(ours.ca) }
		if strings.Contains(before+behind, string(ours.ca)) {
			return
		}
		if got := without(with(before, ours.ca)+behind, drop); len(got) < len(before)+len(behind) {
			t.Errorf("%d of %d bytes are left", len(got), len(before)+len(behind))
		}
	})
}

// TestWorks: only a refusal says that a kubeconfig is no good; an API that cannot be asked says nothing about it. One for another name
// does not serve.
func TestWorks(t *testing.T) {
	api, c := kubetest.New(t)
	k, err := NewKubeconfig(t.Context(), c, wants("example.com"), nothing)
	if err != nil {
		t.Fatal(err)
	}
	if until, _, works, err := Works(t.Context(), c, "example.com", k.Text); err != nil || !works || !until.Equal(k.Until) {
		t.Errorf("it works: %v until %v, %v", works, until, err)
	}
	for domain, text := range map[string]string{"elsewhere.example": string(k.Text), "example.com": "x"} {
		if _, _, works, err := Works(t.Context(), c, domain, []byte(text)); err != nil || works {
			t.Errorf("%s works: %v, %v", domain, works, err)
		}
	}
	for status, unknown := range map[int]bool{401: false, 403: false, 429: true, 500: true, 503: true} {
		api.Fault = func(w http.ResponseWriter, _ *http.Request) bool {
			return kubetest.Refuse(w, status, "Reason", "not now")
		}
		if _, _, works, err := Works(t.Context(), c, "example.com", k.Text); works || unknown != (err != nil) {
			t.Errorf("%d: works %v, %v", status, works, err)
		}
	}
	api.Fault = nil
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, _, works, err := Works(ctx, c, "example.com", k.Text); works || err == nil {
		t.Errorf("cut off: works %v, %v", works, err)
	}
	other, err := newClient(time.Now(), time.Now().Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := kube.ParseKubeconfig(k.Text)
	if err != nil {
		t.Fatal(err)
	}
	parsed.CA = other.ca
	foreign, err := parsed.Text()
	if err != nil {
		t.Fatal(err)
	}
	if _, _, works, err := Works(t.Context(), c, "example.com", foreign); works || err != nil {
		t.Errorf("one that does not trust the API: works %v, %v", works, err)
	}
}

// TestTheOldSignerStaysUntilTheNewIsAccepted: a kubeconfig that is not accepted revokes none.
func TestTheOldSignerStaysUntilTheNewIsAccepted(t *testing.T) {
	api, c := kubetest.New(t)
	if _, err := NewKubeconfig(t.Context(), c, wants("example.com"), nothing); err != nil {
		t.Fatal(err)
	}
	old := strings.Trim(api.Get(adminsPath, "data", "ca-bundle.crt"), `"`)
	asked := make(chan struct{}, 100)
	api.Fault = func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.RawQuery != "limit=1" {
			return false
		}
		asked <- struct{}{}
		return kubetest.Refuse(w, http.StatusUnauthorized, "Unauthorized", "who is it")
	}
	ctx, stop := context.WithCancel(t.Context())
	go func() { <-asked; stop() }()
	if _, err := NewKubeconfig(ctx, c, wants("example.com"), nothing); err == nil {
		t.Error("what is refused is not an error")
	}
	if now := api.Get(adminsPath, "data", "ca-bundle.crt"); !strings.Contains(now, old) || strings.Count(now, "BEGIN CERTIFICATE") != 2 {
		t.Errorf("the signers are %s", now)
	}
	api.Fault = nil
	if _, err := NewKubeconfig(t.Context(), c, wants("example.com"), nothing); err != nil {
		t.Fatal(err)
	}
	if now := api.Get(adminsPath, "data", "ca-bundle.crt"); strings.Contains(now, old) || strings.Count(now, "BEGIN CERTIFICATE") != 1 {
		t.Errorf("the signers are %s", now)
	}
}
