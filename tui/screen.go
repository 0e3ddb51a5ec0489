package tui

import (
	"slices"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"touchdown/steps/engine"
)

// screen is one page. An overlay lies on top of the page that the job's state asks for, and is closed by returning nil.
type screen interface {
	name() string // key of its help
	update(tea.Msg) (screen, tea.Cmd)
	view(w, h int) page
	typing() bool // what is typed is text, letters are no keys
	keys() []key.Binding
	overlay() bool
}

// page is what a screen draws between header and footer, and where the cursor stands in it.
type page struct {
	lines []string
	x, y  int
}

// fit cuts or fills to h lines.
func (p page) fit(h int) page {
	for len(p.lines) < h {
		p.lines = append(p.lines, "")
	}
	p.lines = p.lines[:max(h, 0)]
	p.y = min(p.y, max(h-1, 0))
	return p
}

// base is a screen's part that most do not need to say.
type base struct{ *desk }

func (base) typing() bool  { return false }
func (base) overlay() bool { return false }

// choose returns the page for the job's state: old when it is still right.
func (d *desk) choose(old screen) screen {
	want := d.wanted()
	if old != nil && old.name() == want && d.about(old) {
		return old
	}
	switch want {
	case "checks":
		return newChecks(d, d.page)
	case "form":
		return newForm(d)
	case "review":
		return newReview(d)
	case "work":
		return &work{base: base{d}}
	case "question":
		return newQuestion(d)
	case "problem":
		return newProblem(d)
	case "dashboard":
		return newDashboard(d)
	}
	return &hello{base{d}}
}

// about tells whether a page is still about what it was made for.
func (d *desk) about(old screen) bool {
	switch old := old.(type) {
	case *form:
		return old.stage == d.page
	case *checks:
		return old.stage == d.page
	case *review:
		return old.of == d.fingerprint()
	case *question:
		return old.id == d.snap.Question.ID
	}
	return true
}

// wanted names the page for the job's state.
func (d *desk) wanted() string {
	switch d.state() {
	case engine.Inspecting, engine.Collecting:
		if d.snap.Locked { // it was unlocked, and locked itself again when the engine restarted
			return "dashboard"
		}
		return d.collecting()
	case engine.Reviewed:
		return "review"
	case engine.Working, engine.UndoingAll:
		return "work"
	case engine.InQuestion:
		if d.snap.Question == nil {
			return "work"
		}
		return "question"
	case engine.HasFailed:
		return "problem"
	case engine.IsDone, engine.IsUndone:
		d.page, d.ended = "", true
		return "dashboard"
	}
	return "hello"
}

// collecting settles which stage is on the screen and how it is shown.
func (d *desk) collecting() string {
	pages := d.pages()
	if len(pages) == 0 {
		return "hello"
	}
	stage, i := d.stage(d.page)
	if i < 0 || !isPage(stage) {
		d.page = d.opening(pages)
		stage, _ = d.stage(d.page)
	}
	if len(fields(stage)) > 0 {
		return "form"
	}
	return "checks"
}

// opening is the page that a console begins with: where someone typed last, because its line may have dropped, or the
// console may be the second one; else, and after work that came to its end, the first.
func (d *desk) opening(pages []string) string {
	page := pages[0]
	for _, id := range pages {
		stage, _ := d.stage(id)
		typed := func(v engine.FieldView) bool { return v.Changed && v.Source == "typed" }
		if !d.ended && slices.ContainsFunc(fields(stage), typed) {
			page = id
		}
	}
	return page
}

// turn goes n pages on. Past the last one the review is asked for.
func (d *desk) turn(n int) tea.Cmd {
	pages := d.pages()
	for i, id := range pages {
		if id != d.page {
			continue
		}
		if i+n >= len(pages) {
			return d.review()
		}
		d.page = pages[max(i+n, 0)]
		return nil
	}
	return nil
}

// review asks for the review. It can take a minute, and who presses the key again meanwhile must not wait for two: what is
// typed on the review would come after them.
func (d *desk) review() tea.Cmd {
	d.flash = t("review.asking")
	if d.asking {
		return nil
	}
	d.asking = true
	return d.link.act(engine.Action{Verb: engine.Review})
}

// wrap breaks text into lines of w columns, each after the indent.
func wrap(text string, w int, indent string) []string {
	text = strings.TrimSpace(text)
	if text == "" {
		return nil
	}
	lines := strings.Split(ansi.Wrap(text, max(w-len(indent), 8), ""), "\n")
	for i := range lines {
		lines[i] = indent + lines[i]
	}
	return lines
}

// cut shortens s to w columns and says so.
func cut(s string, w int) string {
	if ansi.StringWidth(s) <= w {
		return s
	}
	if w < 4 {
		return ansi.Truncate(s, max(w, 0), "")
	}
	return ansi.Truncate(s, w, "..")
}

// pad fills s to w columns.
func pad(s string, w int) string {
	return s + strings.Repeat(" ", max(w-ansi.StringWidth(s), 0))
}

// ends puts left and right at the two ends of w columns.
func ends(left, right string, w int) string {
	left = cut(left, max(w-ansi.StringWidth(right)-1, 0))
	return pad(left, w-ansi.StringWidth(right)) + right
}
