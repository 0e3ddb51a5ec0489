package nodeconfig_test

import (
	"encoding/json"
	"fmt"
	"net/http"
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

// proxyEnv is what the Machine Config Operator's template makes of the cluster's proxy (templates/common/_base/files/etc-mco-proxy.yaml).
func proxyEnv(spec string) (env string) {
	var proxy struct{ HTTPProxy, HTTPSProxy, NoProxy string }
	_ = json.Unmarshal([]byte(spec), &proxy)
	for _, line := range [][2]string{{"HTTP_PROXY=", proxy.HTTPProxy}, {"HTTPS_PROXY=", proxy.HTTPSProxy}, {"NO_PROXY=", proxy.NoProxy}} {
		if line[1] != "" {
			env += line[0] + line[1] + "\n"
		}
	}
	return env
}

// TestACorrectedProxyIsWaitedFor: the pause ends when the operator, which is slow, has rendered the corrected URL; what must not go through
// the proxy is the same as before.
func TestACorrectedProxyIsWaitedFor(t *testing.T) {
	for _, correct := range []func(*nodeconfig.Proxy){
		func(p *nodeconfig.Proxy) { p.HTTP = "http://u:right%21@proxy.example:3128" },
		func(p *nodeconfig.Proxy) { p.HTTPS = "http://proxy.example:3129" },
		func(p *nodeconfig.Proxy) { p.HTTP = "http://u:hunter2@proxy.example:312" }, // the start of the one before
	} {
		o, c := newOperator(t)
		w := site()
		run := func() {
			t.Helper()
			changes, err := nodeconfig.Changes(t.Context(), c, w)
			if err != nil {
				t.Fatal(err)
			}
			if err := batch(c, false).Run(t.Context(), changes); err != nil {
				t.Fatal(err)
			}
		}
		run()
		correct(&w.Proxy)
		after, looks := o.api.After, 0
		o.api.After = func(method, path string) {
			if path != pool {
				return // what is written is not rendered at once
			}
			if o.api.Get(pool, "spec", "paused") == "false" && looks < 9 {
				t.Errorf("%s: the pause ends before the proxy is rendered", w.Proxy.HTTP)
			}
			after(method, path)
		}
		written := false
		o.api.Fault = func(_ http.ResponseWriter, r *http.Request) bool {
			written = written || r.Method != http.MethodGet && strings.HasSuffix(r.URL.Path, "proxies/cluster")
			if written && r.Method == http.MethodGet && r.URL.Path == pool {
				if looks++; looks == 9 {
					o.render(false)
				}
			}
			return false
		}
		run()
	}
}
