package main

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"touchdown/test/wait"
)

// hidden names the environment variable that has this program tell about itself as main leaves it.
const hidden = "TOUCHDOWN_TEST_HIDDEN"

// TestHideMemory holds that a process cannot be dumped or traced once main has begun, and still reads what it reads of itself.
func TestHideMemory(t *testing.T) {
	if os.Getenv(hidden) != "" {
		hideMemory()
		dumpable, err := unix.PrctlRetInt(unix.PR_GET_DUMPABLE, 0, 0, 0, 0)
		if dumpable != 0 || err != nil {
			t.Errorf("dumpable: %d, %v", dumpable, err)
		}
		letGo()
		for _, path := range []string{"/proc/self/smaps", "/proc/self/mountinfo", "/proc/self/status"} {
			if _, err := os.ReadFile(path); err != nil {
				t.Error(err)
			}
		}
		if _, err := os.Readlink("/proc/self/fd/0"); err != nil {
			t.Error(err)
		}
		if _, err := os.Executable(); err != nil {
			t.Error(err)
		}
		return
	}
	for _, user := range []uint32{0, 65534} {
		t.Run(fmt.Sprint("user ", user), func(t *testing.T) {
			if user != 0 {
				wait.Root(t) // it changes the user
			}
			cmd := exec.CommandContext(t.Context(), "/proc/self/exe", "-test.run=^TestHideMemory$", "-test.v")
			cmd.Env, cmd.Dir = append(os.Environ(), hidden+"=1"), "/"
			if os.Geteuid() == 0 {
				cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: user, Gid: user}}
			}
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// TestMainHidesItsMemory: main is not run by tests, so that its first line is looked up.
func TestMainHidesItsMemory(t *testing.T) {
	source, err := os.ReadFile("main.go")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(source), "func main() {\n\thideMemory()\n") {
		t.Error("main does not begin with hideMemory")
	}
}
