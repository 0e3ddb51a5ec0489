package factory_test

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"touchdown/test/bench/node"
	"touchdown/test/wait"
)

// firstWithin is how long a technician looks at a dark screen at most, from when a boot opens the consoles of an idle machine.
const firstWithin = 10 * time.Second

// firstPages opens the consoles as a boot does, and wants the first page on each console of the kernel: all of the page, with what the engine
// found. It logs how long that took; how fast it is depends on what else the machine does.
func firstPages(t *testing.T, m *node.Machine) {
	t.Helper()
	// The build machine's kernel has consoles of its own. tty0 is whichever screen is in front.
	must(t, m, "echo tty0 ttyS0 >/run/active && mount --bind /run/active /sys/class/tty/console/active")
	defer must(t, m, "umount /sys/class/tty/console/active")
	must(t, m, "systemctl stop touchdown-consoles 'touchdown-console@*' 'touchdown-login@*' touchdown-engine; systemctl stop 'touchdown-login@*'")
	lines := []string{"tty1", "ttyS0"}
	pages := make(chan page, len(lines))
	for _, name := range lines {
		m.Console(name).Forget()
		go func() { pages <- read(m.Console(name), "Touchdown", "engine ok", "Hardware check", "1 plain text") }()
	}
	must(t, m, "systemctl start touchdown-consoles")
	started, err := strconv.Atoi(must(t, m, "systemctl show -P ConditionTimestampMonotonic touchdown-consoles"))
	if err != nil {
		t.Fatal(err)
	}
	var took time.Duration // until the last of the lines has its page
	for range lines {
		select {
		case p := <-pages:
			if p.err != nil {
				t.Fatal(p.err)
			}
			took = max(took, p.at-time.Duration(started)*time.Microsecond)
		case <-time.After(wait.Timeout(firstWithin)):
			t.Fatal("a line has no page")
		}
	}
	t.Logf("all first pages %s after the unit's start; on an idle machine it is %s at most", took.Round(time.Millisecond), firstWithin)
}

// page is when a line had all of a page, by the clock with which systemd notes when a unit starts.
type page struct {
	at  time.Duration
	err error
}

func read(line *node.Line, texts ...string) page {
	var got []byte
	for chunk := make([]byte, 4096); ; {
		n, err := line.Read(chunk)
		if got = append(got, chunk[:n]...); err != nil {
			return page{err: fmt.Errorf("reading the line: %w", err)}
		}
		if !slices.ContainsFunc(texts, func(text string) bool { return !bytes.Contains(got, []byte(text)) }) {
			var now unix.Timespec
			err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &now)
			return page{time.Duration(now.Nano()), err}
		}
	}
}
