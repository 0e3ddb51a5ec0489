package support

import (
	"regexp"
	"slices"
	"strings"
)

// hidden stands where a secret was.
const hidden = "<secret>"

// secrets are what a secret of anyone looks like in a log. Those that Touchdown was told are masked by the engine; these are of others:
// keys and tokens that a service of the node wrote down.
var secrets = []struct {
	pattern *regexp.Regexp
	instead string
}{
	{regexp.MustCompile(`\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*`), hidden}, // a JSON web token
	{regexp.MustCompile(`(?i)\b(bearer|basic)\s+[A-Za-z0-9+/=._~-]{8,}`), "${1} " + hidden},   // of an Authorization header
	{regexp.MustCompile(`\bsha256~[A-Za-z0-9_-]{20,}`), hidden},                               // a token of OpenShift's OAuth server
	{regexp.MustCompile(`(://[^:/@\s"]*:)[^\s/@"]+@`), "${1}" + hidden + "@"},                 // of a URL
	// name=value, "name": "value", and both within a text that is quoted itself; the name may be a part of one, such as access_token
	{regexp.MustCompile(`(?i)((?:auth|passwd|password|passphrase|psk|secret|token|api[_-]?key|client-key-data)\\*["']?\s*[=:]\s*)(?:\\*"[^"\\]*\\*"|'[^']*'|[^\s,;"'\\]+)`), "${1}" + hidden},
	{regexp.MustCompile(`(?i)(--?[a-z-]*(?:passwd|password|secret|token)[ =])\S+`), "${1}" + hidden}, // of a command line
}

// A private key in PEM. One that has no end, or none so near, is taken for one that was cut.
var (
	keyBegin   = regexp.MustCompile(`-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----`)
	keyEnd     = regexp.MustCompile(`-----END [A-Z0-9 ]*PRIVATE KEY-----`)
	longestKey = 16 << 10 // bytes: RSA with 16384 bits has 13,000
)

// signs are what a line has, in lower case, that one of the patterns can match. Most lines have none, and are not looked at further.
var signs = []string{"eyj", "bearer", "basic", "sha256~", "://", "auth", "pass", "psk", "secret", "token", "key"}

// withoutKeys takes private keys out of a text, also the rest of one that begins before the text.
func withoutKeys(text string) string {
	var out strings.Builder
	if end := keyEnd.FindStringIndex(text[:min(len(text), longestKey)]); end != nil && keyBegin.FindStringIndex(text[:end[0]]) == nil {
		out.WriteString(hidden)
		text = text[end[1]:]
	}
	for begin := keyBegin.FindStringIndex(text); begin != nil; begin = keyBegin.FindStringIndex(text) {
		out.WriteString(text[:begin[0]] + hidden)
		rest := text[begin[1]:]
		near := rest[:min(len(rest), longestKey)]
		if end := keyEnd.FindStringIndex(near); end != nil {
			text = rest[end[1]:]
		} else {
			text = rest[len(near):]
		}
	}
	return out.String() + text
}

// Scrub takes out of a text what looks like a secret. What does not look like one stays: a person reads a bundle before it leaves the house.
func Scrub(text string) string {
	lines := strings.SplitAfter(withoutKeys(text), "\n")
	for i, line := range lines {
		lower := strings.ToLower(line)
		if !slices.ContainsFunc(signs, func(sign string) bool { return strings.Contains(lower, sign) }) {
			continue
		}
		for _, s := range secrets {
			line = s.pattern.ReplaceAllString(line, s.instead)
		}
		lines[i] = line
	}
	return strings.Join(lines, "")
}
