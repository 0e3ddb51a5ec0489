package steps_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"touchdown/backend"
	"touchdown/backend/certs"
	"touchdown/backend/domain"
	"touchdown/backend/host/hosttest"
	"touchdown/backend/kube/kubetest"
	"touchdown/backend/problem"
	"touchdown/steps"
	"touchdown/steps/site"
)

const (
	oldDomain  = "sno.factory.example"
	newDomain  = "store1.site.example"
	apiConfig  = "/apis/config.openshift.io/v1/apiservers/cluster"
	ingressCfg = "/apis/config.openshift.io/v1/ingresses/cluster"
	router     = "/apis/operator.openshift.io/v1/namespaces/openshift-ingress-operator/ingresscontrollers/default"
)

// owned is a cluster with its own signers, to which a test adds what its owner has.
type owned struct {
	api  *kubetest.API
	node *backend.Node
	site *site.Config
	ca   *certs.Signer
}

func newOwned(t *testing.T) *owned {
	t.Helper()
	api, c := kubetest.New(t)
	api.Put("/apis/config.openshift.io/v1/dnses/cluster", `{"spec":{"baseDomain":"`+oldDomain+`"}}`)
	api.Put(ingressCfg, `{"spec":{"domain":"apps.`+oldDomain+`"}}`)
	api.Put(apiConfig, `{"spec":{"audit":{"profile":"Default"}}}`)
	api.Put(router, `{"spec":{"replicas":1},"status":{"domain":"apps.`+oldDomain+`"}}`)
	for _, kind := range []string{"consoles", "kubeapiservers", "kubecontrollermanagers"} {
		api.Put("/apis/operator.openshift.io/v1/"+kind+"/cluster", `{"spec":{"managementState":"Managed"}}`)
	}
	api.Put("/api/v1/nodes/node", `{"status":{"addresses":[{"type":"InternalIP","address":"192.0.2.10"}]}}`)
	o := &owned{api: api, site: site.New()}
	for _, secret := range []string{"openshift-kube-apiserver-operator/secrets/loadbalancer-serving-signer", "openshift-ingress-operator/secrets/router-ca"} {
		api.Put("/api/v1/namespaces/"+secret, tlsSecret(t, rootCA(t)))
	}
	o.node = &backend.Node{Host: hosttest.New(t).Machine, Kube: c, Now: time.Now, Log: slog.New(slog.DiscardHandler)}
	o.site.Spec.ClusterName, o.site.Spec.BaseDomain = "store1", "site.example"
	var err error
	if o.ca, err = certs.AppsSigner(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	return o
}

// secret stores a certificate of the owner's. One that ends in days is made by a clock of the past.
func (o *owned) secret(t *testing.T, path string, now time.Time, names ...string) {
	t.Helper()
	pair, err := o.ca.Issue(names, now)
	if err != nil {
		t.Fatal(err)
	}
	o.api.Put("/api/v1/namespaces/"+path, tlsSecret(t, pair))
}

func tlsSecret(t *testing.T, p certs.Pair) string {
	t.Helper()
	b, err := json.Marshal(map[string]any{"type": "kubernetes.io/tls", "data": map[string]any{"tls.crt": p.Cert, "tls.key": p.Key}})
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// move runs the two steps that write, twice, and returns the review's lines. undo puts everything back.
func (o *owned) move(t *testing.T) (review string, undo func()) {
	t.Helper()
	all := []steps.Step{&steps.Certificates{Site: o.site}, &steps.Domain{Site: o.site, Timeouts: domain.Timeouts{Notice: time.Millisecond}}}
	for _, s := range all {
		plan, err := s.(steps.Planner).Plan(t.Context(), o.node)
		if err != nil {
			t.Fatal(err)
		}
		for _, ch := range plan.Changes {
			review += fmt.Sprintf("%s: %s -> %s\n", ch.What, ch.Old, ch.New)
		}
	}
	reports := map[string]*clusterReport{}
	for range 2 {
		for _, s := range all {
			if reports[s.ID()] == nil {
				reports[s.ID()] = newReport()
			}
			unnoticed(t, s.Run(t.Context(), o.node, reports[s.ID()]))
		}
	}
	return review, func() {
		t.Helper()
		for i := len(all) - 1; i >= 0; i-- {
			unnoticed(t, all[i].(steps.Undoer).Undo(t.Context(), o.node, reports[all[i].ID()]))
		}
	}
}

// unnoticed takes that no operator is there to notice the names, for which the step waits after all is written.
func unnoticed(t *testing.T, err error) {
	t.Helper()
	if p, ok := errors.AsType[*problem.Problem](err); err != nil && (!ok || p.Code != "REV-NEW" && p.Code != "REV-LATE") {
		t.Fatal(err)
	}
}

func (o *owned) specs() string {
	return o.api.Get(apiConfig, "spec") + o.api.Get(ingressCfg, "spec") + o.api.Get(router, "spec")
}

// A certificate of the cluster's owner that is good for a new name stays in service; one that is not is replaced, told in the review, and
// there again after undo.
func TestCertificatesOfTheOwner(t *testing.T) {
	const config, routers = "openshift-config/secrets/", "openshift-ingress/secrets/"
	apiName, apps := domain.API(newDomain), "*."+domain.Apps(newDomain)
	now := time.Now()
	ours, oursApps := certs.APISecret(newDomain), certs.AppsSecret(newDomain)
	for name, test := range map[string]struct {
		have    func(t *testing.T, o *owned)
		entries string // the API server's
		router  string // the router's default certificate
		tells   string // in the review
	}{
		"nothing": {func(*testing.T, *owned) {}, fmt.Sprintf(`[{"names":[%q],"servingCertificate":{"name":%q}}]`, apiName, ours), oursApps, "Certificate for " + apps + ":  -> signed by the cluster itself"},
		"the router's is good": {func(t *testing.T, o *owned) {
			o.secret(t, routers+"theirs", now, apps, "*.vanity.example")
			o.api.Put(router, `{"spec":{"defaultCertificate":{"name":"theirs"}}}`)
		}, fmt.Sprintf(`[{"names":[%q],"servingCertificate":{"name":%q}}]`, apiName, ours), "theirs", "Certificate for " + apps + ": secret theirs -> stays; good until "},
		"the router's is for other names": {func(t *testing.T, o *owned) {
			o.secret(t, routers+"theirs", now, "*.apps.vanity.example")
			o.api.Put(router, `{"spec":{"defaultCertificate":{"name":"theirs"}}}`)
		}, "", oursApps, "Default certificate of the router: secret theirs -> the one for " + apps},
		"the router's ends soon": {func(t *testing.T, o *owned) {
			o.secret(t, routers+"theirs", now.Add(-(825-29)*24*time.Hour), apps)
			o.api.Put(router, `{"spec":{"defaultCertificate":{"name":"theirs"}}}`)
		}, "", oursApps, "Default certificate of the router: secret theirs"},
		"the router's is missing": {func(_ *testing.T, o *owned) {
			o.api.Put(router, `{"spec":{"defaultCertificate":{"name":"theirs"}}}`)
		}, "", oursApps, "Default certificate of the router: secret theirs"},
		"the API's is good": {func(t *testing.T, o *owned) {
			o.secret(t, config+"theirs", now, apiName)
			o.api.Put(apiConfig, `{"spec":{"servingCerts":{"namedCertificates":[{"names":["`+apiName+`"],"servingCertificate":{"name":"theirs"}}]}}}`)
		}, fmt.Sprintf(`[{"names":[%q],"servingCertificate":{"name":"theirs"}}]`, apiName), oursApps, "Certificate for " + apiName + ": secret theirs -> stays"},
		"the API's is for another name": {func(t *testing.T, o *owned) {
			o.secret(t, config+"theirs", now, "api.vanity.example")
			o.api.Put(apiConfig, `{"spec":{"servingCerts":{"namedCertificates":[{"names":["`+apiName+`"],"servingCertificate":{"name":"theirs"}}]}}}`)
		}, fmt.Sprintf(`[{"names":[%q],"servingCertificate":{"name":%q}}]`, apiName, ours), oursApps, "Certificate of " + apiName + ": secret theirs, entry 0"},
		"the API's is not alone": {func(t *testing.T, o *owned) {
			o.secret(t, config+"theirs", now, apiName, "api.vanity.example")
			o.api.Put(apiConfig, `{"spec":{"servingCerts":{"namedCertificates":[{"names":["`+apiName+`","api.vanity.example"],"servingCertificate":{"name":"theirs"}}]}}}`)
		}, fmt.Sprintf(`[{"names":["api.vanity.example"],"servingCertificate":{"name":"theirs"}},{"names":[%q],"servingCertificate":{"name":%q}}]`, apiName, ours), oursApps, "entry 0"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // making keys takes most of the time
			o := newOwned(t)
			test.have(t, o)
			before, theirs := o.specs(), o.api.Get("/api/v1/namespaces/"+config+"theirs")+o.api.Get("/api/v1/namespaces/"+routers+"theirs")
			review, undo := o.move(t)
			if !strings.Contains(review, test.tells) {
				t.Errorf("the review does not tell %q:\n%s", test.tells, review)
			}
			if got := o.api.Get(apiConfig, "spec", "servingCerts", "namedCertificates"); test.entries != "" && got != test.entries {
				t.Errorf("entries are %s\nwant %s", got, test.entries)
			}
			if got := o.api.Get(router, "spec", "defaultCertificate", "name"); got != `"`+test.router+`"` {
				t.Errorf("the router serves %s, want %s", got, test.router)
			}
			served := o.api.Get("/api/v1/namespaces/"+routers+test.router, "data")
			if copied := o.api.Get("/api/v1/namespaces/"+config+oursApps, "data"); served == "" || copied != served {
				t.Error("the console and the login would not show the router's certificate")
			}
			if test.router != oursApps && o.api.Get("/api/v1/namespaces/"+routers+oursApps) != "" {
				t.Error("a certificate that nothing serves was installed")
			}
			undo()
			if now := o.specs(); now != before {
				t.Errorf("not as before:\n%s\n%s", before, now)
			}
			if now := o.api.Get("/api/v1/namespaces/"+config+"theirs") + o.api.Get("/api/v1/namespaces/"+routers+"theirs"); now != theirs {
				t.Error("the owner's secret was changed")
			}
			for _, left := range []string{config + ours, config + oursApps, routers + oursApps} {
				if o.api.Get("/api/v1/namespaces/"+left) != "" {
					t.Errorf("%s is left", left)
				}
			}
		})
	}
}

// A certificate that the site config brings wins over the owner's.
func TestTheSitesCertificateWins(t *testing.T) {
	o := newOwned(t)
	apps := "*." + domain.Apps(newDomain)
	o.secret(t, "openshift-ingress/secrets/theirs", time.Now(), apps)
	o.api.Put(router, `{"spec":{"defaultCertificate":{"name":"theirs"}}}`)
	pair, err := o.ca.Issue([]string{apps}, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	o.site.Spec.IngressCert.Cert, o.site.Spec.IngressCert.Key = string(pair.Cert), site.Secret(pair.Key)
	review, _ := o.move(t)
	if got := o.api.Get(router, "spec", "defaultCertificate", "name"); got != `"`+certs.AppsSecret(newDomain)+`"` || !strings.Contains(review, "Default certificate of the router: secret theirs") {
		t.Errorf("the router serves %s\n%s", got, review)
	}
}

// What the cluster's owner serves elsewhere, or not at all, needs no wait and no question: it has not changed.
func TestOnlyWhatMovesIsProved(t *testing.T) {
	const (
		operatorAPI = "/apis/operator.openshift.io/v1/"
		consoles    = operatorAPI + "consoles/cluster"
		login       = "/apis/config.openshift.io/v1/authentications/cluster"
	)
	status := func(namespace, name, host string) string {
		return fmt.Sprintf(`{"namespace":%q,"name":%q,"currentHostnames":["%s.apps.%s"],"defaultHostname":"x"}`, namespace, name, host, oldDomain)
	}
	stale := status("openshift-console", "console", "console-openshift-console") + "," + status("openshift-console", "downloads", "downloads-openshift-console")
	staleLogin := status("openshift-authentication", "oauth-openshift", "oauth-openshift")
	vanity := `{"namespace":%q,"name":%q,"hostname":"%s.vanity.example","servingCertKeyPairSecret":{"name":"theirs"}}`
	own := fmt.Sprintf(vanity, "openshift-console", "console", "console") + "," + fmt.Sprintf(vanity, "openshift-console", "downloads", "downloads")
	for name, test := range map[string]struct {
		consoles, login, spec, status string
		want                          string
	}{
		"the console lags behind":   {`{"managementState":"Managed"}`, `{}`, "", stale, "REV-LATE"},
		"the login lags behind":     {`{"managementState":"Removed"}`, `{}`, "", staleLogin, "REV-LATE"},
		"the console is removed":    {`{"managementState":"Removed"}`, `{}`, "", stale, "name-api name-apps name-oauth"},
		"an ingress of the owner's": {`{"managementState":"Managed","ingress":{"consoleURL":"https://a.example","clientDownloadsURL":"https://b.example"}}`, `{}`, "", stale, "name-api name-apps name-oauth"},
		"names of the owner's":      {`{"managementState":"Managed"}`, `{}`, own, stale, "name-api name-apps name-oauth"},
		"no login of the cluster's": {`{"managementState":"Removed"}`, `{"type":"OIDC"}`, "", staleLogin, "name-api name-apps"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := newOwned(t)
			o.api.Put(consoles, `{"spec":`+test.consoles+`}`)
			o.api.Put(login, `{"spec":`+test.login+`}`)
			o.api.Put(ingressCfg, `{"spec":{"domain":"apps.`+oldDomain+`","componentRoutes":[`+test.spec+`]},"status":{"componentRoutes":[`+test.status+`]}}`)
			o.api.Put(operatorAPI+"kubeapiservers/cluster", `{"spec":{"managementState":"Managed"},"status":{"latestAvailableRevision":1,"nodeStatuses":[{"nodeName":"node","currentRevision":1}]}}`)
			o.api.Put("/api/v1/namespaces/openshift-kube-apiserver/pods/kube-apiserver-node", `{"metadata":{"labels":{"apiserver":"true","revision":"1"}},"status":{"conditions":[{"type":"Ready","status":"True"}]}}`)
			if err := (&steps.Certificates{Site: o.site}).Run(t.Context(), o.node, newReport()); err != nil {
				t.Fatal(err)
			}
			r := newReport()
			brief := domain.Timeouts{Answer: time.Millisecond, Limit: 50 * time.Millisecond, Grace: time.Second}
			err := (&steps.Rollouts{Site: o.site, Timeouts: brief, Router: "127.0.0.1:1"}).Run(t.Context(), o.node, r)
			asked := strings.Join(slices.Sorted(maps.Keys(r.checks)), " ")
			if p, ok := errors.AsType[*problem.Problem](err); ok && p.Code == "REV-LATE" {
				asked = p.Code
			}
			if asked != test.want {
				t.Errorf("asked for %s, want %s (%v)", asked, test.want, err)
			}
		})
	}
}

// rootCA makes a signer of ten years.
func rootCA(t *testing.T) certs.Pair {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	cert := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "signer"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().AddDate(-5, 0, 0), NotAfter: time.Now().AddDate(5, 0, 0),
	}
	der, err := x509.CreateCertificate(rand.Reader, cert, cert, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	text := func(kind string, b []byte) []byte { return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: b}) }
	return certs.Pair{Cert: text("CERTIFICATE", der), Key: text("PRIVATE KEY", private)}
}
