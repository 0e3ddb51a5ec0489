package wait

import (
	"os"
	"os/exec"
)

// Ended is what Unable needs of a test, or of a measurement that uses the helpers of tests.
type Ended interface {
	Helper()
	Fatalf(format string, args ...any)
	Skipf(format string, args ...any)
}

// CI tells whether tests run in CI, whose machine has to have what they need.
func CI() bool { return os.Getenv("CI") == "true" }

// Unable ends a test that this machine lacks a tool, a right or a device for. It skips the test on a laptop. In CI the test fails: go test
// says "ok" of a package whose tests were all skipped.
func Unable(t Ended, format string, args ...any) {
	t.Helper()
	if CI() {
		t.Fatalf("CI has to be able to run this test: "+format, args...)
	}
	t.Skipf("skipped: "+format, args...)
}

// Root ends a test that needs root, as Unable does.
func Root(t Ended) {
	t.Helper()
	if os.Geteuid() != 0 {
		Unable(t, "it needs root")
	}
}

// Program is where a program lies that a test needs; without it the test ends as with Unable.
func Program(t Ended, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		path, err = exec.LookPath("/usr/sbin/" + name) // not in the PATH of every user
	}
	if err != nil {
		Unable(t, "%s is not installed", name)
	}
	return path
}
