package steps

import (
	"testing"
	"time"

	"touchdown/backend"
	"touchdown/backend/host/hosttest"
	"touchdown/steps/site"
)

// TestSiteWithoutATimeServer: the cluster is judged as one that keeps its own time where the site named no time server and DHCP gave none.
// The servers of the installation, which chrony still has, are none of the site's; they are those of a cluster that did not move.
func TestSiteWithoutATimeServer(t *testing.T) {
	for name, c := range map[string]struct {
		typed, leased, laptop, stays bool
		own                          bool
	}{
		"none":             {own: true},
		"typed":            {typed: true},
		"by DHCP":          {leased: true},
		"from a laptop":    {laptop: true},
		"it does not move": {stays: true},
	} {
		m := hosttest.New(t)
		m.File("/etc/chrony.conf", "server ntp.factory.example iburst\nsourcedir /run/chrony-dhcp\n")
		if !c.laptop {
			m.File("/var/lib/kubelet/config.json", "{}")
		}
		if c.leased {
			m.File("/run/chrony-dhcp/br-ex.sources", "server 198.51.100.123 iburst\n")
		}
		h := &Health{Site: site.New()}
		if !c.stays {
			h.Site.Spec.ClusterName, h.Site.Spec.BaseDomain = "store1", "site.example"
		}
		if c.typed {
			h.Site.Spec.AdditionalNTPSources = []string{"198.51.100.123"}
		}
		if o := h.options(&backend.Node{Host: m.Machine, Now: time.Now}); o.OwnTime != c.own {
			t.Errorf("%s: the node keeps its own time: %v", name, o.OwnTime)
		}
	}
}
