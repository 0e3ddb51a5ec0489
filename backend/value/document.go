package value

import (
	"bytes"
	"unicode/utf8"

	"touchdown/backend/message"
)

// NotText is the first place in a file of people that no text document holds, counted from 1.
type NotText struct {
	Line, Column int
	What, Fix    message.Text
}

// Document returns the text of a file without a byte order mark, or the place of the first byte that no text document holds.
// The characters are those of YAML 1.2, section 5.1; the YAML library refuses the others without a line number.
func Document(data []byte) ([]byte, *NotText) {
	if bytes.HasPrefix(data, []byte{0xff, 0xfe}) || bytes.HasPrefix(data, []byte{0xfe, 0xff}) {
		return nil, &NotText{1, 1, message.T("is UTF-16 text"), message.T("save it as UTF-8")}
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	line, column := 1, 1
	for rest := data; len(rest) > 0; {
		r, size := utf8.DecodeRune(rest)
		if bad := badRune(r, size, rest); bad != nil {
			bad.Line, bad.Column = line, column
			return nil, bad
		}
		column++
		if r == '\n' {
			line, column = line+1, 1
		}
		rest = rest[size:]
	}
	return data, nil
}

func badRune(r rune, size int, rest []byte) *NotText {
	switch {
	case r == utf8.RuneError && size == 1:
		return &NotText{What: message.F("has a byte that is not UTF-8 text (0x%02x)", rest[0]), Fix: message.T("save it as UTF-8")}
	case r == 0:
		return &NotText{What: message.T("has a NUL byte, so it is binary or UTF-16"), Fix: message.T("save it as plain UTF-8 text")}
	case Steers(r):
		return &NotText{What: message.F("has a control character (U+%04X)", r), Fix: message.T("remove it")}
	}
	return nil
}
