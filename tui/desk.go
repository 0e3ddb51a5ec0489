package tui

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"touchdown/steps"
	"touchdown/steps/engine"
)

// desk is what all screens share: what the engine told last, and what was typed but not yet accepted. Only update
// functions change it.
type desk struct {
	link    *link
	theme   theme
	keys    keyMap
	basic   bool
	clock   func() time.Time
	name    string // of this console
	support string // whom to call
	save    func([]byte) (string, error)

	snap    *engine.Snapshot // nil before the first
	got     time.Time        // when it came, by the clock of this console
	seen    uint64           // number of the newest answer
	gone    error            // why the engine does not answer
	beat    int              // counts answers, for the heartbeat
	held    bool             // this console has the pen
	drafts  map[string]string
	refused map[string]string // values that the engine could not take at all, and why
	aside   aside             // what is being done, or could not be, for a value of a field
	page    string            // ID of the stage on the screen while collecting
	asking  bool              // the review is on its way
	ended   bool              // this console saw work that came to its end
	pending int               // values on their way to the engine
	flash   string            // one sentence above the keys, until the next key
	shown   time.Time         // since when the page on top is there
	touched bool              // a key other than Enter was pressed there
}

// enterDelay is how long a page that decides ignores Enter after it came up: the key may have been meant for the page before.
const enterDelay = time.Second

// hasty reports whether the page on top came up just now.
func (d *desk) hasty() bool { return d.clock().Sub(d.shown) < enterDelay }

// absorb takes over a snapshot, unless a newer one is known already.
func (d *desk) absorb(s snapshot) tea.Cmd {
	if s.n < d.seen || s.n == 0 {
		return nil
	}
	d.seen = s.n
	if d.gone = s.err; s.err != nil {
		return nil
	}
	d.snap, d.got = s.snap, d.clock()
	d.beat++
	switch holder := s.snap.Pen.Holder; {
	case !d.held || holder == d.name:
	case holder == "":
		return d.link.take(false) // the engine was started again; nobody else wanted it
	default:
		d.held = false
		d.flash = t("pen.lost", holder)
	}
	return nil
}

// free reports whether this console may have control for the asking.
func (d *desk) free() bool {
	return d.snap != nil && d.gone == nil && !d.held && (d.snap.Pen.Holder == "" || d.snap.Pen.Holder == d.name)
}

// set sends a value to the engine; the draft stays until it was taken.
func (d *desk) set(path, value string) tea.Cmd {
	d.pending++
	return d.link.set(path, value)
}

// fieldSet notes how a field was taken.
func (d *desk) fieldSet(msg setMsg) {
	d.pending--
	switch {
	case msg.stale:
	case msg.failed == nil:
		delete(d.refused, msg.path)
		if d.drafts[msg.path] == msg.value {
			delete(d.drafts, msg.path)
		}
	case errors.Is(msg.failed, engine.ErrInvalid):
		d.refused[msg.path] = strings.TrimPrefix(plain(msg.failed), msg.path+": ") // it stands below the field
	default:
		d.flash = d.explain(msg.failed)
	}
}

// explain says what a failed request means to a person.
func (d *desk) explain(err error) string {
	switch {
	case errors.Is(err, engine.ErrNoPen), errors.Is(err, engine.ErrPenHeld):
		d.held = false
		if d.snap != nil && d.snap.Pen.Holder != "" && d.snap.Pen.Holder != d.name {
			return t("pen.held", d.snap.Pen.Holder)
		}
		return t("pen.none")
	case errors.Is(err, engine.ErrNoEngine):
		return t("engine.gone")
	}
	return plain(err)
}

// plain is an error without the words that only programs need.
func plain(err error) string {
	s := err.Error()
	for _, known := range []error{engine.ErrInvalid, engine.ErrState, engine.ErrNotFound, engine.ErrLocked} {
		s = strings.TrimPrefix(s, known.Error()+": ")
	}
	return s
}

// now is the engine's clock.
func (d *desk) now() time.Time {
	if d.snap == nil {
		return d.clock().UTC()
	}
	return d.snap.Now.Add(d.clock().Sub(d.got)).UTC()
}

// state is the job's, "" before the first snapshot.
func (d *desk) state() engine.State {
	if d.snap == nil {
		return ""
	}
	return d.snap.State
}

// moving reports whether the screen changes automatically.
func (d *desk) moving() bool {
	switch d.state() {
	case engine.Working, engine.InQuestion, engine.UndoingAll:
		return true
	}
	return d.gone != nil
}

func (d *desk) allFields() []engine.FieldView {
	var fields []engine.FieldView
	for _, stage := range d.snap.Stages {
		for _, step := range stage.Steps {
			fields = append(fields, step.Fields...)
		}
	}
	return fields
}

// fields are the questions of a stage that are asked now.
func fields(stage engine.StageView) []engine.FieldView {
	var out []engine.FieldView
	for _, step := range stage.Steps {
		for _, f := range step.Fields {
			if f.Visible {
				out = append(out, f)
			}
		}
	}
	return out
}

// finding is a check and the step that made it.
type finding struct {
	steps.Check
	step  string
	stale bool // it is about earlier answers, and is made again
}

func findings(stage engine.StageView) []finding {
	var out []finding
	for _, step := range stage.Steps {
		for _, c := range step.Checks {
			out = append(out, finding{c, step.ID, slices.Contains(step.Stale, c.ID)})
		}
	}
	return out
}

// stage returns the stage with the ID and its index, or -1.
func (d *desk) stage(id string) (engine.StageView, int) {
	if d.snap != nil {
		for i, s := range d.snap.Stages {
			if s.ID == id {
				return s, i
			}
		}
	}
	return engine.StageView{}, -1
}

// current returns the step at work and the index of its stage, or -1.
func (d *desk) current() (engine.StepView, int) {
	if d.snap != nil {
		for i, stage := range d.snap.Stages {
			for _, step := range stage.Steps {
				if step.ID == d.snap.Current && step.ID != "" {
					return step, i
				}
			}
		}
	}
	return engine.StepView{}, -1
}

// isPage reports whether a stage is shown while collecting: it asks, or it found something out.
func isPage(stage engine.StageView) bool {
	for _, step := range stage.Steps {
		if step.Inspecting || len(step.Checks) > 0 {
			return true
		}
	}
	return len(fields(stage)) > 0
}

// pages are the IDs of the stages shown while collecting.
func (d *desk) pages() []string {
	var ids []string
	for _, stage := range d.snap.Stages {
		if isPage(stage) {
			ids = append(ids, stage.ID)
		}
	}
	return ids
}

// say is a text in the words of the list that is worked through: on the bench line a node does not land.
func (d *desk) say(key string, args ...any) string {
	if d.snap.List == engine.ListFactory {
		key += ".factory"
	}
	return t(key, args...)
}

// words are what a person may type to show that this is the right machine.
func (d *desk) words() []string {
	var words []string
	host, _, _ := strings.Cut(d.snap.Hostname, ".")
	if host != "" && host != "localhost" {
		words = append(words, host)
	}
	for _, f := range d.allFields() {
		if strings.HasSuffix(f.Path, ".clusterName") && f.Value != "" && f.Value != host {
			words = append(words, f.Value)
		}
	}
	if len(words) == 0 {
		words = []string{t("word.none")}
	}
	return words
}

// hostWord is what a person types to unlock the node: its host name. A node without one must not be unlocked by typing nothing.
func (d *desk) hostWord() string { return cmp.Or(d.snap.Hostname, t("word.none")) }
