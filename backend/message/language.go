package message

import (
	"fmt"
	"strings"

	"golang.org/x/text/language"
	xmessage "golang.org/x/text/message"
	"golang.org/x/text/message/catalog"
)

// Language shows texts in one language. The nil Language is English.
type Language struct {
	printer *xmessage.Printer
}

// NewLanguage makes a language of a catalogue: from each English format to the format in the language. A translation has the
// verbs of its English format; %[2]s where the order differs.
func NewLanguage(tag string, catalogue map[string]string) (*Language, error) {
	t, err := language.Parse(tag)
	if err != nil {
		return nil, fmt.Errorf("the language %q: %w", tag, err)
	}
	b := catalog.NewBuilder(catalog.Fallback(t))
	for id, text := range catalogue {
		if err := b.SetString(t, id, text); err != nil {
			return nil, fmt.Errorf("the catalogue of %s, %q: %w", tag, id, err)
		}
	}
	return &Language{printer: xmessage.NewPrinter(t, xmessage.Catalog(b))}, nil
}

// whole is a whole number as every language writes it. A port or a number of seconds is not an amount: 6443 has no separator in any, and
// a byte is written in hexadecimal.
type whole int64

var _ fmt.Formatter = whole(0)

// Format implements fmt.Formatter.
func (w whole) Format(s fmt.State, verb rune) { fmt.Fprintf(s, fmt.FormatString(s, verb), int64(w)) }

// Show is a text in the language. What the catalogue lacks is English.
func (l *Language) Show(t Text) string {
	if l == nil || t.id == "" {
		return t.english
	}
	list, err := parse(t.args)
	if err != nil {
		return t.english
	}
	args := values(list, l.Show)
	for i, a := range args {
		if n, ok := a.(int64); ok {
			args[i] = whole(n)
		}
	}
	format := t.id
	if t.args == "" {
		format = strings.ReplaceAll(t.id, "%", "%%") // the catalogue has formats alone
	}
	say := func(format string, args ...any) string {
		return l.printer.Sprintf(xmessage.Key(format, format), args...)
	}
	return Sprintf(say, format, args...)
}
