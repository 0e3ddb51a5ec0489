package domain_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"touchdown/backend/domain"
	"touchdown/backend/kube"
	"touchdown/backend/kube/kubetest"
)

const old, site = "sno.factory.example", "store1.site.example"

// putRoute stores a route; one without a host has a subdomain.
func putRoute(api *kubetest.API, path, host, meta, status string) {
	ns, name, _ := strings.Cut(path, "/")
	spec := fmt.Sprintf(`"host":%q`, host)
	if host == "" {
		spec = fmt.Sprintf(`"subdomain":%q`, name)
	}
	api.Put("/apis/route.openshift.io/v1/namespaces/"+ns+"/routes/"+name,
		fmt.Sprintf(`{"apiVersion":"route.openshift.io/v1","kind":"Route","metadata":{%s},"spec":{%s,"to":{"kind":"Service","name":"x"}},"status":{%s}}`, meta, spec, status))
}

// served is the status of a route with a subdomain.
func served(name string) string {
	return fmt.Sprintf(`"ingress":[{"routerName":"default","host":"%s.apps.%s"}]`, name, old)
}

const chosen = `"annotations":{"openshift.io/host.generated":"true"}`

func TestRouteKinds(t *testing.T) {
	api, c := kubetest.New(t)
	now := domain.Now{Factory: old, OldApps: "apps." + old, Domain: old}
	other := `"ingress":[{"routerName":"edge"}]`
	for path, test := range map[string]struct {
		host, meta, status string
		want               domain.Kind
	}{
		"openshift-console/console":                {"console-openshift-console.apps." + old, chosen, "", domain.Moved},
		"openshift-console/downloads":              {"downloads.vanity.example", "", "", domain.Moved}, // edited by hand: its operator's business
		"openshift-console/mine":                   {"mine.apps." + old, "", "", domain.Moved},
		"openshift-authentication/oauth-openshift": {"oauth-openshift.apps." + old, "", "", domain.Moved},
		"open-cluster-management-agent-addon/x":    {"x.apps." + old, chosen, "", domain.Moved},
		"openshift-ingress-canary/canary":          {"", "", served("canary"), domain.Moved},
		"openshift-ingress-canary/other":           {"canary.apps." + old, chosen, "", domain.Moved},
		"plant/subdomain":                          {"", "", served("sub"), domain.Bound},
		"plant/subdomain-not-served":               {"", "", "", domain.Bound},
		"plant/subdomain-elsewhere":                {"", "", other, domain.Moved},
		"openshift-monitoring/thanos-querier":      {"t.apps." + old, "", "", domain.Owned},
		"openshift-monitoring/prometheus-k8s":      {"prometheus.vanity.example", "", "", domain.Custom},
		"openshift-image-registry/default-route":   {"r.apps." + old, chosen, "", domain.Owned},
		"openshift-image-registry/own":             {"registry.apps." + old, "", "", domain.Custom},
		"plant/generated":                          {"generated-plant.apps." + old, chosen, "", domain.Generated},
		"plant/portal":                             {"portal.plant.example", "", "", domain.Custom},
		"plant/vanity-below-old":                   {"shop.apps." + old, "", "", domain.Custom},
		"plant/says-not-generated":                 {"shop.apps." + old, `"annotations":{"openshift.io/host.generated":"false"}`, "", domain.Custom},
		"plant/looks-like-ours":                    {"x.myapps." + site, "", "", domain.Custom},
		"plant/moved":                              {"x.apps." + site, chosen, "", domain.Fine},
		"plant/edge":                               {"x.apps." + old, chosen, other, domain.Moved},
		"plant/both":                               {"x.apps." + old, chosen, `"ingress":[{"routerName":"edge"},{"routerName":"default"}]`, domain.Generated},
		"team/operand":                             {"x.apps." + old, chosen + `,"ownerReferences":[{"kind":"X","name":"x","apiVersion":"v1","uid":"1"}]`, "", domain.Owned},
		"openshift-storage/noobaa-mgmt":            {"n.apps." + old, chosen, "", domain.Owned},
	} {
		putRoute(api, path, test.host, test.meta, test.status)
		routes, err := domain.Routes(t.Context(), c, now, site)
		if err != nil || len(routes) != 1 || routes[0].Kind != test.want {
			t.Errorf("%s: %v %v, want %s", path, routes, err, test.want)
		}
		ns, name, _ := strings.Cut(path, "/")
		api.Drop("/apis/route.openshift.io/v1/namespaces/" + ns + "/routes/" + name)
	}
}

// A route with a subdomain stays where the router serves it: it is listed with that host, and Touchdown never touches it or waits for it.
func TestResetLeavesBoundRoutes(t *testing.T) {
	api, c := kubetest.New(t)
	now := domain.Now{Factory: old, OldApps: "apps." + old, Domain: site}
	putRoute(api, "openshift-ingress-canary/canary", "", "", served("canary"))
	putRoute(api, "plant/shop", "", chosen, served("shop"))
	routes, err := domain.Routes(t.Context(), c, now, site)
	fatal(t, err)
	if len(routes) != 2 || routes[0].Host != "canary.apps."+old || routes[1].Host != "shop.apps."+old {
		t.Errorf("listed as %v", routes)
	}
	api.Changes()
	reset, err := domain.Reset(t.Context(), c, routes, nil, func(kube.Ref, []byte) error { return nil })
	if changes := api.Changes(); err != nil || len(reset) > 0 || len(changes) > 0 {
		t.Errorf("%v %v %v", reset, changes, err)
	}
}

// An operator's route whose operator is gone is made again by us; a power cut between delete and create loses nothing.
func TestResetLosesNothing(t *testing.T) {
	api, c := kubetest.New(t)
	now := domain.Now{Factory: old, OldApps: "apps." + old, Domain: old}
	putRoute(api, "openshift-gone/orphan", "orphan.apps."+old, chosen, "")
	putRoute(api, "plant/shop", "shop.apps."+old, chosen, "")
	var saved [][]byte
	save := func(_ kube.Ref, b []byte) error { saved = append(saved, b); return nil }
	api.Fault = func(w http.ResponseWriter, r *http.Request) bool {
		return r.Method == http.MethodPost && kubetest.Refuse(w, 403, "Forbidden", "the power went")
	}
	routes, err := domain.Routes(t.Context(), c, now, site)
	fatal(t, err)
	if _, err := domain.Reset(t.Context(), c, routes, nil, save); err == nil {
		t.Fatal("no power cut")
	}
	api.Fault = nil
	routes, err = domain.Routes(t.Context(), c, now, site)
	fatal(t, err)
	_, err = domain.Reset(t.Context(), c, routes, saved, save)
	fatal(t, err)
	for _, path := range []string{"openshift-gone/routes/orphan", "plant/routes/shop"} {
		spec := api.Get("/apis/route.openshift.io/v1/namespaces/"+path, "spec")
		if spec == "" || strings.Contains(spec, "host") {
			t.Errorf("%s: %q", path, spec)
		}
	}
	api.Changes()
	routes, err = domain.Routes(t.Context(), c, now, site)
	fatal(t, err)
	_, err = domain.Reset(t.Context(), c, routes, saved, save)
	fatal(t, err)
	if changes := api.Changes(); len(changes) > 0 || len(saved) != 2 {
		t.Error(changes, len(saved))
	}
}

// A route that was saved, and whose deletion the power cut prevented, is deleted by the next try; one that its operator made
// again with its old host is left to it.
func TestResetDeletesWhatItOnlySaved(t *testing.T) {
	api, c := kubetest.New(t)
	now := domain.Now{Factory: old, OldApps: "apps." + old, Domain: old}
	const path = "/apis/route.openshift.io/v1/namespaces/openshift-monitoring/routes/prometheus-k8s-federate"
	back := func() {
		putRoute(api, "openshift-monitoring/prometheus-k8s-federate", "federate.apps."+old, chosen, "")
	}
	back()
	var saved [][]byte
	save := func(_ kube.Ref, b []byte) error { saved = append(saved, b); return nil }
	reset := func() ([]domain.Route, error) {
		routes, err := domain.Routes(t.Context(), c, now, site)
		fatal(t, err)
		return domain.Reset(t.Context(), c, routes, saved, save)
	}
	api.Fault = func(w http.ResponseWriter, r *http.Request) bool {
		return r.Method == http.MethodDelete && kubetest.Refuse(w, 403, "Forbidden", "the power went")
	}
	if _, err := reset(); err == nil || len(saved) != 1 {
		t.Fatal("no power cut behind the saving:", err, len(saved))
	}
	api.Fault = nil
	if did, err := reset(); err != nil || len(did) != 1 || strings.Contains(api.Get(path, "spec"), "host") {
		t.Errorf("not moved after the cut: %v %v %s", did, err, api.Get(path, "spec"))
	}
	api.Drop(path)
	back()
	if did, err := reset(); err != nil || len(did) != 0 || !strings.Contains(api.Get(path, "spec"), "host") {
		t.Errorf("its operator's answer is not taken: %v %v %s", did, err, api.Get(path, "spec"))
	}
}
