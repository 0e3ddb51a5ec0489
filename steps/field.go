package steps

import (
	"touchdown/backend/media"
	"touchdown/backend/message"
)

// Kind says how a field is asked.
type Kind string

// The kinds of question a form can ask.
const (
	Text   Kind = "text"   // one line
	Secret Kind = "secret" // one line, never shown after entry
	PEM    Kind = "pem"    // certificates or a key: pasted, or read from a file on the node or a stick
	Lines  Kind = "lines"  // lines whose indentation counts, such as YAML: typed, pasted, or read from a file likewise
	Pick   Kind = "choice" // one of Choices
	YesNo  Kind = "yesno"  // "true" or "false"
)

// Field asks for one value of the site config. The value lives in the config under Path, wherever it came
// from: typed here, read from a medium or given to `touchdown apply`.
type Field struct {
	Path     string             // "spec.baseDomain"
	Kind     Kind               //
	Label    message.Text       // what the value is called, everywhere: form, review, report
	Help     message.Text       // what it is for, in plain words
	Example  string             // a value as it could be typed
	Optional bool               // an empty value is fine
	Check    func(string) error // nil: any value; an empty optional value is not checked
	Choices  []Choice           // for Pick; found on the machine when Dynamic
	Dynamic  bool               // the choices come from Report.Offer and may still be loading
	Visible  func() bool        // nil: always; computed again after every set
	Act      *Act               // what the machine can do to help find the value; the step is an Actor then, unless Act has Fill
	Long     bool               // too long to be typed, though it is one line: it can come from a file on a medium, as PEM and Lines can
	Beside   bool               // the value is not part of the site config: the engine keeps it in memory, for Fill, and forgets it, unless it has Kept
	Kept     func() string      // the value of a field with Beside that its step keeps; nil: it is kept nowhere but in the engine's memory
	Keep     func(string) error // keeps it; has Kept
	Repeats  string             // the path of a value that is typed again here: Check compares both, only the outcome is kept; has Visible
}

// Act is something that a person may have the machine do for a value of a field, to see or hear whether it is the right one.
type Act struct {
	Label message.Text `json:"label"` // on its button: "Blink LED"
	Doing message.Text `json:"doing"` // said while it lasts: "its LED blinks for 10 seconds"

	// Fill, where it is set, is what is done: it returns the answers that a medium brings, and the engine puts them into the form,
	// but where a person has typed one. beside has the values of the fields that are not part of the site config.
	Fill func(value string, beside func(path string) string) (*media.Taken, error) `json:"-"`
}

// asker names what to ask for. A step without it only works.
type asker interface{ Fields() []Field }

// FieldsOf are the fields of a step, nil for one that asks for nothing.
func FieldsOf(s Step) []Field {
	if a, asks := s.(asker); asks {
		return a.Fields()
	}
	return nil
}
