package layout_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"touchdown/backend/layout"
)

// TestReturnsInOrder: a node comes back a dozen times, and its clock, whose battery is empty, is set back and forth in between. The folders are
// in the order in which they were made, and none takes another's name.
func TestReturnsInOrder(t *testing.T) {
	state := t.TempDir()
	var made []string
	for n, day := range []string{
		"2026-11-26", "2026-11-26", "2026-11-25", "1970-01-01", "2036-02-07", "2026-11-26", "2026-11-27", "1970-01-01", "2026-11-28", "2026-11-26", "2026-01-01", "2025-12-31",
	} {
		now, err := time.Parse(time.DateOnly, day)
		if err != nil {
			t.Fatal(err)
		}
		name := layout.NextReturn(state, now)
		if name[:len(day)] != day || !layout.IsReturn(name) {
			t.Errorf("return %d at %s is called %s", n+1, day, name)
		}
		made = append(made, filepath.Join(state, layout.ReturnedFolder, name))
		if err := os.MkdirAll(made[n], 0o700); err != nil {
			t.Fatal(err)
		}
		if got := layout.Returns(state); !slices.Equal(got, made) {
			t.Fatalf("%q, want %q", got, made)
		}
	}
	if err := os.RemoveAll(made[4]); err != nil { // to make room, by hand
		t.Fatal(err)
	}
	if next := layout.NextReturn(state, time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)); next != "2026-01-01-13" {
		t.Errorf("the next one is called %s", next)
	}
}

// TestReturnsOfOlderReleases: they counted the returns of each day. The next one is the last all the same.
func TestReturnsOfOlderReleases(t *testing.T) {
	state := t.TempDir()
	for _, name := range []string{"2026-01-05", "2026-03-01", "2026-03-01-2", "2026-03-01-3", "2026-03-01-0", "2026-03-01-x"} {
		if err := os.MkdirAll(filepath.Join(state, layout.ReturnedFolder, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	name := layout.NextReturn(state, time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC))
	if name != "2020-01-01-5" {
		t.Errorf("it is called %s", name)
	}
	if all := layout.Returns(state); len(all) != 4 || filepath.Base(all[3]) != "2026-03-01-3" {
		t.Errorf("%q", all)
	}
}
