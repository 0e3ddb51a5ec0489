package site

import (
	"strconv"
	"strings"
	"time"

	"touchdown/backend/message"
	"touchdown/steps/site/pin"
)

// format returns the value behind a pointer as text; what is not set is "".
func (e *entry) format(p any) string {
	switch p := p.(type) {
	case *string:
		return *p
	case *bool:
		return formatBool(*p)
	case *time.Duration:
		return formatDuration(*p)
	case *int:
		if *p == 0 {
			return ""
		}
		return strconv.Itoa(*p)
	case *[]string:
		return strings.Join(*p, e.separator())
	case *map[string]string:
		return formatLabels(*p)
	}
	return ""
}

// assign puts a canonical text behind a pointer; "" is the default or nothing.
func (e *entry) assign(p any, value string) {
	if value == "" {
		value = e.Default
	}
	if e.Type == typePIN {
		value = string(pin.Make(value))
	}
	switch p := p.(type) {
	case *string:
		*p = value
	case *bool:
		*p = value == "true"
	case *time.Duration:
		*p, _ = time.ParseDuration(value)
	case *int:
		*p, _ = strconv.Atoi(value)
	case *[]string:
		*p = e.split(value)
	case *map[string]string:
		*p = parseLabels(value)
	}
}

func (e *entry) separator() string {
	if e.lines {
		return "\n"
	}
	return ", "
}

// split returns the items of a list that was typed: separated by commas, spaces or lines, or by lines alone when the
// items themselves hold spaces.
func (e *entry) split(value string) []string {
	if !e.lines {
		return separate(value)
	}
	var items []string
	for line := range strings.Lines(value) {
		if line = strings.TrimSpace(line); line != "" {
			items = append(items, line)
		}
	}
	return items
}

// separate splits a list at commas and white space.
func separate(value string) []string {
	items := strings.FieldsFunc(value, func(r rune) bool { return r == ',' || isSpace(r) })
	if len(items) == 0 {
		return nil
	}
	return items
}

func isSpace(r rune) bool { return strings.ContainsRune(" \t\r\n\u0085\u00a0\u2028\u2029", r) }

// isYAML reports whether the value is YAML in its own right, whose indentation counts.
func (e *entry) isYAML() bool { return e.Type == typeNMState || e.Type == typeManifests }

// manyLines reports whether line ends belong to the value.
func (e *entry) manyLines() bool {
	return e.Type == typePEM || e.Type == typeJSON || e.Type == typeLabels || e.isYAML() || e.lines
}

// canonical drops what an editor or a paste adds around a value, so that the same answer always reads the same. Files
// from Windows end their lines with CR LF; a text of many lines ends with one line feed, as openssl writes PEM.
func (e *entry) canonical(value string) string {
	if e.manyLines() {
		value = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(value)
	}
	if e.isYAML() {
		value = trimLines(value) // the indentation of the first line counts
	} else {
		value = strings.TrimSpace(value)
	}
	switch e.Type {
	case typePEM, typeNMState, typeManifests:
		if value != "" {
			value += "\n"
		}
	case typeList:
		value = strings.Join(e.split(value), e.separator())
	case typeLabels:
		value = strings.Join(separate(value), "\n")
	case typeNumber:
		value = e.canonicalNumber(value)
	}
	return value
}

// canonicalNumber takes 0 for nothing, as the other documents do that have these keys.
func (e *entry) canonicalNumber(value string) string {
	if e.tidy != nil {
		value = e.tidy(value)
	}
	if value == "0" {
		return ""
	}
	return value
}

// trimLines drops empty lines at both ends and white space at the end.
func trimLines(value string) string {
	value = strings.TrimRight(value, " \t\n\u0085\u00a0\u2028\u2029")
	for {
		line, rest, more := strings.Cut(value, "\n")
		if !more || strings.TrimSpace(line) != "" {
			return value
		}
		value = rest
	}
}

// parseableNumber wants decimal digits: a leading zero would be an octal number to YAML.
func parseableNumber(value string) *Error {
	n, err := strconv.Atoi(value)
	if err != nil || strconv.Itoa(n) != value || n < 0 || n > 1<<31-1 {
		return fault(message.T("write digits only"), message.T("is not a whole number"))
	}
	return nil
}

func parseableDuration(value string) *Error {
	if _, err := time.ParseDuration(value); err != nil {
		return fault(message.T("write a number and its unit, for example 2m or 90s"), message.T("is not a duration"))
	}
	return nil
}
