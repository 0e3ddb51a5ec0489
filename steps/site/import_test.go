package site

import (
	"fmt"
	"strings"
	"testing"
)

func TestImport(t *testing.T) {
	pull := `{\"auths\":{\"q.io\":{\"username\":\"u\",\"password\":\"` + planted + `\"}}}`
	type importer = func([]byte, string) (*Config, []string, error)
	cases := []struct {
		name string
		from importer
		doc  string
	}{
		{"seed reconfiguration", FromSeedReconfiguration, `{"api_version":1,"base_domain":"example.com","cluster_name":"store","pull_secret":"` + pull +
			`","hostname":"h","KubeconfigCryptoRetention":{"KubeAPICrypto":{}},"` + planted + `":1}`},
		{"seed reconfiguration of version 2", FromSeedReconfiguration, `{"api_version":2}`},
		{"seed reconfiguration with a list", FromSeedReconfiguration, `{"api_version":1,"base_domain":["` + planted + `"]}`},
		{"seed reconfiguration with a mark", FromSeedReconfiguration, `{"api_version":1,"pull_secret":"<set>"}`},
		{"seed reconfiguration cut off", FromSeedReconfiguration, `{"api_version":1,"pull_secret":"` + planted},
		{"cluster relocation", FromClusterRelocation, "apiVersion: rhsyseng.github.io/v1beta1\nkind: ClusterRelocation\nmetadata: {name: cluster}\n" +
			"spec:\n  domain: store.example.com\n  pullSecretRef: {name: ps}\n  apiCertRef: {name: api}\n  sshKeys: [a]\nstatus: {}\n"},
		{"cluster relocation without dot", FromClusterRelocation, "apiVersion: rhsyseng.github.io/v1beta1\nkind: ClusterRelocation\nspec: {domain: store}\n"},
		{"cluster relocation without spec", FromClusterRelocation, "apiVersion: rhsyseng.github.io/v1beta1\nkind: ClusterRelocation\n"},
		{"another kind", FromClusterRelocation, "apiVersion: rhsyseng.github.io/v1beta1\nkind: Other\n"},
		{"another version", FromClusterRelocation, "apiVersion: rhsyseng.github.io/v1\nkind: ClusterRelocation\n"},
		{"install config", FromInstallConfig, "apiVersion: v1\nmetadata:\n  name: store\nbaseDomain: example.com\ncontrolPlane: {replicas: 1}\npullSecret: \"" + pull + "\"\nsshKey: a\n"},
		{"empty install config", FromInstallConfig, ""},
		{"list", FromInstallConfig, "- a\n"},
		{"anchors", FromInstallConfig, "baseDomain: &a b\npullSecret: *a\n"},
	}
	var b strings.Builder
	for _, c := range cases {
		fmt.Fprintf(&b, "== %s\n", c.name)
		config, notes, err := c.from([]byte(c.doc), "old")
		if err != nil {
			b.WriteString(err.Error() + "\n")
			continue
		}
		data, err := config.Marshal(true)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range config.Paths() {
			if source := config.Sources[path]; source != "" && source != Default {
				fmt.Fprintf(&b, "%s: %s\n", path, source)
			}
		}
		fmt.Fprintf(&b, "%s\n%s", strings.Join(notes, "\n"), data)
	}
	golden(t, "testdata/import.golden", b.String())
}
