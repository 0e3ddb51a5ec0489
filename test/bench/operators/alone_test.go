package operators

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"sync"
	"syscall"
	"testing"

	"touchdown/test/wait"
)

// lanes are the tests with real operators: those of a lane run one after the other, and the lanes side by side.
var lanes = [][]string{{"TestRealOperators"}, {"TestOrders"}, {"TestOAuthServer", "TestRouter", "TestMachineConfigController", "TestNodeConfigSteps"}}

// TestMain starts each test again in its own namespaces, where there is a loopback and nothing else: operators ask for service
// addresses, and whatever answers to these on a network outside is not to hear of it. Two of a kind would want the same port of it, too.
func TestMain(m *testing.M) {
	flag.Parse()
	if testing.Short() {
		os.Exit(m.Run()) // nothing is started
	}
	if os.Getenv(inside) != "" {
		if out, err := exec.Command("ip", "link", "set", "lo", "up").CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "bringing up the loopback: %v: %s\n", err, out)
			os.Exit(1)
		}
		os.Exit(m.Run())
	}
	unshare, err := exec.LookPath("unshare")
	if err != nil || os.Geteuid() != 0 {
		fmt.Fprintln(os.Stderr, "skipped: real operators need root and unshare:", err)
		if wait.CI() {
			os.Exit(1)
		}
		return
	}
	noted, err := os.CreateTemp("", "ran-*")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(every(unshare, noted.Name()))
}

// every runs the tests that are asked for, and tells which real parts they ran.
func every(unshare, noted string) (code int) {
	defer func() { _ = os.Remove(noted) }()
	asked := regexp.MustCompile(flag.Lookup("test.run").Value.String())
	var wg sync.WaitGroup
	failed := make(chan string, 16)
	for _, lane := range lanes {
		wg.Go(func() {
			for _, name := range lane {
				if asked.MatchString(name) && alone(unshare, noted, name) != nil {
					failed <- name
				}
			}
		})
	}
	wg.Wait()
	close(failed)
	compared := asked.MatchString(lanes[0][0])
	for name := range failed {
		code = 1
		compared = compared && name != lanes[0][0]
	}
	if err := tellWhatRan(noted, compared); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	return code
}

// alone runs one test. It ends when this process does.
func alone(unshare, noted, name string) error {
	runtime.LockOSThread() // Pdeathsig goes by the thread
	defer runtime.UnlockOSThread()
	cmd := exec.Command(unshare, append(append([]string{"--net", "--mount"}, os.Args...), "-test.run=^"+name+"$")...) // the last one counts
	cmd.Stdout, cmd.Stderr, cmd.Env = os.Stdout, os.Stderr, append(os.Environ(), inside+"="+noted)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	return cmd.Run()
}
