package engine

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"touchdown/steps"
	"touchdown/steps/site"
)

// effective is the site config as it stands, with the list that reads it, without the answers to questions that another
// answer made needless: an address that was typed before DHCP was chosen stays in its field, for the person who changes
// their mind, and means nothing.
func (d *draft) effective() (*site.Config, []steps.Stage) {
	cfg := d.site.Clone()
	stages := d.list(cfg)
	for _, stage := range stages {
		for _, step := range stage.Steps {
			for _, f := range steps.FieldsOf(step) {
				if f.Visible != nil && !f.Visible() {
					_ = cfg.Set(f.Path, "") // nothing is a value of every field
				}
			}
		}
	}
	return cfg, stages
}

// inputs is the fingerprint of the effective config.
func (d *draft) inputs() string {
	cfg, _ := d.effective()
	return d.folder.key.inputs(cfg)
}

// hmacKey is the node's own key under which fingerprints are made.
type hmacKey []byte

// fingerprint returns an HMAC over parts under the node's key.
func (k hmacKey) fingerprint(parts ...string) string {
	mac := hmac.New(sha256.New, k)
	for _, p := range parts {
		fmt.Fprintf(mac, "%d:%s", len(p), p) // with lengths, so that no two lists read the same
	}
	return hex.EncodeToString(mac.Sum(nil)[:16])
}

// inputs is the fingerprint of a whole config.
func (k hmacKey) inputs(cfg *site.Config) string { return k.fingerprint(pairs(cfg, cfg.Counted())...) }

// handedOver returns the answers that stay after a hand-over: without secrets, and without the settings that are invalid when the secret
// beside them is missing.
func handedOver(cfg *site.Config) *site.Config {
	cfg = cfg.WithoutSecrets()
	if p := &cfg.Spec.Proxy; p.HTTPProxy == "" && p.HTTPSProxy == "" {
		p.NoProxy = ""
		delete(cfg.Sources, "spec.proxy.noProxy")
	}
	if m := &cfg.Spec.Monitor; m.Key == "" {
		m.Cert = ""
		delete(cfg.Sources, "spec.monitor.cert")
	}
	return cfg
}

// lasting is the fingerprint of the answers that stay after a hand-over. Certificates are left out, because they are replaced over the years.
// Defaults are left out, so that a later release with more fields gets the same fingerprint.
func (k hmacKey) lasting(cfg *site.Config) string {
	cfg, usual := handedOver(cfg), site.New()
	return k.fingerprint(pairs(cfg, slices.DeleteFunc(cfg.Paths(), func(path string) bool {
		is, _ := cfg.Get(path)
		was, _ := usual.Get(path)
		return is == was || strings.HasPrefix(path, "spec.apiCert.") || strings.HasPrefix(path, "spec.ingressCert.")
	}))...)
}

// stepInputs is the fingerprint of all that a step reads, borrowed paths too.
func (k hmacKey) stepInputs(cfg *site.Config, step steps.Step) string {
	var paths []string
	for _, f := range steps.FieldsOf(step) {
		if !f.Beside && f.Repeats == "" {
			paths = append(paths, f.Path)
		}
	}
	if r, ok := step.(steps.Reader); ok {
		paths = append(paths, r.Reads()...)
	}
	return k.fingerprint(append([]string{step.ID()}, pairs(cfg, paths)...)...)
}

// pairs lists paths and their values in order.
func pairs(cfg *site.Config, paths []string) []string {
	var out []string
	for _, p := range slices.Sorted(slices.Values(paths)) {
		v, _ := cfg.Get(p)
		out = append(out, p, v)
	}
	return out
}
