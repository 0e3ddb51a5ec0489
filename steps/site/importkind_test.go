package site

import (
	"slices"
	"strings"
	"testing"
)

// kinds are documents by what a message calls them, with the importer that reads them; "" for none.
func kinds() map[string]struct{ from, doc string } {
	return map[string]struct{ from, doc string }{
		"a SeedReconfiguration":                                              {seedReconfiguration, `{"api_version":1,"base_domain":"example.com","cluster_name":"store"}`},
		"a ClusterRelocation (rhsyseng.github.io/v1beta1)":                   {clusterRelocation, "apiVersion: rhsyseng.github.io/v1beta1\nkind: ClusterRelocation\nmetadata: {name: cluster}\nspec: {domain: store.example.com}\n"},
		"an install-config":                                                  {installConfig, "apiVersion: v1\nmetadata: {name: store}\nbaseDomain: example.com\nplatform: {none: {}}\n"},
		"an AgentConfig (v1beta1)":                                           {agentConfig, "apiVersion: v1beta1\nkind: AgentConfig\nmetadata: {name: store}\nrendezvousIP: 198.51.100.10\n"},
		"a site config of Touchdown already":                                 {"", "apiVersion: touchdown.dev/v1alpha1\nkind: SiteConfig\nspec: {clusterName: store}\n"},
		"a SiteConfig (ran.openshift.io/v1)":                                 {ztpSiteConfig, "apiVersion: ran.openshift.io/v1\nkind: SiteConfig\nspec: {baseDomain: example.com, clusters: [{clusterName: store, nodes: [{hostName: a}]}]}\n"},
		"an ImageBasedConfig (v1beta1)":                                      {imageBasedConfig, "apiVersion: v1beta1\nkind: ImageBasedConfig\nmetadata: {name: store}\n"},
		"an image-based-installation-config":                                 {"", "seedImage: a/b\nseedVersion: 4.18.1\n"},
		"an ImageBasedInstallationConfig (v1beta1)":                          {"", "apiVersion: v1beta1\nkind: ImageBasedInstallationConfig\nsshKey: a\n"},
		"an NMStateConfig (agent-install.openshift.io/v1beta1)":              {nmStateConfig, "apiVersion: agent-install.openshift.io/v1beta1\nkind: NMStateConfig\nspec: {interfaces: []}\n"},
		"a ClusterInstance (siteconfig.open-cluster-management.io/v1alpha1)": {clusterInstance, "apiVersion: siteconfig.open-cluster-management.io/v1alpha1\nkind: ClusterInstance\nspec: {clusterName: store}\n"},
		"an nmstate policy":                                                  {"", "capture: {default-gw: a}\ndesiredState: {interfaces: []}\n"},
		"a Secret (v1)":                                                      {"", "apiVersion: v1\nkind: Secret\nstringData: {a: " + planted + "}\n"},
		"a ConfigMap (v1)":                                                   {"", "apiVersion: v1\nkind: ConfigMap\ndata: {baseDomain: example.com}\n"},
		"a document of another kind":                                         {"", "apiVersion: v1\nkind: not a kind " + planted + "\n"},
		"an nmstate document":                                                {nmstateDocument, "interfaces: []\n"},
		"a document of no known kind":                                        {"", "hello: " + planted + "\n"},
	}
}

// TestImportersRefuseOtherDocuments names every kind for every document: what is not of that kind is called by its name, with the
// --from that fits. Without a kind each is recognised.
func TestImportersRefuseOtherDocuments(t *testing.T) {
	for what, d := range kinds() {
		for _, kind := range append(importKinds, importKind{}) {
			_, _, err := Import([]byte(d.doc), "old", ImportChoice{From: kind.from})
			if d.from != "" && (kind.from == d.from || kind.from == "") {
				if err != nil {
					t.Errorf("--from %q refuses %s: %v", kind.from, what, err)
				}
				continue
			}
			if err == nil {
				t.Errorf("--from %q takes %s for its own", kind.from, what)
				continue
			}
			text, want := err.Error(), "old:1:1: is "+what+", not "+kind.named.String()+"; "
			if kind.from == "" {
				want = "old:1:1: is " + what + ", which cannot be imported; "
			}
			if !strings.HasPrefix(text, want) || strings.Contains(text, planted) {
				t.Errorf("--from %q calls %s: %s", kind.from, what, text)
			}
			if d.from != "" && !strings.HasSuffix(text, "; use --from "+d.from) {
				t.Errorf("--from %q does not say what reads %s: %s", kind.from, what, text)
			}
		}
	}
}

// TestImportersRefuseOtherVersions: a later form may mean something else by the same keys.
func TestImportersRefuseOtherVersions(t *testing.T) {
	for doc, want := range map[string]string{
		"apiVersion: v2\nbaseDomain: example.com\n":                                            "apiVersion: is not v1;",
		"baseDomain: example.com\nmetadata: {name: store}\nreplicas: 1\n":                      "apiVersion: is not v1;", // the values of a Helm chart
		"---\nbaseDomain: example.com\nimageContentSources: [{source: a.b, mirrors: [c.d]}]\n": "apiVersion: is not v1;", // the variables of an Ansible role
		"apiVersion: [v1]\nbaseDomain: example.com\n":                                          "apiVersion: is not v1;",
		"apiVersion: v1beta2\nkind: AgentConfig\n":                                             "apiVersion: is not v1alpha1 or v1beta1;",
		"apiVersion: v1alpha1\nkind: AgentConfig\nspec:\n  nodes: [{hostname: a}]\n":           "spec: is how the first agent-configs were written",
		`{"api_version":2,"cluster_name":"store"}`:                                             "api_version: is not 1,",
		`{"cluster_name":"store"}`:                                                             "api_version: is not 1,",
		"kind: NMStateConfig\nspec: {}\n":                                                      "apiVersion: is not agent-install.openshift.io/v1beta1;",
		"apiVersion: ran.openshift.io/v2\nkind: SiteConfig\nspec: {}\n":                        "apiVersion: is not ran.openshift.io/v1;",
		"apiVersion: rhsyseng.github.io/v2\nkind: ClusterRelocation\nspec: {domain: a.b}":      "apiVersion: is not rhsyseng.github.io/v1beta1;",
	} {
		_, _, err := Import([]byte(doc), "old", ImportChoice{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", doc, err, want)
		}
	}
}

// TestImportersListSeveralDocuments: of several documents that can be imported a person has to choose one.
func TestImportersListSeveralDocuments(t *testing.T) {
	var docs []string
	for _, what := range []string{"a ConfigMap (v1)", "a ClusterRelocation (rhsyseng.github.io/v1beta1)", "an install-config"} {
		docs = append(docs, kinds()[what].doc)
	}
	file := []byte(strings.Join(docs, "---\n"))
	const list = "holds a ConfigMap (v1), a ClusterRelocation (rhsyseng.github.io/v1beta1) (--from cluster-relocation) and an install-config (--from install-config)"
	for from, want := range map[string]string{
		"":                "old:10:1: starts a second document that can be imported; the file " + list,
		agentConfig:       "old:1:1: starts a file without a document to import; it " + list,
		clusterRelocation: "", installConfig: "",
	} {
		_, notes, err := Import(file, "old", ImportChoice{From: from})
		switch {
		case want == "" && err != nil:
			t.Errorf("--from %q: %v", from, err)
		case want == "" && !slices.Contains(notes, "document 1 is left out: it is a ConfigMap (v1), which is not what is imported"):
			t.Errorf("--from %q does not say that it leaves a document out: %s", from, notes)
		case want != "" && (err == nil || !strings.HasPrefix(err.Error(), want)):
			t.Errorf("--from %q: %v", from, err)
		}
	}
	_, _, err := Import([]byte(relocation+"---\n"+relocation), "old", ImportChoice{})
	if err == nil || !strings.HasSuffix(err.Error(), "; copy the one that you want into its own file") {
		t.Errorf("two of one kind: %v", err)
	}
	_, _, err = Import([]byte(strings.Repeat("kind: "+planted+" x\n---\n", maxDocuments)), "old", ImportChoice{})
	if err == nil || strings.Count(err.Error(), "another kind") != maxListed || !strings.Contains(err.Error(), "and 95 more") || strings.Contains(err.Error(), planted) {
		t.Errorf("many documents: %v", err)
	}
	_, _, err = Import([]byte(strings.Repeat("kind: a\n---\n", maxDocuments+1)), "old", ImportChoice{})
	if err == nil || !strings.Contains(err.Error(), "starts document 101, more than the 100 that are read") {
		t.Errorf("more documents than are read: %v", err)
	}
}

// TestSiteConfigsOfOthers: a document that can be imported is called by its name where a site config is expected, one of the same kind too.
func TestSiteConfigsOfOthers(t *testing.T) {
	for what, d := range kinds() {
		_, err := Parse([]byte(d.doc), "old", nil)
		if want := "it looks like " + what + ", which has to be imported"; d.from != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
