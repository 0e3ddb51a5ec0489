package message

import (
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"strings"
)

// Messages are the messages of a JSON document: each by the JSON pointer (RFC 6901) of its text, "/check/observed". A text that
// is not among them is data.
type Messages map[string]Message

// Message is which message a text of a JSON document is.
type Message struct {
	ID   string `json:"id,omitempty"`   // the English format; "": the text itself
	Args args   `json:"args,omitempty"` // strings, numbers, and {"id", "args"} for a message within
}

var textType = reflect.TypeFor[Text]()

// Of finds the messages in what a pointer leads to. It follows the fields that JSON shows, pointers and lists, not maps.
func Of(document any) Messages {
	found := Messages{}
	walk(reflect.ValueOf(document), "", func(pointer string, v reflect.Value) {
		t, _ := v.Interface().(Text)
		if t.id == "" {
			return
		}
		m := Message{ID: t.id}
		if t.args == "" {
			m.ID = ""
		} else if list, err := parse(t.args); err == nil {
			m.Args = list
		}
		found[pointer] = m
	})
	if len(found) == 0 {
		return nil
	}
	return found
}

// Restore makes messages again of the texts of a document, a pointer, that was read from JSON. A message that does not say what
// its text says is ignored: the text stays.
func Restore(document any, from Messages) {
	if len(from) == 0 {
		return
	}
	walk(reflect.ValueOf(document), "", func(pointer string, v reflect.Value) {
		t, _ := v.Interface().(Text)
		m, known := from[pointer]
		if !known || t.english == "" || !v.CanSet() {
			return
		}
		if m.ID == "" && m.Args == nil {
			m.ID = t.english
		}
		if again := m.text(); again.english == t.english {
			v.Set(reflect.ValueOf(again))
		}
	})
}

// maxText is how long a message may become, in bytes.
const maxText = 1 << 16

// widest is how many bytes a width of two digits can make of an argument.
const widest = 99

// tooWide is a verb that writes more than its argument: with a width of three digits, or of an argument.
var tooWide = regexp.MustCompile(`%[^a-zA-Z%]*([0-9]{3}|\*)`)

// bounded tells whether a message becomes no longer than maxText. One that came from a process that a medium may have taken over could
// make a gigabyte out of a few bytes: by a width, or by messages that stand in each other many times.
func (m Message) bounded() bool {
	sum, longest := len(m.ID)+widest*strings.Count(m.ID, "%"), 0
	for _, a := range values(m.Args, nil) {
		if text, ok := a.(string); ok {
			sum, longest = sum+len(text), max(longest, len(text))
		}
	}
	if n := strings.Count(m.ID, "["); n > 0 { // an argument may stand in it n times
		sum += n * longest
	}
	return sum <= maxText && !tooWide.MatchString(m.ID)
}

// text makes the Text of a message again.
func (m Message) text() Text {
	if m.Args == nil {
		return Text{english: m.ID, id: m.ID}
	}
	if !m.bounded() {
		return Data(m.ID)
	}
	return Text{english: Sprintf(fmt.Sprintf, m.ID, values(m.Args, nil)...), id: m.ID, args: m.Args.String()}
}

// walk calls each with every Text below v.
func walk(v reflect.Value, pointer string, each func(string, reflect.Value)) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			walk(v.Elem(), pointer, each)
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			walk(v.Index(i), pointer+"/"+strconv.Itoa(i), each)
		}
	case reflect.Struct:
		if v.Type() == textType {
			each(pointer, v)
			return
		}
		for i := range v.NumField() {
			field := v.Type().Field(i)
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			switch {
			case !field.IsExported() || name == "-":
			case name == "" && field.Anonymous:
				walk(v.Field(i), pointer, each)
			default:
				walk(v.Field(i), pointer+"/"+name, each)
			}
		}
	default:
	}
}
