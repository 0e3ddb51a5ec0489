package main

import (
	"fmt"
	"regexp"
	"strings"
)

// What people and scripts read line by line is made here: one call is one line. The texts in it come from registries, clusters and
// commands, and a line break in one of them would begin a line that looks like ours.

// breaks are where a terminal, an editor or a script ends a line, with the blanks around it: the line ends of Unicode (UAX 14) and
// what separates records.
var breaks = regexp.MustCompile("[ \t]*[\n\v\f\r\x1c-\x1e\u0085\u2028\u2029][ \t\n\v\f\r\x1c-\x1e\u0085\u2028\u2029]*")

// flat is a text on one line: its line breaks read as semicolons, its tabs as spaces.
func flat(text string) string {
	text = breaks.ReplaceAllString(strings.TrimRight(text, " \t\n\v\f\r\x1c\x1d\x1e\u0085\u2028\u2029"), "; ")
	return strings.ReplaceAll(text, "\t", " ")
}

// linef formats one line for a terminal or a script, with the line break behind it.
func linef(format string, args ...any) string { return flat(fmt.Sprintf(format, args...)) + "\n" }
