package media

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"touchdown/backend/envelope"
	"touchdown/backend/message"
	"touchdown/backend/problem"
	"touchdown/steps/site"
	"touchdown/test/rounds"
	"touchdown/test/wait"
)

// TestMedia tries hostile volumes on a node: each is read as media show reads it, in its own process, and then judged as a node
// judges it. None gets through but with the very document that the factory signed for this machine, nothing is written, and none
// costs more than it may. Every now and then the honest one has to pass.
func TestMedia(t *testing.T) {
	rounds.Play(t, func(t *testing.T, r rounds.Round) map[string]int {
		n := 10
		if r.Long {
			n = 100
		}
		dir := t.TempDir()
		s := newTarget(t)
		counts := map[string]int{}
		kinds := slices.Sorted(maps.Keys(attempts))
		for i := range n {
			what := kinds[(r.Number*n+i)%len(kinds)]
			through := s.try(t, dir, what, attempts[what](t, s, r))
			counts["volumes"]++
			if through {
				counts["unharmed"]++ // its bytes were changed where nobody looks
			}
		}
		if !s.try(t, dir, "honest", s.volume(t, r, s.signed)) {
			t.Error("the honest medium was refused")
		}
		return counts
	})
}

// try puts a volume into the node, and tells whether it got through unharmed.
func (s *target) try(t *testing.T, dir, what string, b []byte) bool {
	t.Helper()
	path := filepath.Join(dir, "volume")
	if err := os.WriteFile(path, b, 0o400); err != nil {
		t.Fatal(err)
	}
	defer os.Remove(path)
	began := time.Now()
	config, d, err := s.take(t, path)
	if took := time.Since(began); took > wait.Timeout(10*time.Second) {
		t.Errorf("%s: it took %v", what, took)
	}
	after, readErr := os.ReadFile(path)
	names, dirErr := os.ReadDir(dir)
	if readErr != nil || dirErr != nil || sha256.Sum256(after) != sha256.Sum256(b) || len(names) != 1 {
		t.Errorf("%s: something was written: %v, %v, %v", what, names, readErr, dirErr)
	}
	if err != nil {
		if p := problem.From(err); strings.Contains(err.Error(), "TOO MUCH MEMORY") || p.Code == "ERR-UNKN" || p.Fix.String() == "" || p.Summary.String() == "" {
			t.Errorf("%s: no good error: %v", what, err)
		}
		return false
	}
	if d.ID != s.honest.ID || !bytes.Equal(config, s.config) {
		t.Errorf("%s: %s GOT THROUGH with %q", what, d.ID, config)
	}
	return true
}

// take does with a volume what a node does.
func (s *target) take(t *testing.T, path string) ([]byte, *envelope.Document, error) {
	t.Helper()
	content, err := Inspect(t.Context(), path)
	if err != nil {
		return nil, nil, err
	}
	if plain := content.Find(PlainFile); plain != nil {
		if _, err := site.Parse(plain.Data, PlainFile, nil); err == nil {
			t.Error("a hostile site config was read")
		}
	}
	e := content.Find(EnvelopeFile)
	if e == nil {
		return nil, nil, &problem.Problem{Code: "MED-LACK", Summary: message.T("There is nothing on it."), Fix: message.T("Use another one.")}
	}
	d, _, err := envelope.Verify(e.Data, s.trust)
	if err == nil {
		err = d.For(s.serial, s.used)
	}
	if err != nil {
		return nil, nil, err
	}
	config, err := d.Unseal(s.passphrase)
	if err != nil {
		return nil, nil, err
	}
	cfg, err := site.Parse(config, "site-config.yaml", nil)
	if err == nil {
		errs, _ := cfg.Validate(time.Now())
		err = errs.Err()
	}
	if err != nil {
		return nil, nil, &problem.Problem{Code: "SIT-BAD", Summary: message.T("The site config is wrong."), Fix: message.T("Correct it."), Err: fmt.Errorf("%w", err)}
	}
	return config, d, nil
}
