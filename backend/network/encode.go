package network

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"touchdown/backend/netconfig"
)

// group is one group of a keyfile, such as [connection].
type group struct {
	name    string
	entries []entry
}

type entry struct{ key, value string }

// Names of groups and keys as NetworkManager has them; none needs escaping.
var (
	groupName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]*$`)
	entryKey  = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)
)

// encode writes a keyfile so that GLib reads each value as it is here (g_key_file_get_string). What has no place in a keyfile
// is refused. The error names the place, not the value, which can be a secret.
func encode(groups []group) (string, error) {
	var out strings.Builder
	seen := map[string]bool{}
	for i, g := range groups {
		if !groupName.MatchString(g.name) || seen[g.name] {
			return "", errors.New("writing a profile: a group is named twice, or not as groups are")
		}
		seen[g.name] = true
		if i > 0 {
			out.WriteString("\n")
		}
		fmt.Fprintf(&out, "[%s]\n", g.name)
		for _, e := range g.entries {
			if !entryKey.MatchString(e.key) || seen[g.name+"."+e.key] {
				return "", fmt.Errorf("writing a profile: a key of %s is there twice, or not as keys are", g.name)
			}
			seen[g.name+"."+e.key] = true
			if !netconfig.OneLine(e.value) {
				return "", fmt.Errorf("writing a profile: %s.%s has a line break or another control character in it", g.name, e.key)
			}
			fmt.Fprintf(&out, "%s=%s\n", e.key, escape(e.value))
		}
	}
	return out.String(), nil
}

// escape is what g_key_file_set_string does to a text of one line.
func escape(value string) string {
	bare := strings.TrimLeft(value, " ")
	return strings.Repeat(`\s`, len(value)-len(bare)) + strings.ReplaceAll(bare, `\`, `\\`)
}

// decode reads what nmstate wrote. It escapes nothing, so that a value is what stands between the first = and the end of the
// line; there must be no line breaks in what it was given. Whatever nmstate does not write is refused.
func decode(text string) ([]group, error) {
	var groups []group
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		key, value, isEntry := strings.Cut(line, "=")
		switch {
		case line == "":
		case strings.HasPrefix(line, "[") && strings.HasSuffix(line, "]"):
			groups = append(groups, group{name: line[1 : len(line)-1]})
		case isEntry && len(groups) > 0:
			g := &groups[len(groups)-1]
			g.entries = append(g.entries, entry{key, value})
		default:
			return nil, errors.New("reading nmstate's keyfile: a line is neither a group nor a value")
		}
	}
	return groups, nil
}

// find returns a value, "" where there is none.
func find(groups []group, name, key string) string {
	for _, g := range groups {
		for _, e := range g.entries {
			if g.name == name && e.key == key {
				return e.value
			}
		}
	}
	return ""
}
