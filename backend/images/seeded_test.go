package images

import (
	"errors"
	"strings"
	"testing"

	"touchdown/backend/check"
	"touchdown/backend/images/store"
	"touchdown/backend/images/wanted"
	"touchdown/backend/message"
)

// TestOneIsNoPlural: what is said of one thing is said in the singular.
func TestOneIsNoPlural(t *testing.T) {
	one := Seeded{leftOut: make([]store.Dropped, 1)}
	if got := one.half().Observed.String(); got != "1 is not, and was left out" {
		t.Errorf("of one: %s", got)
	}
	one.leftOut = append(one.leftOut, one.leftOut[0])
	if got := one.half().Observed.String(); got != "2 are not, and were left out" {
		t.Errorf("of two: %s", got)
	}
}

// TestSeededSaysWhatIsMissing: what the node needs to boot is a failure, what a workload needs is a warning, and half an image is told
// where there is one.
func TestSeededSaysWhatIsMissing(t *testing.T) {
	web, etcd := Image{Names: []string{"a:1"}, Missing: []string{"a:1"}}, Image{Names: []string{"b:1"}, Missing: []string{"b:1"}, BootCritical: true}
	for name, c := range map[string]struct {
		seeded Seeded
		want   string
		boot   int
	}{
		"all is here":        {Seeded{}, "images-missing pass, images-always pass", 0},
		"a workload's image": {Seeded{missing: []Image{web}}, "images-missing warn, images-always pass", 0},
		"what boots":         {Seeded{missing: []Image{web, etcd}}, "images-missing fail, images-always pass", 1},
		"half an image":      {Seeded{leftOut: make([]store.Dropped, 1)}, "images-missing pass, images-half warn, images-always pass", 0},
	} {
		c.seeded.wanted = &Wanted{}
		var got []string
		for _, made := range c.seeded.Checks() {
			got = append(got, made.ID+" "+string(made.Status))
		}
		if strings.Join(got, ", ") != c.want || c.seeded.BootMissing() != c.boot {
			t.Errorf("%s: %q, %d needed to boot", name, got, c.seeded.BootMissing())
		}
	}
}

// TestSeededSaysWhatWasNotRead: of a cluster that did not answer nobody knows what it needs, so not all is here. What names no image that
// runs is no reason to warn.
func TestSeededSaysWhatWasNotRead(t *testing.T) {
	why := message.T("The API does not answer.")
	for source, want := range map[string]check.Status{
		"cluster": check.Warn, "pods": check.Warn, "crio": check.Warn, "units": check.Warn, "sizes": check.Pass, "release": check.Pass, "machineconfigs": check.Pass,
	} {
		away := &Wanted{}
		away.Fail(source, errors.New(why.String()))
		for fix, list := range map[string]*Wanted{"Retry when": away, "Look whether": {Unread: []wanted.Unread{{Source: source, Reason: why}}}} {
			if c := (Seeded{wanted: list}).lacks(); c.Status != want || want == check.Warn && !strings.HasPrefix(c.Fix.String(), fix) {
				t.Errorf("without %s: %+v", source, c)
			}
		}
		c := Seeded{wanted: away}.lacks()
		if want == check.Warn && (!strings.Contains(c.Observed.String(), source) || len(c.Evidence) != 1 || c.Evidence[0].String() != "Not read: "+source+": "+why.String()) {
			t.Errorf("without %s it does not say so: %+v", source, c)
		}
	}
	boot := Image{Names: []string{"b:1"}, Missing: []string{"b:1"}, BootCritical: true}
	c := Seeded{missing: []Image{boot}, wanted: &Wanted{Unread: []wanted.Unread{{Source: "pods", Reason: why}}}}.lacks()
	if c.Status != check.Fail || len(c.Evidence) != 2 || !strings.Contains(c.Fix.String(), "registry") {
		t.Errorf("what boots is missing too: %+v", c)
	}
}
