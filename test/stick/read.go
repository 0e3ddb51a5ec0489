package stick

import (
	"bytes"
	"os"
	"os/exec"
	"testing"

	"touchdown/backend/host"
	"touchdown/backend/layout"
	"touchdown/backend/media"
	"touchdown/backend/media/volume"
)

// Read returns a file of a FAT image as another reader than the program's sees it: mtype of mtools.
func Read(t testing.TB, image, name string) string {
	t.Helper()
	var said bytes.Buffer
	cmd := exec.CommandContext(t.Context(), "mtype", "-i", image, "::/"+name)
	cmd.Stderr = &said
	text, err := cmd.Output()
	if err != nil {
		t.Fatalf("reading %s of the stick: %v: %s", name, err, &said)
	}
	return string(text)
}

// Records makes what a bake lays into layout.Media of a node that is to trust the media of a key: that key, and the node's own, for which
// recipient seals media.
func Records(t testing.TB, public []byte) (recipient string, records []volume.File) {
	t.Helper()
	baked := host.Open(host.Options{Root: t.TempDir()})
	known := media.Of(baked)
	if _, err := known.Lay(public); err != nil {
		t.Fatal(err)
	}
	recipient, err := known.Recipient()
	if err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(baked.Path(layout.Media))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		data, err := os.ReadFile(baked.Path(layout.Media + "/" + e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		records = append(records, volume.File{Name: e.Name(), Data: data})
	}
	return recipient, records
}
