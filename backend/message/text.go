// Package message is the form of every sentence that a person reads and that the program made: which sentence it is, and what
// stands in it. The text is made where it is shown, so that two consoles may differ in language. Journal, report and logs are English.
package message

import (
	"fmt"
	"strings"
)

// Text is a message: an English sentence that is its own id, with arguments. The zero value is not text. Texts can be compared.
type Text struct {
	english string
	id      string // the English format; "" is data, which no language changes: a name, an address, an answer
	args    string // a JSON list, see argument; "" for a message without arguments
}

// constant keeps what is not written in the source out of T and F: a string variable does not become one without a conversion, so that a
// test finds every message of the program by reading its source.
type constant string

// T is a message without arguments.
func T(text constant) Text { return Text{english: string(text), id: string(text)} }

// F is a message with arguments, formatted as by fmt.Sprintf. An argument that is a Text is shown in the language of the message;
// numbers stay numbers, all else is data. A sentence within the sentence loses its full stop, see Sprintf.
func F(format constant, given ...any) Text {
	english := fmt.Sprintf(string(format), given...)
	list := make(args, len(given))
	for i, v := range given {
		list[i] = newArgument(v)
	}
	if m := (Message{string(format), list}); m.bounded() && fmt.Sprintf(m.ID, values(list, nil)...) == english {
		return m.text()
	}
	return Data(english) // a verb wants the argument's own type, which JSON does not keep
}

// N is a message about n things, in one of two forms: both have %d for n, and nothing else.
func N(n int, one, many constant) Text {
	if n == 1 {
		return F(one, n)
	}
	return F(many, n)
}

// Sentence is a text that ends as a sentence does.
func Sentence(t Text) Text {
	if t.english == "" || strings.ContainsAny(t.english[len(t.english)-1:], ".!?") {
		return t
	}
	return F("%s.", t)
}

// Data is a text that no language changes.
func Data(text string) Text { return Text{english: text} }

// Join puts texts into one, with a separator between them.
func Join(texts []Text, separator string) Text {
	if len(texts) == 1 {
		return texts[0]
	}
	args := make([]any, len(texts))
	for i, t := range texts {
		args[i] = t
	}
	verbs := strings.Repeat(strings.ReplaceAll(separator, "%", "%%")+"%s", len(texts))
	return F(constant(strings.TrimPrefix(verbs, strings.ReplaceAll(separator, "%", "%%"))), args...)
}

// String is the text in English.
func (t Text) String() string { return t.english }

// Map is the text with change made to everything that was put into it: to data, and to the arguments of a message. It is how
// secrets are taken out. A message that then says something else than the changed English text becomes data.
func (t Text) Map(change func(string) string) Text {
	english := change(t.english)
	if t.id == "" || t.args == "" && english != t.english {
		return Data(english)
	}
	if t.args == "" {
		return t
	}
	list, err := parse(t.args)
	if err != nil {
		return Data(english)
	}
	for i := range list {
		list[i] = list[i].mapped(change)
	}
	if again := (Message{t.id, list}).text(); again.english == english {
		return again
	}
	return Data(english)
}

// MarshalText gives the English text, for JSON: what a program reads needs no other language.
func (t Text) MarshalText() ([]byte, error) { return []byte(t.english), nil }

// UnmarshalText takes a text for data; Restore makes messages of it again.
func (t *Text) UnmarshalText(text []byte) error {
	*t = Data(string(text))
	return nil
}

// English are texts in English, for what is not shown to a person in their language: reports, logs, errors.
func English(texts []Text) []string {
	all := make([]string, len(texts))
	for i, t := range texts {
		all[i] = t.english
	}
	return all
}
