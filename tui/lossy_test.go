package tui

import (
	"bytes"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/hinshun/vt10x"

	"touchdown/test/race"
)

// lossy is a Serial-over-LAN that loses bytes, sends packets twice, and brings some late.
type lossy struct {
	r    *rand.Rand
	to   func([]byte)
	late []byte // a packet that the next ones overtake

	lost, twice, delayed int
}

// packet is how many bytes the line carries together.
const packet = 48

func (l *lossy) carry(data []byte) {
	for len(data) > 0 {
		part := bytes.Clone(data[:min(packet, len(data))])
		data = data[len(part):]
		switch l.r.IntN(8) {
		case 0: // some bytes are lost
			at := l.r.IntN(len(part))
			n := min(1+l.r.IntN(12), len(part)-at)
			part = append(part[:at], part[at+n:]...)
			l.lost += n
		case 1:
			l.to(part)
			l.twice++
		case 2:
			if l.late == nil {
				l.late = part
				l.delayed++
				continue
			}
		}
		l.to(part)
		if l.late != nil && l.r.IntN(2) == 0 {
			l.flush()
		}
	}
}

// flush brings what is late.
func (l *lossy) flush() {
	l.to(l.late)
	l.late = nil
}

// TestLossyLine: whatever a line loses, repeats or brings late, the first repaint after it shows what the console means.
func TestLossyLine(t *testing.T) {
	spoilt, bad := 0, lossy{}
	seeds := uint64(150)
	if race.On { // all of it is one goroutine's
		seeds = 30
	}
	for seed := range seeds {
		b := newBench(t, 80, 24)
		var out bytes.Buffer
		p, vt := newPainter(&out, true, 0), vt10x.New(vt10x.WithSize(80, 24))
		line := &lossy{r: rand.New(rand.NewPCG(seed, 24)), to: func(data []byte) { vt.Write(data) }}
		paint := func() []byte {
			out.Reset()
			painted{b.app, p}.View()
			p.flush()
			return bytes.Clone(out.Bytes())
		}
		keys := []string{"tab", "up", "down", "c", "b", "?", "esc", "enter", "l", "t", "x", "7"}
		for range 25 {
			b.press(keys[line.r.IntN(len(keys))])
			line.carry(paint())
		}
		line.flush()
		bad.lost, bad.twice, bad.delayed = bad.lost+line.lost, bad.twice+line.twice, bad.delayed+line.delayed
		if trimmed(vt.String()) != trimmed(b.screen()) {
			spoilt++
		}
		if seed%2 == 0 {
			b.press("ctrl+l")
		} else {
			b.now = b.now.Add(away + time.Second)
			b.press("up")
		}
		vt.Write(paint())
		if got := trimmed(vt.String()); got != trimmed(b.screen()) {
			t.Fatalf("seed %d: after the repaint the screen shows\n%s\nwant\n%s", seed, got, b.screen())
		}
		f := b.app.frame(b.app.top(), 80, 24)
		if c := vt.Cursor(); c.X != f.x || c.Y != f.y {
			t.Fatalf("seed %d: the cursor is at %d,%d instead of %d,%d", seed, c.X, c.Y, f.x, f.y)
		}
	}
	if spoilt < int(seeds)/3 || bad.lost == 0 || bad.twice == 0 || bad.delayed == 0 {
		t.Errorf("the line was good: %d screens were spoilt, %d bytes lost, %d packets repeated, %d late", spoilt, bad.lost, bad.twice, bad.delayed)
	}
}
