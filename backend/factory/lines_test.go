package factory_test

import (
	"strings"
	"testing"
	"time"

	"touchdown/test/bench/node"
)

// TestLines looks at the lines of a baked node: who owns them, and that one of them always takes a log-in.
func TestLines(t *testing.T) {
	m := node.Start(t, node.Options{})
	lay(t, m)
	if err := m.Program(); err != nil {
		t.Fatal(err)
	}
	t.Run("the log-in has the speed of the line alone", func(t *testing.T) {
		must(t, m, "systemctl start touchdown-login@ttyS0")
		const args = "tr '\\0' ' ' </proc/$(systemctl show -P MainPID touchdown-login@ttyS0)/cmdline"
		await(t, m, 10*time.Second, args+" | grep -q noclear")
		got := must(t, m, args)
		if want := " --noclear --timeout 120 " + must(t, m, "stty -F /dev/ttyS0 speed") + " ttyS0 vt220"; !strings.HasSuffix(got, want) {
			t.Errorf("%q does not end in %q", got, want)
		}
	})
}
