package e2e

import (
	"strings"
	"testing"
	"time"

	"touchdown/test/bench/landing"
)

// hangUp is what the kernel does when a line loses its carrier (TIOCVHANGUP of ioctl_tty(2)).
const hangUp = `perl -e 'open my $line, "+<", "/dev/ttyS0" or die $!; ioctl $line, 0x5437, 0 or die $!'`

// TestLines leaves the wizard for a log-in and gets it back at logout; then the line hangs up in the middle of the work,
// and at last it is gone for good. The work takes no notice, and every other console shows it.
func TestLines(t *testing.T) {
	l := landing.Start(t, landing.Options{Network: edge()})
	serial, screen := sit(t, l.Node.Console("ttyS0")), sit(t, l.Node.Console("tty1"))
	ctx := ctxFor(t, 6*time.Minute)
	serial.shows(20*time.Second, "Hardware check")
	screen.shows(20*time.Second, "Hardware check")
	if out, err := l.Node.Shell(ctx, "echo root:letmein | chpasswd"); err != nil {
		t.Fatal(err, out)
	}

	serial.types("\x03")
	serial.shows(5*time.Second, "Leave this console?")
	serial.types("y")
	serial.shows(20*time.Second, "login:")
	serial.types("root\r")
	serial.shows(20*time.Second, "Password:")
	serial.types("letmein\r")
	serial.shows(20*time.Second, "~#")
	serial.types("tty\r")
	serial.shows(5*time.Second, "/dev/ttyS0")
	serial.types("exit\r")
	serial.shows(20*time.Second, "Stage 1 of 7: Hardware check")

	type end struct {
		out  string
		code int
		err  error
	}
	ended := make(chan end, 1)
	go func() {
		out, code, err := l.Apply(ctx, static(""))
		ended <- end{out, code, err}
	}()
	serial.shows(60*time.Second, "Running for")
	before, err := l.Node.Shell(ctx, "systemctl show -P MainPID touchdown-engine")
	if err != nil {
		t.Fatal(err)
	}
	if out, err := l.Node.Shell(ctx, hangUp); err != nil {
		t.Fatal(err, out)
	}
	if err := l.Node.Wait(ctx, "journalctl --no-pager -u touchdown-console@ttyS0 | grep -q 'status=4'"); err != nil {
		t.Error(err)
	}
	serial.types("\x0c")
	serial.shows(20*time.Second, "Running for")
	if out, err := l.Node.Shell(ctx, "systemctl is-active touchdown-login@ttyS0"); err == nil {
		t.Errorf("a log-in on a line that hung up: %s", out)
	}

	if err := l.Node.Console("ttyS0").Close(); err != nil {
		t.Fatal(err)
	}
	screen.shows(2*time.Minute, "This node has landed.")
	if e := <-ended; e.err != nil || e.code != 0 {
		t.Errorf("apply: exit %d, %v\n%s", e.code, e.err, e.out)
	}
	after, err := l.Node.Shell(ctx, "systemctl show -P MainPID touchdown-engine")
	if err != nil || strings.TrimSpace(after) != strings.TrimSpace(before) {
		t.Errorf("the engine was %s, is %s: %v", before, after, err)
	}
}
