package steps_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"touchdown/backend/check"
	"touchdown/steps"
	"touchdown/steps/site"
)

// The requests that the step csrs leaves alone do not fail the step health, in which they still wait.
func TestHealthWaitsForNoRequestOfOthers(t *testing.T) {
	o := newOwned(t)
	o.api.Put("/apis/certificates.k8s.io/v1/certificatesigningrequests/csr-worker",
		`{"metadata":{"creationTimestamp":"2026-01-01T00:00:00Z"},"spec":{"signerName":"kubernetes.io/kubelet-serving","username":"system:node:worker"}}`)
	o.api.Fault = func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path != "/readyz" {
			return false
		}
		_, _ = w.Write([]byte("ok"))
		return true
	}
	checks := (&steps.Health{Site: site.New()}).Look(t.Context(), o.node)
	i := slices.IndexFunc(checks, func(c check.Check) bool { return c.ID == "csrs" })
	if i < 0 || checks[i].Status != check.Warn || !strings.Contains(checks[i].Observed.String(), "csr-worker") {
		t.Errorf("%+v", checks)
	}
}
