package site

import (
	"errors"
	"maps"
	"testing"
	"time"
)

// FuzzParse holds that any text is either refused with a place in every mistake, or read and written back unchanged.
func FuzzParse(f *testing.F) {
	for _, m := range malformed() {
		if len(m.doc) < 4<<10 {
			f.Add([]byte(m.doc))
		}
	}
	f.Add(Example())
	full, err := full(f).Marshal(false)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(full)
	f.Fuzz(func(t *testing.T, data []byte) {
		start := time.Now()
		c, err := Parse(data, "site.yaml", folder())
		if took := time.Since(start); took > time.Minute {
			t.Fatalf("took %v", took)
		}
		if err != nil {
			var errs Errors
			if !errors.As(err, &errs) || len(errs) == 0 || len(errs) > maxErrors {
				t.Fatalf("%d errors: %v", len(errs), err)
			}
			for _, e := range errs {
				if e.File == "" || e.Msg.String() == "" || e.Line == 0 && len(data) <= maxDocument {
					t.Fatalf("no place: %#v", e)
				}
			}
			return
		}
		c.Validate(today())
		written, err := c.Marshal(false)
		if err != nil {
			t.Fatal(err)
		}
		back, err := Parse(written, "site.yaml", nil)
		if err != nil {
			t.Fatalf("%v in what was written:\n%s", err, written)
		}
		if !maps.Equal(values(c), values(back)) {
			t.Fatalf("%q became %q", values(c), values(back))
		}
	})
}
