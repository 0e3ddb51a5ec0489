package person

import (
	"io"
	"net"
	"strings"
	"testing"

	"touchdown/test/wait"
)

// sitting is a person at a line, and the node's end of it.
func sitting(t *testing.T) (*Person, net.Conn) {
	t.Helper()
	far, line := net.Pipe()
	t.Cleanup(func() { far.Close(); line.Close() })
	return Sit(t, line), far
}

func writes(t *testing.T, far io.Writer, text string) {
	t.Helper()
	if _, err := io.WriteString(far, text); err != nil {
		t.Fatal(err)
	}
}

// The picture of a page as a slow line brings it: the row of the cursor first, then from above, and the cursor last.
const (
	begun = "\x1b[H\x1b[2J\x1b[5;1H>[ Continue ]\x1b[1;1HStage 1 of 7"
	rest  = "\x1b[3;1H  FAIL  Disk"
	ended = "\x1b[5;4H"
)

// TestHalfAPicture: what is not on a screen yet may be on the page. A walk once took no failure for none, and stood before its review.
func TestHalfAPicture(t *testing.T) {
	p, far := sitting(t)
	writes(t, far, begun)
	p.Shows("Stage 1 of 7")
	var now look
	whole := p.seen(&now, func(l look) bool { _, ok := focus(l); return ok })
	if whole() == nil {
		t.Errorf("half a picture is taken for a whole one:\n%s", now.text)
	}
	writes(t, far, rest)
	p.Shows("FAIL")
	if whole() == nil {
		t.Errorf("a picture is taken for a whole one before its cursor is there:\n%s", now.text)
	}
	writes(t, far, ended)
	if screen := p.Whole("the page", func(string) bool { return true }); !strings.Contains(screen, "  FAIL  Disk") {
		t.Errorf("the whole picture:\n%s", screen)
	}
}

// TestLineThatEnds: nobody waits for a screen that cannot come.
func TestLineThatEnds(t *testing.T) {
	p, far := sitting(t)
	writes(t, far, "the last words")
	far.Close()
	p.Shows("the last words")
	var now look
	err := wait.For(wait.Within(t, 0), "a screen", p.seen(&now, func(l look) bool { return strings.Contains(l.text, "more") }))
	if err == nil || !strings.Contains(err.Error(), "the line has ended") {
		t.Errorf("waiting at a line that has ended: %v", err)
	}
}
