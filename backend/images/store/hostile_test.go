package store_test

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/vbatts/tar-split/tar/storage"

	"touchdown/backend/images/store"
	"touchdown/backend/problem"
	"touchdown/test/imagestore"
)

func TestOpenRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		alter func(layers, images []map[string]any)
		want  string
	}{
		"a layer that is a path":       {func(l, _ []map[string]any) { l[0]["id"] = "../../../../etc" }, "layers.json"},
		"a layer with capitals":        {func(l, _ []map[string]any) { l[0]["id"] = strings.Repeat("A", 64) }, "layers.json"},
		"a layer that is too short":    {func(l, _ []map[string]any) { l[0]["id"] = "abc" }, "layers.json"},
		"a layer that is a number":     {func(l, _ []map[string]any) { l[0]["id"] = 7 }, "layers.json"},
		"a parent that is a path":      {func(l, _ []map[string]any) { l[0]["parent"] = "/etc" }, "layers.json"},
		"a digest that is none":        {func(l, _ []map[string]any) { l[0]["diff-digest"] = "sha256:../x" }, "layers.json"},
		"a negative size":              {func(l, _ []map[string]any) { l[0]["diff-size"] = -5 }, "layers.json"},
		"an image that is a path":      {func(_, i []map[string]any) { i[0]["id"] = "../" + strings.Repeat("a", 61) }, "images.json"},
		"a top layer that is a path":   {func(_, i []map[string]any) { i[0]["layer"] = "x/y" }, "images.json"},
		"a name that moves the cursor": {func(_, i []map[string]any) { i[0]["names"] = []string{"a\x1b[2Jb"} }, "images.json"},
		"a name without an end":        {func(_, i []map[string]any) { i[0]["names"] = []string{strings.Repeat("n", 2000)} }, "images.json"},
		"an item that is a path":       {func(_, i []map[string]any) { i[0]["big-data-names"] = []string{strings.Repeat("?", 300)} }, "images.json"},
		"an item without a name":       {func(_, i []map[string]any) { i[0]["big-data-names"] = []string{""} }, "images.json"},
	} {
		t.Run(name, func(t *testing.T) {
			made, _ := small(t)
			made.Alter(c.alter)
			do(t, made.Save())
			_, err := store.Open(t.Context(), made.Root)
			p := problem.From(err)
			if err == nil || p.Code != "STR-BAD" || !strings.Contains(p.Summary.String(), c.want) || strings.ContainsRune(p.Summary.String(), 0x1b) {
				t.Errorf("refused with %v", err)
			}
		})
	}
}

func TestOpenRefusesFiles(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(made *imagestore.Store) error
		code  string
	}{
		"a list that is a link": {func(made *imagestore.Store) error {
			_ = os.Remove(made.Path(store.LayersJSON))
			return os.Symlink("/etc/passwd", made.Path(store.LayersJSON))
		}, "STR-BAD"},
		"a list that is torn": {func(made *imagestore.Store) error { return os.Truncate(made.Path(store.ImagesJSON), 100) }, "STR-BAD"},
		"a list without an end": {func(made *imagestore.Store) error {
			return os.Truncate(made.Path(store.ImagesJSON), 65<<20)
		}, "STR-BAD"},
		"a lock that is a link": {func(made *imagestore.Store) error {
			_ = os.Remove(made.Path("overlay-layers", "layers.lock"))
			return os.Symlink(madeByALink(made), made.Path("overlay-layers", "layers.lock"))
		}, "STR-BAD"},
		"no store": {func(made *imagestore.Store) error { return os.RemoveAll(made.Path("overlay-layers")) }, "STR-MSNG"},
	} {
		t.Run(name, func(t *testing.T) {
			made, _ := small(t)
			do(t, c.spoil(made))
			if _, err := store.Open(t.Context(), made.Root); err == nil || problem.From(err).Code != c.code {
				t.Errorf("refused with %v", err)
			}
			if _, err := os.Lstat(madeByALink(made)); err == nil {
				t.Error("a link was followed")
			}
		})
	}
}

// madeByALink is a file beside the store, which nobody makes who follows no link.
func madeByALink(made *imagestore.Store) string { return made.Root + "-made-by-a-link" }

func TestOpenLeavesOutWhatIsHalfDone(t *testing.T) {
	imagestore.NeedRoot(t)
	made := imagestore.New(t.TempDir() + "/primary")
	base := made.Layer("", imagestore.Tree(1, 10, 1000)...)
	good := made.Image(base, "registry.example/good:v1", "registry.example/both:v1", "registry.example/both:v1")
	bad := made.Image(made.Layer(base, imagestore.Tree(2, 10, 1000)...), "registry.example/bad:v1")
	newer := made.Image(made.Layer(base, imagestore.Tree(3, 10, 1000)...), "registry.example/both:v1")
	round := made.Image(made.Layer("", imagestore.Tree(4, 10, 1000)...), "registry.example/round:v1")
	made.Alter(func(layers, _ []map[string]any) {
		layers[1]["flags"] = map[string]any{"incomplete": true}
		layers[3]["parent"] = layers[3]["id"]
	})
	do(t, made.Save())
	s := open(t, made.Root)
	if len(s.Images) != 2 || len(s.Dropped) != 2 || s.Dropped[0].Image != bad || s.Dropped[1].Image != round {
		t.Errorf("kept %d images, left out %+v", len(s.Images), s.Dropped)
	}
	for id, want := range map[string]string{good: "registry.example/good:v1", newer: "registry.example/both:v1"} {
		if i, _ := s.Image(id); strings.Join(i.Names, " ") != want {
			t.Errorf("image %s has the names %q", id, i.Names)
		}
	}
	if _, known := s.Layer(strings.Repeat("0", 64)); known {
		t.Error("a layer that nobody made is known")
	}
}

// TestVolatileLayersAreKnown: CRI-O keeps the layers of containers in their own list.
func TestVolatileLayersAreKnown(t *testing.T) {
	made, s := small(t)
	id := strings.Repeat("c", 64)
	data, _ := json.Marshal([]map[string]any{{"id": id, "parent": ids(s)[0]}})
	do(t, os.WriteFile(made.Path("overlay-layers", "volatile-layers.json"), data, 0o600))
	if l, known := open(t, made.Root).Layer(id); !known || l.Parent != ids(s)[0] || l.DiffDigest != "" {
		t.Errorf("the container's layer is %+v", l)
	}
}

func TestLocksAreTheLibrarys(t *testing.T) {
	made, _ := small(t)
	lock := made.Path("overlay-images", "images.lock")
	other := exec.Command("/proc/self/exe") // a lock of fcntl does not keep its own process out
	other.Env = append(os.Environ(), holdLock+"="+lock)
	_, err := other.StdinPipe()
	do(t, err)
	out, err := other.StdoutPipe()
	do(t, err, other.Start())
	defer func() { _ = other.Process.Kill(); _ = other.Wait() }()
	if _, err := out.Read(make([]byte, 5)); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond) // the lock does not become free
	defer cancel()
	if _, err := store.Open(ctx, made.Root); problem.From(err).Code != "STR-LCK" {
		t.Errorf("with a lock held the store opens with %v", err)
	}
	_ = other.Process.Kill()
	_ = other.Wait()
	open(t, made.Root)
}

// TestHostileSplits: whatever a tar-split says, nothing outside of the layer is read, and the layer counts as damaged.
func TestHostileSplits(t *testing.T) {
	for name, entries := range map[string][]storage.Entry{
		"a way out":    {{Type: storage.FileType, Name: "../../../../../../etc/passwd", Size: 5}},
		"a long way":   {{Type: storage.FileType, Name: strings.Repeat("a/", 4000) + "b", Size: 5}},
		"by a link":    {{Type: storage.FileType, Name: "up/../up", Size: 5}},
		"a device":     {{Type: storage.FileType, Name: "null", Size: 5}},
		"a pipe":       {{Type: storage.FileType, Name: "pipe", Size: 5}},
		"a folder":     {{Type: storage.FileType, Name: "usr", Size: 5}},
		"a zero byte":  {{Type: storage.FileType, NameRaw: []byte("usr\x00"), Size: 5}},
		"negative":     {{Type: storage.FileType, Name: "etc/passwd", Size: -1}},
		"endless":      {{Type: storage.FileType, Name: "etc/passwd", Size: 1 << 62}},
		"another type": {{Type: 9, Name: "etc/passwd"}},
		"nothing":      {},
	} {
		t.Run(name, func(t *testing.T) {
			made, s := small(t)
			id := ids(s)[0]
			f, err := os.Create(made.Path("overlay-layers", id+".tar-split.gz"))
			do(t, err)
			zip := gzip.NewWriter(f)
			for _, e := range entries {
				do(t, json.NewEncoder(zip).Encode(e))
			}
			do(t, zip.Close(), f.Close())
			found, err := s.Full(t.Context(), store.VerifyOptions{})
			if err != nil || len(found) != 1 || found[0].Layer != id {
				t.Errorf("found %v, %v", found, err)
			}
		})
	}
	for name, content := range map[string]string{"no gzip": "x", "empty": ""} {
		t.Run(name, func(t *testing.T) {
			made, s := small(t)
			do(t, os.WriteFile(made.Path("overlay-layers", ids(s)[0]+".tar-split.gz"), []byte(content), 0o600))
			if found, err := s.Quick(t.Context(), store.VerifyOptions{}); err != nil || len(found) != 1 {
				t.Errorf("found %v, %v", found, err)
			}
		})
	}
}
