package steps

import (
	"bytes"
	"fmt"
	"io/fs"
	"testing"

	"touchdown/backend/kube"
)

// saving is a report that keeps originals.
type saving struct {
	Report
	files map[string][]byte
}

func (k saving) Save(key string, original []byte) error {
	if _, there := k.files[key]; !there {
		k.files[key] = original
	}
	return nil
}

func (k saving) Saved(key string) ([]byte, error) {
	if b, there := k.files[key]; there {
		return b, nil
	}
	return nil, fmt.Errorf("%s: %w", key, fs.ErrNotExist)
}

// TestALostOriginalHidesNoOther: when the disk lost one of a step's originals, those that were saved after it are still put back,
// and the next one overwrites none of them.
func TestALostOriginalHidesNoOther(t *testing.T) {
	k := saving{files: map[string][]byte{}}
	o := newOriginals(k)
	for n := range 4 {
		if err := o.save(kube.Ref{}, fmt.Appendf(nil, "%d", n+1)); err != nil {
			t.Fatal(err)
		}
	}
	if err := o.mark("rendered", "fifth"); err != nil {
		t.Fatal(err)
	}
	delete(k.files, "change-001")
	delete(k.files, "change-003")
	if err := o.save(kube.Ref{}, []byte("5")); err != nil {
		t.Fatal(err)
	}
	all, next, err := o.all()
	if got := string(bytes.Join(all, []byte(" "))); got != "2 4 5" || next != 6 || err != nil {
		t.Errorf("%q, the next is %d: %v", got, next, err)
	}
	if mark, err := o.marked("rendered"); mark != "fifth" || err != nil {
		t.Errorf("the mark is %q: %v", mark, err)
	}
}
