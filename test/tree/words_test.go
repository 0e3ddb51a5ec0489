package tree

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// banned are words that a good engineer does not use, with what to write instead. CONTRIBUTING.md has the glossary.
var banned = map[string]string{
	"anew": "again", "some" + "body": "someone", "mend": "fix, or repair for files", "mends": "fixes", "mended": "fixed", "mending": "fixing",
}

var word = regexp.MustCompile(`[A-Za-z]+`)

// TestPlainWords looks for banned words in every text of the tree: code, comments, screens, units and documents.
func TestPlainWords(t *testing.T) {
	out, err := exec.Command("git", "-C", "../..", "ls-files").Output()
	switch {
	case err != nil && os.Getenv("CI") == "true":
		t.Fatal(err)
	case err != nil:
		t.Skipf("skipped: this is not a checkout: %v", err)
	}
	for name := range strings.Lines(string(out)) {
		name = strings.TrimSpace(name)
		if name == "test/tree/words_test.go" || filepath.Base(name) == "go.sum" {
			continue
		}
		data, err := os.ReadFile(filepath.Join("..", "..", name))
		if err != nil {
			continue // a link that leads somewhere on the bench's node, or a file that was just removed
		}
		n := 0
		for line := range strings.Lines(string(data)) {
			n++
			for _, w := range word.FindAllString(line, -1) {
				if instead, bad := banned[strings.ToLower(w)]; bad {
					t.Errorf("%s:%d: write %s instead of %q", name, n, instead, w)
				}
			}
		}
	}
}
