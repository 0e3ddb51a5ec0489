package site

import (
	"strings"

	"touchdown/backend/message"
	"touchdown/steps/site/pin"
)

// put puts a text into the field of a path, after the checks that no field can do without: size, characters, type.
func (c *Config) put(path, value string) *Error {
	e := find(path)
	switch {
	case e == nil || e.fixed != "":
		return unknownPath(path)
	case e.into != "":
		return fault(message.F("set %s instead", e.into), message.T("names a file, and files are only read with the document that names them"))
	case e.Type == typeGroups:
		return c.putGroups(e, value)
	}
	value = e.canonical(value)
	if err := e.holds(value); err != nil {
		return err
	}
	if e.answer {
		return c.setAnswer(strings.TrimPrefix(path, answers), value)
	}
	p := e.place(c, path)
	if p == nil {
		return unknownPath(path)
	}
	e.assign(p, value)
	return nil
}

// setAnswer keeps one answer. Their number is bounded: with tens of thousands each value that a person types would take seconds.
func (c *Config) setAnswer(id, value string) *Error {
	if value == "" {
		delete(c.Spec.Policy.Answers, id)
		return nil
	}
	if c.Spec.Policy.Answers == nil {
		c.Spec.Policy.Answers = map[string]string{}
	}
	if _, given := c.Spec.Policy.Answers[id]; !given && len(c.Spec.Policy.Answers) >= maxItems {
		return fault(message.T("check that it is the right file"), message.F("is one more answer than the %d that are allowed", maxItems))
	}
	c.Spec.Policy.Answers[id] = value
	return nil
}

// holds reports why a field cannot hold a canonical value.
func (e *entry) holds(value string) *Error {
	if e.limit > 0 && len(value) > e.limit {
		return fault(message.Text{}, message.F("is %d bytes long, more than the %d that are allowed", len(value), e.limit))
	}
	if _, err := readable([]byte(value)); err != nil {
		return fault(err.Fix, err.Msg)
	}
	if !e.manyLines() && strings.ContainsAny(value, "\r\n\u0085\u2028\u2029") {
		return fault(message.T("write it on one line"), message.T("has more than one line"))
	}
	if e.Secret && strings.TrimSpace(value) == Redacted {
		return fault(message.T("put the real value in, or remove the line"), message.F("is the mark %s, which only stands for a secret that was left out", Redacted))
	}
	if !e.Secret && holdsPrivateKey(value) { // it would be shown, and kept where it is not wiped
		fix := message.T("give the public key, the file that ends with .pub; make a new pair if this one left its owner's hands")
		if e.Type == typePEM {
			fix = message.T("keep only the CERTIFICATE blocks in it")
		}
		return fault(fix, message.T("holds a private key"))
	}
	if value == "" {
		return nil
	}
	switch e.Type {
	case typeBool:
		if value != "true" && value != "false" {
			return fault(message.T("write true or false"), message.T("is neither true nor false"))
		}
	case typeDuration:
		return parseableDuration(value)
	case typeNumber:
		f := parseableNumber(value)
		if f != nil && e.tidy != nil {
			return e.neitherLength()
		}
		return f
	case typeLabels:
		return holdsLabels(value)
	case typePIN: // what is refused here is not kept: a hash of it would read like a good one
		if wrong, fix := pin.Check(value); wrong != (message.Text{}) {
			return fault(fix, wrong)
		}
	}
	return nil
}

func holdsPrivateKey(value string) bool {
	return strings.Contains(value, "PRIVATE KEY-----") || strings.Contains(value, "PuTTY-User-Key-File")
}

// reset brings the default of a value back.
func (e *entry) reset(c *Config) { e.assign(e.at(c), e.Default) }
