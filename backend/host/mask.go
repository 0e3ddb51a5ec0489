package host

import (
	"regexp"
	"strings"

	"touchdown/backend/value"
)

// Masked stands where a secret was.
const Masked = "<secret>"

// secretName finds option and property names whose value nobody should read in a log.
var secretName = regexp.MustCompile(`(?i)(passw|passphrase|secret|token|psk|pull-?secret|private-?key)`)

// maskArgv hides the secrets named by c, and the values of options that look like secrets:
// --password=x, --token x, 802-11-wireless-security.psk x.
func maskArgv(c Command) []string {
	shown := make([]string, len(c.Argv))
	hideNext := false
	for i, arg := range c.Argv {
		shown[i] = value.Mask(arg, c.Secrets, Masked)
		if i == 0 {
			continue
		}
		if hideNext {
			shown[i], hideNext = Masked, false
			continue
		}
		name, given, pair := strings.Cut(shown[i], "=")
		switch {
		case !secretName.MatchString(name):
		case pair && given != "":
			shown[i] = name + "=" + Masked
		case !pair:
			hideNext = strings.HasPrefix(name, "-") || strings.Contains(name, ".")
		}
	}
	return shown
}
