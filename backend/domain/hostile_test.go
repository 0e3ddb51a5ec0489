package domain_test

import (
	"fmt"
	"strings"
	"testing"

	"touchdown/backend/certs"
	"touchdown/backend/domain"
	"touchdown/backend/kube"
	"touchdown/backend/kube/kubetest"
)

const (
	configAPI   = "/apis/config.openshift.io/v1/"
	operatorAPI = "/apis/operator.openshift.io/v1/"
	ingress     = configAPI + "ingresses/cluster"
	defaultIC   = operatorAPI + "namespaces/openshift-ingress-operator/ingresscontrollers/default"
	operators   = "/apis/apps/v1/namespaces/openshift-%s-operator/deployments/%s-operator"
)

// plain is a cluster whose operators are all managed, and the names that it shall get.
func plain(t *testing.T) (*kubetest.API, *kube.Cluster, domain.Names) {
	t.Helper()
	api, c := kubetest.New(t)
	api.Put(configAPI+"apiservers/cluster", `{"spec":{}}`)
	api.Put(configAPI+"dnses/cluster", `{"spec":{"baseDomain":"`+old+`"}}`)
	api.Put(ingress, `{"spec":{"domain":"apps.`+old+`"}}`)
	api.Put(defaultIC, `{"spec":{}}`)
	for _, kind := range []string{"openshiftapiservers", "kubecontrollermanagers", "kubeapiservers", "consoles", "authentications"} {
		api.Put(operatorAPI+kind+"/cluster", `{"spec":{"managementState":"Managed"}}`)
	}
	for _, name := range []string{"ingress", "console", "kube-apiserver"} {
		api.Put(fmt.Sprintf(operators, name, name), `{"spec":{"replicas":1}}`)
	}
	n := domain.Names{Domain: site, APISecret: certs.APISecret(site), AppsSecret: certs.AppsSecret(site), Ours: certs.Ours}
	return api, c, n
}

// An operator that rolls nothing out is told before anything is written, and how its owner can start it again.
func TestOperatorsThatRollNothingOut(t *testing.T) {
	const unmanaged = `{"spec":{"overrides":[{"kind":"Deployment","group":"apps","namespace":"openshift-%s-operator","name":"%s-operator","unmanaged":true}]}}`
	state := func(kind, state string) map[string]string {
		return map[string]string{operatorAPI + kind + "/cluster": `{"spec":{"managementState":"` + state + `"}}`}
	}
	deployment := fmt.Sprintf(operators, "kube-apiserver", "kube-apiserver")
	override := configAPI + "clusterversions/version"
	for name, test := range map[string]struct {
		put        map[string]string // "" drops
		code, says string
	}{
		"all managed":                {nil, "", ""},
		"API server forced":          {state("kubeapiservers", "Force"), "CVR-STTE", `operator kube-apiserver is not managed (managementState "Force")`},
		"API server without a state": {map[string]string{operatorAPI + "kubeapiservers/cluster": `{"spec":{}}`}, "CVR-STTE", "kube-apiserver"},
		"login unmanaged":            {state("authentications", "Unmanaged"), "CVR-STTE", "authentication"},
		"login removed":              {state("authentications", "Removed"), "CVR-STTE", "authentication"},
		"console unmanaged":          {state("consoles", "Unmanaged"), "CVR-STTE", "console"},
		"console removed":            {state("consoles", "Removed"), "", ""},
		"no console":                 {map[string]string{operatorAPI + "consoles/cluster": "", fmt.Sprintf(operators, "console", "console"): ""}, "", ""},
		"operator scaled down":       {map[string]string{deployment: `{"spec":{"replicas":0}}`}, "CVR-REST", "kube-apiserver-operator has 0 replicas"},
		"scaled down for good": {map[string]string{
			deployment: `{"spec":{"replicas":0}}`, override: fmt.Sprintf(unmanaged, "kube-apiserver", "kube-apiserver"),
		}, "CVR-REST", "spec.overrides"},
		"deleted for good":           {map[string]string{deployment: "", override: fmt.Sprintf(unmanaged, "kube-apiserver", "kube-apiserver")}, "CVR-REST", "was deleted"},
		"overridden, and running":    {map[string]string{override: fmt.Sprintf(unmanaged, "kube-apiserver", "kube-apiserver")}, "", ""},
		"no longer overridden":       {map[string]string{deployment: "", override: strings.Replace(fmt.Sprintf(unmanaged, "kube-apiserver", "kube-apiserver"), "true", "false", 1)}, "", ""},
		"router's operator stopped":  {map[string]string{fmt.Sprintf(operators, "ingress", "ingress"): `{"spec":{"replicas":0}}`}, "CVR-REST", "operator ingress does not run"},
		"removed console's, stopped": {map[string]string{operatorAPI + "consoles/cluster": `{"spec":{"managementState":"Removed"}}`, fmt.Sprintf(operators, "console", "console"): `{"spec":{"replicas":0}}`}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			api, c, n := plain(t)
			for path, object := range test.put {
				if object == "" {
					api.Drop(path)
					continue
				}
				api.Put(path, object)
			}
			_, err := n.Fits(t.Context(), c)
			if code(err) != test.code || err != nil && (!strings.Contains(err.Error(), test.says) || !domain.Refuses(err)) {
				t.Errorf("%v", err)
			}
			if changes := api.Changes(); len(changes) > 0 {
				t.Errorf("something was written: %v", changes)
			}
		})
	}
}

// A router that would not take the new hosts is told before anything is written.
func TestAShardedRouter(t *testing.T) {
	const labelled = "/api/v1/namespaces/openshift-"
	for name, test := range map[string]struct {
		spec string
		put  map[string]string
		says string
	}{
		"takes all":                    {`{}`, nil, ""},
		"empty selectors":              {`{"namespaceSelector":{},"routeSelector":{}}`, nil, ""},
		"moved to other machines":      {`{"nodePlacement":{"nodeSelector":{"matchLabels":{"x":"y"}}},"domain":"apps.other.example"}`, nil, ""},
		"only some namespaces":         {`{"namespaceSelector":{"matchLabels":{"shard":"a"}}}`, nil, "its spec.namespaceSelector (shard=a) does not choose the route of console"},
		"namespaces, the console's in": {`{"namespaceSelector":{"matchLabels":{"shard":"a"}}}`, map[string]string{labelled + "console": `{"metadata":{"labels":{"shard":"a"}}}`}, "the route of oauth-openshift"},
		"namespaces, all in": {`{"namespaceSelector":{"matchLabels":{"shard":"a"}}}`, map[string]string{
			labelled + "console": `{"metadata":{"labels":{"shard":"a"}}}`, labelled + "authentication": `{"metadata":{"labels":{"shard":"a"}}}`,
		}, ""},
		"all but the shard's routes": {`{"routeSelector":{"matchExpressions":[{"key":"shard","operator":"NotIn","values":["b"]}]}}`, nil, ""},
		// The label that an owner put on the route of now is not on the one that the console's operator makes for the new host.
		"routes by a label put by hand": {`{"routeSelector":{"matchLabels":{"shard":"a"}}}`, map[string]string{
			"/apis/route.openshift.io/v1/namespaces/openshift-console/routes/console": `{"metadata":{"labels":{"shard":"a","app":"console"}},"spec":{}}`,
		}, "spec.routeSelector (shard=a) does not choose the route of console"},
		"without a console": {`{"routeSelector":{"matchLabels":{"app":"oauth-openshift"}}}`, map[string]string{operatorAPI + "consoles/cluster": `{"spec":{"managementState":"Removed"}}`}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			api, c, n := plain(t)
			api.Put(defaultIC, `{"spec":`+test.spec+`}`)
			for path, object := range test.put {
				api.Put(path, object)
			}
			_, err := n.Fits(t.Context(), c)
			want := ""
			if test.says != "" {
				want = "RTR-SHRD"
			}
			if code(err) != want || err != nil && (!strings.Contains(err.Error(), test.says) || !domain.Refuses(err)) {
				t.Errorf("%v", err)
			}
			if changes := api.Changes(); len(changes) > 0 {
				t.Errorf("something was written: %v", changes)
			}
		})
	}
}

// A proxy that would be asked for the new hosts is told before anything is written; what the site brings gets the exceptions.
func TestAProxyOfTheFactory(t *testing.T) {
	const there = `"httpsProxy":"http://proxy.plant.example:3128"`
	for name, test := range map[string]struct {
		status  string
		proxied bool
		code    string
	}{
		"none":                      {``, false, ""},
		"for plain HTTP alone":      {`"httpProxy":"http://proxy.plant.example:3128"`, false, ""},
		"exceptions of the factory": {there + `,"noProxy":".cluster.local,.svc,.` + old + `,api-int.` + old + `"`, false, "PRX-NAME"},
		"no exceptions":             {there, false, "PRX-NAME"},
		"the new domain":            {there + `,"noProxy":".svc,.` + site + `"`, false, ""},
		"above the new domain":      {there + `,"noProxy":"site.example"`, false, ""},
		"everything":                {there + `,"noProxy":"*"`, false, ""},
		"the console's host alone":  {there + `,"noProxy":"` + domain.Console(site) + `"`, false, "PRX-NAME"},
		"the site brings one":       {there, true, ""},
		"a URL that is none":        {`"httpsProxy":"http://%zz"`, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			api, c, n := plain(t)
			api.Put(configAPI+"proxies/cluster", `{"status":{`+test.status+`}}`)
			n.Proxied = test.proxied
			_, err := n.Fits(t.Context(), c)
			if code(err) != test.code || err != nil && (!strings.Contains(err.Error(), "do not have ."+site) || !domain.Refuses(err)) {
				t.Errorf("%v", err)
			}
			if changes := api.Changes(); len(changes) > 0 {
				t.Errorf("something was written: %v", changes)
			}
		})
	}
}

// What the cluster's owner chose for the console and the login survives; what lies below the domain that is left behind moves.
func TestHostsOfTheOwner(t *testing.T) {
	entry := func(namespace, name, host, secret string) string {
		return fmt.Sprintf(`{"hostname":%q,"labels":{"a":"b"},"name":%q,"namespace":%q,"servingCertKeyPairSecret":{"name":%q}}`, host, name, namespace, secret)
	}
	ours := func(namespace, name, host string) string {
		return fmt.Sprintf(`{"hostname":"%s.apps.%s","name":%q,"namespace":%q,"servingCertKeyPairSecret":{"name":%q}}`, host, site, name, namespace, certs.AppsSecret(site))
	}
	const ns = "openshift-console"
	console := ours(ns, "console", "console-openshift-console")
	withLabels := strings.Replace(console, `"name"`, `"labels":{"a":"b"},"name"`, 1)
	downloads := ours(ns, "downloads", "downloads-openshift-console")
	oauth := ours("openshift-authentication", "oauth-openshift", "oauth-openshift")
	vanity := entry(ns, "console", "console.vanity.example", "vanity")
	legacy := `{"spec":{"managementState":"Managed","route":{"hostname":"%s","secret":{"name":"vanity"}}}}`
	for name, test := range map[string]struct {
		spec, consoles string   // of the cluster
		want           []string // the entries
		host           domain.Host
	}{
		"nothing chosen":                 {``, "", []string{console, downloads, oauth}, domain.Host{Name: domain.Console(site)}},
		"a name of the owner's":          {vanity, "", []string{vanity, downloads, oauth}, domain.Host{Name: "console.vanity.example", Owner: true}},
		"one below the old domain":       {entry(ns, "console", "console.apps."+old, "theirs"), "", []string{withLabels, downloads, oauth}, domain.Host{Name: domain.Console(site), Old: "console.apps." + old}},
		"one below the new domain":       {entry(ns, "console", "console.apps."+site, "theirs"), "", []string{entry(ns, "console", "console.apps."+site, "theirs"), downloads, oauth}, domain.Host{Name: "console.apps." + site, Owner: true}},
		"the new name, by the owner":     {entry(ns, "console", domain.Console(site), "theirs"), "", []string{entry(ns, "console", domain.Console(site), "theirs"), downloads, oauth}, domain.Host{Name: domain.Console(site), Owner: true}},
		"ours, from an earlier move":     {entry(ns, "console", "console-openshift-console.apps.first.example", certs.AppsSecret("first.example")), "", []string{withLabels, downloads, oauth}, domain.Host{Name: domain.Console(site)}},
		"told to the console's operator": {``, fmt.Sprintf(legacy, "console.vanity.example"), []string{downloads, oauth}, domain.Host{Name: "console.vanity.example", Owner: true}},
		"told so, below the old domain":  {``, fmt.Sprintf(legacy, "console.apps."+old), []string{console, downloads, oauth}, domain.Host{Name: domain.Console(site), Old: "console.apps." + old}},
		"removed, with a name":           {vanity, `{"spec":{"managementState":"Removed"}}`, []string{vanity, downloads, oauth}, domain.Host{Name: "console.vanity.example", Owner: true, Absent: true}},
		"served by an own ingress":       {``, `{"spec":{"managementState":"Managed","ingress":{"consoleURL":"https://console.vanity.example"}}}`, []string{console, downloads, oauth}, domain.Host{Name: domain.Console(site), Absent: true}},
	} {
		t.Run(name, func(t *testing.T) {
			api, c, n := plain(t)
			api.Put(ingress, `{"spec":{"domain":"apps.`+old+`","componentRoutes":[`+test.spec+`]}}`)
			before := api.Get(ingress, "spec")
			if test.consoles != "" {
				api.Put(operatorAPI+"consoles/cluster", test.consoles)
			}
			secrets(t, api, n)
			hosts, err := n.Hosts(t.Context(), c)
			if err != nil || hosts.Console() != test.host {
				t.Errorf("%+v %v", hosts.Console(), err)
			}
			var saved [][]byte
			save := func(_ kube.Ref, b []byte) error { saved = append(saved, b); return nil }
			for range 2 { // again after a power cut
				_, err = domain.Apply(t.Context(), c, n, save)
				fatal(t, err)
				if got := api.Get(ingress, "spec", "componentRoutes"); got != "["+strings.Join(test.want, ",")+"]" {
					t.Errorf("%s\nwant %s", got, test.want)
				}
			}
			for i := len(saved) - 1; i >= 0; i-- {
				_, err := c.Restore(t.Context(), saved[i])
				fatal(t, err)
			}
			if got := api.Get(ingress, "spec"); got != before {
				t.Errorf("not as before:\n%s\n%s", before, got)
			}
		})
	}
}

// secrets stores certificates for the new names.
func secrets(t *testing.T, api *kubetest.API, n domain.Names) {
	t.Helper()
	put(t, api, domain.ConfigNamespace, n.APISecret, domain.API(site))
	for _, ns := range []string{domain.ConfigNamespace, domain.RouterNamespace} {
		put(t, api, ns, n.AppsSecret, "*."+domain.Apps(site))
	}
}
