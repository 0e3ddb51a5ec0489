// Package liveiso makes small live images with the areas of RHCOS and Fedora CoreOS, of each kind that there has been. Where the areas
// lie and what tells of them is as in coreos-installer 0.27.0's fixtures/iso, which its build tools made.
package liveiso

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"path"
	"slices"
	"strings"
)

// The kinds of images, by when the first of them was made.
const (
	Y2020     = "2020-09"       // header for the Ignition area
	Y2021     = "2021-01"       // and for the kernel arguments
	Y2021Info = "2021-12"       // and kargs.json, features.json
	Y2022     = "2022-02"       // no headers
	Y2023     = "2023-07"       // igninfo.json
	Y2023s390 = "2023-07.s390x" // areas in the middle of one file, padded with zeros
)

// Kinds are all of them.
var Kinds = []string{Y2020, Y2021, Y2021Info, Y2022, Y2023, Y2023s390}

// The areas, in bytes. Real Ignition areas have 256 KiB.
const (
	IgnitionSize = 16 << 10
	KargsSize    = 256
)

// Default are the kernel arguments of an image.
const Default = "mitigations=auto,nosmt coreos.liveiso=test ignition.firstboot ignition.platform.id=metal"

// What stands before the kernel arguments in the configurations of the boot loaders.
const (
	grub           = "linux /images/pxeboot/vmlinuz "
	isolinux       = "append initrd=... "
	grubOffset     = len(grub)
	isolinuxOffset = len(isolinux)
)

// File is a file of an image.
type File struct {
	Path string
	Data []byte
}

// Make makes an image of a kind. With long, its files have their long names (Rock Ridge) beside those with 8 and 3 letters.
func Make(kind string, long bool) []byte {
	b, at := write(Files(kind), long)
	if kind == Y2020 || kind == Y2021 || kind == Y2021Info {
		return headers(b, at)
	}
	return b
}

// Files are the files of an image of a kind.
func Files(kind string) []File {
	files := []File{
		{"README.TXT", []byte("what must not change\n")},
		{"images/pxeboot/vmlinuz", bytes.Repeat([]byte("kernel "), 700)},
		{"images/pxeboot/rootfs.img", bytes.Repeat([]byte("rootfs "), 900)},
		{"zipl.prm", []byte(Default)},
	}
	if kind == Y2023s390 {
		return append(files, s390()...)
	}
	area := kargs('#', '\n')
	files = append(files, File{"images/ignition.img", make([]byte, IgnitionSize)})
	if kind == Y2020 {
		return files
	}
	files = append(files,
		File{"EFI/fedora/grub.cfg", []byte(grub + area + "\ninitrd ...\n")},
		File{"isolinux/isolinux.cfg", []byte(isolinux + area + "\nmenu end\n")})
	if kind == Y2021 || kind == Y2021Info {
		files = append(files, File{".cmdline", []byte(area)})
	}
	if kind != Y2021 {
		files = append(files,
			File{"coreos/kargs.json", fmt.Appendf(nil, `{"default": %q, "files": [{"offset": %d, "path": "EFI/fedora/grub.cfg"}, {"offset": %d, "path": "isolinux/isolinux.cfg"}], "size": %d}`, Default, grubOffset, isolinuxOffset, KargsSize)},
			File{"coreos/features.json", []byte(`{"installer-config": true, "live-initrd-network": true}`)})
	}
	if kind == Y2023 {
		files = append(files, File{"coreos/igninfo.json", []byte(`{"file": "images/ignition.img"}`)})
	}
	return files
}

func kargs(pad, end byte) string {
	b := bytes.Repeat([]byte{pad}, KargsSize)
	b[copy(b, Default)] = end
	return string(b)
}

func s390() []File {
	boot := bytes.Repeat([]byte("kernel\n"), 300)
	at := len(boot)
	boot = append(append(boot, kargs(0, 0)...), "between"...)
	area := len(boot)
	boot = append(append(boot, make([]byte, IgnitionSize)...), "behind"...)
	return []File{
		{"images/cdboot.img", boot},
		{"coreos/igninfo.json", fmt.Appendf(nil, `{"file": "images/cdboot.img", "length": %d, "offset": %d}`, IgnitionSize, area)},
		{"coreos/kargs.json", fmt.Appendf(nil, `{"default": %q, "files": [{"end": "\u0000", "offset": %d, "pad": "\u0000", "path": "images/cdboot.img"}], "size": %d}`, Default, at, KargsSize)},
		{"coreos/features.json", []byte(`{"live-initrd-network": true}`)},
	}
}

// headers puts the headers of old images at the end of the system area. at tells where the files begin.
func headers(b []byte, at map[string]int) []byte {
	put := func(offset int, magic string, numbers ...int) {
		copy(b[offset:], magic)
		for i, n := range numbers {
			binary.LittleEndian.PutUint64(b[offset+8+8*i:], uint64(n))
		}
	}
	put(16*sector-24, "coreiso+", at["images/ignition.img"], IgnitionSize)
	if at[".cmdline"] > 0 {
		put(16*sector-24-72, "coreKarg", KargsSize, at[".cmdline"], at["EFI/fedora/grub.cfg"]+grubOffset, at["isolinux/isolinux.cfg"]+isolinuxOffset)
	}
	return b
}

const sector = 2048

// folder is a folder of the image that is made.
type folder struct {
	path string
	at   int // sector; each folder has one
}

// foldersOf are the folders of files, the root folder first, each behind the one above it.
func foldersOf(files []File) []*folder {
	folders := []*folder{{path: "."}}
	for _, f := range files {
		for p := path.Dir(f.Path); p != "."; p = path.Dir(p) {
			if !slices.ContainsFunc(folders, func(f *folder) bool { return f.path == p }) {
				folders = append(folders, &folder{path: p})
			}
		}
	}
	slices.SortFunc(folders, func(a, b *folder) int {
		return cmp.Or(cmp.Compare(strings.Count(a.path, "/"), strings.Count(b.path, "/")), strings.Compare(a.path, b.path))
	})
	for i, f := range folders {
		f.at = firstFolder + i
	}
	return folders
}

// firstFolder is the sector behind the descriptors and the two path tables.
const firstFolder = 20

// write makes an ISO9660 image (ECMA-119) with folders of one sector each. starts tells where the files begin, in bytes.
func write(files []File, long bool) (b []byte, starts map[string]int) {
	folders := foldersOf(files)
	records := map[string][][2]string{} // of a folder: names and records
	add := func(p, name string, at, size int, flags byte) {
		r := record(name, path.Base(p), at, size, flags, long)
		records[path.Dir(p)] = append(records[path.Dir(p)], [2]string{name, string(r)})
	}
	for _, f := range folders[1:] {
		add(f.path, short(f.path, true), f.at, sector, 2)
	}
	starts = map[string]int{}
	var data []byte
	first := firstFolder + len(folders)
	for _, f := range files {
		starts[f.Path] = first*sector + len(data)
		add(f.Path, short(f.Path, false), first+len(data)/sector, len(f.Data), 0)
		data = append(data, f.Data...)
		data = append(data, make([]byte, -len(data)&(sector-1))...)
	}
	b = make([]byte, first*sector)
	for _, f := range folders {
		up := folders[slices.IndexFunc(folders, func(g *folder) bool { return g.path == path.Dir(f.path) })]
		list := append(record("\x00", "", f.at, sector, 2, false), record("\x01", "", up.at, sector, 2, false)...)
		slices.SortFunc(records[f.path], func(a, b [2]string) int { return strings.Compare(a[0], b[0]) })
		for _, r := range records[f.path] {
			list = append(list, r[1]...)
		}
		copy(b[f.at*sector:(f.at+1)*sector], list)
	}
	paths := pathTable(folders, binary.LittleEndian)
	copy(b[18*sector:], paths)
	copy(b[19*sector:], pathTable(folders, binary.BigEndian))
	describe(b[16*sector:17*sector], first+len(data)/sector, len(paths))
	copy(b[17*sector:], "\xffCD001\x01")
	return append(b, data...), starts
}

// short is a name with 8 and 3 letters.
func short(p string, isFolder bool) string {
	name, ext, _ := strings.Cut(strings.ToUpper(path.Base(p)), ".")
	name, ext = name[:min(len(name), 8)], ext[:min(len(ext), 3)]
	if isFolder {
		return name
	}
	return name + "." + ext + ";1"
}

func both(b []byte, n int) {
	binary.LittleEndian.PutUint32(b, uint32(n))
	binary.BigEndian.PutUint32(b[4:], uint32(n))
}

func record(name, long string, at, size int, flags byte, rockRidge bool) []byte {
	b := make([]byte, 33, 128)
	both(b[2:], at)
	both(b[10:], size)
	copy(b[18:], []byte{120, 1, 1})
	b[25] = flags
	copy(b[28:], []byte{1, 0, 0, 1})
	b[32] = byte(len(name))
	b = append(b, name...)
	b = append(b, make([]byte, len(b)%2)...)
	if rockRidge {
		b = append(append(b, 'N', 'M', byte(5+len(long)), 1, 0), long...)
		b = append(b, make([]byte, len(b)%2)...)
	}
	b[0] = byte(len(b))
	return b
}

func pathTable(folders []*folder, order binary.ByteOrder) []byte {
	var b []byte
	for _, f := range folders {
		name := "\x00"
		if f.path != "." {
			name = short(f.path, true)
		}
		up := slices.IndexFunc(folders, func(g *folder) bool { return g.path == path.Dir(f.path) })
		e := make([]byte, 8)
		e[0] = byte(len(name))
		order.PutUint32(e[2:], uint32(f.at))
		order.PutUint16(e[6:], uint16(up+1))
		e = append(e, name...)
		b = append(append(b, e...), make([]byte, len(e)%2)...)
	}
	return b
}

// describe fills the primary descriptor.
func describe(b []byte, sectors, paths int) {
	copy(b, "\x01CD001\x01")
	copy(b[8:72], strings.Repeat(" ", 64))
	copy(b[40:], "LIVE-TEST")
	both(b[80:], sectors)
	copy(b[120:], []byte{1, 0, 0, 1, 1, 0, 0, 1, 0, 8, 8, 0})
	both(b[132:], paths)
	binary.LittleEndian.PutUint32(b[140:], 18)
	binary.BigEndian.PutUint32(b[148:], 19)
	copy(b[156:190], record("\x00", "", firstFolder, sector, 2, false))
	copy(b[190:813], strings.Repeat(" ", 813-190))
	for at := 813; at <= 864; at += 17 {
		copy(b[at:], strings.Repeat("0", 16))
	}
	b[881] = 1
}
