package host

import (
	"regexp"
	"slices"
	"strings"
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
		shown[i] = Mask(arg, c.Secrets)
		if i == 0 {
			continue
		}
		if hideNext {
			shown[i], hideNext = Masked, false
			continue
		}
		name, value, pair := strings.Cut(shown[i], "=")
		switch {
		case !secretName.MatchString(name):
		case pair && value != "":
			shown[i] = name + "=" + Masked
		case !pair:
			hideNext = strings.HasPrefix(name, "-") || strings.Contains(name, ".")
		}
	}
	return shown
}

// Mask takes secrets out of a text, the longest first: what one of them shares with the beginning of another would leave the rest of that.
func Mask(text string, secrets []string) string {
	longest := slices.SortedStableFunc(slices.Values(secrets), func(a, b string) int { return len(b) - len(a) })
	for _, s := range longest {
		if s != "" {
			text = strings.ReplaceAll(text, s, Masked)
		}
	}
	return text
}
