package site

import (
	"strings"

	"touchdown/backend/message"
)

// networkConfig is the one value that stands in place of others: the document has it or spec.network, never both.
const networkConfig = "spec.networkConfig"

// Check returns what judges a value of a path alone, by the rules that Validate has for it, so that a form refuses what the
// document would be refused for.
func Check(path string) func(string) error {
	return func(value string) error {
		c := New()
		if f := c.whole(path, value); f != nil {
			return f
		}
		v := &judge{config: c}
		if e := find(path); e.at != nil {
			v.field(e, path)
		}
		if len(v.errs) == 0 {
			return nil
		}
		f := v.errs[0]
		if inside := strings.TrimPrefix(f.Path, path); inside != "" {
			return fault(f.Fix, message.F("has a mistake: %s %s", inside, f.Msg))
		}
		return fault(f.Fix, f.Msg)
	}
}

// Sample returns the schema's example of a path as a person types it: the items of a list without brackets. It is "" where the
// example of the document is none for a form: it names a file that stands beside the document.
func Sample(path string) string {
	e := find(path)
	switch {
	case e == nil || e.Secret && e.guard == nil || e.Example == "|" || strings.Contains(e.Example, "File:"):
		return ""
	case e.Type == typeList:
		return strings.NewReplacer("[", "", "]", "", `"`, "").Replace(e.Example)
	case e.Type == typeLabels:
		return strings.NewReplacer("{", "", "}", "", ": ", "=", `"`, "").Replace(e.Example)
	}
	return e.Example
}
