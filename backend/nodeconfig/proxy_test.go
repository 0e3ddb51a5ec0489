package nodeconfig_test

import (
	"fmt"
	"strings"
	"testing"

	"touchdown/backend/kube"
	"touchdown/backend/kube/kubetest"
	"touchdown/backend/nodeconfig"
)

// A proxy that the cluster has already is merged: what the site leaves out stays, nobody's password is shown, and undo brings every
// byte back.
func TestAProxyOfTheOwners(t *testing.T) {
	const proxies, bundle = conf + "proxies/cluster", "/api/v1/namespaces/openshift-config/configmaps/corp-ca"
	ours := nodeconfig.Proxy{HTTP: "http://u:hunter2@proxy.site.example:3128", NoProxy: []string{"192.168.127.0/24", ".store.example"}}
	for name, test := range map[string]struct{ has, want, old string }{
		"none":              {`{"trustedCA":{"name":""}}`, `"httpProxy":"http://u:hunter2@proxy.site.example:3128","noProxy":"192.168.127.0/24,.store.example"`, ""},
		"one for all":       {`{"httpProxy":"http://a:secret@corp:3128","httpsProxy":"http://a:secret@corp:3129","noProxy":".corp, 10.0.0.0/8","readinessEndpoints":["http://r.corp"],"trustedCA":{"name":"corp-ca"}}`, `"httpProxy":"http://u:hunter2@proxy.site.example:3128","httpsProxy":"http://a:secret@corp:3129","noProxy":".corp,10.0.0.0/8,192.168.127.0/24,.store.example","readinessEndpoints":["http://r.corp"],"trustedCA":{"name":"corp-ca"}`, "http://xxxxx@corp:3128, http://xxxxx@corp:3129"},
		"one for nothing":   {`{"httpProxy":"http://corp:3128","noProxy":"*"}`, `"noProxy":"*"`, "http://corp:3128"},
		"one without http:": {`{"httpProxy":"a:secret@corp:3128"}`, `"httpProxy":"http://u:hunter2@proxy.site.example:3128"`, "<a URL that cannot be read>"},
		"a URL in pieces":   {`{"httpProxy":"//a:secret@corp:3128 x"}`, `"httpProxy":"http://u:hunter2@proxy.site.example:3128"`, "<a URL that cannot be read>"},
	} {
		t.Run(name, func(t *testing.T) {
			api, c := kubetest.New(t)
			api.Put(proxies, `{"spec":`+test.has+`}`)
			api.Put(bundle, `{"data":{"ca-bundle.crt":"# corporate\n"}}`)
			before := api.Get(proxies, "spec") + api.Get(bundle, "data")
			var saved [][]byte
			write := func() (shown string, pending int) {
				t.Helper()
				changes, err := nodeconfig.Changes(t.Context(), c, nodeconfig.Want{Proxy: ours, Trust: []string{pemText(t, "site")}})
				if err != nil {
					t.Fatal(err)
				}
				for _, ch := range changes {
					shown += fmt.Sprintf("%s: %s -> %s\n", ch.What, ch.Old, ch.New)
				}
				for _, ch := range nodeconfig.Pending(changes) {
					pending++
					if _, err := ch.Write(t.Context(), c, func(_ kube.Ref, b []byte) error { saved = append(saved, b); return nil }); err != nil {
						t.Fatal(err)
					}
				}
				return shown, pending
			}
			shown, _ := write()
			if strings.Contains(shown, "secret") || strings.Contains(shown, "hunter2") || !strings.Contains(shown, "Proxy: "+test.old+" -> http://xxxxx@proxy.site.example:3128") {
				t.Errorf("shown is\n%s", shown)
			}
			if got := api.Get(proxies, "spec"); !strings.Contains(got, test.want) {
				t.Errorf("%s\nlacks %s", got, test.want)
			}
			if strings.Contains(test.has, "corp-ca") && !strings.HasPrefix(api.Get(bundle, "data"), `{"ca-bundle.crt":"# corporate\n-----BEGIN`) {
				t.Errorf("the bundle is %s", api.Get(bundle, "data"))
			}
			if _, pending := write(); pending != 0 {
				t.Errorf("written, and %d still pending", pending)
			}
			for i := len(saved) - 1; i >= 0; i-- {
				if _, err := c.Restore(t.Context(), saved[i]); err != nil {
					t.Fatal(err)
				}
			}
			if now := api.Get(proxies, "spec") + api.Get(bundle, "data"); now != before {
				t.Errorf("not as before:\n%s\n%s", before, now)
			}
		})
	}
}
