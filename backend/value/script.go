package value

import "strings"

// inScripts are the characters besides ASCII letters and digits that a shell leaves alone in the value of an assignment: it
// finds nothing in them to run, to expand or to end the value at. ~ is none of them: behind a colon it becomes a home directory.
const inScripts = "-._:/@%[]+,=?"

// NotForScripts returns the place of the first byte of s that a shell would change or run in an assignment, or -1. The Machine
// Config Operator writes the proxy's settings unquoted to /etc/mco/proxy.env, which scripts of the node source as root.
func NotForScripts(s string) int {
	return strings.IndexFunc(s, func(r rune) bool {
		return (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') && !strings.ContainsRune(inScripts, r)
	})
}
