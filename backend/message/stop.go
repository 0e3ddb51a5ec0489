package message

import (
	"fmt"
	"io"
	"regexp"
	"strings"
)

// endMark stands behind an argument that ends as a sentence does until the text is made: a character that no text has, of those that
// Unicode leaves to private use.
const endMark = "\ue000"

// twoStops is the end of an argument with what the sentence around it puts there itself: its own full stop, or that it goes on.
var twoStops = regexp.MustCompile(`\.` + endMark + `([.,:;](?:[\s)"“]|$))`)

// ended is an argument that ends as a sentence does.
type ended string

var _ fmt.Formatter = ended("")

// Format implements fmt.Formatter. What is cut, quoted or set in a column has no mark.
func (e ended) Format(s fmt.State, verb rune) {
	_, wide := s.Width()
	_, cut := s.Precision()
	if verb != 's' && verb != 'v' || wide || cut {
		fmt.Fprintf(s, fmt.FormatString(s, verb), string(e))
		return
	}
	_, _ = io.WriteString(s, string(e)+endMark)
}

// Sprintf makes a text of a format by sprintf, fmt.Sprintf or what stands for it. Where an argument is a sentence and the format goes on
// behind it with other punctuation, as "%s." does, the argument loses its full stop: the author of a format cannot know
// whether a reason, which another part of the program or another program gave, is a whole sentence.
func Sprintf(sprintf func(format string, args ...any) string, format string, args ...any) string {
	said, marked := make([]any, len(args)), false
	for i, a := range args {
		said[i] = a
		if text, ok := a.(string); ok && strings.HasSuffix(text, ".") && !strings.HasSuffix(text, "..") {
			said[i], marked = ended(text), true
		}
	}
	text := sprintf(format, said...)
	if !marked {
		return text
	}
	return strings.ReplaceAll(twoStops.ReplaceAllString(text, "$1"), endMark, "")
}
