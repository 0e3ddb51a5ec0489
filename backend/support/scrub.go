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
	{regexp.MustCompile(`(?i)("(?:auth|password|passwd|secret|token|identitytoken|registrytoken|client-key-data|psk)"\s*:\s*")[^"]+`), "${1}" + hidden},
	{regexp.MustCompile(`(?i)\b((?:password|passwd|passphrase|psk|secret|token|api[_-]?key)\s*[=:]\s*)[^\s,;"']+`), "${1}" + hidden},
}

// privateKey is a key in PEM, to its end or to that of the text.
var privateKey = regexp.MustCompile(`(?s)-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----.*?(-----END [A-Z0-9 ]*PRIVATE KEY-----|\z)`)

// signs are what a line has, in lower case, that one of the patterns can match. Most lines have none, and are not looked at further.
var signs = []string{"eyj", "bearer", "basic", "sha256~", "://", "auth", "pass", "psk", "secret", "token", "key"}

// Scrub takes out of a text what looks like a secret.
func Scrub(text string) string {
	lines := strings.SplitAfter(privateKey.ReplaceAllString(text, hidden), "\n")
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
