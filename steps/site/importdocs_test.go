package site

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

const relocation = "apiVersion: rhsyseng.github.io/v1beta1\nkind: ClusterRelocation\nmetadata: {name: cluster}\nspec:\n  domain: store.example.com\n"

// aSecret is a Secret; values are lines below data.
func aSecret(name, typ, values string) string {
	return "---\napiVersion: v1\nkind: Secret\nmetadata: {name: " + name + ", namespace: site}\ntype: " + typ + "\ndata:\n" + values
}

// TestImportTakesSecrets: a relocation is often written with its Secrets in one file.
func TestImportTakesSecrets(t *testing.T) {
	server := issue(t, "api.store.example.com", nil, ecKey(t), nil)
	key := pkcs8(t, server.key)
	doc := relocation + "  apiCertRef: {name: api, namespace: site}\n  ingressCertRef: {name: apps, more: x}\n  pullSecretRef: {name: pull, namespace: site}\n" +
		"  acmRegistration: {url: 'https://hub.example.com:6443', clusterName: store, acmSecret: {name: acm, namespace: site}}\n" +
		aSecret("api", "kubernetes.io/tls", "  tls.crt: "+b64(server.pem)+"\n  tls.key: "+b64(key)+"\n  more: "+b64(planted)+"\n") +
		aSecret("apps", "kubernetes.io/tls", "  tls.crt: "+b64("old")+"\n  tls.key: |\n    "+b64(key)[:60]+"\n    "+b64(key)[60:]+"\nstringData: {tls.crt: "+`"`+strings.ReplaceAll(server.pem, "\n", `\n`)+`"`+"}\n") +
		aSecret("pull", "kubernetes.io/dockerconfigjson", "  .dockerconfigjson: "+b64(`{"auths":{"r.example.com":{"username":"u","password":"p"}}}`)+"\n") +
		aSecret("acm", "Opaque", "  token: "+b64(planted)+"\n") +
		strings.Replace(aSecret("pull", "Opaque", "  a: b\n"), "namespace: site", "namespace: other", 1)
	config, notes, err := Import([]byte(doc), "doc", ImportChoice{})
	if err != nil {
		t.Fatal(err)
	}
	spec := config.Spec
	if spec.APICert.Cert != server.pem || string(spec.APICert.Key) != key || spec.IngressCert.Cert != server.pem || string(spec.IngressCert.Key) != key {
		t.Errorf("certificates: %q, %q", spec.APICert.Cert, spec.IngressCert.Cert)
	}
	if string(spec.PullSecret) != `{"auths":{"r.example.com":{"username":"u","password":"p"}}}` {
		t.Errorf("pull secret: %d bytes", len(spec.PullSecret))
	}
	for _, want := range []string{
		"spec.pullSecretRef is taken from document 4",
		"document 2.data.tls.crt is now spec.apiCert.cert",
		"document 3.stringData.tls.crt is now spec.ingressCert.cert",
		"spec.ingressCertRef.more is left out: this release has nothing for it",
		"document 3.data.tls.crt is left out: this release has nothing for it",
		"document 2.data.more is left out: this release has nothing for it",
		"spec.acmRegistration is left out: give the import manifest of the hub as spec.manifests",
		"document 5 is left out: it is a Secret (v1), which is not what is imported",
		"document 6 is left out: it is a Secret (v1), which is not what is imported",
	} {
		if !slices.Contains(notes, want) {
			t.Errorf("no note %q in\n%s", want, strings.Join(notes, "\n"))
		}
	}
	everyLeafIsTold(t, "a relocation with its Secrets", []byte(doc), notes)
	if text := strings.Join(notes, "\n"); strings.Contains(text, planted) || strings.Contains(text, b64(planted)) {
		t.Error("a secret is in the notes")
	}
}

// TestImportRefusesSecrets says which Secret is wrong, where and what to do.
func TestImportRefusesSecrets(t *testing.T) {
	ref := relocation + "  pullSecretRef: {name: pull, namespace: site}\n"
	good := aSecret("pull", "kubernetes.io/dockerconfigjson", "  .dockerconfigjson: "+b64("{}")+"\n")
	for doc, want := range map[string]string{
		ref + aSecret("pull", "Opaque", "  a: b\n"):                                                      "doc:11:7: document 2.type: is not kubernetes.io/dockerconfigjson, which spec.pullSecretRef needs; write type: kubernetes.io/dockerconfigjson",
		ref + aSecret("pull", "kubernetes.io/dockerconfigjson", "  a: b\n"):                              "doc:8:1: document 2: has no .dockerconfigjson, which spec.pullSecretRef needs; add .dockerconfigjson to data, in base64, or to stringData",
		ref + aSecret("pull", "kubernetes.io/dockerconfigjson", "  .dockerconfigjson: '"+planted+"!'\n"): "doc:13:22: document 2.data.dockerconfigjson: is not base64; encode it with base64, or put it under stringData",
		ref + aSecret("pull", "kubernetes.io/dockerconfigjson", "  .dockerconfigjson: [a]\n"):            "doc:13:22: document 2.data.dockerconfigjson: is a list where one value is expected; write one value",
		ref + good + good: "doc:15:1: document 3: is the second Secret that spec.pullSecretRef may mean; the first is in line 8; keep the one that is meant",
	} {
		want = strings.Replace(want, "data.dockerconfigjson", "data..dockerconfigjson", 1)
		_, _, err := Import([]byte(doc), "doc", ImportChoice{})
		if err == nil || err.Error() != want {
			t.Errorf("%v\nwant %s\nof\n%s", err, want, doc)
		}
	}
}

// TestImportJudgesOnlyWhatItTakes: what is not allowed in a document does not matter in its neighbours, which are not even walked.
func TestImportJudgesOnlyWhatItTakes(t *testing.T) {
	main := relocation + "  pullSecretRef: {name: pull}\n"
	pull := aSecret("pull", "kubernetes.io/dockerconfigjson", "  .dockerconfigjson: "+b64("{}")+"\n")
	deep := "a: " + strings.Repeat("[", 200) + strings.Repeat("]", 200) + "\n"
	for other, is := range map[string]string{
		"kind: ConfigMap\ndata: &d {a: b}\nmore: *d\n":                         "a ConfigMap",
		"kind: ConfigMap\ndata: !x {a: b}\n":                                   "a ConfigMap",
		"kind: ConfigMap\na: b\na: c\n":                                        "a ConfigMap",
		"kind: ConfigMap\n" + deep:                                             "a ConfigMap",
		"- " + planted + "\n":                                                  "a document of no known kind",
		strings.TrimPrefix(aSecret("other", "Opaque", "  a: &x b\n"), "---\n"): "a Secret (v1)",
	} {
		doc := []byte(main + pull + "---\n" + other)
		_, notes, err := Import(doc, "doc", ImportChoice{})
		if want := "document 3 is left out: it is " + is + ", which is not what is imported"; err != nil || !slices.Contains(notes, want) {
			t.Errorf("%v, want %q in\n%s", err, want, strings.Join(notes, "\n"))
		}
	}
	for doc, want := range map[string]string{
		main + strings.Replace(pull, "data:\n", "more: &x y\ndata:\n", 1): "doc:12:7: has an anchor",
		main + "status: {a: b, a: c}\n" + pull:                            "doc:7:16: has a key twice",
		"- a\n":                                                           "doc:1:1: is a list where keys and values are expected; check that it is the right file",
	} {
		if _, _, err := Import([]byte(doc), "doc", ImportChoice{}); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %s of\n%s", err, want, doc)
		}
	}
}

// TestImportOfATextWithoutNetwork: a text that is a document itself is told by its parts, also where none of them is taken.
func TestImportOfATextWithoutNetwork(t *testing.T) {
	for text, want := range map[string]string{
		"ovs-db: {a: b}": "raw_nm_state_config.ovs-db is left out: it changes what belongs to the cluster itself",
		"hello: there":   "raw_nm_state_config.hello is left out: this release has nothing for it",
		"{}":             "raw_nm_state_config is left out: it is empty",
	} {
		doc := []byte(`{"api_version": 1, "base_domain": "example.com", "raw_nm_state_config": "` + text + `"}`)
		_, notes, err := Import(doc, "doc", ImportChoice{})
		if err != nil || !slices.Contains(notes, want) || strings.Contains(strings.Join(notes, "\n"), "not what is imported") {
			t.Errorf("%v, want %q in\n%s", err, want, strings.Join(notes, "\n"))
		}
	}
}

// TestImportOfDirectivesInCapitals: chrony does not tell capitals from small letters (chrony.conf(5)).
func TestImportOfDirectivesInCapitals(t *testing.T) {
	doc := `{"api_version": 1, "base_domain": "example.com", "chrony_config": "Server a.example iburst\nPOOL b.example\n#server c.example\nDriftFile /x\n"}`
	cfg, notes, err := Import([]byte(doc), "doc", ImportChoice{})
	if err != nil || !slices.Equal(cfg.Spec.AdditionalNTPSources, []string{"a.example", "b.example"}) {
		t.Errorf("%v, %q, %q", err, cfg.Spec.AdditionalNTPSources, notes)
	}
}

// TestImportOneNode chooses among the nodes of several clusters.
func TestImportOneNode(t *testing.T) {
	doc := "apiVersion: ran.openshift.io/v1\nkind: SiteConfig\nspec:\n  baseDomain: example.com\n  clusters:\n" +
		"  - {clusterName: one, nodes: [{hostName: a}, {hostName: b}]}\n  - {clusterName: two, nodes: [{hostName: a}, {role: master}]}\n"
	for node, want := range map[string]string{
		"b": "one.example.com b", "one/a": "one.example.com a", "two/a": "two.example.com a", "two/#2": "two.example.com ",
		"":       "doc:6:32: spec.clusters[0].nodes: describes 4 nodes: ",
		"a":      "doc:6:32: spec.clusters[0].nodes: describes 2 nodes called \"a\"; use one of these for --node: \"one/#1\" and \"two/#1\"",
		"one/#2": "one.example.com b", "two/#1": "two.example.com a",
		"c\n": "doc:6:32: spec.clusters[0].nodes: does not describe \"c\\n\", only \"a\", \"b\", \"a\" and \"#2\"; ",
	} {
		config, _, err := Import([]byte(doc), "doc", ImportChoice{Node: node})
		if err != nil {
			if !strings.HasPrefix(err.Error(), want) {
				t.Errorf("--node %q: %v, want %s", node, err, want)
			}
			continue
		}
		if got := config.Domain() + " " + config.Spec.Hostname; got != want {
			t.Errorf("--node %q: %s, want %s", node, got, want)
		}
	}
	instance := "apiVersion: siteconfig.open-cluster-management.io/v1alpha1\nkind: ClusterInstance\n" +
		"spec: {baseDomain: example.com, clusterName: one, nodes: [{hostName: a}, {hostName: b}, {hostName: a, nodeNetwork: {config: {interfaces: [{name: x}]}}}]}\n"
	for node, want := range map[string]string{"one/b": "b", "#1": "a", "#2": "b", "one/#3": "a interfaces: [{name: x}]"} {
		config, _, err := Import([]byte(instance), "doc", ImportChoice{Node: node})
		if err != nil || strings.TrimSpace(config.Spec.Hostname+" "+string(config.Spec.NetworkConfig)) != want {
			t.Errorf("--node %s of a ClusterInstance: %v", node, err)
		}
	}
	if _, _, err := Import([]byte(instance), "doc", ImportChoice{Node: "a"}); err == nil || !strings.HasSuffix(err.Error(), `; use one of these for --node: "one/#1" and "one/#3"`) {
		t.Errorf("two nodes of one name: %v", err)
	}
	for _, doc := range []string{relocation, "kind: AgentConfig\nhosts: []\n"} {
		if _, _, err := Import([]byte(doc), "doc", ImportChoice{Node: "a"}); err == nil || !strings.Contains(err.Error(), "describes no nodes by name; leave --node out") {
			t.Errorf("--node for a document without nodes: %v", err)
		}
	}
}

// TestImportOfSeveralHosts: what an agent-config or install-config says about all hosts is imported without a choice.
func TestImportOfSeveralHosts(t *testing.T) {
	for doc, hosts := range map[string]string{
		"kind: AgentConfig\nmetadata: {name: store}\nhosts: [{hostname: a}, {hostname: b}]\n":                                              "hosts",
		"apiVersion: v1\nbaseDomain: example.com\nmetadata: {name: store}\nplatform: {baremetal: {hosts: [{name: a}, {name: b, x: y}]}}\n": "platform.baremetal.hosts",
	} {
		config, notes, err := Import([]byte(doc), "doc", ImportChoice{})
		if err != nil || config.Spec.ClusterName != "store" || config.Spec.Hostname != "" {
			t.Errorf("%v of %s", err, doc)
			continue
		}
		if want := hosts + " is left out: it describes 2 nodes; --node NAME takes one"; !slices.Contains(notes, want) {
			t.Errorf("no note %q in\n%s", want, strings.Join(notes, "\n"))
		}
		everyLeafIsTold(t, doc, []byte(doc), notes)
		if _, _, err := Import([]byte(doc), "doc", ImportChoice{Node: "c"}); err == nil || !strings.Contains(err.Error(), "does not describe") {
			t.Errorf("--node c: %v", err)
		}
	}
}

// TestImportOfSeveralNetworks: an agent-config is for the networks of its hosts, so of several one has to be named: a site config without it
// would land by DHCP.
func TestImportOfSeveralNetworks(t *testing.T) {
	const doc = "kind: AgentConfig\nmetadata: {name: store}\nhosts:\n- {hostname: a, networkConfig: {interfaces: [{name: eno1, type: ethernet, state: up, ipv4: {enabled: true, dhcp: true}}]}}\n- {hostname: b}\n"
	if _, _, err := Import([]byte(doc), "doc", ImportChoice{}); err == nil || !strings.Contains(err.Error(), `describes 2 nodes: "a" and "b"; say which one this node is: --node NAME`) {
		t.Errorf("without a name: %v", err)
	}
	if config, _, err := Import([]byte(doc), "doc", ImportChoice{Node: "a"}); err != nil || !strings.Contains(string(config.Spec.NetworkConfig), "eno1") {
		t.Errorf("--node a: %v", err)
	}
}

// TestImportOfAClusterWithoutNodes: the values of the only cluster need no node.
func TestImportOfAClusterWithoutNodes(t *testing.T) {
	doc := "apiVersion: ran.openshift.io/v1\nkind: SiteConfig\nspec: {baseDomain: example.com, clusters: [{clusterName: one, additionalNTPSources: [ntp.example.com]}%s]}\n"
	for more, want := range map[string]string{"": "one.example.com", ", {clusterName: two}": ".example.com"} {
		config, notes, err := Import(fmt.Appendf(nil, doc, more), "doc", ImportChoice{})
		if err != nil || config.Spec.ClusterName+"."+config.Spec.BaseDomain != want {
			t.Errorf("%v, want %s of\n%s", err, want, strings.Join(notes, "\n"))
		}
	}
}

// TestImportTellsHowMuchIsLeftOut: notes without end help nobody, but none is dropped without a word.
func TestImportTellsHowMuchIsLeftOut(t *testing.T) {
	var doc strings.Builder
	doc.WriteString("apiVersion: v1\nbaseDomain: example.com\n")
	const keys = maxLeftOut + 50
	for i := range keys {
		doc.WriteString("a" + strings.Repeat("b", i%20) + string(rune('a'+i%26)) + string(rune('a'+i/26)) + ": x\n")
	}
	_, notes, err := Import([]byte(doc.String()), "doc", ImportChoice{})
	if err != nil {
		t.Fatal(err)
	}
	if last := notes[len(notes)-1]; len(notes) != maxLeftOut+2 || last != "50 more values are left out: the notes above name the first 200" {
		t.Errorf("%d notes, the last one is %q", len(notes), last)
	}
}

// TestImportOfADeepDocument: a document may be nested, but not without end, and no text in it.
func TestImportOfADeepDocument(t *testing.T) {
	nested := func(levels int) string { // the root is one more
		return strings.Repeat("{role: b, a: ", levels) + "x" + strings.Repeat("}", levels)
	}
	_, notes, err := Import([]byte("{apiVersion: v1, baseDomain: example.com, a: "+nested(maxDepth-1)+"}"), "doc", ImportChoice{})
	if err != nil || !slices.Contains(notes, strings.Repeat("a.", maxDepth-1)+"a is left out: this release has nothing for it") {
		t.Errorf("%v: %s", err, strings.Join(notes, "\n"))
	}
	for doc, want := range map[string]string{
		"{baseDomain: example.com, a: " + nested(maxDepth) + "}":                            "doc:1:1318: is nested more than 100 levels deep; check that it is the right file",
		"{baseDomain: example.com, a: " + nested(3000) + "}":                                "doc:1:1318: is nested more than 100 levels deep; check that it is the right file",
		`{"api_version": 1, "raw_nm_state_config": "interfaces: ` + nested(maxDepth) + `"}`: "doc:1:43: raw_nm_state_config: is nested more than 100 levels deep; check that it is the right file",
	} {
		if _, _, err := Import([]byte(doc), "doc", ImportChoice{}); err == nil || err.Error() != want {
			t.Errorf("%v\nwant %s", err, want)
		}
	}
}

// FuzzImport holds that any text is refused with a place, or imported into a site config that can be written, with no value left out
// without a word.
func FuzzImport(f *testing.F) {
	for _, d := range kinds() {
		f.Add([]byte(d.doc), "")
	}
	f.Add([]byte(relocation+"  pullSecretRef: {name: pull}\n"+aSecret("pull", "kubernetes.io/dockerconfigjson", "  .dockerconfigjson: e30=\n")), "a")
	f.Fuzz(func(t *testing.T, data []byte, node string) {
		start := time.Now()
		config, notes, err := Import(data, "doc", ImportChoice{Node: node})
		if took := time.Since(start); took > time.Minute {
			t.Fatalf("took %v", took)
		}
		if err != nil {
			var errs Errors
			if !errors.As(err, &errs) || len(errs) == 0 {
				t.Fatalf("no mistake in %v", err)
			}
			for _, e := range errs {
				if e.File == "" || e.Msg.String() == "" || e.Line == 0 && len(data) <= maxDocument {
					t.Fatalf("no place: %#v", e)
				}
			}
			return
		}
		if len(notes) > 2*maxLeftOut {
			t.Fatalf("%d notes", len(notes))
		}
		if len(notes) < maxLeftOut {
			everyLeafIsTold(t, "fuzz", data, notes)
		}
		config.Validate(today())
		if _, err := config.Marshal(false); err != nil {
			t.Fatal(err)
		}
	})
}
