package tui

import (
	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
)

// screen is one page. An overlay lies on top of the page that the job's state asks for, and is closed by returning nil.
type screen interface {
	name() string // key of its help
	update(tea.Msg) (screen, tea.Cmd)
	view(w, h int) page
	typing() bool // what is typed is text, letters are not keys
	keys() []key.Binding
	overlay() bool
	private() bool // what it shows is not recorded for support
}

// base is a screen's part that most do not need to say.
type base struct{ *desk }

func (base) typing() bool  { return false }
func (base) overlay() bool { return false }
func (base) private() bool { return false }
