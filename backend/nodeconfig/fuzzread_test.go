package nodeconfig

import (
	"reflect"
	"slices"
	"testing"
	"unicode/utf8"

	"github.com/pelletier/go-toml/v2"
)

// FuzzStorageConf adds the store to a storage.conf of anybody: the file names it then, and says nothing else than before.
func FuzzStorageConf(f *testing.F) {
	f.Add("[storage]\ndriver = \"overlay\"\n[storage.options]\nadditionalimagestores = [\n  \"/a\", # why\n]\n", "/b")
	f.Add("[storage.options]\n# x\n[storage.options.overlay]\nmountopt=\"nodev\"\n", "/var/lib/shared/touchdown/current")
	f.Add("storage = { options = { } }\n", "/b")
	f.Fuzz(func(t *testing.T, conf, path string) {
		if !utf8.ValidString(path) {
			return // TOML has no such names; the path is always ours
		}
		edited, err := AddStore(conf, path)
		if err != nil {
			return
		}
		all, err := stores(edited)
		if err != nil || !slices.Contains(all, path) {
			t.Fatalf("%q became %q: %v, %v", conf, edited, all, err)
		}
		var before, after map[string]any
		if toml.Unmarshal([]byte(conf), &before) != nil || toml.Unmarshal([]byte(edited), &after) != nil {
			t.Fatalf("%q became %q", conf, edited)
		}
		if before == nil {
			before = map[string]any{}
		}
		setStores(before, all)
		if !reflect.DeepEqual(before, after) {
			t.Errorf("%q became %q", conf, edited)
		}
		if again, err := AddStore(edited, path); err != nil || again != edited {
			t.Errorf("again it became %q, %v", again, err)
		}
	})
}
