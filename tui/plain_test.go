package tui

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"touchdown/backend/message"
	"touchdown/steps"
	"touchdown/steps/session"
	"touchdown/steps/view"
	"touchdown/test/wait"
)

// inText is the console in plain text on ttyS1.
func inText(ctx context.Context, engine session.Session, in io.Reader, out io.Writer) error {
	return prompting(ctx, engine, Options{Name: "ttyS1", Clock: time.Now, Save: saveBundle}, talk{in: in, out: out}, nil)
}

// typist is a line terminal: what is printed, and lines typed after something was printed.
type typist struct {
	mu  sync.Mutex
	out bytes.Buffer
	in  *io.PipeWriter
}

func (p *typist) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.out.Write(b)
}

// after waits for text and types a line.
func (p *typist) after(t *testing.T, text, line string) {
	t.Helper()
	p.printed(t, text)
	if _, err := io.WriteString(p.in, line+"\n"); err != nil {
		t.Fatal(err)
	}
}

// printed waits for text, and returns what came before it.
func (p *typist) printed(t *testing.T, text string) (before string) {
	t.Helper()
	wait.Soon(t, 10*time.Second, "a text", func() error {
		p.mu.Lock()
		defer p.mu.Unlock()
		got := p.out.String()
		i := strings.Index(got, text)
		if i < 0 {
			return fmt.Errorf("%q was not printed:\n%s", text, got)
		}
		p.out.Reset()
		p.out.WriteString(got[i+len(text):])
		before = got[:i]
		return nil
	})
	return before
}

func startPlain(t *testing.T, f *fake) (*typist, chan error) {
	r, w := io.Pipe()
	p, done := &typist{in: w}, make(chan error, 1)
	go func() { done <- inText(t.Context(), f, r, p) }()
	return p, done
}

// holding is a console in plain text that has control.
func holding(t *testing.T, edits ...func(*view.Snapshot)) (*fake, *typist) {
	t.Helper()
	f := newFake()
	for _, edit := range edits {
		edit(&f.snap)
	}
	p, _ := startPlain(t, f)
	p.after(t, "Type control to take control:", "control")
	return f, p
}

// did waits until the last action was verb.
func (f *fake) did(t *testing.T, verb session.Verb) {
	t.Helper()
	wait.Soon(t, 10*time.Second, "an action", func() error {
		if got := f.verbs(); len(got) == 0 || got[len(got)-1] != verb {
			return fmt.Errorf("%s was not asked for: %v", verb, got)
		}
		return nil
	})
}

func TestPlain(t *testing.T) {
	f := newFake()
	p, done := startPlain(t, f)
	p.after(t, "Type control to take control:", "control")
	p.after(t, "Cluster name [sno-042]:", "store_1")
	p.printed(t, "! a name has")
	p.after(t, "Cluster name [store_1]:", "store1")
	p.after(t, "Base domain []:", "?")
	p.after(t, "Base domain []:", "back")
	p.after(t, "Cluster name [store1]:", "")
	p.after(t, "Base domain []:", "example.com")
	p.after(t, "Pull secret []:", "")
	p.printed(t, "end it with an empty line")
	p.after(t, "API certificate []:", "-----BEGIN X-----")
	p.after(t, "", "-----END X-----")
	p.after(t, "", ".")
	p.after(t, "Network port [eno1]:", "2")
	p.after(t, "IPv4 method [dhcp]:", "")
	p.after(t, "To start, type sno-042 or store1", "")
	p.after(t, "To start, type", "sno-042")
	f.did(t, session.Start)
	f.change(asking)
	p.after(t, "Keep the new settings", "1") // before it was asked for: dropped
	p.after(t, "Number:", "1")
	f.did(t, session.Reply)
	f.change(failed)
	p.printed(t, "RLT-DNS")
	p.after(t, "Number:", "6")
	p.printed(t, "all quiet") // the log's last line
	p.after(t, "Number:", "7")
	p.after(t, "Number:", "1")
	p.after(t, "Your name:", "Kim")
	p.after(t, "Reason:", "agreed on the phone")
	f.did(t, session.Waive)
	p.printed(t, "RLT-DNS")
	p.after(t, "Number:", "1")
	f.did(t, session.Retry)
	f.change(finished)
	p.printed(t, "This node has landed")
	p.after(t, "Number:", "1")
	p.printed(t, "HAND-OVER REPORT")
	p.after(t, "Number:", "2")
	p.after(t, "Type sno-042", "no")
	p.printed(t, "This node has landed")
	p.after(t, "Number:", strings.Repeat("2\nsno-042\n", 2000)) // pasted: its first line asks, and no other agrees
	p.after(t, "Type sno-042", "no")
	p.in.Close()
	if err := <-done; !errors.Is(err, ErrHungUp) {
		t.Errorf("ended with %v", err)
	}
	if got := f.verbs(); slices.Contains(got, session.Undo) || !slices.Contains(got, session.Start) {
		t.Errorf("did %v", got)
	}
}

// TestPlainAsksWhatIsNew: a field that comes while others are asked for, as with a medium that is plugged in, is asked for next, and
// one that goes away takes no other one with it.
func TestPlainAsksWhatIsNew(t *testing.T) {
	f := newFake()
	p, _ := startPlain(t, f)
	p.after(t, "Type control to take control:", "control")
	p.printed(t, "Cluster name [sno-042]:")
	medium := view.Field{Path: "medium.volume", Kind: steps.Pick, Label: message.T("Answers from a medium"), Optional: true, Visible: true}
	f.change(func(s *view.Snapshot) {
		at(s, "names").Fields = append([]view.Field{medium}, at(s, "names").Fields...)
	})
	p.after(t, "", "store1")
	p.after(t, "Answers from a medium []:", "back")
	p.printed(t, "Cluster name [store1]:")
	f.change(func(s *view.Snapshot) { at(s, "names").Fields = at(s, "names").Fields[1:] })
	p.after(t, "", "store2")
	p.after(t, "Base domain []:", "example.com")
	p.after(t, "Pull secret []:", "")
	p.in.Close()
}

// TestPlainNotUnderstood: each prompt that takes words says when a line is none of them, and asks again without all that it told.
func TestPlainNotUnderstood(t *testing.T) {
	f := newFake()
	f.snap.State, f.snap.Review = view.Reviewed, reviewView()
	p, _ := startPlain(t, f)
	p.after(t, "Type control to take control:", "take")
	p.printed(t, `"take" is not understood here; nothing was done.`)
	p.after(t, "Type control to take control:", "Control")
	p.after(t, "To start, type", "begin")
	p.printed(t, `"begin" is not understood here; nothing was done.`)
	if before := p.printed(t, "To start, type"); strings.Contains(before, "look") {
		t.Errorf("the review is told again:\n%s", before)
	}
	f.change(finished)
	p.after(t, "", "")
	p.after(t, "Number:", "2")
	p.after(t, "Type sno-042", "sno")
	p.printed(t, `"sno" is not understood here; nothing was done.`)
	p.printed(t, "Number:") // before the change, as the console that sees it first does not ask
	f.change(func(s *view.Snapshot) { *s = collectingSnapshot(); s.Control.Holder = "tty1" })
	p.after(t, "", "")
	p.after(t, "Type control to take control, or Enter", "what")
	p.printed(t, `"what" is not understood here; nothing was done.`)
}

// TestPlainEnd: the end of the input is never an answer.
func TestPlainEnd(t *testing.T) {
	for _, edit := range []func(*view.Snapshot){
		func(*view.Snapshot) {}, working, asking, failed, finished,
		func(s *view.Snapshot) { s.State, s.Review = view.Reviewed, reviewView() },
	} {
		f := newFake()
		edit(&f.snap)
		p, done := startPlain(t, f)
		p.in.Close()
		if err := <-done; !errors.Is(err, ErrHungUp) {
			t.Errorf("ended with %v", err)
		}
		if len(f.actions) != 0 || len(f.sets) != 0 {
			t.Errorf("the end of the input did %v, set %v", f.actions, f.sets)
		}
	}
}
