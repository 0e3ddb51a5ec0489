package engine

import (
	"errors"
	"testing"

	"touchdown/steps"
	"touchdown/steps/session"
	"touchdown/steps/site"
)

// newDraft is an empty draft with a list of one step that asks for a name.
func newDraft(t *testing.T) *draft {
	t.Helper()
	folder, err := openFolder(t.TempDir())
	must(t, err)
	t.Cleanup(func() { _ = folder.close() })
	d := &draft{folder: folder, mask: &Masker{}, list: newWorld().stages, offers: map[string][]steps.Choice{}}
	d.open(site.New())
	return d
}

// TestDraft fills in a field, has a value suggested for it, and goes back to what was found.
func TestDraft(t *testing.T) {
	d := newDraft(t)
	const path = "spec.clusterName"
	if took, err := d.suggest(path, "found", "hostname"); !took || err != nil {
		t.Fatalf("the suggestion is taken: %t, %v", took, err)
	}
	d.review = &review{}
	must(t, d.set(path, "typed"))
	if d.review != nil {
		t.Error("the review outlived the answers that it is about")
	}
	if took, _ := d.suggest(path, "again", "hostname"); took {
		t.Error("a suggestion replaced what was typed")
	}
	f := steps.FieldsOf(d.stages()[0].Steps[0])[0]
	if v := d.view(f); v.Value != "typed" || v.Found != "found" || !v.Changed {
		t.Errorf("the field is shown as %+v", v)
	}
	if kept, _, err := d.folder.loadDraft(); err != nil || kept.Spec.ClusterName != "typed" {
		t.Errorf("on the disk: %v, %v", kept, err)
	}
	must(t, d.restore("", "names"))
	if v := d.view(f); v.Value != "found" || v.Changed || v.Source != "hostname" {
		t.Errorf("the field goes back to %+v", v)
	}
	if err := d.set("spec.nonsense", "1"); !errors.Is(err, session.ErrNotFound) {
		t.Errorf("a field that does not exist: %v", err)
	}
}
