package engine

import (
	"slices"

	"touchdown/steps"
	"touchdown/steps/site"
)

// effectiveLocked is the site config as it stands, with the list that reads it, without the answers to questions that
// another answer made needless: an address that was typed before DHCP was chosen stays in its field, for the person
// who changes their mind, and means nothing. The caller holds e.mu.
func (e *Engine) effectiveLocked() (*site.Config, []steps.Stage) {
	cfg := e.site.Clone()
	stages := e.stages(cfg)
	for _, stage := range stages {
		for _, step := range stage.Steps {
			for _, f := range step.Fields() {
				if f.Visible != nil && !f.Visible() {
					_ = cfg.Set(f.Path, "") // nothing is a value of every field
				}
			}
		}
	}
	return cfg, stages
}

// inputsLocked is the fingerprint of the effective config. The caller holds e.mu.
func (e *Engine) inputsLocked() string {
	cfg, _ := e.effectiveLocked()
	return e.inputs(cfg)
}

// inputs is the fingerprint of the whole config.
func (e *Engine) inputs(cfg *site.Config) string {
	return e.store.fingerprint(pairs(cfg, cfg.Paths())...)
}

// stepInputs is the fingerprint of all that a step reads, borrowed paths too.
func (e *Engine) stepInputs(cfg *site.Config, step steps.Step) string {
	var paths []string
	for _, f := range step.Fields() {
		paths = append(paths, f.Path)
	}
	if r, ok := step.(steps.Reader); ok {
		paths = append(paths, r.Reads()...)
	}
	return e.store.fingerprint(append([]string{step.ID()}, pairs(cfg, paths)...)...)
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

// found is a value and where it came from.
type found struct{ value, source string }

// valuesOf returns what the config holds, by path.
func valuesOf(cfg *site.Config) map[string]found {
	out := map[string]found{}
	for _, p := range cfg.Paths() {
		value, _ := cfg.Get(p)
		out[p] = found{value, cfg.Sources[p]}
	}
	return out
}
