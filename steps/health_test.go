package steps_test

import (
	"crypto/tls"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"touchdown/backend/check"
	"touchdown/backend/domain"
	"touchdown/backend/report"
	"touchdown/steps"
)

// TestHealthLooksAtWhatTheOwnerKeeps: a console host and an API certificate that the cluster's owner chose are not a fault in a single look
// either.
func TestHealthLooksAtWhatTheOwnerKeeps(t *testing.T) {
	const vanity = "console.vanity.example"
	o := newOwned(t)
	pair, err := o.ca.Issue([]string{domain.API(newDomain)}, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	served, err := tls.X509KeyPair(pair.Cert, pair.Key)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.TLS = &tls.Config{Certificates: []tls.Certificate{served}}
	server.StartTLS()
	t.Cleanup(server.Close)
	o.api.Put("/api/v1/namespaces/openshift-config/secrets/theirs", tlsSecret(t, pair))
	named := fmt.Sprintf(`{"names":[%q],"servingCertificate":{"name":"theirs"}}`, domain.API(newDomain))
	route := fmt.Sprintf(`{"namespace":"openshift-console","name":"console","hostname":%q,"servingCertKeyPairSecret":{"name":"theirs"}}`, vanity)
	o.api.Fault = func(w http.ResponseWriter, r *http.Request) bool {
		answer := ""
		switch r.URL.Path {
		case "/readyz":
			answer = "ok"
		case "/apis/route.openshift.io/v1/routes":
			answer = `{"kind":"RouteList","apiVersion":"route.openshift.io/v1","metadata":{},"items":[{"metadata":{"namespace":"openshift-console","name":"console"},
				"spec":{"host":"` + vanity + `"},"status":{"ingress":[{"host":"` + vanity + `","conditions":[{"type":"Admitted","status":"True"}]}]}}]}`
		default:
			return false
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(answer))
		return true
	}
	h := &steps.Health{Site: o.site, At: report.Where{Ingress: "127.0.0.1:1", API: server.Listener.Addr().String()}}
	for _, owns := range []bool{false, true} {
		want := check.Fail
		if owns {
			want = check.Pass
			o.api.Put(apiConfig, `{"spec":{"servingCerts":{"namedCertificates":[`+named+`]}}}`)
			o.api.Put(ingressCfg, `{"spec":{"domain":"apps.`+oldDomain+`","componentRoutes":[`+route+`]}}`)
		}
		checks := h.Look(t.Context(), o.node)
		for _, id := range []string{"routes", "cert-api-new"} {
			i := slices.IndexFunc(checks, func(c check.Check) bool { return c.ID == id })
			if i < 0 {
				t.Fatalf("%s was not checked", id)
			}
			if checks[i].Status != want {
				t.Errorf("the owner chose it: %v; %s is %+v", owns, id, checks[i])
			}
		}
	}
	asked := map[string]int{}
	for _, request := range o.api.Requests() {
		asked[request]++
		if !strings.HasPrefix(request, "GET ") {
			t.Errorf("a look sent %s", request)
		}
	}
	if wide, narrow := asked["GET /apis/apps/v1/deployments"], asked["GET /api/v1/pods"]; wide != 1 || narrow != 2 {
		t.Errorf("two looks read the Deployments %d times and the pods %d times", wide, narrow)
	}
}
