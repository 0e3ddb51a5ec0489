package site

import (
	"slices"
	"strings"
	"testing"
)

type importFunc = func([]byte, string) (*Config, []string, error)

func allImporters() map[string]importFunc {
	return map[string]importFunc{
		SeedReconfiguration: FromSeedReconfiguration, ClusterRelocation: FromClusterRelocation,
		InstallConfig: FromInstallConfig, AgentConfig: FromAgentConfig,
	}
}

// kinds are documents by what a message calls them, with the importer that reads them; "" for none.
func kinds() map[string]struct{ from, doc string } {
	return map[string]struct{ from, doc string }{
		"a SeedReconfiguration":                            {SeedReconfiguration, `{"api_version":1,"base_domain":"example.com","cluster_name":"store"}`},
		"a ClusterRelocation (rhsyseng.github.io/v1beta1)": {ClusterRelocation, "apiVersion: rhsyseng.github.io/v1beta1\nkind: ClusterRelocation\nmetadata: {name: cluster}\nspec: {domain: store.example.com}\n"},
		"an install-config":                                {InstallConfig, "apiVersion: v1\nmetadata: {name: store}\nbaseDomain: example.com\nplatform: {none: {}}\n"},
		"an agent-config":                                  {AgentConfig, "apiVersion: v1beta1\nkind: AgentConfig\nmetadata: {name: store}\nrendezvousIP: 198.51.100.10\n"},
		"a site config of Touchdown already":               {"", "apiVersion: touchdown.dev/v1alpha1\nkind: SiteConfig\nspec: {clusterName: store}\n"},
		"a SiteConfig (ran.openshift.io/v1)":               {"", "apiVersion: ran.openshift.io/v1\nkind: SiteConfig\nspec: {baseDomain: example.com}\n"},
		"an ImageBasedConfig (v1beta1)":                    {"", "apiVersion: v1beta1\nkind: ImageBasedConfig\nmetadata: {name: store}\n"},
		"a ConfigMap (v1)":                                 {"", "apiVersion: v1\nkind: ConfigMap\ndata: {baseDomain: example.com}\n"},
		"a document of another kind":                       {"", "apiVersion: v1\nkind: not a kind " + planted + "\n"},
		"an nmstate document":                              {"", "interfaces: []\n"},
		"a document of no known kind":                      {"", "hello: " + planted + "\n"},
	}
}

// TestImportersRefuseOtherDocuments gives every importer every document: what it cannot read it names, with the --from that fits.
func TestImportersRefuseOtherDocuments(t *testing.T) {
	for what, d := range kinds() {
		for from, read := range allImporters() {
			config, _, err := read([]byte(d.doc), "old")
			if d.from == from {
				if err != nil || config.Spec.ClusterName != "store" {
					t.Errorf("--from %s refuses %s: %v", from, what, err)
				}
				continue
			}
			if err == nil {
				t.Errorf("--from %s takes %s for its own: cluster name %q", from, what, config.Spec.ClusterName)
				continue
			}
			text := err.Error()
			if !strings.HasPrefix(text, "old:1:1: is "+what+", not "+named(from)+"; ") || strings.Contains(text, planted) {
				t.Errorf("--from %s calls %s: %s", from, what, text)
			}
			if d.from != "" && !strings.HasSuffix(text, "; use --from "+d.from) {
				t.Errorf("--from %s does not say what reads %s: %s", from, what, text)
			}
		}
	}
}

// TestImportersRefuseOtherVersions: a later form may mean something else by the same keys.
func TestImportersRefuseOtherVersions(t *testing.T) {
	for doc, want := range map[string]string{
		"apiVersion: v2\nbaseDomain: example.com\n":                                       "apiVersion: is not v1;",
		"apiVersion: [v1]\nbaseDomain: example.com\n":                                     "apiVersion: is not v1;",
		"apiVersion: v1beta2\nkind: AgentConfig\n":                                        "apiVersion: is not v1alpha1 or v1beta1;",
		"apiVersion: v1alpha1\nkind: AgentConfig\nspec:\n  nodes: [{hostname: a}]\n":      "spec: is how the first agent-configs were written",
		`{"api_version":2,"cluster_name":"store"}`:                                        "api_version: is not 1,",
		`{"cluster_name":"store"}`:                                                        "api_version: is not 1,",
		"apiVersion: rhsyseng.github.io/v2\nkind: ClusterRelocation\nspec: {domain: a.b}": "apiVersion: is not rhsyseng.github.io/v1beta1;",
	} {
		root, bad := document([]byte(doc), "old")
		if bad != nil {
			t.Fatal(bad)
		}
		_, _, err := allImporters()[shapeOf(root).from]([]byte(doc), "old")
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", doc, err, want)
		}
	}
}

// TestImportersListSeveralDocuments: a relocation is often written with its Secrets in one file.
func TestImportersListSeveralDocuments(t *testing.T) {
	var docs, names []string
	for _, what := range []string{"a ConfigMap (v1)", "a ClusterRelocation (rhsyseng.github.io/v1beta1)", "an install-config"} {
		docs = append(docs, kinds()[what].doc)
		names = append(names, what)
	}
	for from, read := range allImporters() {
		_, _, err := read([]byte(strings.Join(docs, "---\n")), "old")
		if err == nil {
			t.Fatalf("--from %s takes three documents", from)
		}
		text := err.Error()
		if !strings.HasPrefix(text, "old:4:1: starts a second document; only one can be imported, and the file holds ") || strings.Contains(text, "example.com") {
			t.Errorf("--from %s: %s", from, text)
		}
		for _, want := range append(slices.Clone(names), "(--from cluster-relocation)", "(--from install-config)") {
			if !strings.Contains(text, want) {
				t.Errorf("--from %s: %q is not in %s", from, want, text)
			}
		}
	}
	_, _, err := FromAgentConfig([]byte(strings.Repeat("kind: "+planted+" x\n---\n", 100)), "old")
	if err == nil || strings.Count(err.Error(), "another kind") != maxListed || strings.Contains(err.Error(), planted) {
		t.Errorf("many documents: %v", err)
	}
}
