package engine

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"touchdown/steps/site"
)

// Set implements Session.
func (e *Engine) Set(_ context.Context, pen, path, value string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := e.mayLocked(pen, "set", []State{Inspecting, Collecting, Reviewed}); err != nil {
		return err
	}
	return e.setLocked(path, value)
}

// Load implements Session.
func (e *Engine) Load(_ context.Context, pen string, values map[string]string, source string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := e.mayLocked(pen, "load", []State{Inspecting, Collecting, Reviewed}); err != nil {
		return err
	}
	cfg := site.New()
	for _, path := range slices.Sorted(maps.Keys(values)) {
		if err := cfg.SetFrom(path, values[path], source); err != nil {
			return fmt.Errorf("%w: %w", ErrInvalid, err)
		}
	}
	if err := e.takeSiteLocked(cfg); err != nil {
		return err
	}
	e.found = valuesOf(cfg)
	return nil
}

func (e *Engine) setLocked(path, value string) error {
	if _, ok := e.site.Get(path); !ok && !strings.HasPrefix(path, "spec.policy.answers.") {
		return fmt.Errorf("%w: there is no field %q", ErrNotFound, path)
	}
	cfg := e.site.Clone()
	if err := cfg.Set(path, value); err != nil {
		return fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	return e.takeSiteLocked(cfg)
}

// takeSiteLocked makes cfg the draft once it is on the disk, so that what a person saw accepted survives a
// power cut.
func (e *Engine) takeSiteLocked(cfg *site.Config) error {
	e.mask.Hide(slices.Collect(maps.Values(cfg.Secrets())))
	if err := e.store.saveDraft(cfg); err != nil {
		return journalProblem(err)
	}
	e.site, e.review = cfg, nil
	e.outdateLocked()
	e.changedLocked()
	return nil
}
