package domain_test

import (
	"slices"
	"strings"
	"testing"

	"touchdown/backend/domain"
	"touchdown/backend/kube"
	"touchdown/backend/kube/kubetest"
)

const (
	metadata = "/api/v1/namespaces/openshift-config-managed/configmaps/oauth-openshift"
	oauth    = "/apis/route.openshift.io/v1/namespaces/openshift-authentication/routes/oauth-openshift"
)

func publish(api *kubetest.API, d string) {
	api.Put(metadata, `{"data":{"oauthMetadata":"{\"issuer\":\"https://oauth-openshift.apps.`+d+`/\"}"}}`)
}

// The names are put back in the order of the move, with the wait for the login's host between the same two writes; also where the step
// had run twice with other answers, and a second undo writes nothing.
func TestNamesArePutBackInTheOrderOfAMove(t *testing.T) {
	api, c, n := plain(t)
	api.Put(oauth, `{"spec":{"host":"oauth-openshift.apps.`+old+`"}}`)
	api.Put(ingress, `{"spec":{"domain":"apps.`+old+`"}}`)
	before := api.Get(ingress, "spec") + api.Get(configAPI+"apiservers/cluster", "spec") + api.Get(defaultIC, "spec")
	var saved [][]byte
	save := func(_ kube.Ref, b []byte) error { saved = append(saved, b); return nil }
	for _, d := range []string{"first.example", site} {
		n.Domain = d
		n.APISecret, n.AppsSecret = "touchdown-api-"+d, "touchdown-apps-"+d
		publish(api, d)
		put(t, api, domain.ConfigNamespace, n.APISecret, domain.API(d))
		for _, ns := range []string{domain.ConfigNamespace, domain.RouterNamespace} {
			put(t, api, ns, n.AppsSecret, "*."+domain.Apps(d))
		}
		_, err := domain.Apply(t.Context(), c, n, save)
		fatal(t, err)
	}
	api.Changes()
	var waited []string // what was written before the wait
	c = c.WithProgress(func(p kube.Progress) {
		if strings.HasPrefix(p.Waiting.String(), "the login to take the host oauth-openshift.apps."+old) && waited == nil {
			waited = api.Changes()
			publish(api, old)
		}
	})
	fatal(t, domain.Restore(t.Context(), c, saved))
	if got := api.Get(ingress, "spec") + api.Get(configAPI+"apiservers/cluster", "spec") + api.Get(defaultIC, "spec"); got != before {
		t.Errorf("not as before:\n%s\n%s", before, got)
	}
	var order []string
	for _, change := range append(slices.Clone(waited), api.Changes()...) {
		at := strings.Split(change, "/")
		order = append(order, at[len(at)-2])
	}
	if got := strings.Join(slices.Compact(order), " "); got != "ingresses apiservers ingresscontrollers" {
		t.Error(got)
	}
	if got := strings.Join(waited, " "); !strings.Contains(got, "ingresses") || strings.Contains(got, "apiservers") {
		t.Errorf("written before the login's host was there: %v", waited)
	}
	fatal(t, domain.Restore(t.Context(), c, saved)) // cut off at its end, and again
	if again := api.Changes(); len(again) > 0 {
		t.Errorf("a second undo writes: %v", again)
	}
}
