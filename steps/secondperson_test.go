package steps

import (
	"testing"
	"time"

	"touchdown/backend/factory"
	"touchdown/backend/factory/second"
	"touchdown/backend/host"
)

// TestAnAgreementIsForOneName: who agreed on the command line agreed for what was said there. Another answer at a console is asked for.
func TestAnAgreementIsForOneName(t *testing.T) {
	for _, path := range []string{"seal.first", "seal.second", "seal.key"} {
		m := host.Open(host.Options{Root: t.TempDir()})
		if _, err := factory.OpenLine(m, time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)); err != nil {
			t.Fatal(err)
		}
		agreed := second.Person{Keys: "keys", Stay: factory.Stay(m), First: "Ben Weber", Name: "Anna Huber", KeyFile: "/anna.key", Agreed: true}
		if err := agreed.Keep(m); err != nil {
			t.Fatal(err)
		}
		for _, f := range (&secondPerson{Host: m}).fields() {
			if f.Path != path {
				continue
			}
			if err := f.Keep("/else"); err != nil || f.Kept() != "/else" {
				t.Errorf("%s: %v, %q", path, err, f.Kept())
			}
		}
		if now, err := second.Of(m); err != nil || now.Agreed || *now == agreed {
			t.Errorf("%s: %+v, %v", path, now, err)
		}
	}
}
