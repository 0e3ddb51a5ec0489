package steps

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"touchdown/backend"
	"touchdown/backend/host/hosttest"
	"touchdown/steps/site"
)

// TestNetworkReadsAreNamed: each answer that changes what the network is asked is among those that make the verdicts stale.
func TestNetworkReadsAreNamed(t *testing.T) {
	h := hosttest.New(t)
	n := &backend.Node{Host: h.Machine, Now: time.Now}
	view := func(cfg *site.Config) string {
		settings := networkSettings(cfg)
		target := probeTarget(cfg, settings, n)
		trusts := target.Roots != nil
		target.Roots = nil
		text, err := json.Marshal([]any{settings, target, trusts})
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	entry := &NetworkEntry{Site: site.New()}
	named := entry.Reads()
	for _, f := range entry.Fields() {
		named = append(named, f.Path)
	}
	samples := []string{
		"true", "static", "198.51.100.1", "24", "http://proxy.example.com:3128", "a.example.com", "enp1s0",
		`[{"source":"quay.io/a","mirrors":["registry.example.com/a"]}]`, `[{"registryHostname":"registry.example.com","certificate":"x"}]`,
	}
	base := func() *site.Config { // a name has two parts
		cfg := site.New()
		cfg.Spec.ClusterName, cfg.Spec.BaseDomain = "shop", "example.com"
		return cfg
	}
	before, changing := view(base()), 0
	for _, path := range site.New().Paths() {
		reads := slices.ContainsFunc(samples, func(sample string) bool {
			cfg := base()
			return cfg.Set(path, sample) == nil && view(cfg) != before
		})
		if reads {
			changing++
		}
		if reads && !slices.Contains(named, path) {
			t.Errorf("%s changes what the network is asked", path)
		}
	}
	if changing < 20 {
		t.Errorf("only %d answers change what the network is asked: %s", changing, strings.Join(named, " "))
	}
}
