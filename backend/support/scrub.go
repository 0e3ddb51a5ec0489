package support

import "regexp"

// hidden stands where a secret was.
const hidden = "<secret>"

// secrets are what a secret of anyone looks like in a log. Those that Touchdown was told are masked by the engine; these are of others:
// keys and tokens that a service of the node wrote down.
var secrets = []struct {
	pattern *regexp.Regexp
	instead string
}{
	{regexp.MustCompile(`(?s)-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----.*?(-----END [A-Z0-9 ]*PRIVATE KEY-----|\z)`), hidden},
	{regexp.MustCompile(`\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*`), hidden}, // a JSON web token
	{regexp.MustCompile(`(?i)\b(bearer|basic)\s+[A-Za-z0-9+/=._~-]{8,}`), "${1} " + hidden},   // of an Authorization header
	{regexp.MustCompile(`\bsha256~[A-Za-z0-9_-]{20,}`), hidden},                               // a token of OpenShift's OAuth server
	{regexp.MustCompile(`(://[^:/@\s"]*:)[^\s/@"]+@`), "${1}" + hidden + "@"},                 // of a URL
	{regexp.MustCompile(`(?i)("(?:auth|password|passwd|secret|token|identitytoken|registrytoken|client-key-data|psk)"\s*:\s*")[^"]+`), "${1}" + hidden},
	{regexp.MustCompile(`(?i)\b((?:password|passwd|passphrase|psk|secret|token|api[_-]?key)\s*[=:]\s*)[^\s,;"']+`), "${1}" + hidden},
}

// Scrub takes out of a text what looks like a secret.
func Scrub(text string) string {
	for _, s := range secrets {
		text = s.pattern.ReplaceAllString(text, s.instead)
	}
	return text
}
