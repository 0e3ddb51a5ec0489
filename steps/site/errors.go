package site

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"touchdown/backend/message"
)

// maxErrors is how many mistakes one document is told at once: more than fit on a screen of 24 lines help nobody, and
// a document of random text would have thousands.
const maxErrors = 20

// Error is one mistake in a SiteConfig: where it is, what is wrong and how to fix it. It never holds a secret.
type Error struct {
	File   string       `json:"file,omitempty"`   // the document, empty for what was typed
	Line   int          `json:"line,omitempty"`   // counted from 1; 0 when there is none to point at
	Column int          `json:"column,omitempty"` // counted from 1
	Path   string       `json:"path,omitempty"`   // for example spec.baseDomain
	Msg    message.Text `json:"msg"`              // what is wrong
	Fix    message.Text `json:"fix,omitzero"`     // one thing to do about it
}

// Error returns "file:line:column: path: what is wrong; how to fix it", without the parts that are not known.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.File)
	if e.Line > 0 {
		fmt.Fprintf(&b, ":%d:%d", e.Line, e.Column)
	}
	for _, part := range []string{e.Path, e.Msg.String()} {
		if part == "" {
			continue
		}
		if b.Len() > 0 {
			b.WriteString(": ")
		}
		b.WriteString(part)
	}
	if e.Fix.String() != "" {
		b.WriteString("; " + e.Fix.String())
	}
	return b.String()
}

// Says is what a person reads of a mistake beside the field that it is in.
func (e *Error) Says() message.Text {
	if e.Fix == (message.Text{}) {
		return e.Msg
	}
	return message.F("%s; %s", e.Msg, e.Fix)
}

// Errors is every mistake that was found, in the order of the document.
type Errors []*Error

// Error returns one line for each mistake.
func (e Errors) Error() string {
	lines := make([]string, len(e))
	for i, err := range e {
		lines[i] = err.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap gives errors.As access to each mistake.
func (e Errors) Unwrap() []error {
	all := make([]error, len(e))
	for i, err := range e {
		all[i] = err
	}
	return all
}

// Err returns e as an error, or nil when there is no mistake.
func (e Errors) Err() error {
	if len(e) == 0 {
		return nil
	}
	return e
}

// At returns the first mistake at a path, or nil.
func (e Errors) At(path string) *Error {
	for _, err := range e {
		if err.Path == path {
			return err
		}
	}
	return nil
}

// Below returns the mistakes at a path and below it.
func (e Errors) Below(path string) Errors {
	var some Errors
	for _, err := range e {
		if err.Path == path || strings.HasPrefix(err.Path, path+".") {
			some = append(some, err)
		}
	}
	return some
}

func (e Errors) sorted() Errors {
	slices.SortStableFunc(e, func(a, b *Error) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return e
}

// fault makes the error of a single field; who knows the place adds it.
func fault(fix, msg message.Text) *Error {
	return &Error{Msg: msg, Fix: fix}
}

// asFault turns the error of a field validator into its own Error that can be given a place.
func asFault(err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		copied := *e
		return &copied
	}
	return &Error{Msg: message.Detail(err)}
}

// shown quotes a value that is not a secret for a message. A secret that was typed into the wrong field is left out.
func shown(value string) string { return quoted(withoutSecrets(value)) }

// quoted shortens and quotes a value. Quoting makes invisible characters visible.
func quoted(value string) string {
	const most = 60 // fits on a line of 80 columns together with a path
	if runes := []rune(value); len(runes) > most {
		value = string(runes[:most]) + "..."
	}
	return fmt.Sprintf("%+q", value)
}

// withoutSecrets leaves out what a value has in front of an @, which in a URL or the name of a registry is a user and a password, what
// it has behind a ?, which can be a token or a signature, and all of a pull secret or a private key. The @ in front of a digest stays, and
// a path does: it is the name of a repository or a page, without which nobody finds the mistake.
func withoutSecrets(value string) string {
	if strings.Contains(value, `"auth`) || holdsPrivateKey(value) {
		return "..."
	}
	at := strings.LastIndex(value, "@")
	if digest := strings.HasPrefix(value[at+1:], "sha256:") || strings.HasPrefix(value[at+1:], "sha512:"); digest {
		at = strings.LastIndex(value[:at], "@")
	}
	behind := "?"
	if strings.Contains(value, "://") {
		behind = "?#"
	}
	query := strings.IndexAny(value, behind)
	switch {
	case query >= 0 && query < at: // which of the two the @ belongs to is not known
		return "..."
	case query >= 0 && query < len(value)-1:
		value = value[:query+1] + "..."
	}
	if at < 0 {
		return value
	}
	return "..." + value[at:]
}
