package operators

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"
)

// inside tells the test that it runs in the namespaces that it asked for.
const inside = "TOUCHDOWN_OPERATORS_ALONE"

// TestMain starts the tests again in their own namespaces, where there is a loopback and nothing else: operators ask for service
// addresses, and whatever answers to these on a network outside is not to hear of it.
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
	if err == nil && os.Geteuid() == 0 {
		args := append([]string{"unshare", "--net", "--mount", os.Args[0]}, os.Args[1:]...)
		err = syscall.Exec(unshare, args, append(os.Environ(), inside+"=1"))
	}
	fmt.Fprintln(os.Stderr, "skipped: real operators need root and unshare:", err)
}
