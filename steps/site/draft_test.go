package site

import (
	"maps"
	"strings"
	"testing"
)

// typeable are the paths of all that a person can type.
func typeable() (paths []string) {
	for i := range schema {
		if e := &schema[i]; e.fixed == "" && e.into == "" && !strings.Contains(e.Path, "[]") {
			paths = append(paths, strings.Replace(e.Path, "<question>", "keep-network", 1))
		}
	}
	return append(paths, answers+"<<", answers+"~", answers+"null", answers+"1", answers+"-", answers+"'")
}

// odd are texts with a meaning in YAML.
var odd = []string{
	"<<", "=", "~", "null", "true", "1e3", "0x1f", "2001-01-01", "'", "\"", "- a", "? a", "!x y", "&a b", "*a", "@", "`", "|", ">-", "%", "a: b #c", "#",
	"---", "...", "---\na", "{", "[", "[a]", "\u2028x", "x\u0085y", " x\n y", "\ta\n b", "a\n\n\n", "a\r\nb", "\u00a0", "\ufffd", "\ufeff", "1h", "24", "a,b", "<<: *a",
}

// FuzzDraft: whatever a field holds, the draft that is written of it is read back the same, whatever YAML thinks of it.
func FuzzDraft(f *testing.F) {
	paths := typeable()
	for i := range paths {
		for _, v := range odd {
			f.Add(uint8(i), v, uint8((i*7)%len(paths)), v+"z")
		}
	}
	f.Fuzz(func(t *testing.T, i uint8, v string, j uint8, w string) {
		c := New()
		p, q := paths[int(i)%len(paths)], paths[int(j)%len(paths)]
		_ = c.Set(p, v) // what a field refuses is not in the draft
		_ = c.Set(q, w)
		draft := c.WithoutSecrets()
		text, err := draft.Marshal(false)
		if err != nil {
			t.Fatalf("%s=%q %s=%q: %v", p, v, q, w, err)
		}
		back, err := Parse(text, "site.yaml", nil)
		if err != nil {
			t.Fatalf("%s=%q %s=%q: %v in\n%s", p, v, q, w, err, text)
		}
		if !maps.Equal(values(draft), values(back)) {
			t.Fatalf("%s=%q %s=%q: %q became %q in\n%s", p, v, q, w, values(draft), values(back), text)
		}
		for path, secret := range c.Secrets() { // each in its own file
			if err := back.SetFrom(path, secret, Typed); err != nil {
				t.Fatalf("secret %s: %v", path, err)
			}
			if got, _ := back.Get(path); got != secret {
				t.Fatalf("secret %s: %q became %q", path, secret, got)
			}
		}
	})
}
