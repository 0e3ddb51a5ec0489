package layerstore

import (
	"os"
	"path/filepath"
	"testing"
)

// FuzzJournal reads an image store's journal that a power cut or a worn disk left so: what is there can be read again, and the same
// operation is found unfinished.
func FuzzJournal(f *testing.F) {
	f.Add([]byte(`{"op":"move","phase":"begin","generation":1}` + "\n" + `{"op":"move","phase":"sure"}` + "\n" + `{"op":"mo`))
	f.Add([]byte("null\n[]\n{}\n\x00\n"))
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, data []byte) {
		p := &Store{Dir: dir}
		if err := os.WriteFile(filepath.Join(dir, journalFile), data, 0o600); err != nil {
			t.Fatal(err)
		}
		all, err := p.journal().records()
		if err != nil {
			t.Fatal(err)
		}
		again, err := p.journal().records()
		if err != nil {
			t.Fatal(err)
		}
		r, sure, found := unfinished(all)
		s, sureAgain, foundAgain := unfinished(again)
		if len(all) == len(again) && (found != foundAgain || sure != sureAgain || r.Op != s.Op) {
			t.Errorf("%q is unfinished, then %q", r.Op, s.Op)
		}
	})
}
