package message

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"
)

// argument is what stands in a message: a string, a whole number, a number with decimals, or a message again.
type argument struct{ value any } // string, int64, float64 or Text

// newArgument keeps of a value what a text shows of it. What has its own way to be shown is data; a number otherwise stays one.
func newArgument(a any) argument {
	switch a := a.(type) {
	case Text:
		if a.id == "" {
			return argument{a.english}
		}
		return argument{a}
	case error: // every language but English says that it is a technical detail
		return newArgument(Detail(a))
	case fmt.Stringer:
		return argument{fmt.Sprint(a)}
	}
	switch v := reflect.ValueOf(a); v.Kind() {
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return argument{v.Int()}
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return argument{int64(v.Uint())} //nolint:gosec // F compares what both show
	case reflect.Float32, reflect.Float64:
		return argument{v.Float()}
	default:
		return argument{fmt.Sprint(a)}
	}
}

// mapped is the argument with change made to its data.
func (a argument) mapped(change func(string) string) argument {
	switch v := a.value.(type) {
	case string:
		return argument{change(v)}
	case Text:
		return newArgument(v.Map(change))
	default:
		return a
	}
}

// args are the arguments of a message.
type args []argument

// parse reads what args.String wrote.
func parse(text string) (list args, err error) {
	if text == "" {
		return nil, nil
	}
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		return nil, fmt.Errorf("reading the arguments of a message: %w", err)
	}
	return list, nil
}

// String is the list in JSON. Of what an argument can be nothing fails there; were it otherwise, the text would have none.
func (a args) String() string {
	out, err := json.Marshal([]argument(a))
	if err != nil {
		return ""
	}
	return string(out)
}

// values are arguments for a format; texts are shown by show, in English without one.
func values(list args, show func(Text) string) []any {
	all := make([]any, len(list))
	for i, a := range list {
		all[i] = a.value
		if t, ok := a.value.(Text); ok {
			if all[i] = t.english; show != nil {
				all[i] = show(t)
			}
		}
	}
	return all
}

// MarshalJSON writes an argument: a string, a number, or a Message. A number with decimals has a point.
func (a argument) MarshalJSON() ([]byte, error) {
	switch v := a.value.(type) {
	case Text:
		return encoded(struct {
			ID   string          `json:"id"`
			Args json.RawMessage `json:"args,omitempty"` // written before: reading it again at each level would double the work with each
		}{v.id, json.RawMessage(v.args)})
	case float64:
		text := strconv.FormatFloat(v, 'f', -1, 64)
		if !strings.Contains(text, ".") {
			text += ".0"
		}
		return []byte(text), nil
	default:
		return encoded(v)
	}
}

func encoded(v any) ([]byte, error) {
	out, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("writing an argument of a message: %w", err)
	}
	return out, nil
}

// deepest is how many messages may stand in each other. Each is read by the one around it, so the work grows with their number.
const deepest = 16

// deep tells whether more messages stand in each other than a program writes.
func deep(data []byte) bool {
	depth := 0
	for d := json.NewDecoder(bytes.NewReader(data)); ; {
		switch token, err := d.Token(); {
		case err != nil: // the end, or what the reader of the argument tells
			return false
		case token == json.Delim('{'):
			if depth++; depth > deepest {
				return true
			}
		case token == json.Delim('}'):
			depth--
		}
	}
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (a *argument) UnmarshalJSON(data []byte) (err error) {
	switch {
	case bytes.HasPrefix(data, []byte(`"`)):
		var text string
		err = json.Unmarshal(data, &text)
		a.value = text
	case deep(data): // a text that does not say the same stays a text, see Restore
		a.value = ""
	case bytes.HasPrefix(data, []byte(`{`)):
		var m Message
		err = json.Unmarshal(data, &m)
		a.value = m.text()
	case bytes.Contains(data, []byte(`.`)):
		a.value, err = strconv.ParseFloat(string(data), 64)
	default:
		a.value, err = strconv.ParseInt(string(data), 10, 64)
	}
	if err != nil {
		return fmt.Errorf("reading an argument of a message: %w", err)
	}
	return nil
}
