package site

import (
	"strings"
	"time"
)

// store puts a text into the field of a path, after the checks that no field can do without: size, characters, type.
func (c *Config) store(path, value string) *Error {
	e := find(path)
	if e == nil || e.fixed != "" {
		return unknownPath(path)
	}
	if e.into != "" {
		return fault("set "+e.into+" instead", "names a file, and files are only read with the document that names them")
	}
	value = e.canonical(value)
	if err := e.holds(value); err != nil {
		return err
	}
	switch {
	case e.answer:
		c.setAnswer(strings.TrimPrefix(path, answers), value)
	case e.text != nil:
		*e.text(c) = value
	case value == "":
		e.reset(c)
	case e.flag != nil:
		*e.flag(c) = value == "true"
	default:
		*e.span(c), _ = time.ParseDuration(value)
	}
	return nil
}

func (c *Config) setAnswer(id, value string) {
	if value == "" {
		delete(c.Spec.Policy.Answers, id)
		return
	}
	if c.Spec.Policy.Answers == nil {
		c.Spec.Policy.Answers = map[string]string{}
	}
	c.Spec.Policy.Answers[id] = value
}

// reset brings the default of a flag or a duration back.
func (e *entry) reset(c *Config) {
	switch {
	case e.flag != nil:
		*e.flag(c) = e.Default == "true"
	case e.span != nil:
		*e.span(c), _ = time.ParseDuration(e.Default)
	}
}

// canonical drops what an editor or a paste adds around a value, so that the same answer always reads the same. Files
// from Windows end their lines with CR LF; a PEM text ends with one line feed, as openssl writes it.
func (e *entry) canonical(value string) string {
	value = strings.TrimSpace(value)
	if e.Type == typePEM || e.Type == typeJSON {
		value = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(value)
	}
	if e.Type == typePEM && value != "" {
		value += "\n"
	}
	return value
}

// holds reports why a field cannot hold a canonical value.
func (e *entry) holds(value string) *Error {
	if e.limit > 0 && len(value) > e.limit {
		return fault("", "is %d bytes long, more than the %d that are allowed", len(value), e.limit)
	}
	if _, err := readable([]byte(value)); err != nil {
		return fault(err.Fix, "%s", err.Msg)
	}
	if e.Type != typePEM && e.Type != typeJSON && strings.ContainsAny(value, "\r\n\u0085\u2028\u2029") {
		return fault("write it on one line", "has more than one line")
	}
	if e.Secret && strings.TrimSpace(value) == Redacted {
		return fault("put the real value in, or remove the line", "is the mark %s, which only stands for a secret that was left out", Redacted)
	}
	if value == "" {
		return nil
	}
	switch {
	case e.flag != nil && value != "true" && value != "false":
		return fault("write true or false", "is neither true nor false")
	case e.span != nil:
		return parseableDuration(value)
	}
	return nil
}

func parseableDuration(value string) *Error {
	if _, err := time.ParseDuration(value); err != nil {
		return fault("write a number and its unit, for example 2m or 90s", "is not a duration")
	}
	return nil
}
