// Package resume keeps what long runs have done in a file, so that one that was stopped goes on there. What is kept counts only for
// what was tested: a commit with a clean work tree, or the fingerprint of all that a test rests on.
package resume

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"touchdown/backend/host"
)

// Commit names the commit of the work tree in the current folder, with "-dirty" behind it where files differ from it.
func Commit(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "git", "describe", "--always", "--abbrev=40", "--dirty", "--match=-").Output()
	if err != nil {
		return "", fmt.Errorf("asking for the commit: %w", err)
	}
	return strings.TrimSpace(string(out)), nil
}

// Clean tells whether a name stands for one content of the tree. The Makefile calls a tree without git "dev".
func Clean(commit string) bool {
	return commit != "" && commit != "dev" && !strings.HasSuffix(commit, "-dirty")
}

// Load reads what an earlier run left in a file; same tells whether what was read may be gone on with. Where there is none, it returns nil.
// So it does for a file that cannot be read, and says so: what was done is lost, but the run need not be.
func Load[T any](file string, same func(*T) bool) *T {
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	old := new(T)
	if err == nil {
		err = json.Unmarshal(data, old)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "what earlier runs did cannot be read and does not count: %s: %v\n", file, err)
		return nil
	}
	if !same(old) {
		return nil
	}
	return old
}

// Save replaces the file as a whole: whoever is stopped in the middle leaves the old one.
func Save(file string, what any) error {
	data, err := json.MarshalIndent(what, "", "  ")
	if err != nil {
		return fmt.Errorf("keeping what was done: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return fmt.Errorf("keeping what was done: %w", err)
	}
	if err := host.WriteFileAtomic(file, append(data, '\n'), 0o644); err != nil {
		return fmt.Errorf("keeping what was done: %w", err)
	}
	return nil
}
