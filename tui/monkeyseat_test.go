package tui

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"touchdown/steps/session"
)

// seat is a console of the monkey, from its line to its screen.
type seat struct {
	m       *monkey
	name    string
	app     *app
	screen  *slate
	dec     decoder
	goesOn  bool   // what was sent last had no pause behind it
	burst   []byte // what came since the last pause
	plan    []string
	open    []promise // commands that have not returned yet
	due     time.Time
	tick    func(time.Time) tea.Msg
	page    evidence
	painter *painter
}

// promise is a command and what it is a consequence of.
type promise struct {
	cmd tea.Cmd
	of  cause
}

// ended is a context that is over: nothing waits for events, which the monkey brings itself.
var ended = func() context.Context {
	ctx, stop := context.WithCancel(context.Background())
	stop()
	return ctx
}()

// sit opens the console, for the first time or after it was left.
func (s *seat) sit() {
	m := s.m
	o := Options{
		Name: s.name, Mode: Basic, Clock: func() time.Time { return m.now },
		Save: func(data []byte) (string, error) { return "/var/tmp/bundle.tar.gz", nil },
	}
	if s.name == "tty1" {
		o.Mode = Rich
	}
	s.screen = &slate{of: s}
	link := newLink(ended, m.engine, o.Name, time.Second)
	s.app = newApp(newDesk(link, o), 80, 24, time.Second)
	s.painter = newPainter(s.screen, false, 0)
	s.app.after = func(d time.Duration, tick func(time.Time) tea.Msg) tea.Cmd {
		s.due, s.tick = m.now.Add(d), tick
		return nil
	}
	s.dec, s.goesOn, s.burst, s.plan, s.open = decoder{}, false, nil, nil, nil
	s.page = evidence{}
	s.run(s.app.Init(), cause{})
	s.deliver(resizedMsg{80, 24}, cause{})
	s.look()
}

// hangUp drops the line, as an SSH connection or the viewer of a service processor does.
func (s *seat) hangUp() {
	s.m.note(s.name, "hangs up")
	s.m.counts["hang-ups"]++
	s.app.link.release()
	s.sit()
}

func (s *seat) resize() {
	r := s.m.r
	w, h := 80, 24
	switch r.IntN(8) {
	case 0, 1, 2:
		w, h = r.IntN(200), r.IntN(60)
	case 3:
		w, h = r.IntN(8)-1, r.IntN(8)-1
	case 4:
		w, h = 65535, r.IntN(65536)
		defer s.deliver(resizedMsg{80, 24}, cause{})
	}
	s.m.note(s.name, [2]int{w, h})
	s.m.counts["resizes"]++
	s.deliver(resizedMsg{w, h}, cause{})
}

// look brings what the engine tells.
func (s *seat) look() { s.deliver(eventMsg{s.app.link.look()}, cause{}) }

// late lets a command return that was given earlier, not always the oldest.
func (s *seat) late() {
	if len(s.open) == 0 {
		return
	}
	i := s.m.r.IntN(len(s.open))
	p := s.open[i]
	s.open = append(s.open[:i], s.open[i+1:]...)
	s.m.note(s.name, "an answer comes late")
	s.do(p)
}

// hear takes bytes in as input.run does: gap is the pause behind them.
func (s *seat) hear(data string, gap time.Duration) {
	m := s.m
	m.note(s.name, []byte(data))
	s.dec.feed([]byte(data))
	s.burst = append(s.burst, data...)
	paused := gap >= hands
	if s.dec.unfinished() {
		paused = gap >= joinWait
	}
	if paused {
		s.dec.rest()
	}
	if paused || len(s.burst) >= showBytes {
		if msg := typed(s.dec.take(), !s.goesOn, paused); msg != nil {
			m.counts["keys"]++ // a paste counts as one
			s.deliver(msg, s.causeOf(msg))
		}
		s.goesOn, s.burst = !paused, s.burst[:0]
	}
	m.pass(gap)
}

// deliver gives the program a message, and everything that follows from it.
func (s *seat) deliver(msg tea.Msg, of cause) {
	_, cmd := s.app.Update(msg)
	s.paint()
	s.page.turn(s)
	s.run(cmd, of)
}

// run carries out a command: at once, or later where the engine takes its time.
func (s *seat) run(cmd tea.Cmd, of cause) {
	if cmd == nil {
		return
	}
	if s.m.r.Chance(12) && len(s.open) < 30 {
		s.open = append(s.open, promise{cmd, of})
		return
	}
	s.do(promise{cmd, of})
}

func (s *seat) do(p promise) {
	s.m.engine.asked = p.of
	app := s.app
	switch msg := p.cmd().(type) {
	case nil:
	case tea.BatchMsg:
		for _, cmd := range msg {
			if s.app == app {
				s.run(cmd, p.of)
			}
		}
	case tea.QuitMsg:
		what := "leave"
		if app.wantsPlain {
			what = "plain"
		}
		s.m.judge(p.of, what, session.Action{})
		s.app.link.release()
		s.sit()
	default:
		s.deliver(msg, p.of)
	}
}

// paint draws the screen and looks at what came out.
func (s *seat) paint() {
	painted{s.app, s.painter}.View()
	f := s.painter.next
	s.painter.flush()
	if s.screen.paints++; s.screen.paints%50 == 0 {
		s.painter.rest()
		if want := s.screen.differs(*f); want != "" {
			s.m.fail("%s shows %s", s.name, want)
		}
	}
}

// causeOf is what a message of keys means for the rules.
func (s *seat) causeOf(msg tea.Msg) cause {
	c := cause{page: s.page, snap: s.app.snap, now: s.m.now, typed: append([]rune{}, s.page.typed...)}
	key, alone := msg.(tea.KeyPressMsg)
	if !alone {
		s.m.counts["batches"]++
		return c
	}
	if len(s.burst) > 16 {
		s.m.fail("%s takes %q, %d bytes, for a key", s.name, s.burst[:min(len(s.burst), 40)], len(s.burst))
	}
	c.key, c.alone = key, true
	s.page.pressed(key)
	return c
}
