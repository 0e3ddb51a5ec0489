package engine

import (
	"context"
	"errors"
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

// restoreLocked gives fields back what was found on the machine or loaded from a file, secrets too, with its source. The fields
// that another answer hides are among them: they would come back with what was typed.
func (e *Engine) restoreLocked(a Action) error {
	cfg, paths := e.site.Clone(), []string{a.Path}
	if a.Path == "" {
		paths = e.pathsLocked(a.Step)
	}
	if len(paths) == 0 {
		return fmt.Errorf("%w: step %q asks nothing", ErrNotFound, a.Step)
	}
	for _, path := range paths {
		was := e.found[path]
		switch now, ok := cfg.Get(path); {
		case !ok:
			return fmt.Errorf("%w: there is no field %q", ErrNotFound, path)
		case now == was.value:
			continue
		}
		if err := cfg.SetFrom(path, was.value, was.source); err != nil {
			return fmt.Errorf("%w: %w", ErrInvalid, err)
		}
	}
	return e.takeSiteLocked(cfg)
}

// pathsLocked are the fields of a step. The caller holds e.mu.
func (e *Engine) pathsLocked(id string) (paths []string) {
	for _, stage := range e.stages(e.site.Clone()) {
		for _, step := range stage.Steps {
			if step.ID() != id {
				continue
			}
			for _, f := range step.Fields() {
				paths = append(paths, f.Path)
			}
		}
	}
	return paths
}

// takeSiteLocked makes cfg the draft once it is on the disk, so that what a person saw accepted survives a
// power cut.
func (e *Engine) takeSiteLocked(cfg *site.Config) error {
	e.mask.Hide(cfg.SecretTexts())
	if err := e.store.saveDraft(cfg); err != nil {
		if errors.Is(err, ErrInvalid) {
			return err
		}
		return journalProblem(err)
	}
	e.site, e.review = cfg, nil
	e.outdateLocked()
	e.changedLocked()
	return nil
}
