package site

import (
	"maps"
	"slices"
	"strings"
	"time"

	"touchdown/backend/message"
)

// answers is where the answers to questions live; the question's id follows.
const answers = "spec.policy.answers."

// Get returns the value of a path as text, secrets included; ok is false for a path that does not exist and for an
// answer that was not given. A value that is not set is "".
func (c *Config) Get(path string) (value string, ok bool) {
	e := find(path)
	switch {
	case e == nil || e.into != "":
		return "", false
	case e.fixed != "":
		return e.fixed, true
	case e.answer:
		value, ok = c.Spec.Policy.Answers[strings.TrimPrefix(path, answers)]
		return value, ok
	case e.Type == typeGroups:
		return e.groupsText(c), true
	}
	p := e.place(c, path)
	if p == nil {
		return "", false
	}
	return e.format(p), true
}

// Set stores a typed value; "" takes it away or brings the default back. Only what the field cannot hold is refused:
// a half-typed name can be kept, Check and Validate judge it.
func (c *Config) Set(path, value string) error { return c.SetFrom(path, value, Typed) }

// SetFrom is Set with the origin that Sources will tell.
func (c *Config) SetFrom(path, value, source string) error {
	if err := c.whole(path, value); err != nil {
		err.Path = path
		return err
	}
	if e := find(path); e.Default != "" && e.canonical(value) == "" {
		source = Default
	}
	maps.DeleteFunc(c.places, func(p string, _ position) bool { return p == path || strings.HasPrefix(p, path+"[") })
	c.note(path, source)
	return nil
}

// whole is put for what a person sets: a list of groups is set as a whole, not its items' values one by one.
func (c *Config) whole(path, value string) *Error {
	if e := find(path); e != nil && e.cell {
		owner, _ := ownerOf(e.Path)
		return fault(message.F("set %s instead", owner), message.T("is part of a list"))
	}
	return c.put(path, value)
}

// IsSecret reports whether the value of a path, as it is now, must not be shown.
func (c *Config) IsSecret(path string) bool {
	value, _ := c.Get(path)
	return SecretValue(path, value)
}

// SecretValue reports whether a value of a path must not be shown. It depends on the value: a proxy's URL is a secret
// only when it holds a password.
func SecretValue(path, value string) bool {
	e := find(path)
	return e != nil && e.isSecret(value)
}

// Paths returns every path that holds a value or can be given one, in the order of the document; of the answers those
// that are given.
func (c *Config) Paths() []string {
	var paths []string
	for i := range schema {
		switch e := &schema[i]; {
		case e.answer:
			for _, id := range c.questions() {
				paths = append(paths, answers+id)
			}
		case e.at != nil:
			paths = append(paths, e.Path)
		}
	}
	return paths
}

// Counted returns the paths whose values tell one job from another. What an earlier release did not have counts only where it is not
// its default: else a job that such a release began would seem to have other answers now.
func (c *Config) Counted() []string {
	return slices.DeleteFunc(c.Paths(), func(path string) bool {
		e := find(path)
		value, _ := c.Get(path)
		return e.younger && value == e.Default
	})
}

func (c *Config) questions() []string {
	ids := make([]string, 0, len(c.Spec.Policy.Answers))
	for id := range c.Spec.Policy.Answers {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// ByHand tells whether an origin is that of a value that a person typed.
func ByHand(origin string) bool { return origin == Typed || origin == typedTwice }

// Repeated tells whether a person typed the value of a path, and the same again. The next value has yet to be repeated.
func (c *Config) Repeated(path string) bool { return c.Sources[path] == typedTwice }

// Repeat notes whether what was typed again is the value that was typed for a path.
func (c *Config) Repeat(path string, same bool) {
	c.Sources[path] = Typed
	if same {
		c.Sources[path] = typedTwice
	}
}

// note records where a value came from, or that there is none.
func (c *Config) note(path, source string) {
	if c.Sources == nil {
		c.Sources = map[string]string{}
	}
	if value, _ := c.Get(path); value == "" {
		delete(c.Sources, path)
		return
	}
	c.Sources[path] = source
}

// find returns the entry of a path, or nil.
func find(path string) *entry {
	path = general(path)
	for i := range schema {
		if schema[i].matches(path) {
			return &schema[i]
		}
	}
	return nil
}

func (e *entry) matches(path string) bool {
	if !e.answer {
		return e.Path == path
	}
	id, found := strings.CutPrefix(path, answers)
	return found && questionID(id) == nil
}

func unknownPath(path string) *Error {
	var known []string
	for i := range schema {
		if e := &schema[i]; e.fixed == "" && !e.answer {
			known = append(known, e.Path)
		}
	}
	f := fault(message.Text{}, message.T("there is no such path"))
	near := nearest(path, known)
	if i := slices.IndexFunc(known, func(k string) bool { return strings.HasSuffix(k, "."+path) }); near == "" && i >= 0 { // the end of one
		near = known[i]
	}
	if near != "" {
		f.Fix = message.F("did you mean %s?", near)
	}
	return f
}

func formatBool(b bool) string {
	if b {
		return "true"
	}
	return "false"
}

// formatDuration prints 2m for what the standard library prints as 2m0s.
func formatDuration(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}
