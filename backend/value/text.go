package value

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Steers tells whether a character does something to a text instead of standing in it: a control character, which text documents do not have
// (YAML 1.2, section 5.1), or one that has what follows it read in another order than it is written (Unicode, UAX #9). Tabs and ends of lines
// are not meant.
func Steers(r rune) bool {
	switch {
	case r == '\t' || r == '\n' || r == '\r' || r == 0x85:
		return false
	case r < 0x20, r >= 0x7f && r < 0xa0, r == 0xfeff, r == 0xfffe, r == 0xffff:
		return true
	}
	return r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069
}

// Plain tells whether a text, which may have several lines, is UTF-8 without a character that steers.
func Plain(text string) bool { return utf8.ValidString(text) && !strings.ContainsFunc(text, Steers) }

// OneLine tells whether a text is plain and one line, without tabs.
func OneLine(text string) bool {
	return Plain(text) && !strings.ContainsAny(text, "\t\n\r\u0085\u2028\u2029")
}

// Mask puts a mark in the place of secrets, the longest first: one that another begins with would leave the rest of that.
func Mask(text string, secrets []string, mark string) string {
	longest := slices.SortedStableFunc(slices.Values(secrets), func(a, b string) int { return len(b) - len(a) })
	for _, s := range longest {
		if s != "" {
			text = strings.ReplaceAll(text, s, mark)
		}
	}
	return text
}
