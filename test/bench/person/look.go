package person

import (
	"errors"
	"fmt"
	"strings"

	"touchdown/test/wait"
)

// look is one look at the screen. Who decides something decides it by one look: the next one may see another picture.
type look struct {
	text string
	x, y int // of the cursor
}

// look looks at the screen, and says whether it can still change.
func (p *Person) look() (look, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	at := p.vt.Cursor()
	return look{text(p.vt), at.X, at.Y}, p.ended
}

// seen is the question whether the screen shows something. It leaves the look that did in now; a line that has ended answers it for good.
func (p *Person) seen(now *look, ok func(look) bool) func() error {
	return func() error {
		screen, ended := p.look()
		switch *now = screen; {
		case ok(screen):
			return nil
		case ended != nil:
			return wait.Final(fmt.Errorf("the line has ended: %w", ended))
		}
		return errNotShown
	}
}

var errNotShown = errors.New("the screen does not show it")

// Until waits for a screen, however long the node takes, and returns it.
func (p *Person) Until(what string, ok func(screen string) bool) (screen string) {
	p.t.Helper()
	var now look
	wait.Until(p.t, what+" on the screen", p.seen(&now, func(l look) bool { return ok(l.text) }))
	return now.text
}

// Whole is Until for a picture of the wizard that is whole: whatever is not on it, the page does not have.
func (p *Person) Whole(what string, ok func(screen string) bool) (screen string) {
	p.t.Helper()
	var now look
	wait.Until(p.t, what+" on a whole screen", p.seen(&now, func(l look) bool {
		_, whole := focus(l)
		return whole && ok(l.text)
	}))
	return now.text
}

// soon waits for what the console shows because of a key, or because it is there.
func (p *Person) soon(what string, ok func(look) bool) (now look) {
	p.t.Helper()
	wait.Soon(p.t, answer, what+" on the screen", p.seen(&now, ok))
	return now
}

// Shows waits for words on the screen.
func (p *Person) Shows(want string) {
	p.t.Helper()
	p.Until(fmt.Sprintf("%q", want), func(s string) bool { return strings.Contains(s, want) })
}
