package iso

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"touchdown/backend/media/volume"
	"touchdown/backend/message"
	"touchdown/backend/problem"
)

const (
	sector     = 2048
	systemArea = 16 * sector // ECMA-119: the descriptors follow; the headers of old images end here
	firstData  = 18 * sector // behind the least number of descriptors, which are two
	maxArea    = 16 << 20    // bytes; every image so far has 256 KiB. Chosen: an area is read into memory
)

// Files that tell of the areas, and the area itself in images without igninfoFile. coreos-installer looks for the names with at
// most 8 and 3 letters, which are all that an image without Joliet and Rock Ridge has.
const (
	igninfoFile  = "coreos/igninfo.json"
	kargsFile    = "coreos/kargs.json"
	featuresFile = "coreos/features.json"
	ignitionFile = "images/ignition.img"
)

// opened is an image with the list of its files.
type opened struct {
	*volume.Content
	from io.ReaderAt
	size int64 // bytes
}

func open(from io.ReaderAt, size int64) (*opened, error) {
	v := &opened{from: from, size: size}
	if err := v.whole(); err != nil {
		return nil, err
	}
	var err error
	v.Content, err = volume.Read(from, size, func(path string) bool {
		dir, name, _ := strings.Cut(strings.ToLower(path), "/")
		return dir == "coreos" && (strings.HasSuffix(name, ".json") || strings.HasSuffix(name, ".jso"))
	})
	switch {
	case err != nil:
		return nil, unknown(err)
	case v.Kind != volume.ISO:
		return nil, unknown(fmt.Errorf("it has the file system %s", v.Kind))
	case v.More:
		return nil, unknown(errors.New("it has more files than a live image"))
	}
	return v, nil
}

// whole refuses an image that is shorter than its descriptor says (ECMA-119, 8.4.8), as coreos-installer does (src/iso9660.rs, from_file).
func (v *opened) whole() error {
	if v.size < systemArea+sector {
		return unknown(fmt.Errorf("it has only %d bytes", v.size))
	}
	d, err := v.bytes(Area{Offset: systemArea, Length: sector})
	if err != nil {
		return err
	}
	if want := int64(binary.LittleEndian.Uint32(d[80:])) * sector; string(d[:6]) == "\x01CD001" && want > v.size {
		return &problem.Problem{
			Code: "LVE-CUT", Summary: message.F("The image is incomplete: it has %d bytes of %d.", v.size, want),
			Fix: message.T("Download it again, and compare its SHA-256 sum with the published one."),
		}
	}
	return nil
}

// bytes reads an area.
func (v *opened) bytes(a Area) ([]byte, error) {
	if err := v.inside(a); err != nil {
		return nil, err
	}
	b := make([]byte, a.Length)
	if n, err := v.from.ReadAt(b, a.Offset); n < len(b) {
		return nil, fmt.Errorf("reading %d bytes at %d of the image: %w", a.Length, a.Offset, err)
	}
	return b, nil
}

// inside refuses an area that is not a part of the image.
func (v *opened) inside(a Area) error {
	if a.Offset < 0 || a.Length <= 0 || a.Length > maxArea || a.Offset > v.size || a.Length > v.size-a.Offset {
		return damaged(fmt.Errorf("an area of %d bytes at %d, in an image of %d bytes", a.Length, a.Offset, v.size))
	}
	return nil
}

// file finds a file by its name, or by the form of it that has at most 3 letters behind the dot.
func (v *opened) file(path string) *volume.Entry {
	if e := v.Find(path); e != nil {
		return e
	}
	if dot := strings.LastIndexByte(path, '.'); dot >= 0 && len(path)-dot > 4 {
		return v.Find(path[:dot+4])
	}
	return nil
}

// document decodes a JSON file of the image; false where the image has none.
func (v *opened) document(path string, into any) (bool, error) {
	e := v.file(path)
	if e == nil {
		return false, nil
	}
	if err := json.Unmarshal(e.Data, into); err != nil {
		return true, damaged(fmt.Errorf("%s: %w", path, err))
	}
	return true, nil
}

// findIgnition finds the area of the Ignition config.
func (i *Image) findIgnition(v *opened) error {
	var info struct {
		File   string `json:"file"`
		Offset int64  `json:"offset"`
		Length *int64 `json:"length"`
	}
	i.Generation = ByInfo
	found, err := v.document(igninfoFile, &info)
	if err != nil {
		return err
	}
	header, err := v.header(8+2*8, 0, "coreiso+")
	if err != nil {
		return err
	}
	if !found {
		i.Generation, info.File = ByName, ignitionFile
		if header != nil {
			i.Generation = ByHeader
		}
	}
	e := v.file(info.File)
	if e == nil {
		return unknown(fmt.Errorf("it has no file %.100q for an Ignition config", info.File))
	}
	if info.Offset < 0 || info.Offset > e.Size {
		return damaged(fmt.Errorf("%s: offset %d in a file of %d bytes", igninfoFile, info.Offset, e.Size))
	}
	i.Ignition = Area{File: e.Path, Offset: e.Start + info.Offset, Length: e.Size - info.Offset}
	if info.Length != nil {
		i.Ignition.Length = *info.Length
	}
	// Old versions of coreos-installer go by the header, new ones by the file.
	if header != nil && (header[0] != uint64(i.Ignition.Offset) || header[1] != uint64(i.Ignition.Length)) {
		return damaged(fmt.Errorf("%s is %d bytes at %d, and the header says %d at %d", e.Path, i.Ignition.Length, i.Ignition.Offset, header[1], header[0]))
	}
	return v.inside(i.Ignition)
}

// header reads the numbers behind a magic word in the system area: length bytes in all, which end so many bytes before its end.
// nil where the magic word is not there.
func (v *opened) header(length, before int64, magic string) ([]uint64, error) {
	b, err := v.bytes(Area{Offset: systemArea - before - length, Length: length})
	if err != nil || !bytes.HasPrefix(b, []byte(magic)) {
		return nil, err
	}
	var numbers []uint64
	for b = b[len(magic):]; len(b) > 0; b = b[8:] {
		numbers = append(numbers, binary.LittleEndian.Uint64(b))
	}
	return numbers, nil
}

// apart wants each area to lie in a file of the image, and to share no byte with another area, another file or a folder.
func (i *Image) apart(v *opened) error {
	areas := []*Area{&i.Ignition}
	if i.Kargs != nil {
		for n := range i.Kargs.Areas {
			areas = append(areas, &i.Kargs.Areas[n])
		}
	}
	for n, a := range areas {
		if a.Offset < firstData {
			return damaged(fmt.Errorf("an area at %d, where the image describes itself", a.Offset))
		}
		for _, b := range areas[:n] {
			if meet(a.Offset, a.Length, b.Offset, b.Length) {
				return damaged(fmt.Errorf("the areas at %d and %d overlap", b.Offset, a.Offset))
			}
		}
		if err := v.alone(a); err != nil {
			return err
		}
	}
	return nil
}

// alone wants an area to lie in one file, whose name it gets.
func (v *opened) alone(a *Area) error {
	var in *volume.Entry
	for n := range v.Entries {
		e := &v.Entries[n]
		size := e.Size
		if e.Folder {
			size = sector
		}
		if !meet(a.Offset, a.Length, e.Start, size) {
			continue
		}
		if e.Folder || a.Offset < e.Start || a.Offset+a.Length > e.Start+e.Size {
			return damaged(fmt.Errorf("the area of %d bytes at %d overlaps with %s", a.Length, a.Offset, e.Path))
		}
		if in != nil && (in.Start != e.Start || in.Size != e.Size) { // two names of one file are not an overlap
			return damaged(fmt.Errorf("%s and %s overlap, and the area at %d lies in both", in.Path, e.Path, a.Offset))
		}
		if in == nil || e.Path == a.File {
			in = e
		}
	}
	if in == nil || a.File != "" && in.Path != a.File {
		return damaged(fmt.Errorf("the area of %d bytes at %d does not lie in the file that it belongs to", a.Length, a.Offset))
	}
	a.File = in.Path
	return nil
}

// meet tells whether two ranges have a byte in common.
func meet(a, lengthA, b, lengthB int64) bool {
	return lengthA > 0 && lengthB > 0 && a < b+lengthB && b < a+lengthA
}

// readFeatures asks whether the live system reads keyfiles. Images older than coreos/features.json (2021-12) do not.
func (i *Image) readFeatures(v *opened) error {
	var features struct {
		Network bool `json:"live-initrd-network"`
	}
	_, err := v.document(featuresFile, &features)
	i.Keyfiles = features.Network
	return err
}
