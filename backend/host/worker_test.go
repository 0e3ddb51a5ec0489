package host

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestWorkerInAScope: systemd-run gets the smallest shares and the limit of memory, and starts the file that this process is.
func TestWorkerInAScope(t *testing.T) {
	dir := t.TempDir()
	script := "#!/bin/sh\necho \"$@\"\nwhile [ \"$1\" != -- ]; do shift; done\nshift\nexec \"$@\"\n"
	if err := os.WriteFile(filepath.Join(dir, "systemd-run"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	self, err := os.Open("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	defer self.Close()
	cmd := worker(t.Context(), []string{"-test.list", "^TestWorkerInAScope$"}, 5<<20, true)
	cmd.ExtraFiles = []*os.File{self}
	out, err := cmd.Output()
	lines := strings.Split(string(out), "\n")
	if err != nil || !strings.Contains(lines[0], "--scope") || !strings.Contains(lines[0], "MemoryMax=5242880") || lines[1] != "TestWorkerInAScope" {
		t.Errorf("%v: %q", err, out)
	}
}
