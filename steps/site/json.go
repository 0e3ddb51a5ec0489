package site

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode"
	"unicode/utf16"
)

// fromJSON writes a text that is JSON so that a reader of YAML takes it: YAML has no \/ (go-yaml, scannerc.go), no two codes for one character,
// which Python's json.dumps writes for each beyond U+FFFF, and no tab at the start of a line. Lines stay as they are. Every other text comes back unchanged.
func fromJSON(data []byte) []byte {
	start := bytes.TrimLeft(data, " \t\r\n")
	if len(start) == 0 || start[0] != '{' && start[0] != '[' || !bytes.ContainsAny(data, "\\\t") || !json.Valid(data) {
		return data
	}
	out := make([]byte, 0, len(data))
	for i := 0; i < len(data); { // a backslash is in a text, with what belongs to it: it is JSON
		switch {
		case data[i] == '\t': // between values, since it is JSON
			out = append(out, ' ')
			i++
		case data[i] != '\\':
			out = append(out, data[i])
			i++
		case data[i+1] == '/':
			out = append(out, '/')
			i += 2
		case data[i+1] == 'u' && utf16.IsSurrogate(codeAt(data[i:])):
			r := rune(unicode.ReplacementChar) // for half a character, as encoding/json reads it
			size := len(`\u0000`)
			if rest := data[i+size:]; bytes.HasPrefix(rest, []byte(`\u`)) {
				if whole := utf16.DecodeRune(codeAt(data[i:]), codeAt(rest)); whole != unicode.ReplacementChar {
					r, size = whole, 2*size
				}
			}
			out = fmt.Appendf(out, `\U%08X`, r) // still a code: what it stands for is judged as that of any other
			i += size
		default:
			out = append(out, data[i], data[i+1])
			i += 2
		}
	}
	return out
}

// codeAt is the number of a code like \u12ab.
func codeAt(code []byte) (r rune) {
	for _, c := range code[2:6] {
		digit := rune(c - '0')
		if c > '9' {
			digit = rune(c|0x20-'a') + 10
		}
		r = r<<4 | digit
	}
	return r
}
