package health

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"touchdown/backend/check"
)

func TestPodsWayOut(t *testing.T) {
	for name, c := range map[string]struct {
		annotation string
		want       check.Status
	}{
		"the site's address":               {`{"default":{"mode":"shared","ip-addresses":["198.51.100.10/24"],"next-hops":["198.51.100.1"]}}`, check.Pass},
		"both families":                    {`{"default":{"mode":"shared","ip-addresses":["198.51.100.10/24","2001:db8::5/64"],"next-hops":["198.51.100.1","fe80::1"]}}`, check.Pass},
		"the site uses the same address":   {`{"default":{"mode":"shared","ip-addresses":["192.168.127.10/24"],"next-hops":["192.168.127.1"]}}`, check.Pass},
		"local mode":                       {`{"default":{"mode":"local","ip-addresses":["192.168.127.10/32"],"next-hops":["198.51.100.1"]}}`, check.Pass},
		"the node's own":                   {`{"default":{"mode":"shared","ip-addresses":["192.168.127.10/32"],"next-hops":["198.51.100.1"]}}`, check.Fail},
		"the installation's, with network": {`{"default":{"mode":"shared","ip-addresses":["192.168.127.10/24"],"next-hops":["198.51.100.1"]}}`, check.Fail},
		"no gateway":                       {`{"default":{"mode":"shared","ip-addresses":["198.51.100.10/24"],"next-hops":[]}}`, check.Pass},
		"a router for IPv6 alone":          {`{"default":{"mode":"shared","ip-addresses":["198.51.100.10/24","2001:db8::5/64"],"next-hops":["fe80::1"]}}`, check.Pass},
		"no JSON":                          {`]`, check.Fail},
		"another network":                  {"", check.Skip},
	} {
		s := &State{Nodes: []corev1.Node{{ObjectMeta: metav1.ObjectMeta{Name: "n"}}}}
		if c.annotation != "" {
			s.Nodes[0].Annotations = map[string]string{gatewayConfig: c.annotation}
		}
		got := judgeGateway(s)
		if got.Status != c.want || got.Status == check.Fail && (got.Fix.String() == "" || strings.Contains(got.Observed.String(), "]]")) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
