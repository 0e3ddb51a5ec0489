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
)

// inside tells the test that it runs in the namespaces that it asked for.
const inside = "TOUCHDOWN_OPERATORS_ALONE"

// lanes are the tests with real operators: those of a lane run one after the other, and the lanes side by side.
var lanes = [][]string{{"TestRealOperators"}, {"TestOrders", "TestMachineConfigController", "TestNodeConfigSteps"}}

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
		return
	}
	asked := regexp.MustCompile(flag.Lookup("test.run").Value.String())
	var wg sync.WaitGroup
	failed := make(chan string, 16)
	for _, lane := range lanes {
		wg.Go(func() {
			for _, name := range lane {
				if asked.MatchString(name) && alone(unshare, name) != nil {
					failed <- name
				}
			}
		})
	}
	wg.Wait()
	if len(failed) > 0 {
		os.Exit(1)
	}
}

// alone runs one test. It ends when this process does.
func alone(unshare, name string) error {
	runtime.LockOSThread() // Pdeathsig goes by the thread
	defer runtime.UnlockOSThread()
	cmd := exec.Command(unshare, append(append([]string{"--net", "--mount"}, os.Args...), "-test.run=^"+name+"$")...) // the last one counts
	cmd.Stdout, cmd.Stderr, cmd.Env = os.Stdout, os.Stderr, append(os.Environ(), inside+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	return cmd.Run()
}
