package hardware

import (
	"cmp"
	"errors"
	"reflect"
	"strings"
	"unicode"
	"unicode/utf8"

	"touchdown/backend/message"
)

// The bounds of what is taken over from a machine. Chosen: the longest honest text is a PCI name of about 120 characters, the
// longest honest list the PCI functions of a server with virtual ones, a few hundred.
const (
	maxText = 160
	maxList = 1024
)

// clean bounds every text and every list of a value, and takes out of texts what no terminal, report or JSON should get:
// firmware, disks and cards write what they like.
func clean(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		if v.CanSet() {
			v.SetString(text(v.String()))
		}
	case reflect.Pointer:
		if !v.IsNil() {
			clean(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				clean(v.Field(i))
			}
		}
	case reflect.Slice:
		if v.Len() > maxList {
			v.Set(v.Slice(0, maxList))
		}
		for i := range v.Len() {
			clean(v.Index(i))
		}
	case reflect.Map:
		for _, k := range v.MapKeys() {
			why, _ := v.MapIndex(k).Interface().(message.Text) // there is no other map
			v.SetMapIndex(k, reflect.ValueOf(why.Map(text)))
		}
	}
}

// text is one line of at most maxText printable characters.
func text(s string) string {
	if len(s) > 8*maxText { // more than is left, whatever it consists of
		s = s[:8*maxText]
	}
	s = strings.Map(func(r rune) rune {
		switch {
		case r == utf8.RuneError:
			return '?'
		case unicode.IsSpace(r):
			return ' '
		case !unicode.IsPrint(r): // control characters, and those that turn the direction of writing
			return -1
		}
		return r
	}, s)
	s = strings.Join(strings.Fields(s), " ")
	if runes := []rune(s); len(runes) > maxText {
		s = string(runes[:maxText-2]) + ".."
	}
	return s
}

// reason is the sentence of ours that an error has in it, or else what the kernel or a library says: the section, or the words before it,
// tell what was being done, so that is cut.
func reason(err error) message.Text {
	if ours, ok := errors.AsType[interface {
		error
		Message() message.Text
	}](err); ok {
		return ours.Message()
	}
	return message.Detail(cmp.Or(errors.Unwrap(err), err))
}
