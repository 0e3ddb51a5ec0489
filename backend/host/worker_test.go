package host

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"touchdown/test/wait"
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

// TestWorkerTellsWhyItFell: the first line that it said is in the error, as nobody looks at a worker's own output.
func TestWorkerTellsWhyItFell(t *testing.T) {
	err := Limits{Memory: 1 << 30}.Worker(t.Context(), []string{"confined-fall"}, nil, func([]byte) {})
	if err == nil || !strings.Contains(err.Error(), "it fell") || !strings.Contains(err.Error(), "exit status 1") {
		t.Errorf("%v", err)
	}
}

// TestWorkerReads: it has the file that it is to load as its input, and its lines arrive.
func TestWorkerReads(t *testing.T) {
	file := filepath.Join(t.TempDir(), "input")
	if err := os.WriteFile(file, []byte("one\ntwo\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	input, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer input.Close()
	var lines []string
	err = Limits{Memory: 1 << 30}.Worker(t.Context(), []string{"worker-repeats"}, input, func(line []byte) { lines = append(lines, string(line)) })
	if err != nil || fmt.Sprint(lines) != "[one two]" {
		t.Errorf("%q, %v", lines, err)
	}
}

// TestWorkerIsStopped: one that never ends is killed with its context, and its caller hears why.
func TestWorkerIsStopped(t *testing.T) {
	enough := errors.New("the person stopped the test")
	ctx, stop := context.WithCancelCause(t.Context())
	process := 0
	began := time.Now()
	err := Limits{Memory: 1 << 30}.Worker(ctx, []string{"worker-stays"}, nil, func(line []byte) {
		_, _ = fmt.Sscan(string(line), &process)
		began = time.Now()
		stop(enough)
	})
	if !errors.Is(err, enough) || process == 0 {
		t.Errorf("process %d: %v", process, err)
	}
	if took := time.Since(began); took > wait.Timeout(time.Second) {
		t.Errorf("it took %s", took)
	}
	wait.Until(t, "the worker's end", func() error {
		if _, err := os.Stat(fmt.Sprintf("/proc/%d/exe", process)); err == nil {
			return fmt.Errorf("process %d is there", process)
		}
		return nil
	})
}
