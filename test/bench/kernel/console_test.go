package kernel

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"touchdown/test/bench/site"
	"touchdown/test/wait"
)

// TestTheKernelKeepsOffAConsole: while a console has the serial line, an error of the kernel does not get onto it; after the console was
// killed the kernel writes there again, with the level that it had.
func TestTheKernelKeepsOffAConsole(t *testing.T) {
	ctx, cancel := context.WithTimeoutCause(t.Context(), 45*time.Minute, errors.New("longer than 45 minutes"))
	defer cancel()
	guest := New(t, Options{Networks: map[int]*site.Site{Untagged: site.New(t, site.Options{})}})
	must := func(script string) string {
		t.Helper()
		out, err := guest.Shell(ctx, script)
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(out)
	}
	shown := func() string {
		t.Helper()
		text, err := os.ReadFile(filepath.Join(guest.dir, "console.log"))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	shows := func(text string) {
		t.Helper()
		wait.Until(t, fmt.Sprintf("%q on the line", text), func() bool { return strings.Contains(shown(), text) })
	}
	const level = "cut -f1 /proc/sys/kernel/printk"
	says := func(text string) { t.Helper(); must("echo '<3>" + text + "' >/dev/kmsg") }

	if err := guest.Boot(ctx); err != nil {
		t.Fatal(err)
	}
	must("echo 7 >/proc/sys/kernel/printk")
	says("before the console")
	shows("before the console")

	// Its level is looked at after a console's end: neither systemd nor the end of a login opens the line again.
	must("d=/run/systemd/system; mkdir -p $d/touchdown-console@.service.d && printf '[Service]\\nRestart=no\\n' " +
		">$d/touchdown-console@.service.d/once.conf && ln -s /dev/null $d/touchdown-login@ttyS0.service && systemctl daemon-reload")
	must("systemctl start touchdown-console@ttyS0")
	shows("[ Leave ]")
	if got := must(level); got != "1" {
		t.Errorf("the level is %s while a console is open", got)
	}
	says("over the console")
	must("dmesg | grep -q 'over the console'")

	must("systemctl kill -s KILL touchdown-console@ttyS0")
	if err := guest.Wait(ctx, "systemctl --quiet is-failed touchdown-console@ttyS0"); err != nil { // all that it does at its end is done
		t.Fatalf("the end of a console that was killed: %v", err)
	}
	if got := must(level); got != "7" {
		t.Fatalf("the level is %s after a console was killed", got)
	}
	says("after the console")
	shows("after the console") // the kernel writes in order
	if strings.Contains(shown(), "over the console") {
		t.Error("the kernel wrote over the console")
	}
}
