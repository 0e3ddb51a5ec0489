package second

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"touchdown/backend/envelope"
	"touchdown/backend/factory"
	"touchdown/backend/host"
	"touchdown/backend/problem"
)

// TestNames: one person is one however the name is spelled, and a name has a letter, on one line.
func TestNames(t *testing.T) {
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"Anna Huber", "anna  HUBER", true},
		{"Anna Huber", "Huber, Anna", false},
		{"J. M\u00fcller", "J Mu\u0308ller", true},
		{"Anna Huber", "Anna-Huber.", true},
		{"\uff21nna", "Anna", true},
		{"Anna\u200b", "Anna", true},
		{"Anna", "Anna 2", false},
		{"Anna", "Hanna", false},
	} {
		if Same(c.a, c.b) != c.same || Same(c.b, c.a) != c.same {
			t.Errorf("%q and %q: same is not %t", c.a, c.b, c.same)
		}
	}
	for name, good := range map[string]bool{
		"Anna": true, "A": true, "\u674e": true, "": false, " ": false, "-": false, "Anna\nBen": false, "Anna\x1b[2J": false, "\u202eannA": false, strings.Repeat("x", maxName): true, strings.Repeat("x", maxName+1): false,
	} {
		if err := CheckName(name); (err == nil) != good {
			t.Errorf("%.20q: %v", name, err)
		}
	}
	for path, good := range map[string]bool{"/run/media/anna.key": true, "anna.key": false, "": false, "/a\nb": false, "/" + strings.Repeat("x", 1<<10): false} {
		if err := CheckKeyFile(path); (err == nil) != good {
			t.Errorf("%.20q: %v", path, err)
		}
	}
}

// TestADemandIsKept: the keys outlive the stay on the bench line, who the people are does not. A demand that cannot be read stands.
func TestADemandIsKept(t *testing.T) {
	m := host.Open(host.Options{Root: t.TempDir()})
	open := func(day int) {
		t.Helper()
		if _, err := factory.OpenLine(m, time.Date(2026, 11, day, 8, 0, 0, 0, time.UTC)); err != nil {
			t.Fatal(err)
		}
	}
	if s, err := Of(m); s != nil || err != nil || AloneMay(m) != nil {
		t.Errorf("%+v, %v", s, err)
	}
	open(21)
	full := Person{Keys: "keys", Revoked: "list", Stay: factory.Stay(m), First: "Ben", Name: "Anna", KeyFile: "/anna.key", Agreed: true}
	if err := full.Keep(m); err != nil {
		t.Fatal(err)
	}
	if s, err := Of(m); err != nil || *s != full || s.Check() != nil {
		t.Errorf("%+v, %v", s, err)
	}
	if info, err := os.Stat(m.Path(kept)); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	if err := AloneMay(m); problem.From(err).Code != "FAC-2ND" {
		t.Error(err)
	}
	if err := factory.Close(m); err != nil {
		t.Fatal(err)
	}
	open(22)
	s, err := Of(m)
	if err != nil || *s != (Person{Keys: "keys", Revoked: "list", Stay: factory.Stay(m)}) {
		t.Errorf("%+v, %v", s, err)
	}
	for _, p := range []Person{*s, {First: "Ben"}, {Name: "Anna"}, {First: "Anna", Name: "anna"}} {
		if problem.From(p.Check()).Code != "FAC-2ND" {
			t.Errorf("%+v: %v", p, p.Check())
		}
	}
	if err := os.WriteFile(m.Path(kept), []byte("torn"), 0o600); err != nil {
		t.Fatal(err)
	}
	if s, err := Of(m); s != nil || err == nil || AloneMay(m) == nil {
		t.Errorf("%+v, %v", s, err)
	}
	if err := Forget(m); err != nil {
		t.Fatal(err)
	}
	if s, err := Of(m); s != nil || err != nil {
		t.Errorf("%+v, %v", s, err)
	}
}

// TestWhoseKeyCounts: a key of the list, for signing people, that was not revoked and is in a file of its owner alone.
func TestWhoseKeyCounts(t *testing.T) {
	dir := t.TempDir()
	pair := func(name string) (file string, key envelope.SigningKey) {
		t.Helper()
		key, err := envelope.NewSigningKey()
		if err != nil {
			t.Fatal(err)
		}
		private, _, err := key.Files()
		if err == nil {
			file = filepath.Join(dir, name)
			err = os.WriteFile(file, private, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		return file, key
	}
	annas, anna := pair("anna")
	bens, ben := pair("ben")
	private, err := os.ReadFile(annas)
	if err != nil {
		t.Fatal(err)
	}
	release := filepath.Join(dir, "release")
	if err := os.WriteFile(release, envelope.ForReleases(private), 0o600); err != nil {
		t.Fatal(err)
	}
	s := Person{Keys: string(ben.Public().PEM()) + string(anna.Public().PEM()), Name: "Anna", KeyFile: annas}
	if key, err := s.Key(); err != nil || key.ID() != anna.ID() {
		t.Errorf("%s, %v", key.ID(), err)
	}
	for _, c := range []struct {
		why    string
		change func(*Person)
	}{
		{"No file is named", func(s *Person) { s.KeyFile = "" }},
		{"no such file", func(s *Person) { s.KeyFile = filepath.Join(dir, "none") }},
		{"not a regular file", func(s *Person) { s.KeyFile = dir }},
		{"key for releases", func(s *Person) { s.KeyFile = release }},
		{"key " + anna.ID() + " was revoked", func(s *Person) { s.Revoked = "# left\n" + anna.ID() + "\n" }},
		{"key " + ben.ID() + " is not among", func(s *Person) { s.KeyFile, s.Keys = bens, string(anna.Public().PEM()) }},
		{"there are none", func(s *Person) { s.Keys = "" }},
	} {
		bad := s
		c.change(&bad)
		_, err := bad.Key()
		if p := problem.From(err); p.Code != "FAC-2KEY" || !strings.Contains(p.Summary.String(), c.why) {
			t.Errorf("%s: %v", c.why, err)
		}
	}
	if err := os.Chmod(annas, 0o604); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Key(); !strings.Contains(problem.From(err).Summary.String(), "others may read it") {
		t.Error(err)
	}
}
