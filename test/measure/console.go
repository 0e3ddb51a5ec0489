package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"sync"
	"time"

	"github.com/creack/pty"

	"touchdown/steps"
	"touchdown/steps/view"
	"touchdown/steps/wire"
	"touchdown/test/bench/figures"
)

// screen is a console on a terminal that never answers a query.
type screen struct {
	cmd *exec.Cmd
	tty *os.File

	mu   sync.Mutex
	got  []byte
	last time.Time // when the newest byte came
}

// openScreen starts a console on an 80x24 vt220.
func openScreen(l *lab) (*screen, error) {
	s := &screen{cmd: exec.Command(l.binary, "--socket", l.socket, "console")}
	s.cmd.Env = append(os.Environ(), "TERM=vt220")
	tty, err := pty.StartWithSize(s.cmd, &pty.Winsize{Rows: 24, Cols: 80})
	if err != nil {
		return nil, fmt.Errorf("starting the console: %w", err)
	}
	s.tty = tty
	go s.read()
	return s, nil
}

func (s *screen) read() {
	buf := make([]byte, 4096)
	for {
		n, err := s.tty.Read(buf)
		s.mu.Lock()
		s.got = append(s.got, buf[:n]...)
		s.last = time.Now()
		s.mu.Unlock()
		if err != nil {
			return
		}
	}
}

func (s *screen) close() {
	_ = s.cmd.Process.Kill()
	_ = s.tty.Close()
	_ = s.cmd.Wait()
}

// until waits for text on the line.
func (s *screen) until(text string, limit time.Duration) error {
	for deadline := time.Now().Add(limit); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		s.mu.Lock()
		found := bytes.Contains(s.got, []byte(text))
		s.mu.Unlock()
		if found {
			return nil
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return fmt.Errorf("%q did not show within %v; the console wrote:\n%q", text, limit, s.got)
}

// quiet waits until nothing has come for a while and returns the bytes so far.
func (s *screen) quiet(pause time.Duration) int {
	for {
		s.mu.Lock()
		silent, n := time.Since(s.last) > pause, len(s.got)
		s.mu.Unlock()
		if silent {
			return n
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// cost types keys and returns how many bytes the console answered with.
func (s *screen) cost(keys string) int {
	before := s.quiet(400 * time.Millisecond)
	s.mu.Lock()
	s.last = time.Now()
	s.mu.Unlock()
	_, _ = s.tty.WriteString(keys) // a console that died shows as no bytes
	return s.quiet(400*time.Millisecond) - before
}

// starts is how often a console is started to time its first text.
const starts = 7

// console measures start, memory and bytes on the line.
func console(ctx context.Context, set setup) (map[string]figures.Figure, error) {
	l, err := newLab(ctx, set, "zero")
	if err != nil {
		return nil, err
	}
	defer l.close()
	first, err := firstWord(l)
	if err != nil {
		return nil, err
	}
	s, err := openForm(ctx, l)
	if err != nil {
		return nil, err
	}
	defer s.close()
	tab := max(s.cost("\t"), s.cost("\t"))
	_ = s.cost("\x1b[Z\x1b[Z") // back to the first field
	_ = s.cost("a")            // the first character also tells that the field was changed
	char := 0
	for _, key := range []string{"b", "c", "d"} {
		char = max(char, s.cost(key))
	}
	before := s.quiet(time.Second)
	time.Sleep(5 * time.Second)
	idle := float64(s.quiet(0)-before) / 5
	memory, err := resident(s.cmd.Process.Pid)
	if err != nil {
		return nil, err
	}
	own, err := resident(l.engine.Process.Pid)
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(l.binary)
	if err != nil {
		return nil, err
	}
	return map[string]figures.Figure{
		"first_text_ms":        figures.Goal(first, "ms", 150),
		"typed_character_b":    figures.Goal(float64(char), "bytes", 4),
		"tab_b":                figures.Goal(float64(tab), "bytes", 32),
		"idle_form_b_per_s":    figures.None(idle, "bytes/s"),
		"console_resident_mib": figures.Goal(memory, "MiB", 24),
		"engine_resident_mib":  figures.Goal(own, "MiB", 48),
		"binary_mib":           figures.Goal(float64(info.Size())/(1<<20), "MiB", 60),
	}, nil
}

// firstWord is the median time from exec to the first word on the screen, in milliseconds.
func firstWord(l *lab) (float64, error) {
	var times []float64
	for range starts {
		begin := time.Now()
		s, err := openScreen(l)
		if err != nil {
			return 0, err
		}
		err = s.until("ouchdown", 5*time.Second)
		times = append(times, float64(time.Since(begin).Microseconds())/1000)
		s.close()
		if err != nil {
			return 0, err
		}
	}
	return median(times), nil
}

// openForm starts a console on a page that begins with a line of text. A console opens where an answer was typed last, so one
// is typed there first: which pages come before does not matter.
func openForm(ctx context.Context, l *lab) (*screen, error) {
	snapshot, err := l.snapshot(ctx)
	if err != nil {
		return nil, err
	}
	field, err := firstText(snapshot)
	if err != nil {
		return nil, err
	}
	session := wire.Dial(l.socket)
	pen, err := session.TakePen(ctx, "measure", false)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(session.Set(ctx, pen, field.Path, field.Example), session.ReleasePen(ctx, pen)); err != nil {
		return nil, err
	}
	s, err := openScreen(l)
	if err != nil {
		return nil, err
	}
	if err := s.until("> "+field.Label.String(), 10*time.Second); err != nil {
		s.close()
		return nil, err
	}
	_ = s.cost("\t\x1b[Z") // the first key also takes control
	return s, nil
}

// firstText is the first field of the first page that begins with a line of text.
func firstText(s *view.Snapshot) (view.Field, error) {
	for _, stage := range s.Stages {
		for _, step := range stage.Steps {
			i := slices.IndexFunc(step.Fields, func(f view.Field) bool { return f.Visible })
			if i < 0 {
				continue
			}
			if f := step.Fields[i]; f.Kind == steps.Text {
				return f, nil
			}
			break // the page begins with something else
		}
	}
	return view.Field{}, errors.New("no page begins with a line of text")
}
