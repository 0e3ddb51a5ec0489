package engine

import (
	"os"
	"path/filepath"
	"testing"

	"touchdown/backend/layout"
	"touchdown/steps/session"
)

// TestAnotherStateFolder: an engine that was given another state folder keeps all its files there. A whole job leaves nothing in the
// usual folder of the machine that it works on, and no journal in that of the machine that it runs on.
func TestAnotherStateFolder(t *testing.T) {
	_, before := os.Lstat(layout.Journal)
	landed(t, func(t *testing.T, r *rig, _ session.Session, _ string, _ *gift) {
		if _, err := os.Stat(filepath.Join(r.dir, filepath.Base(layout.Journal))); err != nil {
			t.Errorf("the folder that was given has no journal: %v", err)
		}
		if entries, _ := os.ReadDir(r.host.Path(layout.State)); len(entries) > 0 {
			t.Errorf("the usual folder has %v", entries)
		}
		if _, after := os.Lstat(layout.Journal); before != nil && after == nil {
			t.Errorf("%s is there now", layout.Journal)
		}
	})
}
