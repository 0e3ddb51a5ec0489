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

// firstWithin is how long a technician looks at a dark screen at most, from when a boot opens the consoles.
const firstWithin = 10 * time.Second

// firstPages opens the consoles as a boot does, and holds the first page on each console of the kernel to its time: all of the page, with
// what the engine found. A machine that is busy with something else gets three tries.
func firstPages(t *testing.T, m *node.Machine) {
	t.Helper()
	// The build machine's kernel has consoles of its own. tty0 is whichever screen is in front.
	must(t, m, "echo tty0 ttyS0 >/run/active && mount --bind /run/active /sys/class/tty/console/active")
	defer must(t, m, "umount /sys/class/tty/console/active")
	var took time.Duration
	for range 3 {
		if took = slowestPage(t, m); took <= firstWithin {
			return
		}
	}
	t.Errorf("a first page came %s after the unit's start", took)
}

// slowestPage is how long after the unit's start the last of the lines has its page.
func slowestPage(t *testing.T, m *node.Machine) (took time.Duration) {
	t.Helper()
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
	t.Logf("all first pages %s after the unit's start", took.Round(time.Millisecond))
	return took
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
