package host

import (
	"regexp"
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
		shown[i] = mask(arg, c.Secrets)
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

func mask(text string, secrets []string) string {
	for _, s := range secrets {
		if s != "" {
			text = strings.ReplaceAll(text, s, Masked)
		}
	}
	return text
}
