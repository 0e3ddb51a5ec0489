package main

import (
	"bytes"
	"io"
	"strings"
	"sync"
)

const (
	// cleared is the terminal's other screen, so that what was printed before the wizard is there again at the end.
	cleared = "\x1b[?1049h\x1b[m\x1b[2J\x1b[H"
	// restored leaves it, its colours and its hidden cursor.
	restored = "\x1b[?1049l\x1b[m\x1b[?25h\r\n"
	// firstWord is what the wizard writes first.
	firstWord = "Touchdown"
	// repaint is Ctrl-L: the wizard draws everything again.
	repaint = "\x0c"
)

// screen is what of the node's console reaches the terminal. While it is held, what the node writes is dropped: before the
// wizard is there, systemd asks the line for its size, and the answers of a terminal would arrive as keys.
type screen struct {
	out  io.Writer // the terminal
	line io.Writer // the node's console

	mu    sync.Mutex
	held  bool
	until string // what the node writes when it may be seen again; "": a key ends it
	seen  []byte // since then, as much as until can lie in
}

// newScreen is one that waits for the wizard.
func newScreen(out, line io.Writer) *screen {
	return &screen{out: out, line: line, held: true, until: firstWord}
}

// Write takes what the node writes.
func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.held {
		return s.out.Write(p)
	}
	if s.until != "" {
		s.seen = append(s.seen, p...)
		if bytes.Contains(s.seen, []byte(s.until)) {
			return len(p), s.release()
		}
		s.seen = s.seen[max(0, len(s.seen)-len(s.until)):]
	}
	return len(p), nil
}

// dark shows a text until the wizard is back: the node is off.
func (s *screen) dark(text string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.hold(text, firstWord)
}

// show shows a text until a key, and ends it when it is shown. While the node is away there is nothing to go back to.
func (s *screen) show(text string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case !s.held:
		return s.hold(text+"  Press any key.", "")
	case s.until == "":
		return s.release()
	}
	return nil
}

// close gives the terminal back to its owner. What the node writes from now on is dropped, and so are keys.
func (s *screen) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, err := io.WriteString(s.out, restored)
	s.out, s.line = io.Discard, io.Discard
	return err
}

func (s *screen) hold(text, until string) error {
	s.held, s.until, s.seen = true, until, nil
	_, err := io.WriteString(s.out, cleared+strings.ReplaceAll(text, "\n", "\r\n"))
	return err
}

// release gives the terminal back to the console.
func (s *screen) release() error {
	s.held, s.seen = false, nil
	if _, err := io.WriteString(s.out, cleared); err != nil {
		return err
	}
	_, err := io.WriteString(s.line, repaint)
	return err
}

// typed passes keys on to the node. While a text is shown a key ends that; while the node is away keys are lost.
func (s *screen) typed(keys []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case len(keys) == 0:
		return nil
	case !s.held:
		_, err := s.line.Write(keys)
		return err
	case s.until == "":
		return s.release()
	}
	return nil
}
