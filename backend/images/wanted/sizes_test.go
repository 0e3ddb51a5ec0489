package wanted

import (
	"context"
	"errors"
	"slices"
	"testing"

	"touchdown/backend/check"
	"touchdown/backend/images/ref"
	"touchdown/backend/images/remote"
	"touchdown/backend/message"
	"touchdown/backend/problem"
)

// registry answers for the names that it knows.
type registry struct {
	asked []string
	knows map[string]any // *remote.Image, or an error
}

func (r *registry) Images(_ context.Context, names []string, each func(string, *remote.Image, error)) {
	r.asked = names
	for _, name := range names {
		switch answer := r.knows[name].(type) {
		case *remote.Image:
			each(name, answer, nil)
		case error:
			each(name, nil, answer)
		}
	}
}

// TestWeigh: only what is missing and wanted is asked for; a registry that sends something else than the digest says is a fault, and one
// that does not answer is none.
func TestWeigh(t *testing.T) {
	r := &Result{StoreRead: true, Images: []Image{
		{Need: Boot, Missing: []string{"r.example/new:1", "r.example/other:1"}, Findings: []Finding{{Kind: "pull-always"}}},
		{Need: Run, Missing: []string{"r.example/kept" + at("1")}, Digest: at("1")[1:]},
		{Need: Run, Missing: []string{"r.example/lies:1"}, Findings: []Finding{{Kind: "pull-always"}}},
		{Need: Run, Missing: []string{"r.example/away:1"}},
		{Need: Run, Present: true, Names: []string{"r.example/here:1"}},
		{Need: Spare, Missing: []string{"r.example/spare:1"}},
	}}
	reg := &registry{knows: map[string]any{
		"r.example/new:1":          &remote.Image{Digest: at("2")[1:], Blobs: []ref.Blob{{Digest: "a", Size: 5}, {Digest: "b", Size: 7}}},
		"r.example/kept" + at("1"): &remote.Image{Digest: at("3")[1:], Blobs: []ref.Blob{{Digest: "b", Size: 7}}},
		"r.example/lies:1":         &problem.Problem{Code: "PUL-DGST", Summary: message.T("It lies."), Fix: message.T("Ask who runs it.")},
		"r.example/away:1":         errors.New("no route to host"),
	}}
	r.Weigh(t.Context(), reg)
	if !slices.Equal(reg.asked, []string{"r.example/new:1", "r.example/kept" + at("1"), "r.example/lies:1", "r.example/away:1"}) {
		t.Errorf("asked for %q", reg.asked)
	}
	image := func(missing string) Image {
		return r.Images[slices.IndexFunc(r.Images, func(i Image) bool { return len(i.Missing) > 0 && i.Missing[0] == missing })]
	}
	if i := image("r.example/new:1"); i.Download != 12 || i.Digest != at("2")[1:] || len(i.Findings) != 1 {
		t.Errorf("a new one: %s", mustJSON(i))
	}
	if i := image("r.example/kept" + at("1")); i.Download != 7 || i.Digest != at("1")[1:] {
		t.Errorf("the digest that the cluster names counts: %s", mustJSON(i))
	}
	if f := image("r.example/lies:1").Findings; len(f) != 2 || f[0].Kind != "lied" || f[0].Status != check.Fail || f[0].Fix != "Ask who runs it." {
		t.Errorf("one that lies: %+v", f)
	}
	if i := image("r.example/away:1"); i.Download != 0 || len(i.Findings) != 0 {
		t.Errorf("one that is away: %s", mustJSON(i))
	}
	if s := r.Summary; s.Download != 12 || s.Unsized != 2 {
		t.Errorf("summary: %+v", s)
	}
}
