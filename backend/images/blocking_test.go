package images

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/pelletier/go-toml/v2"
)

// FuzzBlocking blocks any text as a registry: a TOML parser reads that registry and no other, or it is refused.
func FuzzBlocking(f *testing.F) {
	for _, name := range []string{"quay.io", "*.example.com", "", `a"b`, "a\nblocked = false", `a\`, "\x01", "\u2028", "\U0001f600", "\xff", "\x7f", "'", `"""`} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		data, err := blocking([]string{name, "last.example"})
		if err != nil || !utf8.ValidString(name) {
			return
		}
		var doc struct {
			Registry []struct {
				Prefix, Location string
				Blocked          bool
			}
		}
		if err := toml.Unmarshal(data, &doc); err != nil {
			t.Fatalf("%q: %v\n%s", name, err, data)
		}
		if len(doc.Registry) != 2 || doc.Registry[0].Prefix != name || doc.Registry[0].Location != strings.TrimPrefix(name, "*.") || !doc.Registry[0].Blocked {
			t.Errorf("%q is read back as %+v", name, doc.Registry)
		}
	})
}
