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

// TestReturnsOfOlderReleases: they counted the returns of each day, and are in the order of their days. The ones that follow are the last
// all the same, whatever the clock says.
func TestReturnsOfOlderReleases(t *testing.T) {
	for _, c := range []struct {
		old  []string // in their order
		next string
	}{
		{[]string{"2026-01-05"}, "-2"},
		{[]string{"2026-01-05", "2026-01-05-2"}, "-3"},
		{[]string{"2026-01-05", "2026-01-05-2", "2026-06-01"}, "-4"},
		{[]string{"2026-01-05", "2026-03-01", "2026-03-01-2", "2026-03-01-3"}, "-5"},
		{[]string{"2026-01-05", "2026-01-05-2", "2026-01-05-3", "2026-06-01", "2026-07-01", "2026-07-01-2"}, "-7"},
		{[]string{"2026-01-05-5", "2026-06-01"}, "-6"}, // the first four were removed by hand
	} {
		state := t.TempDir()
		folder := func(name string) string {
			path := filepath.Join(state, layout.ReturnedFolder, name)
			if err := os.MkdirAll(path, 0o700); err != nil {
				t.Fatal(err)
			}
			return path
		}
		var want []string
		for _, name := range c.old {
			want = append(want, folder(name))
		}
		folder("2026-03-01-0")
		folder("2026-03-01-x")
		if got := layout.Returns(state); c.next != "-6" && !slices.Equal(got, want) { // nothing can know the order of what is left of others
			t.Errorf("%q, want %q", got, want)
		}
		first := layout.NextReturn(state, time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC))
		if first != "2020-01-01"+c.next {
			t.Errorf("behind %q it is called %s", c.old, first)
		}
		late := []string{folder(first)}
		late = append(late, folder(layout.NextReturn(state, time.Date(1970, 1, 1, 0, 0, 0, 0, time.UTC))))
		if got := layout.Returns(state); !slices.Equal(got[len(c.old):], late) {
			t.Errorf("%q, which ends not with %q", got, late)
		}
	}
}
