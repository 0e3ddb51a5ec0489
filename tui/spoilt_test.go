package tui

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/hinshun/vt10x"
)

// TestSpoiltScreen writes over a console's screen, as a message of the kernel does: what repaints leaves nothing of that behind.
func TestSpoiltScreen(t *testing.T) {
	for name, repaint := range map[string]func(*bench){
		"Ctrl-L":                  func(b *bench) { b.press("ctrl+l") },
		"first key after a pause": func(b *bench) { b.now = b.now.Add(away + time.Second); b.press("tab") },
		"control":                 func(b *bench) { b.took(b.app.link.take(true)()) },
		"another size":            func(b *bench) { b.took(resizedMsg{80, 24}) },
		"colours":                 func(b *bench) { b.press("m", "m") },
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, 80, 24)
			var out bytes.Buffer
			p, vt := newPainter(&out, true, 0), vt10x.New(vt10x.WithSize(80, 24))
			shows := func() string {
				out.Reset()
				painted{b.app, p}.View()
				p.flush()
				vt.Write(out.Bytes())
				return trimmed(vt.String())
			}
			if got := shows(); got != trimmed(b.screen()) {
				t.Fatalf("painted\n%s", got)
			}
			vt.Write([]byte("\x1b[5;10H[  12.34] sd 0:0:0:0: [sda] tag#7 FAILED Result\r\n\x1b[20;1H" + strings.Repeat("#", 200)))
			if b.press("up"); shows() == trimmed(b.screen()) {
				t.Fatal("a key alone repainted everything")
			}
			repaint(b)
			if got := shows(); got != trimmed(b.screen()) {
				t.Errorf("what was written over the screen is still there:\n%s", got)
			}
		})
	}
}

// trimmed is a screen without the blanks at the ends of its lines.
func trimmed(screen string) string {
	var lines []string
	for line := range strings.Lines(strings.TrimRight(screen, "\n")) {
		lines = append(lines, strings.TrimRight(line, " \n"))
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n")
}
