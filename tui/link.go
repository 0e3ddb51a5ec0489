package tui

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	tea "charm.land/bubbletea/v2"

	"touchdown/steps/event"
	"touchdown/steps/idle"
	"touchdown/steps/records"
	"touchdown/steps/session"
)

const (
	// askTimeout is for what the engine answers at once. After it a console says that the engine does not answer, which a busy machine
	// must not make it say; it asks again a second later.
	askTimeout = 10 * time.Second
	// workTimeout is for what the engine looks at the machine for. The engine itself ends what makes no progress, so this
	// ends the waiting only for an engine that hangs.
	workTimeout = 30 * time.Minute
	pinTimeout  = 30 * time.Second // the engine computes a slow hash
	retryPause  = time.Second      // between two attempts to reach the engine
	urgentGap   = 100 * time.Millisecond
)

// link is the only part of the console that talks to the session. Its methods that return a tea.Cmd do so outside of
// the program's loop.
type link struct {
	session session.Session
	ctx     context.Context //nolint:containedctx // ends with Run, which made it
	name    string
	rate    time.Duration                        // how often progress is worth a redraw
	after   func(time.Duration) <-chan time.Time // ends the pause between two redraws

	asked           atomic.Uint64
	writes          sync.Mutex // one write at a time, in the order typed
	mu              sync.Mutex
	given           string             // the token of control that this console has; "" without one
	again           context.CancelFunc // ends the event stream, to open it with another token
	newest          map[string]uint64  // the last value typed per field
	waiting, urgent bool               // there are events that nobody looked at; one of them people wait for
	lost            error
	notify          chan struct{}
	since           time.Time // when the last refresh was
}

func newLink(ctx context.Context, engine session.Session, name string, rate time.Duration) *link {
	return &link{session: engine, ctx: idle.At(ctx, name), name: name, rate: rate, after: time.After, newest: map[string]uint64{}, notify: make(chan struct{}, 1), again: func() {}}
}

// look asks for a snapshot.
func (l *link) look() snapshot {
	n := l.asked.Add(1)
	ctx, cancel := context.WithTimeout(l.ctx, askTimeout)
	defer cancel()
	snap, err := l.session.Snapshot(ctx)
	return snapshot{snap, err, n}
}

func (l *link) refresh() tea.Msg { return snapshotMsg{l.look()} }

// follow keeps an event stream open until Run ends, and opens it again when the engine was away.
func (l *link) follow() {
	var from uint64
	for l.ctx.Err() == nil {
		ctx, cancel := context.WithCancel(l.ctx)
		l.mu.Lock()
		token := l.given
		l.again = cancel
		l.mu.Unlock()
		l.poke(nil)
		err := l.session.Events(ctx, token, from, func(events []event.Event) error {
			for _, e := range events {
				from = e.Seq // smaller than before where the node has other records now
			}
			l.mu.Lock()
			l.waiting, l.urgent = true, l.urgent || slices.ContainsFunc(events, urgent)
			l.mu.Unlock()
			l.poke(nil)
			return nil
		})
		wanted := ctx.Err() != nil
		cancel()
		if wanted {
			continue
		}
		l.poke(err)
		select {
		case <-l.ctx.Done():
		case <-time.After(retryPause):
		}
	}
}

func (l *link) poke(err error) {
	l.mu.Lock()
	l.lost = err
	l.mu.Unlock()
	select {
	case l.notify <- struct{}{}:
	default:
	}
}

// wait waits for events and takes all there are, so that a flood of them costs one redraw.
func (l *link) wait() tea.Msg {
	select {
	case <-l.ctx.Done():
		return nil
	case <-l.notify:
	}
	pause := l.rate
	l.mu.Lock()
	if l.lost != nil || l.urgent || !l.waiting {
		pause = urgentGap
	}
	rest := time.Until(l.since.Add(pause))
	l.mu.Unlock()
	if rest > 0 {
		select {
		case <-l.ctx.Done():
			return nil
		case <-l.after(rest):
		}
	}
	l.mu.Lock()
	l.waiting, l.urgent, l.since = false, false, time.Now()
	for len(l.notify) > 0 { // what came while this waited is seen by the same look
		<-l.notify
	}
	l.mu.Unlock()
	return eventMsg{l.look()}
}

// urgent reports whether people wait for what e tells.
func urgent(e event.Event) bool {
	switch e.Kind {
	case event.Progressed, event.Said, event.Checked, event.Cleared:
		return false
	}
	return true
}

// set gives a field a value, unless a newer one was typed meanwhile.
func (l *link) set(path, value string) tea.Cmd {
	return l.setting(path, value, func() (string, error) { return value, nil })
}

// setFile gives a field what lies in a file of this machine, such as one on a stick.
func (l *link) setFile(path, file string) tea.Cmd {
	return l.setting(path, file, func() (string, error) {
		data, err := session.ReadGiven(file)
		return string(data), err
	})
}

func (l *link) setting(path, typed string, value func() (string, error)) tea.Cmd {
	l.mu.Lock()
	l.newest[path]++
	mine := l.newest[path]
	l.mu.Unlock()
	return func() tea.Msg {
		l.writes.Lock()
		defer l.writes.Unlock()
		l.mu.Lock()
		stale, token := l.newest[path] != mine, l.given
		l.mu.Unlock()
		if stale {
			return setMsg{path: path, stale: true}
		}
		v, err := value()
		if err == nil {
			ctx, cancel := context.WithTimeout(l.ctx, workTimeout)
			defer cancel()
			err = l.session.Set(ctx, token, path, v)
		}
		return setMsg{snapshot: l.look(), path: path, typed: typed, failed: err}
	}
}

// restore has fields go back to what was found. What was typed into them before and is still on its way is dropped.
func (l *link) restore(actions []session.Action, paths []string, says string) tea.Cmd {
	return func() tea.Msg {
		l.mu.Lock()
		for _, path := range paths {
			l.newest[path]++
		}
		l.mu.Unlock()
		l.writes.Lock()
		defer l.writes.Unlock()
		ctx, cancel := context.WithTimeout(l.ctx, workTimeout)
		defer cancel()
		var err error
		for _, a := range actions {
			if err == nil {
				err = l.session.Do(ctx, l.token(), a)
			}
		}
		return restoredMsg{l.look(), paths, says, err}
	}
}

// act carries out an action.
func (l *link) act(a session.Action) tea.Cmd {
	aside := l.actAside(a)
	return func() tea.Msg {
		l.writes.Lock()
		defer l.writes.Unlock()
		return aside()
	}
}

// actAside carries out an action that writes do not wait for, nor it for them.
func (l *link) actAside(a session.Action) tea.Cmd {
	return func() tea.Msg {
		ctx, cancel := context.WithTimeout(l.ctx, workTimeout)
		defer cancel()
		err := l.session.Do(ctx, l.token(), a)
		return actMsg{l.look(), a, err}
	}
}

func (l *link) token() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.given
}

// take asks for control. A holder of the same name is this console before it was started again.
func (l *link) take(force bool) tea.Cmd {
	return func() tea.Msg {
		ctx, cancel := context.WithTimeout(l.ctx, askTimeout)
		defer cancel()
		token, err := l.session.TakeControl(ctx, l.name, force)
		if err == nil {
			l.mu.Lock()
			l.given = token
			l.again() // the stream that names its token keeps it
			l.mu.Unlock()
		}
		return controlMsg{l.look(), force, err}
	}
}

// present tells the engine that a person uses this console, and gives it the PIN where one was typed.
func (l *link) present(pin string) tea.Cmd {
	return func() tea.Msg {
		ctx, cancel := context.WithTimeout(l.ctx, pinTimeout)
		defer cancel()
		err := l.session.Present(ctx, pin)
		return presentMsg{l.look(), pin != "", err}
	}
}

// release gives control back when the console ends.
func (l *link) release() {
	if token := l.token(); token != "" {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(l.ctx), askTimeout)
		defer cancel()
		_ = l.session.ReleaseControl(ctx, token) // a console that is gone loses it anyway
	}
}

func (l *link) log(ask records.Ask) tea.Cmd {
	return func() tea.Msg { return l.readLog(ask) }
}

func (l *link) readLog(ask records.Ask) logMsg {
	limit := askTimeout
	if ask.Node {
		limit = workTimeout // a program of the node is asked
	}
	ctx, cancel := context.WithTimeout(l.ctx, limit)
	defer cancel()
	got, err := l.session.Log(ctx, ask)
	return logMsg{ask, got, err}
}

// export fetches a document; save, unless nil, puts it somewhere and says where.
func (l *link) export(what session.Document, save func([]byte) (string, error)) tea.Cmd {
	return func() tea.Msg {
		ctx, cancel := context.WithTimeout(l.ctx, workTimeout)
		defer cancel()
		data, err := l.session.Export(ctx, what)
		msg := docMsg{what: what, data: data, failed: err}
		if err == nil && save != nil {
			msg.saved, msg.failed = save(data)
			msg.sum = fmt.Sprintf("%x", sha256.Sum256(data))
		}
		return msg
	}
}
