package report_test

import (
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"touchdown/backend/host/hosttest"
	"touchdown/backend/kube/kubetest"
	"touchdown/backend/report"
)

// TestNamesForClients: a hosts file gets the names that people use, the console first, and nothing else.
func TestNamesForClients(t *testing.T) {
	api, c := kubetest.New(t)
	seedCluster(api)
	route := func(namespace, name, spec string) {
		api.Put("/apis/route.openshift.io/v1/namespaces/"+namespace+"/routes/"+name, fmt.Sprintf(
			`{"kind":"Route","apiVersion":"route.openshift.io/v1","metadata":{"name":%q,"namespace":%q},%s}`, name, namespace, spec))
	}
	route("shop", "till", `"spec":{"host":"till.apps.store.example"}`)
	route("openshift-authentication", "oauth-openshift", `"spec":{"host":"login.shops.example"}`) // chosen by the owner
	route("openshift-console", "console", `"spec":{"host":"console-openshift-console.apps.store.example"}`)
	route("openshift-console", "old", `"spec":{"host":"console-openshift-console.apps.sno.factory.example"}`)
	route("openshift-ingress-canary", "canary", `"spec":{"subdomain":"canary"},"status":{"ingress":[{"host":"canary.apps.sno.factory.example"}]}`)
	route("shop", "made", `"spec":{"subdomain":"made"},"status":{"ingress":[{"host":"made.apps.store.example"}]}`)
	route("shop", "elsewhere", `"spec":{"host":"bank.example"}`)
	route("shop", "hostile", `"spec":{"host":"x\n203.0.113.1 bank.example.apps.store.example"}`)
	closed := "127.0.0.1:1"
	facts, err := report.Look(t.Context(), hosttest.New(t).Machine, c, "store.example", report.Where{API: closed, Ingress: closed})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"api.store.example", "console-openshift-console.apps.store.example", "login.shops.example", "made.apps.store.example", "till.apps.store.example",
	}
	if slices.Sort(facts.Names[3:]); !slices.Equal(facts.Names, want) {
		t.Errorf("clients are told %q, want %q", facts.Names, want)
	}
	facts.Reach([]netip.Addr{netip.MustParseAddr("198.51.100.10")}, nil)
	d := report.New(report.Job{}, facts, made)
	if len(d.Hosts) != len(want) || d.Hosts[0] != "198.51.100.10 api.store.example" {
		t.Errorf("hosts lines are %q", d.Hosts)
	}
	if text := string(d.Text()); !strings.Contains(text, "NO DNS SERVER") || !strings.Contains(text, "198.51.100.10 till.apps.store.example") {
		t.Errorf("the report does not tell of the hosts lines:\n%s", text)
	}
}

// TestReportOfAnEarlierRelease: it has no file for clients, and is read all the same; one whose file is lost or changed is not.
func TestReportOfAnEarlierRelease(t *testing.T) {
	store := report.Folder{Dir: t.TempDir()}
	if err := store.Save(report.New(job(), facts(), made)); err != nil {
		t.Fatal(err)
	}
	file := func(name string) string { return filepath.Join(store.Dir, name) }
	sums, err := os.ReadFile(file(report.Sums))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file(report.HostsFile), []byte("203.0.113.1 api.store.example\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Open(); err == nil {
		t.Error("a report with other hosts lines is read")
	}
	if err := os.Remove(file(report.HostsFile)); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Open(); err == nil {
		t.Error("a report without its hosts lines is read")
	}
	three, _, _ := strings.Cut(string(sums), "\n"+lastLine(string(sums)))
	if err := os.WriteFile(file(report.Sums), []byte(three+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Open(); err != nil {
		t.Errorf("a report without hosts lines: %v", err)
	}
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	return lines[len(lines)-1]
}

func seedCluster(api *kubetest.API) {
	api.Put(config+"clusterversions/version", `{"kind":"ClusterVersion","apiVersion":"config.openshift.io/v1","spec":{"clusterID":"id"},"status":{"desired":{"version":"4.18.12"}}}`)
	api.Put(config+"infrastructures/cluster", `{"kind":"Infrastructure","apiVersion":"config.openshift.io/v1","status":{"apiServerURL":"https://api.sno.factory.example:6443"}}`)
	api.Put(config+"networks/cluster", `{"kind":"Network","apiVersion":"config.openshift.io/v1","status":{"serviceNetwork":["172.30.0.0/16"]}}`)
	api.Put("/api/v1/nodes/n", `{"kind":"Node","apiVersion":"v1","status":{"addresses":[{"type":"InternalIP","address":"192.168.127.10"}]}}`)
}
