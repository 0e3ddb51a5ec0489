package domain_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"touchdown/backend/certs"
	"touchdown/backend/domain"
	"touchdown/backend/kube/kubetest"
	"touchdown/backend/nodeconfig"
	"touchdown/test/wait"
)

// An operator tells nothing new until it has its lease, which nodeconfig waits for too.
func TestNoWaitIsShorterThanAnOperatorsLease(t *testing.T) {
	least, p := nodeconfig.Usual().Render, domain.Usual()
	for name, length := range map[string]time.Duration{"Notice": p.Notice, "Limit": p.Limit, "Grace": p.Grace, "Answer": p.Answer} {
		if length < least {
			t.Errorf("%s is %s, less than %s", name, length, least)
		}
	}
}

// The API of a cluster that starts is away for longer than a single call waits for it.
func TestNoticedOutlastsAStart(t *testing.T) {
	api, c := kubetest.New(t)
	c.Pace.Limit = time.Nanosecond
	api.Put("/apis/config.openshift.io/v1/apiservers/cluster", `{"spec":{}}`)
	api.Put("/apis/operator.openshift.io/v1/kubeapiservers/cluster", `{"status":{"latestAvailableRevision":1,"nodeStatuses":[{"nodeName":"node","currentRevision":1}]}}`)
	api.Put("/apis/operator.openshift.io/v1/namespaces/openshift-ingress-operator/ingresscontrollers/default", `{}`)
	away := 5
	api.Fault = func(w http.ResponseWriter, _ *http.Request) bool {
		away--
		return away >= 0 && kubetest.Refuse(w, http.StatusServiceUnavailable, "ServiceUnavailable", "starting")
	}
	if err := domain.Noticed(t.Context(), c, domain.Timeouts{Notice: wait.Timeout(0)}); err != nil {
		t.Error(err)
	}
}

// A page that starts answers late, whatever the operators take to notice.
func TestProveOutlastsAStart(t *testing.T) {
	looks := 0
	page := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if looks++; looks < 4 {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	t.Cleanup(page.Close)
	_, c := kubetest.New(t)
	proof := domain.Proof{
		ID: "page", Name: "example.com", Address: strings.TrimPrefix(page.URL, "https://"), Path: "/",
		Fingerprint: certs.Fingerprint(page.Certificate()),
	}
	checks, err := domain.Prove(t.Context(), c, []domain.Proof{proof}, time.Now, domain.Timeouts{Answer: wait.Timeout(0)})
	if err != nil || len(checks) != 1 || looks != 4 {
		t.Errorf("%v after %d looks: %v", checks, looks, err)
	}
}
