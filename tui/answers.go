package tui

import (
	"errors"
	"strings"

	tea "charm.land/bubbletea/v2"

	"touchdown/backend/message"
	"touchdown/backend/problem"
	"touchdown/steps"
	"touchdown/steps/session"
	"touchdown/steps/view"
)

// answers are what was typed here and not yet accepted, and what is said about it.
type answers struct {
	*client
	unsent  map[string]string // by path, what waits on this console: the engine does not have it, or refused it
	refused map[string]string // values that the engine could not take at all, and why
	aside   aside             // what is being done, or could not be, for a value of a field
	pending int               // values on their way to the engine
	reading reading           // of files on media
}

func isText(k steps.Kind) bool { return k == steps.Text || k == steps.Secret || isPasted(k) }

// isPasted tells whether a field takes lines, most of which are pasted.
func isPasted(k steps.Kind) bool { return k == steps.PEM || k == steps.Lines }

// isPath tells whether a text in a field for lines is the path of a file that holds them.
func isPath(v view.Field, text string) bool { return isPasted(v.Kind) && strings.HasPrefix(text, "/") }

// aside is what stands below a field in place of its help: what the machine does for one of its values, or why it cannot.
type aside struct{ path, value, text string }

// refusal is an error that says what is wrong with a value, whether the engine is in this process or not.
type refusal interface {
	error
	Says() message.Text
}

// set sends a value to the engine; it stays unsent until it was taken. What repeats the value is typed again, too: nobody saw which of
// the two had the slip.
func (a *answers) set(path, value string) tea.Cmd {
	a.pending++
	for _, v := range a.allFields() {
		if v.Repeats == path {
			delete(a.unsent, v.Path)
			delete(a.refused, v.Path)
		}
	}
	return a.link.set(path, value)
}

// repeats is the path of the value that is typed again at path, or "".
func (a *answers) repeats(path string) string {
	for _, v := range a.allFields() {
		if v.Path == path {
			return v.Repeats
		}
	}
	return ""
}

// fieldSet notes how a field was taken.
func (a *answers) fieldSet(msg setMsg) {
	a.pending--
	switch {
	case msg.stale:
	case msg.failed == nil:
		delete(a.refused, msg.path)
		if a.unsent[msg.path] == msg.typed {
			delete(a.unsent, msg.path)
		}
	case errors.Is(msg.failed, session.ErrInvalid):
		if a.repeats(msg.path) != "" { // nobody sees what is there: the next keys start it again
			delete(a.unsent, msg.path)
		}
		a.refused[msg.path] = strings.TrimPrefix(plain(msg.failed), msg.path+": ") // it stands below the field
		if e, ok := errors.AsType[refusal](msg.failed); ok && show(e.Says()) != "" {
			a.refused[msg.path] = show(e.Says())
		}
	default:
		a.flash = a.explain(msg.failed)
	}
}

// restored notes that fields went back to what was found.
func (a *answers) restored(msg restoredMsg) {
	if msg.failed != nil {
		a.flash = a.explain(msg.failed)
		return
	}
	for _, path := range msg.paths {
		delete(a.unsent, path)
		delete(a.refused, path)
	}
	a.flash = msg.says
}

// value is what waits here unsent, or what the engine has.
func (a *answers) value(v view.Field) string {
	if text, ok := a.unsent[v.Path]; ok {
		return text
	}
	return v.Value
}

// problem is what is said beside a field. With tried, also that it is needed, or does not fit the other answers.
func (a *answers) problem(v view.Field, tried bool) string {
	if why := a.refused[v.Path]; why != "" {
		return why
	}
	if show(v.Problem) != "" {
		return labelled(a.client, v.Problem)
	}
	empty := v.Value == "" && !v.SecretSet && a.unsent[v.Path] == "" && v.Kind != steps.YesNo
	if tried && empty && !v.Optional {
		return t("form.needed")
	}
	if tried && a.unsent[v.Path] == "" {
		return labelled(a.client, v.Together)
	}
	return ""
}

// act has the machine do what a field offers, unless it does already. Nothing waits for its end: writes go on meanwhile.
func (a *answers) act(v view.Field, value string) tea.Cmd {
	doing := aside{v.Path, value, t("act.doing", value, v.Act.Doing)}
	if a.aside == doing {
		return nil
	}
	a.aside = doing
	return a.link.actAside(session.Action{Verb: session.Act, Path: v.Path, Value: value})
}

// actedAside takes the sentence away when it is over, or says why it could not be. An answer for another value than the one
// tried last is out of date.
func (a *answers) actedAside(msg actMsg) {
	if a.aside.path != msg.action.Path || a.aside.value != msg.action.Value {
		return
	}
	a.aside.text = ""
	if _, ok := errors.AsType[*problem.Problem](msg.failed); ok {
		a.aside.text = a.advice(msg.failed)
	} else if msg.failed != nil {
		a.flash = a.explain(msg.failed)
	}
}

// reading is how far the list of the files on media is. The answer of the engine may come when another page is in front of it.
type reading struct {
	path    string // of the field that the list stands for
	loading bool   // the engine looks at the media
	taking  string // file that is being read; "" for none
	taken   bool   // the field has the file's content
	why     string // why the last file was not taken
}

// actedFile notes what became of a look at the media, or of a file, wherever the person is by now; open tells whether the list is in front.
func (a *answers) actedFile(msg actMsg, open bool) {
	taken := msg.action.Volume != "" && msg.failed == nil
	if taken {
		a.took(msg.action)
	}
	r := &a.reading
	if !open || r.path != msg.action.Path {
		if msg.action.Volume != "" && msg.failed != nil {
			a.whisper(a.advice(msg.failed))
		}
		return
	}
	*r = reading{path: r.path, taken: taken}
	if msg.failed != nil {
		r.why = a.advice(msg.failed)
	}
}

// took forgets what was typed for a field that has the content of a file now.
func (a *answers) took(act session.Action) {
	delete(a.unsent, act.Path)
	delete(a.refused, act.Path)
	a.whisper(t("files.taken", act.Value))
}

// whisper is flash for a sentence that the record must not have.
func (a *answers) whisper(text string) { a.flash, a.unrecorded = text, text }
