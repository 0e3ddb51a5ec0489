package tui

import (
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"touchdown/steps/view"
)

// presentPause is how often the engine is told that a person is here, while keys come. A console locks after a minute at least.
const presentPause = 15 * time.Second

// lock asks for the PIN where nobody used this console for a while. The page can still be read, and keys do nothing else. The engine
// holds the lock: it takes no write of this console until it has the PIN.
type lock struct {
	*client
	ed    editor
	said  string    // what became of the last PIN
	tried bool      // a PIN is on its way
	going bool      // Ctrl-C was pressed, and nothing since
	told  time.Time // when the engine was told last that a person is here
}

func newLock(c *client) *lock { return &lock{client: c, ed: newEditor("")} }

// here tells the engine that a person uses this console, not with every key: but at once where a key keeps the node from starting.
func (l *lock) here() tea.Cmd {
	now := l.clock()
	if starts(l.snap) {
		l.told = now
		return l.link.present("")
	}
	if l.snap == nil || l.snap.Idle == nil || now.Sub(l.told) < presentPause {
		return nil
	}
	l.told = now
	return l.link.present("")
}

// starts tells whether the node starts without a person unless a key stops it.
func starts(s *view.Snapshot) bool { return s != nil && s.Starts > 0 }

func (l *lock) keys(k keyMap) []key.Binding {
	return []key.Binding{means(k.enter, "key.pin"), k.erase, k.repaint, k.leave}
}

// press edits the PIN, or has the engine try it.
func (l *lock) press(msg tea.KeyPressMsg, k keyMap) tea.Cmd {
	twice := l.going
	if l.going = pressed(msg, k.leave); l.going { // to the login, which wants a password; the console comes back locked
		if twice {
			return tea.Quit
		}
		l.said = t("lock.leave")
		return nil
	}
	if twice {
		l.said = ""
	}
	if !pressed(msg, k.enter) {
		l.ed.press(msg, k)
		return nil
	}
	typed := l.ed.value()
	if typed == "" || l.tried {
		return nil
	}
	l.ed.clear()
	l.tried, l.said = true, t("lock.trying")
	return l.link.present(typed)
}

// batch takes the text of keys that came together: a slow line may bring a PIN at once. Enter has to come alone.
func (l *lock) batch(items []item) {
	for _, one := range items {
		if one.text != "" && len(l.ed.value())+len(one.text) <= longestPIN {
			l.ed.insert(one.text)
		}
	}
}

// longestPIN is how many bytes the prompt takes; no PIN is that long.
const longestPIN = 100

// answered tells what the engine said.
func (l *lock) answered(msg presentMsg) {
	if msg.pin {
		l.tried, l.said = false, l.ofPIN(msg.failed)
	}
}

// view is the prompt, w columns wide, and the cursor's column in it.
func (l *lock) view(w int) (line string, x int) {
	said := l.said
	if said == "" {
		said = t("lock.after", limit(seconds(l.snap.Idle.After)))
	}
	const field = 20
	ask := cut(said, max(w-field-len(t("lock.pin"))-4, 0)) + " " + t("lock.pin") + " ["
	text, at := l.ed.view(field, true)
	return ask + pad(text, field) + "]", len([]rune(ask)) + at
}
