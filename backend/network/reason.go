package network

import (
	"encoding/json"
	"errors"
	"maps"
	"net"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"sigs.k8s.io/yaml"

	"touchdown/backend/netconfig"
)

// quotes are the characters between which nmstate and serde put what they quote.
const quotes = "`'\""

// longestReason is how many bytes of nmstate's words are passed on.
const longestReason = 300

var (
	// missingField is the one quotation that never comes from the document: the name is nmstate's own.
	missingField = regexp.MustCompile("missing field `([a-z0-9-]{1,40})`")
	// plainName is a name of an interface as drivers, people and NetworkManager give it.
	plainName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,14}$`)
	// inText is where serde found it, which tells nobody anything: the text is one line that this package wrote.
	inText = regexp.MustCompile(` at line [0-9]+ column [0-9]+`)
)

// reason is what nmstate says is wrong, without anything that the desired state holds: nmstate repeats values, and any of them
// can be a secret that was typed in the wrong place. Names of interfaces and addresses stay, since they say where it is.
func reason(said string, desired []byte) string {
	text := inText.ReplaceAllString(said, "")
	if m := missingField.FindStringSubmatch(text); m != nil && strings.IndexAny(text, quotes) == strings.Index(text, m[0])+len("missing field ") {
		text = text[:strings.Index(text, m[0])] + "missing field " + m[1]
	}
	for _, value := range secretive(desired) {
		text = strings.ReplaceAll(text, value, "…")
	}
	text = withoutQuotations(text)
	text, _, _ = strings.Cut(text, "\n")
	for _, prefix := range []string{"InvalidArgument: ", "Invalid YAML string: ", "Bug: "} {
		text = strings.TrimPrefix(text, prefix)
	}
	if len(text) > longestReason {
		text = strings.ToValidUTF8(text[:longestReason], "") + "…"
	}
	return text
}

// withoutQuotations cuts from the first quote to the last. A value can hold quotes itself, so that there is no telling where one
// quotation ends and the next begins.
func withoutQuotations(text string) string {
	first, last := strings.IndexAny(text, quotes), strings.LastIndexAny(text, quotes)
	switch {
	case first < 0:
		return text
	case first == last: // the other one was cut off
		return text[:first] + "…"
	}
	return text[:first] + "…" + text[last+1:]
}

// secretive are the keys and values of a desired state that must not be repeated, the longest first, also as Rust prints them.
// One or two characters tell nothing, and are part of ordinary words.
func secretive(desired []byte) []string {
	var root any
	if yaml.Unmarshal(desired, &root) != nil {
		return nil
	}
	var found []string
	add := func(text string) {
		for _, form := range []string{text, escape(text), quoted(text)} {
			if utf8.RuneCountInString(form) > 2 {
				found = append(found, form)
			}
		}
	}
	var walk func(key string, part any)
	walk = func(key string, part any) {
		switch v := part.(type) {
		case map[string]any:
			for _, k := range slices.Sorted(maps.Keys(v)) {
				if !netconfig.IsKnownKey(k) {
					add(k)
				}
				walk(k, v[k])
			}
		case []any:
			for _, item := range v {
				walk(key, item)
			}
		case string:
			if !tellsThePlace(key, v) {
				add(v)
			}
		case float64:
			if b, err := json.Marshal(v); err == nil && (v < 0 || v > 1<<16) {
				add(string(b))
			}
		}
	}
	walk("", root)
	slices.SortFunc(found, func(a, b string) int { return len(b) - len(a) })
	return found
}

// quoted is a text as JSON writes it, without the quotes around it.
func quoted(text string) string {
	b, err := json.Marshal(text)
	if err != nil {
		return text
	}
	return string(b[1 : len(b)-1])
}

// tellsThePlace reports whether a value may be repeated: it names an interface, an address or one of the things that nmstate
// itself names.
func tellsThePlace(key, value string) bool {
	switch key {
	case "password", "private-key-password":
		return false
	case "name", "base-iface", "port", "ports", "next-hop-interface":
		return plainName.MatchString(value)
	case "type", "state", "mode":
		return slices.Contains(netconfig.Types, value) || slices.Contains(BondModes, value) ||
			slices.Contains([]string{"up", "down", "absent", "ovs-bridge", "ovs-interface"}, value)
	}
	if _, err := netip.ParsePrefix(value); err == nil {
		return true
	}
	if _, err := net.ParseMAC(value); err == nil {
		return len(value) == len("00:53:00:12:34:56") // longer ones read like a key
	}
	addr, err := netip.ParseAddr(value)
	return err == nil && addr.Zone() == ""
}

// unfit tells where JSON does not fit, without the value that encoding/json quotes.
func unfit(err error) error {
	if at, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && at.Field != "" {
		return errors.New(at.Field + " has a value of another kind than it should have")
	}
	return errors.New("a value is of another kind than it should be")
}
