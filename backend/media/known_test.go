package media_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"touchdown/backend/host/hosttest"
	"touchdown/backend/layout"
	"touchdown/backend/media"
	"touchdown/backend/problem"
	"touchdown/test/stick"
)

// TestLay: a node keeps its own key, trusts the keys that it was told last, and none of it can be read by others.
func TestLay(t *testing.T) {
	m := hosttest.New(t)
	known := media.Of(m.Machine)
	if recipient, err := known.Recipient(); err != nil || recipient != "" {
		t.Errorf("before: %q, %v", recipient, err)
	}
	if ids, err := known.Trusts(); err != nil || ids != nil {
		t.Errorf("before: %q, %v", ids, err)
	}
	first, firstKey := stick.Key(t)
	if changed, err := known.Lay(firstKey); err != nil || !changed {
		t.Fatalf("%t, %v", changed, err)
	}
	recipient, err := known.Recipient()
	if err != nil || !strings.HasPrefix(recipient, "age1") {
		t.Errorf("%q, %v", recipient, err)
	}
	if changed, err := known.Lay(firstKey); err != nil || changed {
		t.Errorf("again: %t, %v", changed, err)
	}
	second, secondKey := stick.Key(t)
	if changed, err := known.Lay(slices.Concat(firstKey, secondKey)); err != nil || !changed {
		t.Errorf("another key: %t, %v", changed, err)
	}
	want := []string{first.ID(), second.ID()}
	slices.Sort(want)
	if ids, err := known.Trusts(); err != nil || !slices.Equal(ids, want) {
		t.Errorf("%q, %v", ids, err)
	}
	if again, err := known.Recipient(); err != nil || again != recipient {
		t.Errorf("the node has another key: %q, %v", again, err)
	}
	if changed, err := known.Lay([]byte("no key")); err == nil || changed {
		t.Errorf("what is not a key was taken: %t, %v", changed, err)
	}
	files, err := filepath.Glob(m.Path(layout.Media + "/*"))
	if err != nil || len(files) != 4 {
		t.Fatalf("%q, %v", files, err)
	}
	for _, file := range files {
		if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", file, info.Mode(), err)
		}
	}
	if err := known.Forget(); err != nil {
		t.Fatal(err)
	}
	if left, _ := filepath.Glob(m.Path(layout.Media + "/*")); len(left) != 1 || filepath.Base(left[0]) != "used" {
		t.Errorf("left: %q", left)
	}
}

// code is the code of an error, "" for none.
func code(err error) string {
	if err == nil {
		return ""
	}
	return problem.From(err).Code
}
