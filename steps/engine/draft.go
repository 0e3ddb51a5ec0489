package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"touchdown/backend/host"
	"touchdown/steps/site"
)

// saveDraft keeps the config. Secrets go to their own files. A draft that could not be read again is refused: what a person
// saw accepted survives a restart.
func (s *store) saveDraft(cfg *site.Config) error {
	text, err := cfg.WithoutSecrets().Marshal(false)
	if err != nil {
		return fmt.Errorf("encoding the draft: %w", err)
	}
	if _, err := site.Parse(text, "site.yaml", nil); err != nil {
		return fmt.Errorf("%w: the answers cannot be kept: %w", ErrInvalid, err)
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

func (s *store) saveSecrets(secrets map[string]string) error {
	kept, err := os.ReadDir(s.path("secrets"))
	if err != nil {
		return fmt.Errorf("listing the kept secrets: %w", err)
	}
	for _, f := range kept {
		name := filepath.Join("secrets", f.Name())
		if _, still := secrets[f.Name()]; !still {
			if err := errors.Join(s.sums.gone(name), host.Wipe(s.path(name))); err != nil {
				return err
			}
		}
	}
	for path, value := range secrets {
		if old, err := readKept(s.path("secrets", path)); err == nil && string(old) == value {
			continue
		}
		if err := s.put(filepath.Join("secrets", path), []byte(value)); err != nil {
			return fmt.Errorf("keeping the secret %s: %w", path, err)
		}
	}
	return nil
}

// loadDraft returns the draft of an earlier engine, or nil when there is none. A secret that cannot be taken up loses only
// itself; its name is among lost.
func (s *store) loadDraft() (cfg *site.Config, lost []string, err error) {
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

func (s *store) loadSecrets(cfg *site.Config) (lost []string) {
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
