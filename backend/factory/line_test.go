package factory

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"touchdown/backend/host"
	"touchdown/backend/layout"
	"touchdown/backend/problem"
)

// TestOpenLine: a sealed node that has only been switched on may come back to the bench line, one that began to land may not.
func TestOpenLine(t *testing.T) {
	const format = `{"journal":"touchdown/v1"}` + "\n"
	for name, c := range map[string]struct {
		journal string
		refused bool
	}{
		"never switched on":   {},
		"waited for its site": {journal: format},
		"began to land":       {journal: format + `{"kind":"started"}` + "\n", refused: true},
		"landed":              {journal: format + `{"kind":"started"}` + "\n" + `{"kind":"done"}` + "\n", refused: true},
	} {
		m := host.Open(host.Options{Root: t.TempDir()})
		if c.journal != "" {
			if err := m.WriteFile(layout.Journal, []byte(c.journal), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		opened, err := OpenLine(m, time.Now())
		var p *problem.Problem
		if refused := errors.As(err, &p) && p.Code == "FAC-LAND" && strings.Contains(p.Fix.String(), "touchdown factory --returned NODE"); refused != c.refused || opened == c.refused || OnLine(m) == c.refused {
			t.Errorf("%s: opened %t, on the line %t, %v", name, opened, OnLine(m), err)
		}
	}
}

// TestOpenLineNeedsTheJournal: a journal that cannot be read may tell of a landing.
func TestOpenLineNeedsTheJournal(t *testing.T) {
	m := host.Open(host.Options{Root: t.TempDir()})
	if err := os.MkdirAll(m.Path(layout.Journal), 0o700); err != nil { // root reads any file, but no folder as one
		t.Fatal(err)
	}
	if opened, err := OpenLine(m, time.Now()); opened || err == nil || OnLine(m) {
		t.Errorf("opened %t, on the line %t, %v", opened, OnLine(m), err)
	}
}
