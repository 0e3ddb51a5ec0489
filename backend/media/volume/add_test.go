package volume

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"touchdown/backend/problem"
	"touchdown/test/wait"
)

// disk is a volume in memory that remembers what was written to it, and between which writes it was told to keep them.
type disk struct {
	is     []byte
	writes [][]patch // a group for each sync
	fails  bool
}

func (d *disk) ReadAt(b []byte, at int64) (int, error) { return bytes.NewReader(d.is).ReadAt(b, at) }

func (d *disk) WriteAt(b []byte, at int64) (int, error) {
	if d.fails {
		return 0, errors.New("pulled out")
	}
	if len(d.writes) == 0 {
		d.writes = [][]patch{nil}
	}
	last := len(d.writes) - 1
	d.writes[last] = append(d.writes[last], patch{at, slices.Clone(b)})
	copy(d.is[at:], b)
	return len(b), nil
}

func (d *disk) Sync() error {
	d.writes = append(d.writes, nil)
	return nil
}

func reports() []File {
	return []File{
		{"report.txt", bytes.Repeat([]byte("landed. "), 900)},
		{"report.json", bytes.Repeat([]byte("{}"), 2000)},
		{"report.signed.json", []byte("signed")},
	}
}

// volumes are some to add to: ours, those of other programs, one whose first sector of the root folder is full, and one with entries
// that were deleted.
func volumes(t *testing.T) map[string][]byte {
	t.Helper()
	all := map[string][]byte{"ours": ours(t)}
	for n := range 2 { // with three the entries no longer fit into the first sector
		var more []File
		for i := range n + 2 {
			more = append(more, File{fmt.Sprintf("photo-%d.jpg", i), []byte("photo")})
		}
		all[fmt.Sprintf("%d photos", n+2)] = ours(t, more...)
	}
	gone := ours(t, File{"photo-of-us-1.jpg", nil}, File{"photo-of-us-2.jpg", nil}, File{"photo-of-us-3.jpg", nil}, File{"last", []byte("x")})
	for at := (1 + 2*fatTable) * fatSector; gone[at] != 0; at += entrySize {
		if strings.HasPrefix(string(gone[at:]), "FILE~001") {
			for i := range 9 {
				gone[at+(i-2)*entrySize] = deleted
			}
		}
	}
	all["deleted"] = gone
	all["fat12"], all["fat16"], all["fat32"] = made(t, "fat12"), made(t, "fat16"), longerRoot(t, made(t, "fat32"))
	return all
}

// ours is a volume as touchdown media write makes it, with more files.
func ours(t *testing.T, files ...File) []byte {
	t.Helper()
	image, err := WriteFAT("SITECONFIG", append([]File{{"site-config.dsse.json", []byte("document")}}, files...))
	if err != nil {
		t.Fatal(err)
	}
	b, _ := device(image)
	return b
}

// longerRoot gives the root folder of a FAT32 volume a second cluster, its last one.
func longerRoot(t *testing.T, b []byte) []byte {
	t.Helper()
	system, err := openFAT(&source{device: bytes.NewReader(b), size: int64(len(b)), left: maxRead}, b[:512])
	if err != nil {
		t.Fatal(err)
	}
	f := system.(*fat)
	more := f.clusters + 1
	for table := f.table; table < f.tablesEnd; table += f.tableEnd - f.table {
		binary.LittleEndian.PutUint32(b[table+4*f.rootAt:], uint32(more))
		binary.LittleEndian.PutUint32(b[table+4*more:], 0x0fffffff)
	}
	binary.LittleEndian.PutUint32(b[f.info+488:], uint32(binary.LittleEndian.Uint32(b[f.info+488:])-1))
	return b
}

// content is what a volume holds, as text.
func content(b []byte) (string, error) {
	c, err := Read(bytes.NewReader(b), int64(len(b)), func(string) bool { return true })
	if err != nil {
		return "", err
	}
	var text strings.Builder
	for _, e := range c.Entries {
		fmt.Fprintf(&text, "%s %t %q\n", e.Path, e.Folder, e.Data)
	}
	return text.String(), nil
}

// TestAdd: the files are there, what was there is unchanged, fsck finds nothing, and whatever part of the writes between two syncs a
// power cut lets through, the volume is as it was before or has all of the files.
func TestAdd(t *testing.T) {
	for name, before := range volumes(t) {
		t.Run(name, func(t *testing.T) {
			was, err := content(before)
			if err != nil {
				t.Fatal(err)
			}
			d := &disk{is: slices.Clone(before)}
			names, err := Add(d, int64(len(d.is)), reports())
			if err != nil || fmt.Sprint(names) != "[report.txt report.json report.signed.json]" {
				t.Fatalf("%v, %v", names, err)
			}
			is, err := content(d.is)
			if err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(was) {
				if !strings.Contains(is, line) {
					t.Errorf("lost: %.60s", line)
				}
			}
			for _, f := range reports() {
				if !strings.Contains(is, fmt.Sprintf("%s false %q\n", f.Name, f.Data)) {
					t.Errorf("%s is not there", f.Name)
				}
			}
			fsck(t, d.is)
			cuts(t, before, d.writes, was, is)
			if names, err = Add(d, int64(len(d.is)), reports()); err != nil || names[0] != "report-2.txt" || names[2] != "report-2.signed.json" {
				t.Errorf("again: %v, %v", names, err)
			}
			if names, err = Add(d, int64(len(d.is)), reports()); err != nil || names[0] != "report-3.txt" {
				t.Errorf("once more: %v, %v", names, err)
			}
			fsck(t, d.is)
		})
	}
}

// cuts plays every cut again: all groups before one, and some writes of that one.
func cuts(t *testing.T, before []byte, groups [][]patch, was, is string) {
	t.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	sound := slices.Clone(before)
	for _, group := range groups {
		for range 3 {
			b := slices.Clone(sound)
			for _, p := range group {
				if random.IntN(2) == 0 {
					copy(b[p.at:], p.data)
				}
			}
			if got, err := content(b); err != nil || got != was && got != is {
				t.Fatalf("after a cut: %v\n%.300s", err, got)
			}
		}
		for _, p := range group {
			copy(sound[p.at:], p.data)
		}
	}
}

// fsck has another program check a volume.
func fsck(t *testing.T, b []byte) {
	t.Helper()
	t.Run("fsck", func(t *testing.T) {
		program := wait.Program(t, "fsck.fat")
		image := filepath.Join(t.TempDir(), "volume")
		if err := os.WriteFile(image, b, 0o600); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.CommandContext(t.Context(), program, "-n", image).CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
	})
}

// TestAddRefuses: each without a write.
func TestAddRefuses(t *testing.T) {
	full, err := WriteFAT("SITECONFIG", []File{{"a", make([]byte, MaxFile)}, {"b", make([]byte, MaxFile)}, {"c", make([]byte, MaxFile)}, {"d", make([]byte, 1990<<10)}})
	if err != nil {
		t.Fatal(err)
	}
	iso, err := WriteISO("SITECONFIG", files())
	if err != nil {
		t.Fatal(err)
	}
	packed, _ := device(full)
	image, _ := device(iso)
	folder := ours(t)
	for at := (1 + 2*fatTable) * fatSector; at < fatData; at += entrySize {
		if folder[at] == 0 {
			copy(folder[at:], fmt.Sprintf("X%07d   ", at))
		}
	}
	for code, b := range map[string][]byte{"MED-CD": image, "MED-SPCE": packed, "MED-KND": make([]byte, 1<<20)} {
		d := &disk{is: b}
		if _, err := Add(d, int64(len(b)), reports()); problem.From(err).Code != code || len(d.writes) > 0 {
			t.Errorf("%s: %v, %d writes", code, err, len(d.writes))
		}
	}
	d := &disk{is: folder}
	if _, err := Add(d, int64(len(folder)), reports()); problem.From(err).Code != "MED-SPCE" || len(d.writes) > 0 {
		t.Errorf("a full folder: %v", err)
	}
	tiny := made(t, "fat32")
	d = &disk{is: tiny}
	if _, err := Add(d, int64(len(tiny)), reports()); problem.From(err).Code != "MED-SPCE" || len(d.writes) > 0 {
		t.Errorf("a full folder of FAT32: %v", err)
	}
	d = &disk{is: ours(t)}
	for _, f := range []File{{"report.txt", make([]byte, MaxFile+1)}, {"a/b", nil}} {
		if _, err := Add(d, int64(len(d.is)), []File{f}); problem.From(err).Code != "MED-SPCE" || len(d.writes) > 0 {
			t.Errorf("%s: %v", f.Name, err)
		}
	}
	d = &disk{is: ours(t), fails: true}
	if _, err := Add(d, int64(len(d.is)), reports()); problem.From(err).Code != "MED-WERR" {
		t.Errorf("pulled out: %v", err)
	}
}

// TestFitting: a file that is too large keeps no other one off the medium, and the first ones go before the others.
func TestFitting(t *testing.T) {
	file := func(name string, size int) File { return File{name, make([]byte, size)} }
	for want, files := range map[string][]File{
		"a c":   {file("a", 1), file("b", MaxFile+1), file("c", MaxFile)},
		"a b d": {file("a", MaxFile), file("b", MaxFile-1), file("c", 2), file("d", 1)},
		"":      {file("a", MaxFile+1)},
	} {
		var names []string
		for _, f := range Fitting(files) {
			names = append(names, f.Name)
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("%s, not %s", got, want)
		}
	}
}
