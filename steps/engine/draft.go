package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"touchdown/backend/host"
	"touchdown/steps/session"
	"touchdown/steps/site"
)

// saveDraft keeps the config. Secrets go to their own files. A draft that could not be read again is refused: what a person
// saw accepted survives a restart.
func (s *stateFolder) saveDraft(cfg *site.Config) error {
	text, err := cfg.WithoutSecrets().Marshal(false)
	if err != nil {
		return fmt.Errorf("encoding the draft: %w", err)
	}
	if _, err := site.Parse(text, "site.yaml", nil); err != nil {
		return fmt.Errorf("%w: the answers cannot be kept: %w", session.ErrInvalid, err)
	}
	sources, err := json.Marshal(cfg.Sources)
	if err != nil {
		return fmt.Errorf("encoding the draft's sources: %w", err)
	}
	if err := s.saveSecrets(cfg.Secrets()); err != nil {
		return err
	}
	if err := s.put("site.yaml", text); err != nil {
		return fmt.Errorf("saving the draft: %w", err)
	}
	if err := s.put("sources.json", sources); err != nil {
		return fmt.Errorf("saving the draft's sources: %w", err)
	}
	return nil
}

// saveSecrets writes the secrets that changed. Their sources are forgotten first: after a cut in between, a secret that was typed once
// never counts as typed twice, nor as one of a document.
func (s *stateFolder) saveSecrets(secrets map[string]string) error {
	kept, err := os.ReadDir(s.path("secrets"))
	if err != nil {
		return fmt.Errorf("listing the kept secrets: %w", err)
	}
	var gone, changed []string
	for _, f := range kept {
		if _, still := secrets[f.Name()]; !still {
			gone = append(gone, f.Name())
		}
	}
	for path, value := range secrets {
		if old, err := readKept(s.path("secrets", path)); err != nil || string(old) != value {
			changed = append(changed, path)
		}
	}
	if err := forgetSources(s, slices.Concat(gone, changed)); err != nil {
		return err
	}
	for _, path := range gone {
		name := filepath.Join("secrets", path)
		if err := errors.Join(s.sums.gone(name), host.Wipe(context.Background(), s.path(name))); err != nil {
			return err
		}
	}
	for _, path := range changed {
		if err := s.put(filepath.Join("secrets", path), []byte(secrets[path])); err != nil {
			return fmt.Errorf("keeping the secret %s: %w", path, err)
		}
	}
	return nil
}

// forgetSources takes paths out of the kept sources. A secret without a source counts as typed once.
func forgetSources(s *stateFolder, paths []string) error {
	var sources map[string]string
	data, err := readKept(s.path("sources.json"))
	if err == nil {
		_ = json.Unmarshal(data, &sources) // a text that is not JSON names no source
	}
	had := len(sources)
	maps.DeleteFunc(sources, func(path, _ string) bool { return slices.Contains(paths, path) })
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(sources) == had {
		return nil
	}
	if data, err = json.Marshal(sources); err == nil {
		err = s.put("sources.json", data)
	}
	if err != nil {
		return fmt.Errorf("saving the draft's sources: %w", err)
	}
	return nil
}

// loadDraft returns the draft of an earlier engine, or nil when there is none. A secret that cannot be taken up loses only
// itself; its name is among lost.
func (s *stateFolder) loadDraft() (cfg *site.Config, lost []string, err error) {
	text, err := readKept(s.path("site.yaml"))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		cfg = site.New()
	case err != nil:
		return nil, nil, fmt.Errorf("reading the draft: %w", err)
	default:
		if cfg, err = site.Parse(text, s.path("site.yaml"), nil); err != nil {
			return nil, nil, fmt.Errorf("reading the draft: %w", err)
		}
	}
	if data, err := readKept(s.path("sources.json")); err == nil {
		_ = json.Unmarshal(data, &cfg.Sources) // only tells where values came from; without it they read as from the draft
	}
	return cfg, s.loadSecrets(cfg), nil
}

func (s *stateFolder) loadSecrets(cfg *site.Config) (lost []string) {
	kept, _ := os.ReadDir(s.path("secrets")) // what cannot be listed has been told by the audit
	for _, f := range kept {
		value, err := readKept(s.path("secrets", f.Name()))
		if err == nil {
			source := cfg.Sources[f.Name()]
			if source == "" {
				source = site.Typed
			}
			err = cfg.SetFrom(f.Name(), string(value), source)
		}
		if err != nil && !slices.Contains(lost, f.Name()) {
			lost = append(lost, f.Name())
		}
	}
	return lost
}
