package message

import (
	"slices"
	"strings"
)

// Technical is the English format of a technical detail. English shows it alone; every other language says with it that it is one,
// and leaves it as the system or another program wrote it.
const Technical = "%[1]s"

// Verbatim is a technical detail: what the system, another program or a record says, in English or in its own words.
func Verbatim(text string) Text { return F(Technical, text) }

// OrVerbatim is a text whose message is known, or else a technical detail: what an earlier release kept as English alone.
func OrVerbatim(t Text) Text {
	if t.id != "" || t.english == "" {
		return t
	}
	return Verbatim(t.english)
}

// Detail is what an error says: a technical detail, and nothing for no error. One that is a message itself, such as one of Failed, is
// that message.
func Detail(err error) Text {
	if err == nil {
		return Text{}
	}
	if is, ok := err.(interface{ Message() Text }); ok { // what wraps it says more than it does
		return is.Message()
	}
	return Verbatim(err.Error())
}

// failed is an error that is a message.
type failed struct{ text Text }

// Failed is an error with a sentence that a person reads as the reason of something.
func Failed(text Text) error { return failed{text} }

// Error is the sentence in English.
func (f failed) Error() string { return f.text.english }

// Message is the sentence.
func (f failed) Message() Text { return f.text }

// doing is an error with what was being done when it happened.
type doing struct {
	what Text
	err  error
}

// Doing is an error as fmt.Errorf("%s: %w") makes it of what was being done, with a sentence that a person reads.
func Doing(what Text, err error) error { return doing{what, err} }

// Error is what was being done and why it failed, in English.
func (d doing) Error() string { return d.Message().english }

// Message is the same as a message. A reason that is none is a technical detail in it.
func (d doing) Message() Text { return F("%s: %s", d.what, Detail(d.err)) }

// Unwrap is the reason.
func (d doing) Unwrap() error { return d.err }

// Lines are lines that no language changes: names, addresses, paths.
func Lines(lines []string) []Text {
	all := make([]Text, len(lines))
	for i, line := range lines {
		all[i] = Data(line)
	}
	return all
}

// Sort puts texts in the order of their English.
func Sort(texts []Text) {
	slices.SortFunc(texts, func(a, b Text) int { return strings.Compare(a.english, b.english) })
}
