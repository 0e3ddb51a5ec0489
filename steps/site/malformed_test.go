package site

import (
	"flag"
	"io/fs"
	"os"
	"strings"
	"testing"
	"testing/fstest"
	"time"
)

var update = flag.Bool("update", false, "write the golden files again")

// head is the start of a document that is ours; what is tested follows in line 3.
const head = "apiVersion: touchdown.dev/v1alpha1\nkind: SiteConfig\n"

// planted stands in every secret of the tests. No error, note or redacted output may hold it.
const planted = "PLANTEDs3cr3t"

// malformed are documents that Parse refuses; testdata/malformed.golden has what it says.
func malformed() []struct{ name, doc string } {
	spec := head + "spec:\n"
	return []struct{ name, doc string }{
		// the text itself
		{"empty", ""},
		{"blank lines", "\n\n"},
		{"only a comment", "# nothing\n"},
		{"null document", "~\n"},
		{"too large", head + "# " + strings.Repeat("x", maxDocument)},
		{"nul byte", head + "spec:\n  clusterName: a\x00b\n"},
		{"utf-16 little endian", "\xff\xfea\x00:\x00"},
		{"utf-16 big endian", "\xfe\xff\x00a\x00:"},
		{"utf-16 without mark", "a\x00:\x00 \x001\x00"},
		{"latin-1", head + "metadata:\n  name: caf\xe9\n"},
		{"utf-8 cut off", head + "# \xe2\x82"},
		{"overlong utf-8", head + "# \xc0\xaf\n"},
		{"escape character", head + "metadata: {name: \"\x1b[31mred\"}\n"},
		{"mark in the middle", spec + "  clusterName: \ufeffa\n"},
		{"gzip", "\x1f\x8b\x08\x00\x00\x00\x00\x00"},
		{"pem instead of yaml", "-----BEGIN PRIVATE KEY-----\n" + planted + "\n-----END PRIVATE KEY-----\n"},
		{"script instead of yaml", "#!/bin/sh\nset -e\n"},
		{"html instead of yaml", "<html><body>404</body></html>\n"},
		// labels
		{"labels as a list", spec + "  nodeLabels: [zone=berlin]\n"},
		{"labels as a text", spec + "  nodeLabels: zone=berlin\n"},
		{"label with a number", spec + "  nodeLabels:\n    zone: berlin\n    example.com/rack: 7\n"},
		{"label with nothing", spec + "  nodeLabels:\n    zone:\n"},
		{"label with a list", spec + "  nodeLabels: {zone: [berlin]}\n"},
		{"label with two words", spec + "  nodeLabels: {zone: \"berlin, mitte\"}\n"},
		{"label twice", spec + "  nodeLabels: {zone: a, zone: b}\n"},
		{"label that is a path", spec + "  nodeLabels: {\"a=b\": c}\n"},
		{"label by an alias", spec + "  clusterName: &a a\n  nodeLabels: {zone: *a}\n"},
		// YAML syntax
		{"tab indentation", spec + "\tclusterName: a\n"},
		{"tab after spaces", spec + "  policy:\n  \tallowReboot: true\n"},
		{"colon in value", spec + "  clusterName: a: b\n"},
		{"bad indentation", spec + "  clusterName: a\n baseDomain: b\n"},
		{"deeper without reason", spec + "  clusterName: a\n    baseDomain: b\n"},
		{"open double quote", spec + "  clusterName: \"a\n  baseDomain: b\n"},
		{"open single quote", spec + "  clusterName: 'a\n"},
		{"open bracket", spec + "  policy: {allowReboot: true\n  baseDomain: b\n"},
		{"open list", spec + "  clusterName: [a\n"},
		{"missing colon", spec + "  clusterName\n  baseDomain: b\n"},
		{"at sign", spec + "  clusterName: @a\n"},
		{"backtick", spec + "  clusterName: `a`\n"},
		{"bad escape", spec + "  clusterName: \"\\q\"\n"},
		{"cut off escape", spec + "  clusterName: \"\\u00\"\n"},
		{"escaped surrogate", spec + "  clusterName: \"\\ud83d\\ude00\"\n"},
		{"unknown directive", "%FOO bar\n---\n" + head},
		{"depth bomb list", head + "spec: " + strings.Repeat("[", 20000)},
		{"depth bomb map", head + "spec: " + strings.Repeat("{a: ", 20000)},
		{"depth bomb block", head + "spec:\n  " + strings.Repeat("- ", 20000)},
		{"unindented pem", spec + "  apiCert:\n    key: |\n    -----BEGIN PRIVATE KEY-----\n    " + planted + "\n"},
		{"json cut off", `{"apiVersion": "touchdown.dev/v1alpha1", "kind": "SiteConfig", "spec": {`},
		{"json trailing text", `{"apiVersion": "touchdown.dev/v1alpha1"} x`},
		{"second document", head + "---\n" + head},
		{"empty second document", head + "---\n"},
		{"broken second document", head + "---\n[\n"},
		// YAML features that hide what a document says
		{"anchor", spec + "  clusterName: &a x\n"},
		{"alias", spec + "  clusterName: &a x\n  baseDomain: *a\n"},
		{"unknown alias", spec + "  pullSecret: *" + planted + "\n"},
		{"alias as key", head + "metadata: &m {name: a}\n*m : b\n"},
		{"merge key", spec + "  <<: {clusterName: a}\n"},
		{"billion laughs", "a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\n" + head},
		{"tag", spec + "  clusterName: !!binary aGVsbG8=\n"},
		{"own tag", spec + "  policy: !foo {allowReboot: true}\n"},
		{"complex key", head + "? [a, b]\n: c\n"},
		{"anchor on group", head + "spec: &s\n  clusterName: a\n"},
		// header
		{"no header", "spec:\n  clusterName: a\n"},
		{"no apiVersion", "kind: SiteConfig\nspec: {}\n"},
		{"no kind", "apiVersion: touchdown.dev/v1alpha1\nspec: {}\n"},
		{"old version", "apiVersion: touchdown.dev/v1\nkind: SiteConfig\n"},
		{"wrong kind", "apiVersion: touchdown.dev/v1alpha1\nkind: Siteconfig\n"},
		{"version as a list", "apiVersion: [touchdown.dev/v1alpha1]\nkind: SiteConfig\n"},
		{"config map", "apiVersion: v1\nkind: ConfigMap\ndata: {a: b}\n"},
		{"install config", "apiVersion: v1\nbaseDomain: example.com\ncontrolPlane: {replicas: 1}\n"},
		{"cluster relocation", "apiVersion: rhsyseng.github.io/v1beta1\nkind: ClusterRelocation\nspec: {domain: a.b}\n"},
		{"seed reconfiguration", `{"api_version": 1, "base_domain": "b", "cluster_name": "a"}`},
		// keys
		{"unknown key", spec + "  colour: red\n"},
		{"mistyped key", spec + "  baseDomian: example.com\n"},
		{"key in lower case", spec + "  clustername: a\n"},
		{"key in snake case", spec + "  base_domain: example.com\n"},
		{"key of a later release", spec + "  network: {ipv4: {dhcp: true}}\n"},
		{"key at the wrong level", head + "clusterName: a\n"},
		{"group at the wrong level", head + "policy: {allowReboot: true}\n"},
		{"mistyped group", spec + "  apiCerts: {certFile: a}\n"},
		{"mistyped policy", spec + "  policy: {allowReboots: true}\n"},
		{"number as key", spec + "  1: a\n"},
		{"empty key", spec + "  \"\": a\n"},
		{"no-break space in key", spec + "  \u00a0clusterName: a\n"},
		{"secret as key", spec + "  " + planted + ": a\n"},
		{"secret as key, twice", spec + "  " + planted + ": a\n  " + planted + ": b\n"},
		{"group of another place", spec + "  ipv4: {method: dhcp}\n"},
		{"mistyped name with a digit", spec + "  network: {dns1: 192.0.2.53}\n"},
		{"duplicate key", spec + "  clusterName: a\n  baseDomain: b.c\n  clusterName: a\n"},
		{"duplicate group", head + "spec: {clusterName: a}\nspec: {clusterName: b}\n"},
		{"bad question id", spec + "  policy: {answers: {Keep Network: y}}\n"},
		{"several mistakes", spec + "  clusterName: 7\n  baseDomian: b\n  policy:\n    allowReboot: maybe\n    stabilityWindow: 9\n"},
		{"hundreds of mistakes", spec + strings.Repeat("  color: x\n", 500)},
		// lists and groups of keys
		{"mistyped key in a group", spec + "  network: {ipv4: {adddress: 198.51.100.10}}\n"},
		{"netmask as a key", spec + "  network: {ipv4: {netmask: 255.255.255.0}}\n"},
		{"address one level too high", spec + "  network: {address: 198.51.100.10}\n"},
		{"text where list", spec + "  network: {dnsServers: 198.51.100.53}\n"},
		{"group where list", spec + "  network: {dnsServers: {a: b}}\n"},
		{"nothing where list", spec + "  network: {dnsServers: }\n"},
		{"number in a list", spec + "  network: {dnsServers: [198.51.100.53, 7]}\n"},
		{"list in a list", spec + "  network: {dnsServers: [[198.51.100.53]]}\n"},
		{"two values in one item", spec + "  network: {dnsServers: ['198.51.100.53, 198.51.100.54']}\n"},
		{"empty item", spec + "  additionalNTPSources: ['']\n"},
		{"nothing as item", spec + "  additionalNTPSources:\n  - ntp.example.com\n  -\n"},
		{"alias as item", spec + "  additionalNTPSources: [&a b, *a]\n"},
		{"tag on a list", spec + "  additionalNTPSources: !!set [a]\n"},
		{"list too long", spec + "  additionalNTPSources: [" + strings.Repeat("abcdefgh, ", 1000) + "]\n"},
		{"text where number", spec + "  network: {vlanID: '100'}\n"},
		{"float where number", spec + "  network: {vlanID: 1.5}\n"},
		{"octal where number", spec + "  network: {vlanID: 0100}\n"},
		{"hexadecimal where number", spec + "  network: {vlanID: 0x64}\n"},
		{"number too large", spec + "  network: {mtu: 99999999999}\n"},
		{"netmask where number", spec + "  network: {ipv4: {prefixLength: 255.255.255.0}}\n"},
		{"mask with a gap where number", spec + "  network: {ipv4: {prefixLength: 255.0.255.0}}\n"},
		{"prefix length with a slash", spec + "  network: {ipv4: {prefixLength: /24}}\n"},
		{"prefix length in quotes", spec + "  network: {ipv4: {prefixLength: '24'}}\n"},
		{"address where prefix length", spec + "  network: {ipv4: {prefixLength: 198.51.100.10 255.255.255.0}}\n"},
		{"slashes for both families", spec + "  network: {ipv4: {prefixLength: /24}, ipv6: {prefixLength: /64}}\n"},
		{"netmask for IPv6", spec + "  network: {ipv6: {prefixLength: 255.255.255.255}}\n"},
		{"another netmask as a key", spec + "  network: {ipv4: {subnetMask: 255.255.240.0}, ipv6: {netmask: ffff}}\n"},
		{"private key as SSH key", spec + "  sshKeys:\n  - |\n    -----BEGIN OPENSSH PRIVATE KEY-----\n    " + planted + "\n    -----END OPENSSH PRIVATE KEY-----\n"},
		{"private key as SSH key on one line", spec + "  sshKeys: ['-----BEGIN OPENSSH PRIVATE KEY----- " + planted + "']\n"},
		{"groups are a group", spec + "  registryCerts: {registryHostname: a.b}\n"},
		{"groups are texts", spec + "  registryCerts: [a.b, c.d]\n"},
		{"mistyped key in an item", spec + "  imageDigestMirrors:\n  - source: a.b\n    mirrors: [c.d]\n  - sources: a.b\n"},
		{"unknown key in an item", spec + "  registryCerts: [{registryHostname: a.b, colour: red}]\n"},
		{"key of another group in an item", spec + "  registryCerts: [{registryHostname: a.b, vlanID: 7}]\n"},
		{"key twice in an item", spec + "  registryCerts: [{registryHostname: a.b, registryHostname: c.d}]\n"},
		{"wrong types in items", spec + "  registryCerts:\n  - registryHostname: [a]\n  - registryPort: a\n  - certificate: {}\n"},
		{"too many items", spec + "  registryCerts: [" + strings.Repeat("{}, ", maxItems+1) + "]\n"},
		{"both forms in an item", spec + "  registryCerts:\n  - registryHostname: a.b\n    certificate: x\n    certificateFile: ca.pem\n"},
		{"missing file in an item", spec + "  registryCerts:\n  - {certificateFile: ca.pem}\n  - {certificateFile: nowhere.pem}\n"},
		{"file outside in an item", spec + "  registryCerts: [{certificateFile: ../ca.pem}]\n"},
		{"private key as registry certificate", spec + "  registryCerts: [{certificateFile: private.pem}]\n"},
		{"private key as trust bundle", spec + "  additionalTrustBundleFile: private.pem\n"},
		{"list as networkConfig", spec + "  networkConfig: [a]\n"},
		{"alias in networkConfig", spec + "  networkConfig:\n    interfaces: &i []\n    routes: *i\n"},
		{"key twice in networkConfig", spec + "  networkConfig:\n    interfaces: []\n    interfaces: []\n"},
		{"tag in networkConfig", spec + "  networkConfig:\n    interfaces: !own []\n"},
		{"networkConfig twice", spec + "  networkConfig: {interfaces: []}\n  networkConfigFile: nmstate.yaml\n"},
		{"redacted networkConfig", spec + "  networkConfig: <set>\n"},
		{"redacted proxy", spec + "  proxy: {httpProxy: <set>}\n"},
		{"path as a key", spec + "  policy.allowReboot: false\n"},
		{"path of an item as a key", spec + "  registryCerts: [{registryHostname: a.b}]\n  registryCerts[0].registryHostname: c.d\n"},
		{"path of any item as a key", spec + "  registryCerts[]: {}\n"},
		// types
		{"document is a list", "- a\n- b\n"},
		{"document is a text", "hello\n"},
		{"spec is a text", head + "spec: hello\n"},
		{"spec is a list", head + "spec:\n- clusterName: a\n"},
		{"policy is a truth value", spec + "  policy: true\n"},
		{"number where text", spec + "  clusterName: 42\n"},
		{"float where text", spec + "  baseDomain: 1.5\n"},
		{"truth value where text", spec + "  clusterName: true\n"},
		{"list where text", spec + "  baseDomain: [example.com]\n"},
		{"group where text", spec + "  baseDomain: {name: example.com}\n"},
		{"nothing where text", spec + "  baseDomain:\n  clusterName: a\n"},
		{"tilde where text", spec + "  baseDomain: ~\n"},
		{"two lines where one", spec + "  clusterName: |\n    a\n    b\n"},
		{"yes as truth value", spec + "  policy: {allowReboot: yes}\n"},
		{"quoted truth value", spec + "  policy: {allowReboot: \"true\"}\n"},
		{"number as truth value", spec + "  policy: {allowReboot: 1}\n"},
		{"duration without unit", spec + "  policy: {stabilityWindow: 120}\n"},
		{"duration in words", spec + "  policy: {stabilityWindow: two minutes}\n"},
		{"duration out of range", spec + "  policy: {stabilityWindow: 999999999999h}\n"},
		{"answer as truth value", spec + "  policy: {answers: {keep-network: true}}\n"},
		{"answer too long", spec + "  policy: {answers: {keep-network: " + strings.Repeat("y", maxAnswer+1) + "}}\n"},
		{"escaped nul", spec + "  clusterName: \"a\\0b\"\n"},
		// secrets and files
		{"pull secret not quoted", spec + "  pullSecret: {\"auths\": {\"quay.io\": {\"auth\": \"" + planted + "\"}}}\n"},
		{"pull secret as list", spec + "  pullSecret: [" + planted + "]\n"},
		{"redacted pull secret", spec + "  pullSecret: <set>\n"},
		{"redacted key", spec + "  apiCert: {key: \" <set> \"}\n"},
		{"redacted file", spec + "  pullSecretFile: redacted.json\n"},
		{"both forms", spec + "  pullSecret: '" + planted + "'\n  pullSecretFile: ps.json\n"},
		{"both forms of a key", spec + "  apiCert:\n    keyFile: api.key\n    key: " + planted + "\n"},
		{"key too large", spec + "  apiCert: {key: " + strings.Repeat("x", maxPEM+1) + "}\n"},
		{"file missing", spec + "  pullSecretFile: nowhere.json\n"},
		{"file in upper case", spec + "  pullSecretFile: PS.JSON\n"},
		{"file outside", spec + "  pullSecretFile: ../ps.json\n"},
		{"file outside by detour", spec + "  pullSecretFile: sub/../../ps.json\n"},
		{"absolute file", spec + "  pullSecretFile: /etc/shadow\n"},
		{"windows file", spec + "  pullSecretFile: C:\\ps.json\n"},
		{"file is a folder", spec + "  pullSecretFile: sub\n"},
		{"file is a pipe", spec + "  pullSecretFile: pipe\n"},
		{"file is empty", spec + "  pullSecretFile: empty\n"},
		{"file too large", spec + "  pullSecretFile: large\n"},
		{"file too large for PEM", spec + "  apiCert: {certFile: large}\n"},
		{"file is DER", spec + "  apiCert: {certFile: api.der}\n"},
		{"file is UTF-16", spec + "  pullSecretFile: utf16.json\n"},
		{"file name too long", spec + "  pullSecretFile: " + strings.Repeat("n", 300) + "\n"},
		{"secret as file name", spec + "  pullSecretFile: '{\"auths\":{\"q\":{\"auth\":\"" + planted + "\"}}}'\n"},
		{"key as file name", spec + "  apiCert:\n    keyFile: |\n      -----BEGIN PRIVATE KEY-----\n      " + planted + "\n"},
		{"file as a number", spec + "  pullSecretFile: 7\n"},
		{"file without a name", spec + "  pullSecretFile:\n"},
	}
}

func folder() fs.FS {
	return fstest.MapFS{
		"ps.json":       {Data: []byte(`{"auths":{}}`)},
		"sub/ps.json":   {Data: []byte(`{"auths":{}}`)},
		"redacted.json": {Data: []byte("<set>\n")},
		"empty":         {Data: []byte(" \n")},
		"large":         {Data: make([]byte, maxPullSecret+1)},
		"api.key":       {Data: []byte(planted)},
		"api.der":       {Data: []byte{0x30, 0x82, 0x01, 0x00}},
		"ca.pem":        {Data: []byte("-----BEGIN CERTIFICATE-----\n")},
		"private.pem":   {Data: []byte("-----BEGIN PRIVATE KEY-----\n" + planted + "\n-----END PRIVATE KEY-----\n")},
		"nmstate.yaml":  {Data: []byte("\n  interfaces: # the port\r\n  - {name: enp1s0, ipv4: {enabled: true, dhcp: true}}\r\n\n")},
		"utf16.json":    {Data: []byte("\xff\xfe{\x00")},
		"pipe":          {Mode: fs.ModeNamedPipe},
	}
}

func TestMalformed(t *testing.T) {
	var b strings.Builder
	for _, m := range malformed() {
		start := time.Now()
		_, err := Parse([]byte(m.doc), "site.yaml", folder())
		if took := time.Since(start); took > time.Minute {
			t.Errorf("%s took %v", m.name, took)
		}
		if err == nil {
			t.Errorf("%s: was accepted", m.name)
			continue
		}
		_, again := Parse([]byte(m.doc), "site.yaml", folder())
		if again.Error() != err.Error() {
			t.Errorf("%s: two runs say different things", m.name)
		}
		b.WriteString("== " + m.name + "\n" + err.Error() + "\n")
	}
	golden(t, "testdata/malformed.golden", b.String())
}

// golden compares a text with a file and shows the first line that differs.
func golden(t *testing.T, name, got string) {
	t.Helper()
	if strings.Contains(got, planted) {
		t.Errorf("a secret is in what goes to %s", name)
	}
	if *update {
		if err := os.WriteFile(name, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	g, w := strings.Split(got, "\n"), strings.Split(string(want), "\n")
	section := ""
	for i := range min(len(g), len(w)) {
		if strings.HasPrefix(w[i], "== ") {
			section = w[i]
		}
		if g[i] != w[i] {
			t.Fatalf("%s:%d (%s)\n got %s\nwant %s", name, i+1, section, g[i], w[i])
		}
	}
	if len(g) != len(w) {
		t.Fatalf("%s: got %d lines, want %d", name, len(g), len(w))
	}
}
