package volume

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"touchdown/backend/problem"
)

const secretFile = "a secret of some length.json"

// withSecret adds a file to volumes of all kinds, and tells what else is there.
func withSecret(t *testing.T, b []byte, size int) (with []byte, secret []byte, others string) {
	t.Helper()
	others, err := content(b)
	if err != nil {
		t.Fatal(err)
	}
	secret = bytes.Repeat([]byte("PULL-SECRET:"), size/12+1)[:size]
	d := &disk{is: slices.Clone(b)}
	if _, err := Add(d, int64(len(b)), []File{{secretFile, secret}}); err != nil {
		t.Fatal(err)
	}
	return d.is, secret, others
}

// TestOverwrite: nothing of the file is on the volume afterwards, all else is, and its room is free again.
func TestOverwrite(t *testing.T) {
	for name, before := range volumes(t) {
		for _, size := range []int{0, 1, 512, 5000, 40000} {
			t.Run(fmt.Sprint(name, " ", size), func(t *testing.T) {
				with, _, others := withSecret(t, before, size)
				d := &disk{is: slices.Clone(with)}
				found, err := Overwrite(d, int64(len(d.is)), strings.ToUpper(secretFile))
				if err != nil || !found {
					t.Fatalf("%t, %v", found, err)
				}
				if is, err := content(d.is); err != nil || is != others {
					t.Errorf("%v: %.300s", err, is)
				}
				if bytes.Contains(d.is, []byte("PULL-SECRET")) || bytes.Contains(d.is, []byte("s\x00e\x00c\x00r\x00e\x00t")) {
					t.Error("a part of it is there still")
				}
				fsck(t, d.is)
				if _, err := Add(d, int64(len(d.is)), []File{{secretFile, make([]byte, size)}}); err != nil {
					t.Errorf("its room is not free: %v", err)
				}
				fsck(t, d.is)
			})
		}
	}
}

// TestOverwriteAfterACut: whatever part of the writes between two syncs a power cut lets through, the file has its head, or is all zeros,
// or is gone; and a second time ends what the first began.
func TestOverwriteAfterACut(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for name, before := range volumes(t) {
		with, secret, others := withSecret(t, before, 5000)
		d := &disk{is: slices.Clone(with)}
		if _, err := Overwrite(d, int64(len(d.is)), secretFile); err != nil {
			t.Fatal(err)
		}
		sound := slices.Clone(with)
		for _, group := range d.writes {
			for range 3 {
				b := slices.Clone(sound)
				for _, p := range group {
					if random.IntN(2) == 0 {
						copy(b[p.at:], p.data)
					}
				}
				afterCut(t, name, b, secret, others)
			}
			for _, p := range group {
				copy(sound[p.at:], p.data)
			}
		}
	}
}

func afterCut(t *testing.T, name string, b, secret []byte, others string) {
	t.Helper()
	c, err := Read(bytes.NewReader(b), int64(len(b)), func(string) bool { return true })
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	e := c.Find(secretFile)
	if e == nil && bytes.Contains(b, []byte("SECRET:")) {
		t.Errorf("%s: the file is gone before what it holds", name)
	}
	if e != nil && !bytes.Equal(e.Data[:HeadSize], secret[:HeadSize]) && len(bytes.Trim(e.Data, "\x00")) > 0 {
		t.Errorf("%s: its head is gone before the rest", name)
	}
	again := &disk{is: b}
	if found, err := Overwrite(again, int64(len(b)), secretFile); err != nil || found != (e != nil) {
		t.Errorf("%s: a second time: %t, %v", name, found, err)
	}
	if is, err := content(b); err != nil || is != others || bytes.Contains(b, []byte("SECRET:")) {
		t.Errorf("%s: after the second time: %v, %.300s", name, err, is)
	}
}

// TestOverwriteRefuses: each without a write.
func TestOverwriteRefuses(t *testing.T) {
	iso, err := WriteISO("SITECONFIG", files())
	if err != nil {
		t.Fatal(err)
	}
	image, _ := device(iso)
	endless, _, _ := withSecret(t, ours(t), 5000)
	a, err := openToAdd(&disk{is: endless}, int64(len(endless)))
	if err != nil {
		t.Fatal(err)
	}
	first, _, _, err := a.hiding(secretFile)
	if err != nil {
		t.Fatal(err)
	}
	copy(endless[a.table+2*first:], []byte{byte(first), byte(first >> 8)}) // its first cluster leads to itself
	for code, b := range map[string][]byte{"MED-CD": image, "MED-BAD": endless} {
		d := &disk{is: b}
		if _, err := Overwrite(d, int64(len(b)), secretFile); problem.From(err).Code != code || len(d.writes) > 0 {
			t.Errorf("%s: %v, %d writes", code, err, len(d.writes))
		}
	}
	d := &disk{is: ours(t)}
	if found, err := Overwrite(d, int64(len(d.is)), secretFile); found || err != nil || len(d.writes) > 0 {
		t.Errorf("a file that is not there: %t, %v, %d writes", found, err, len(d.writes))
	}
}

// TestOverwriteLeavesWhatFollows: in a table that is damaged, the clusters of a file may lead on to those of another one.
func TestOverwriteLeavesWhatFollows(t *testing.T) {
	with, _, _ := withSecret(t, ours(t), 100)
	neighbour := bytes.Repeat([]byte("NEIGHBOUR"), 100)
	d := &disk{is: with}
	if _, err := Add(d, int64(len(with)), []File{{"neighbour.txt", neighbour}}); err != nil {
		t.Fatal(err)
	}
	a, err := openToAdd(d, int64(len(d.is)))
	if err != nil {
		t.Fatal(err)
	}
	first, _, _, err := a.hiding(secretFile)
	if err != nil {
		t.Fatal(err)
	}
	next, _, _, err := a.hiding("neighbour.txt")
	if err != nil {
		t.Fatal(err)
	}
	copy(d.is[a.table+2*first:], []byte{byte(next), byte(next >> 8)})
	if found, err := Overwrite(d, int64(len(d.is)), secretFile); !found || err != nil {
		t.Fatalf("%t, %v", found, err)
	}
	if c, err := Read(bytes.NewReader(d.is), int64(len(d.is)), func(string) bool { return true }); err != nil || !bytes.Equal(c.Find("neighbour.txt").Data, neighbour) {
		t.Errorf("the other file has changed: %v", err)
	}
	if bytes.Contains(d.is, []byte("PULL-SECRET")) {
		t.Error("a part of the file is there still")
	}
}

// FuzzOverwrite changes bytes of good volumes, as FuzzAdd does. What is overwritten lies within the volume, and it comes to an end.
func FuzzOverwrite(f *testing.F) {
	var bases [][]byte
	for _, kind := range []string{"fat12", "fat16", "fat32"} {
		d := &disk{is: made(f, kind)}
		if kind != "fat32" { // whose folder is full: it has its own files
			if _, err := Add(d, int64(len(d.is)), []File{{secretFile, make([]byte, 3000)}}); err != nil {
				f.Fatal(err)
			}
		}
		bases = append(bases, d.is)
	}
	for kind := range bases {
		for _, patch := range [][]byte{{}, {11, 0, 0, 1}, {13, 0, 0, 128}, {14, 0, 0, 255}, {16, 0, 0, 1}, {17, 0, 0, 255}, {44, 0, 0, 3}, {48, 0, 0, 255}} {
			f.Add(uint8(kind), patch)
		}
	}
	f.Fuzz(func(t *testing.T, kind uint8, patches []byte) {
		v := patchedBy(bases[int(kind)%len(bases)], patches)
		for _, name := range []string{secretFile, "readme.txt"} {
			_, err := Overwrite(bounded{v, t}, int64(len(v.base)), name)
			if p, ok := errors.AsType[*problem.Problem](err); err != nil && (!ok || !strings.HasPrefix(p.Code, "MED-") || p.Fix.String() == "") {
				t.Fatalf("no good error: %v", err)
			}
		}
	})
}
