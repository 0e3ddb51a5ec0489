package site

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"reflect"
	"strings"
	"sync"
	"testing"
	"testing/quick"
	"time"

	"gopkg.in/yaml.v3"

	"touchdown/steps/site/pin"
)

// plantedPIN is the hash of one PIN, made once: it takes a while, and another one would differ.
var plantedPIN = sync.OnceValue(func() pin.Hash { return pin.Make(planted) })

// full returns a Config with every path set and a planted secret in each secret.
func full(t testing.TB) *Config {
	t.Helper()
	c := New()
	for path, value := range map[string]string{
		"metadata.name":                    "store-0042",
		"spec.clusterName":                 "0042",
		"spec.baseDomain":                  "example.com",
		"spec.pullSecret":                  "{\r\n\t\"auths\": {\"q.io\": {\"username\": \"u\", \"password\": \"" + planted + "\"}}\r\n}\n",
		"spec.apiCert.cert":                "-----BEGIN CERTIFICATE-----\r\nAAAA\r\n-----END CERTIFICATE-----",
		"spec.apiCert.key":                 planted + " \nx: y\n# z",
		"spec.ingressCert.cert":            " indented\n\ttext\n",
		"spec.ingressCert.key":             planted + "\u2028'\"",
		"spec.ingressCert.ca":              "x\n\n\ny",
		"spec.policy.allowReboot":          "false",
		"spec.policy.rollbackOnFailure":    "false",
		"spec.policy.keepGoingOnWarnings":  "true",
		"spec.policy.stabilityWindow":      "90s",
		"spec.policy.answers.keep-network": "yes",
		"spec.policy.answers.42":           "true",

		"spec.hostname":                         "node-0042",
		"spec.network.interface":                "00:53:00:12:34:56",
		"spec.network.vlanID":                   "100",
		"spec.network.bond.mode":                "802.3ad",
		"spec.network.bond.ports":               "enp1s0 enp2s0",
		"spec.network.mtu":                      "9000",
		"spec.network.ipv4.method":              "static",
		"spec.network.ipv4.address":             "198.51.100.10",
		"spec.network.ipv4.prefixLength":        "255.255.255.0",
		"spec.network.ipv4.gateway":             "198.51.100.1",
		"spec.network.ipv6.method":              "static",
		"spec.network.ipv6.address":             "2001:db8:51::10",
		"spec.network.ipv6.prefixLength":        "/64",
		"spec.network.ipv6.gateway":             "fe80::1",
		"spec.network.dnsServers":               "198.51.100.53,2001:db8:51::53\n198.51.100.54",
		"spec.network.dnsSearch":                "example.com",
		"spec.networkConfig":                    "\n  # a comment\n  interfaces:\n  - name: enp1s0\n    802.1x: {password: \"" + planted + "\"}\n",
		"spec.additionalNTPSources":             "ntp.example.com 198.51.100.123",
		"spec.time.utc":                         "2026-06-01T12:00:00Z",
		"spec.hardware.profile":                 "vdu",
		"spec.hardware.diskTest":                "true",
		"spec.wiring":                           "- {nic: eno1, switch: sw-7, port: Gi1/0/4, vlan: 20, mtu: 9000}\n- {nic: '52-54-00-00-00-01', port: '4'}\n",
		"spec.sshKeys":                          "ssh-ed25519 AAAA one, two\r\n\nssh-rsa AAAA",
		"spec.imageDigestMirrors":               "- {source: a.b/c, mirrors: ['d.e:5000', \"f.g\"], mirrorSourcePolicy: NeverContactSource}\n- {}\n",
		"spec.imageTagMirrors":                  `[{"source": "a.b", "mirrors": []}]`,
		"spec.removeFactoryMirrors":             "true",
		"spec.registryCerts":                    "- registryHostname: a.b\n  registryPort: 5000\n  certificate: |\n    x\n    y\n- certificate: z\n",
		"spec.proxy.httpProxy":                  "http://u:" + planted + "@proxy.example.com:3128",
		"spec.proxy.httpsProxy":                 "http://u:" + planted + "@proxy.example.com:3129",
		"spec.proxy.noProxy":                    ".example.com, 198.51.100.0/24",
		"spec.additionalTrustBundle":            "x",
		"spec.credentials.kubeadmin":            "keep",
		"spec.credentials.show":                 "false",
		"spec.credentials.kubeconfigDays":       "30",
		"spec.credentials.clusterSecret":        "true",
		"spec.console.pin":                      string(plantedPIN()),
		"spec.console.lockAfter":                "5m",
		"spec.nodeLabels":                       "zone=berlin, example.com/rack=7\nempty=",
		"spec.manifests":                        "apiVersion: v1\nkind: Secret\nmetadata: {name: a, namespace: b}\nstringData: {a: " + planted + "}\n",
		"spec.monitor.url":                      "https://monitor.example.com",
		"spec.monitor.token":                    planted,
		"spec.monitor.ca":                       "x",
		"spec.monitor.cert":                     "y",
		"spec.monitor.key":                      planted + "\nz",
		"spec.policy.allowHostnameChange":       "true",
		"spec.policy.keepNetworkWhenProbesPass": "false",
		"spec.policy.keepNetworkUnanswered":     "true",
		"spec.policy.seedImages":                "false",
		"spec.policy.watchdog":                  "45m",
	} {
		if err := c.Set(path, value); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// values returns everything that a Config holds, by path.
func values(c *Config) map[string]string {
	all := map[string]string{}
	for _, path := range c.Paths() {
		all[path], _ = c.Get(path)
	}
	return all
}

func TestRoundTrip(t *testing.T) {
	c := full(t)
	data, err := c.Marshal(false)
	if err != nil {
		t.Fatal(err)
	}
	back, err := Parse(data, "site.yaml", nil)
	if err != nil {
		t.Fatalf("%v in\n%s", err, data)
	}
	if !maps.Equal(values(c), values(back)) {
		t.Errorf("\n got %q\nwant %q", values(back), values(c))
	}
	again, _ := back.Marshal(false)
	if string(again) != string(data) {
		t.Errorf("written twice:\n%s\n%s", data, again)
	}
	for _, path := range c.Paths() {
		if c.Sources[path] != Typed || back.Sources[path] != "file site.yaml" {
			t.Errorf("%s comes from %q and %q", path, c.Sources[path], back.Sources[path])
		}
	}
}

func TestSecretsNeverShow(t *testing.T) {
	c := full(t)
	redacted, err := c.Marshal(true)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(redacted), Redacted); n != 10 {
		t.Errorf("%d secrets are marked, want 10:\n%s", n, redacted)
	}
	asJSON, _ := json.Marshal(c)
	asYAML, _ := yaml.Marshal(c)
	bare, _ := c.WithoutSecrets().Marshal(false)
	var log strings.Builder
	slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "config", c, "spec", c.Spec, "secret", c.Spec.PullSecret)
	slog.New(slog.NewTextHandler(&log, nil)).Info("x", "config", c, "spec", c.Spec, "secret", c.Spec.PullSecret)
	errs, warnings := c.Validate(today())
	for name, text := range map[string]string{
		"redacted": string(redacted), "json": string(asJSON), "yaml": string(asYAML), "without": string(bare), "log": log.String(),
		"fmt": fmt.Sprintf("%v %+v %#v %s %q %x", c, *c, *c, c.Spec.PullSecret, c.Spec.PullSecret, c.Spec.PullSecret), "validate": errs.Error() + warnings.Error(),
	} {
		if strings.Contains(text, planted) || strings.Contains(text, string(plantedPIN())) || strings.Contains(text, fmt.Sprintf("%x", planted)) {
			t.Errorf("%s holds a secret:\n%s", name, text)
		}
	}
	_, err = Parse(redacted, "site.yaml", nil)
	if err == nil || strings.Count(err.Error(), "is the mark <set>") != 10 {
		t.Errorf("a redacted document is read: %v", err)
	}
}

// TestPINIsKeptAsAHash: what was typed is in no document, and neither what is not a PIN nor what would be costly to try is kept.
func TestPINIsKeptAsAHash(t *testing.T) {
	c := New()
	if err := c.Set("spec.console.pin", " "+planted+" "); err != nil {
		t.Fatal(err)
	}
	data, err := c.Marshal(false)
	if err != nil || strings.Contains(string(data), planted) {
		t.Errorf("the document has the PIN (%v):\n%s", err, data)
	}
	back, err := Parse(data, "site.yaml", nil)
	if err != nil || !pin.Hash(back.Spec.Console.PIN).Matches(planted) {
		t.Errorf("the PIN of the document is another one: %v", err)
	}
	if _, err := Parse([]byte(head+"spec: {console: {pin: 012345}}\n"), "site.yaml", nil); err == nil || strings.Contains(err.Error(), "012345") {
		t.Errorf("digits without quotes, which YAML takes for another number: %v", err)
	}
	was := c.Spec.Console.PIN
	for _, bad := range []string{"4711", "777777", "$2a$31$" + strings.Repeat("a", 53), "12 34 56", Redacted} {
		if err := c.Set("spec.console.pin", bad); err == nil || strings.Contains(err.Error(), bad) && bad != Redacted {
			t.Errorf("%q: %v", bad, err)
		}
	}
	if c.Spec.Console.PIN != was {
		t.Error("a PIN that was refused is kept")
	}
	for _, bad := range []string{"10", "59s", "25h", "soon"} {
		if err := checked("spec.console.lockAfter", bad); err == nil {
			t.Errorf("a console may lock after %q", bad)
		}
	}
}

func TestSecretsComeBack(t *testing.T) {
	c := full(t)
	bare, secrets := c.WithoutSecrets(), c.Secrets()
	if len(secrets) != 10 || len(bare.Secrets()) != 0 || len(c.Secrets()) != 10 {
		t.Fatalf("secrets: %d taken, %d left, %d of the original", len(secrets), len(bare.Secrets()), len(c.Secrets()))
	}
	for path, value := range secrets {
		if !c.IsSecret(path) {
			t.Errorf("%s is not said to be secret", path)
		}
		if err := bare.SetFrom(path, value, c.Sources[path]); err != nil {
			t.Error(err)
		}
	}
	if !maps.Equal(values(bare), values(c)) || !maps.Equal(bare.Sources, c.Sources) {
		t.Error("the secrets do not come back as they were")
	}
}

func TestDefaults(t *testing.T) {
	c := New()
	p := c.Spec.Policy
	if !p.AllowReboot || !p.RollbackOnFailure || p.KeepGoingOnWarnings || p.StabilityWindow != 2*time.Minute {
		t.Errorf("got %+v", p)
	}
	for _, item := range Schema() {
		if got, _ := c.Get(item.Path); item.Default != "" && (got != item.Default || c.Sources[item.Path] != Default) {
			t.Errorf("%s is %q from %q, want %q", item.Path, got, c.Sources[item.Path], item.Default)
		}
	}
	for _, path := range full(t).Paths() {
		c := full(t)
		if err := c.Set(path, ""); err != nil {
			t.Error(err)
		}
		want, _ := New().Get(path)
		if got, _ := c.Get(path); got != want || c.Sources[path] != New().Sources[path] {
			t.Errorf("%s taken away is %q from %q, want %q", path, got, c.Sources[path], want)
		}
	}
}

// TestSetGet holds that what Set takes, Get gives in the canonical form, survives a file, and touches nothing else.
func TestSetGet(t *testing.T) {
	paths := append(New().Paths(), "spec.policy.answers.q")
	property := func(pick uint, value string) bool {
		path := paths[pick%uint(len(paths))]
		c := New()
		if c.Set(path, value) != nil {
			return maps.Equal(values(c), values(New())) && maps.Equal(c.Sources, New().Sources)
		}
		want := values(New())
		got, _ := c.Get(path)
		if got == "" {
			return maps.Equal(values(c), want)
		}
		want[path] = got
		again := c.Clone()
		data, err := c.Marshal(false)
		if err != nil || again.Set(path, got) != nil || !maps.Equal(values(again), values(c)) {
			return false
		}
		back, err := Parse(data, "x", nil)
		return err == nil && maps.Equal(values(c), want) && maps.Equal(values(back), want)
	}
	if err := quick.Check(property, &quick.Config{MaxCount: 3000}); err != nil {
		t.Error(err)
	}
}

func TestCloneSharesNothing(t *testing.T) {
	c := full(t)
	before := values(c)
	d := c.Clone()
	for _, path := range d.Paths() {
		if err := d.Set(path, ""); err != nil {
			t.Error(err)
		}
	}
	if !maps.Equal(values(c), before) || !reflect.DeepEqual(c.Sources, full(t).Sources) {
		t.Error("a change to the copy shows in the original")
	}
}

func TestGetOfUnknownPaths(t *testing.T) {
	c := New()
	for _, path := range []string{"", "spec", "spec.pullSecretFile", "spec.policy.answers.", "spec.policy.answers.x", "spec.x", "spec.policy.answers.<question>"} {
		if value, ok := c.Get(path); ok || value != "" {
			t.Errorf("%s gives %q", path, value)
		}
	}
	if c.Domain() != "" {
		t.Error("a domain is made of nothing")
	}
}

func TestFormatDuration(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0s", time.Second: "1s", 2 * time.Minute: "2m", 90 * time.Second: "1m30s", time.Hour: "1h", 61 * time.Minute: "1h1m", 10 * time.Minute: "10m",
		time.Hour + time.Second: "1h0m1s", 20 * time.Hour: "20h",
	} {
		if got := formatDuration(d); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
