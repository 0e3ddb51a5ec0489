package report_test

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"touchdown/backend/host/hosttest"
	"touchdown/backend/kube/kubetest"
	"touchdown/backend/report"
)

const config = "/apis/config.openshift.io/v1/"

// looked are the facts of a landed node whose cluster knows it by its internal address.
func looked(t *testing.T, serviceNetwork string) report.Facts {
	t.Helper()
	api, c := kubetest.New(t)
	api.Put(config+"clusterversions/version", `{"kind":"ClusterVersion","apiVersion":"config.openshift.io/v1","spec":{"clusterID":"id"},"status":{"desired":{"version":"4.18.12"}}}`)
	api.Put(config+"infrastructures/cluster", `{"kind":"Infrastructure","apiVersion":"config.openshift.io/v1","status":{"apiServerURL":"https://api.sno.factory.example:6443"}}`)
	api.Put(config+"networks/cluster", fmt.Sprintf(`{"kind":"Network","apiVersion":"config.openshift.io/v1","status":{"serviceNetwork":[%s]}}`, serviceNetwork))
	api.Put("/api/v1/nodes/n", `{"kind":"Node","apiVersion":"v1","status":{"addresses":[{"type":"InternalIP","address":"192.168.127.10"}]}}`)
	closed := "127.0.0.1:1" // no certificates: they are not what is tested
	facts, err := report.Look(t.Context(), hosttest.New(t).Machine, c, "store.example", report.Where{API: closed, Ingress: closed})
	if err != nil {
		t.Fatal(err)
	}
	return facts
}

// TestRecordsLeadToTheSitesAddress: the internal address exists on this node only, so a record of it leads nowhere.
func TestRecordsLeadToTheSitesAddress(t *testing.T) {
	four, six := netip.MustParseAddr("198.51.100.10"), netip.MustParseAddr("2001:db8:51::10")
	const only4, both = `"172.30.0.0/16"`, `"172.30.0.0/16","fd02::/112"`
	for _, c := range []struct {
		what, cluster string
		addresses     []netip.Addr
		err           error
		want, warning string
	}{
		{"IPv4", only4, []netip.Addr{four}, nil, "A 198.51.100.10", ""},
		{"two families", both, []netip.Addr{four, six}, nil, "A 198.51.100.10, AAAA 2001:db8:51::10", ""},
		{"IPv6 only", `"fd02::/112"`, []netip.Addr{six}, nil, "AAAA 2001:db8:51::10", ""},
		{"a site with IPv6, a cluster without", only4, []netip.Addr{four, six}, nil, "A 198.51.100.10", ""},
		{"no common family", only4, []netip.Addr{six}, nil, "", "no site address"},
		{"an unreadable network", only4, nil, errors.New("no NetworkManager"), "", "could not be read"},
	} {
		t.Run(c.what, func(t *testing.T) {
			facts := looked(t, c.cluster)
			facts.Reach(c.addresses, c.err)
			d := report.New(report.Job{}, facts, made)
			for _, name := range []string{"api.store.example", "*.apps.store.example", "api-int.store.example"} {
				var got []string
				for _, r := range d.DNS {
					if r.Name == name {
						got = append(got, r.Type+" "+r.Value)
					}
				}
				if strings.Join(got, ", ") != c.want {
					t.Errorf("%s: the report names %q, want %q", name, got, c.want)
				}
			}
			if text := strings.Join(d.Warnings, "\n"); c.warning == "" && strings.Contains(text, "DNS") || !strings.Contains(text, c.warning) {
				t.Errorf("warnings are %q, want %q", text, c.warning)
			}
			if strings.Contains(string(d.Text()), "192.168.127.10") {
				t.Errorf("the administrator is told the internal address:\n%s", d.Text())
			}
		})
	}
}

func TestRecordsNeedADomain(t *testing.T) {
	if got := report.Records("", []netip.Addr{netip.MustParseAddr("198.51.100.10")}); got == nil || len(got) != 0 {
		t.Errorf("records without a domain: %v", got)
	}
}
