package steps_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"touchdown/backend/host/hosttest"
	"touchdown/backend/kube/kubetest"
	"touchdown/steps"
	"touchdown/steps/site"
)

// half tells whether a step says that something is half done.
func half(t *testing.T, s steps.Abandoner, report steps.Report) bool {
	t.Helper()
	what, err := s.Half(report)
	if err != nil {
		t.Fatal(err)
	}
	return what.String() != ""
}

// TestRoutesLeftOutBetweenDeletionAndReturn: the route of an application comes back, with an address that the cluster chooses, and is not
// forgotten until then. One that has its new address keeps it.
func TestRoutesLeftOutBetweenDeletionAndReturn(t *testing.T) {
	const route = "/apis/route.openshift.io/v1/namespaces/plant/routes/generated"
	api, c := kubetest.New(t)
	api.Put("/apis/config.openshift.io/v1/dnses/cluster", `{"spec":{"baseDomain":"sno.factory.example"}}`)
	api.Put("/apis/config.openshift.io/v1/ingresses/cluster", `{"spec":{"domain":"apps.sno.factory.example","appsDomain":"apps.shop.site.example"}}`)
	api.Put(route, `{"apiVersion":"route.openshift.io/v1","kind":"Route","metadata":{"annotations":{"openshift.io/host.generated":"true"}},
		"spec":{"host":"generated-plant.apps.sno.factory.example","to":{"kind":"Service","name":"x"}},"status":{}}`)
	cfg := site.New()
	cfg.Metadata.Name, cfg.Spec.ClusterName, cfg.Spec.BaseDomain = "n", "shop", "site.example"
	m, report := hosttest.New(t), newReport()
	s := &steps.Routes{Site: cfg}
	if half(t, s, report) {
		t.Error("half done before it began")
	}
	ctx, fails := context.WithCancel(t.Context())
	api.After = func(method, path string) {
		if method == http.MethodDelete {
			fails()
		}
	}
	if err := s.Run(ctx, node(m, c), report); err == nil {
		t.Fatal("it ended well")
	}
	if api.Get(route) != "" || !half(t, s, report) {
		t.Fatalf("the route is %q, half %v", api.Get(route), half(t, s, report))
	}
	api.After = nil
	cfg.Spec.ClusterName, cfg.Spec.BaseDomain = "", ""
	if err := s.Abandon(t.Context(), node(m, c), report); err != nil {
		t.Fatal(err)
	}
	if api.Get(route) == "" || api.Get(route, "spec", "host") != "" || half(t, s, report) {
		t.Errorf("the route is %s, half %v", api.Get(route), half(t, s, report))
	}
	api.Put(route, `{"apiVersion":"route.openshift.io/v1","kind":"Route","spec":{"host":"generated-plant.apps.shop.site.example","to":{"kind":"Service","name":"x"}},"status":{}}`)
	if err := s.Abandon(t.Context(), node(m, c), report); err != nil {
		t.Fatal(err)
	}
	if got := api.Get(route, "spec", "host"); !strings.Contains(got, "shop.site.example") {
		t.Errorf("the route has its new address no more: %s", got)
	}
}

// TestNetworkSettingsThatAreNotDecided are half done, and those that were kept or put back are not.
func TestNetworkSettingsThatAreNotDecided(t *testing.T) {
	s, report := &steps.Network{}, newReport()
	for _, trial := range []string{"", "trying", "kept", "trying", "back"} {
		if trial != "" {
			if err := report.Note("trial", []byte(`{"state":"`+trial+`"}`)); err != nil {
				t.Fatal(err)
			}
		}
		if got := half(t, s, report); got != (trial == "trying") {
			t.Errorf("%q: half done %v", trial, got)
		}
	}
}

// TestHostnameLeftOutAfterTheNodeLeft: the node is let in again under the name that the machine has, with its labels.
func TestHostnameLeftOutAfterTheNodeLeft(t *testing.T) {
	for _, set := range []bool{false, true} {
		m := hosttest.New(t)
		api, c := kubetest.New(t)
		m.File("/var/lib/kubelet/x", "")
		m.File("/etc/hostname", "old\n")
		api.Put("/api/v1/nodes/old", `{"metadata":{"labels":{"site":"store1"}}}`)
		m.OnFunc("hostnamectl hostname", func(argv []string, _ []byte) (string, error) {
			if !set {
				return "", errors.New("cut off")
			}
			m.File("/etc/hostname", argv[2]+"\n")
			m.File("/proc/sys/kernel/hostname", argv[2]+"\n")
			return "", nil
		})
		cfg := site.New()
		cfg.Spec.Policy.AllowHostnameChange, cfg.Spec.Hostname = true, "new"
		s, report := &steps.Hostname{Site: cfg, Limit: time.Second}, newReport()
		if half(t, s, report) {
			t.Error("half done before it began")
		}
		if err := s.Run(t.Context(), node(m, c), report); err == nil || !half(t, s, report) {
			t.Fatalf("Run: %v", err)
		}
		cfg.Spec.Hostname = "" // the person leaves it out
		if _, reboot := errors.AsType[*steps.Reboot](s.Abandon(t.Context(), node(m, c), report)); !reboot {
			t.Fatal("no reboot, although the kubelet is stopped")
		}
		m.Boot()
		pki(t, m)
		name := map[bool]string{false: "old", true: "new"}[set]
		api.Put("/api/v1/nodes/"+name, `{"metadata":{"labels":{}},"status":{"conditions":[{"type":"Ready","status":"True","lastHeartbeatTime":"`+time.Now().UTC().Format(time.RFC3339)+`"}]}}`)
		for range 2 {
			if err := s.Abandon(t.Context(), node(m, c), report); err != nil {
				t.Fatal(err)
			}
			if got := api.Get("/api/v1/nodes/"+name, "metadata", "labels", "site"); got != `"store1"` || half(t, s, report) {
				t.Errorf("the label of %s is %s, half %v", name, got, half(t, s, report))
			}
		}
	}
}
