package volume

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"touchdown/backend/problem"
	"touchdown/test/wait"
)

func all(string) bool { return true }

// device is an image with the zeros behind its head.
func device(i *Image) ([]byte, int64) {
	b := make([]byte, i.Size)
	copy(b, i.Head)
	return b, i.Size
}

func files() []File {
	return []File{
		{"site-config.dsse.json", bytes.Repeat([]byte("0123456789"), 700)},
		{"README.TXT", []byte("read me\n")},
		{"empty", nil},
		{"thirteen-char", []byte("x")}, // one whole part of a long name
	}
}

func TestWrittenIsRead(t *testing.T) {
	for kind, write := range map[string]func(string, []File) (*Image, error){FAT: WriteFAT, ISO: WriteISO} {
		image, err := write("SITECONFIG", files())
		if err != nil {
			t.Fatal(err)
		}
		b, size := device(image)
		c, err := Read(bytes.NewReader(b), size, all)
		if err != nil {
			t.Fatalf("%s: %v", kind, err)
		}
		if c.Kind != kind || c.Label != "SITECONFIG" || len(c.Entries) != 4 || c.Skipped != 0 || c.More {
			t.Errorf("%s: %+v", kind, c)
		}
		for _, f := range files() {
			if e := c.Find(strings.ToUpper(f.Name)); e == nil || !bytes.Equal(e.Data, f.Data) || e.Path != f.Name {
				t.Errorf("%s: %s is %v", kind, f.Name, e)
			}
		}
		again, _ := write("SITECONFIG", files())
		if !bytes.Equal(again.Head, image.Head) {
			t.Errorf("%s: the same input gives other bytes", kind)
		}
	}
}

func TestWhatIsNotWritten(t *testing.T) {
	for _, c := range []struct {
		label string
		files []File
	}{
		{"", nil},
		{"siteconfig", nil},
		{"A LABEL THAT IS TOO LONG", nil},
		{"A", []File{{"a/b", nil}}},
		{"A", []File{{"..", nil}}},
		{"A", []File{{"ä", nil}}},
		{"A", []File{{strings.Repeat("n", 65), nil}}},
		{"A", []File{{"x", make([]byte, MaxFile+1)}}},
		{"A", slices.Repeat([]File{{"x", nil}}, 17)},
	} {
		if _, err := WriteFAT(c.label, c.files); err == nil {
			t.Errorf("FAT: %q with %d files", c.label, len(c.files))
		}
		if _, err := WriteISO(c.label, c.files); err == nil {
			t.Errorf("ISO: %q with %d files", c.label, len(c.files))
		}
	}
	if _, err := WriteFAT("A", slices.Repeat([]File{{"x", make([]byte, MaxFile)}}, 5)); err == nil {
		t.Error("more than the volume holds was written")
	}
}

// made returns a volume of testdata. mkfs.vfat and mcopy made the FAT ones, xorriso the others, the latter with a link and a
// device in it.
func made(t testing.TB, name string) []byte {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", name+".img.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	unpacked, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(unpacked)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestOthersVolumes reads what other programs make.
func TestOthersVolumes(t *testing.T) {
	want := map[string]string{"site-config.yaml": "a: b\n", "cluster-configuration/manifest.json": "{}", "Sub Folder/Ärger & co.txt": strings.Repeat("x", 5000)}
	for _, c := range []struct {
		name, kind, label string
		skipped           int
	}{
		{"fat12", FAT, "SITECONFIG", 0},
		{"fat16", FAT, "SITECONFIG", 0},
		{"fat32", FAT, "SITECONFIG", 0},
		{"exfat", ExFAT, "SITECONFIG", 0},
		{"exfat-large", ExFAT, "SITECONFIG", 0},
		{"joliet", ISO, "cluster-config", 0},
		{"rockridge", ISO, "cluster-config", 2},
	} {
		b := made(t, c.name)
		content, err := Read(bytes.NewReader(b), int64(len(b)), all)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		got := map[string]string{}
		for _, e := range content.Entries {
			if !e.Folder {
				got[e.Path] = string(e.Data)
			}
		}
		if c.name == "joliet" { // it cannot tell what these are: they come without content
			if got["link"]+got["dev"] != "" {
				t.Errorf("a link or a device has the content %q", got["link"]+got["dev"])
			}
			delete(got, "link")
			delete(got, "dev")
		}
		many := 0
		for path, text := range got { // the even ones of 60; the others were removed again
			if strings.HasPrefix(path, "many/") && strings.HasSuffix(path, " "+strings.TrimSpace(text)+".txt") {
				many++
				delete(got, path)
			}
		}
		if wantMany := map[string]int{ExFAT: 30}[c.kind]; many != wantMany {
			t.Errorf("%s: %d files in a folder of %d", c.name, many, wantMany)
		}
		if content.Kind != c.kind || content.Label != c.label || content.Skipped != c.skipped || !maps.Equal(got, want) {
			t.Errorf("%s: %s %q, %d left out, %v", c.name, content.Kind, content.Label, content.Skipped, slices.Collect(maps.Keys(got)))
		}
	}
}

// tool runs another program. Make e2e-tools installs it.
func tool(t *testing.T, name string, args ...string) {
	t.Helper()
	path := wait.Program(t, name)
	if out, err := exec.CommandContext(t.Context(), path, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", name, err, out)
	}
}

// TestOthersRead has fsck.vfat, mtools and xorriso read what is written here.
func TestOthersRead(t *testing.T) {
	dir := t.TempDir()
	for kind, write := range map[string]func(string, []File) (*Image, error){FAT: WriteFAT, ISO: WriteISO} {
		image, err := write("SITECONFIG", files())
		if err != nil {
			t.Fatal(err)
		}
		b, _ := device(image)
		if err := os.WriteFile(filepath.Join(dir, kind), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, args := range map[string][]string{
		"fsck.vfat": {"-n", "-v", filepath.Join(dir, FAT)},
		"mcopy":     {"-i", filepath.Join(dir, FAT), "::site-config.dsse.json", filepath.Join(dir, "copy.fat")},
		"xorriso":   {"-indev", filepath.Join(dir, ISO), "-osirrox", "on", "-extract", "/site-config.dsse.json", filepath.Join(dir, "copy.iso")},
	} {
		t.Run(name, func(t *testing.T) {
			tool(t, name, args...)
			for _, copied := range []string{"copy.fat", "copy.iso"} {
				if b, err := os.ReadFile(filepath.Join(dir, copied)); err == nil && !bytes.Equal(b, files()[0].Data) {
					t.Errorf("%s has %d bytes that differ", copied, len(b))
				}
			}
		})
	}
}

func TestKindsThatAreNotRead(t *testing.T) {
	blank := func(edit func([]byte)) []byte {
		b := make([]byte, 64<<10)
		edit(b)
		return b
	}
	for what, b := range map[string][]byte{
		"NTFS":       blank(func(b []byte) { copy(b[3:], "NTFS    ") }),
		"ext":        blank(func(b []byte) { b[1080], b[1081] = 0x53, 0xef }),
		"partitions": blank(func(b []byte) { b[450], b[510], b[511] = 0x0c, 0x55, 0xaa }),
		"no file":    blank(func([]byte) {}),
		"bytes":      make([]byte, 100),
	} {
		_, err := Read(bytes.NewReader(b), int64(len(b)), all)
		p, ok := errors.AsType[*problem.Problem](err)
		if !ok || p.Code != "MED-KND" || !strings.Contains(p.Summary.String(), what) || p.Fix.String() == "" {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, err := Read(failing{}, 1<<20, all); problem.From(err).Code != "MED-BLNK" {
		t.Errorf("an empty drive: %v", err)
	}
	image, err := WriteFAT("LABEL", []File{{"a", []byte("x")}})
	if err != nil {
		t.Fatal(err)
	}
	pulled := failing{append(bytes.Clone(image.Head), make([]byte, image.Size-int64(len(image.Head)))...), 34 << 10}
	if _, err := Read(pulled, image.Size, all); problem.From(err).Code != "MED-READ" {
		t.Errorf("a stick that was pulled out: %v", err)
	}
}

// failing is a device that gives nothing behind an offset.
type failing struct {
	data []byte
	end  int64
}

func (f failing) ReadAt(b []byte, at int64) (int, error) {
	if at+int64(len(b)) > f.end {
		return 0, fmt.Errorf("input/output error")
	}
	return copy(b, f.data[at:]), nil
}

// TestReadingEnds: of a volume whose list of files would take more reading than any may, no more than that is read. Its folders of 1.9 MiB
// each are all in one chain of clusters.
func TestReadingEnds(t *testing.T) {
	image, err := WriteFAT("COSTLY", []File{{"deleted", bytes.Repeat([]byte{deleted}, 1900<<10)}})
	if err != nil {
		t.Fatal(err)
	}
	b, _ := device(image)
	at := (1 + 2*fatTable) * fatSector
	for b[at] != 0 { // to behind the last entry
		at += entrySize
	}
	for i := range byte(40) {
		folder := make([]byte, entrySize)
		copy(folder, []byte{'D', 'A' + i/26, 'A' + i%26})
		copy(folder[3:], "        ")
		folder[11], folder[26] = 0x10, 2+i
		copy(b[at+entrySize*int(i):], folder)
	}
	read := &reads{ReaderAt: bytes.NewReader(b)}
	if _, err := Read(read, int64(len(b)), func(string) bool { return true }); problem.From(err).Code != "MED-BAD" || read.bytes > maxRead {
		t.Errorf("%d bytes were read: %v", read.bytes, err)
	}
}

// reads counts what is read.
type reads struct {
	io.ReaderAt
	bytes int
}

func (r *reads) ReadAt(b []byte, at int64) (int, error) {
	r.bytes += len(b)
	return r.ReaderAt.ReadAt(b, at)
}
