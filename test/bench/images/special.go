package images

import (
	"archive/tar"
	"bytes"
	"strings"
)

// base writes what only a lowest layer has: the program that a container runs, and what is rare in images but is there.
func (w *writer) base(program []byte) error {
	for _, name := range []string{"usr", "usr/share"} {
		if err := w.folder(name, 0o755, nil); err != nil {
			return err
		}
	}
	if w.level > 0 {
		return nil
	}
	for _, dir := range []struct {
		name string
		mode int64
	}{{"bin", 0o755}, {"etc", 0o755}, {"tmp", 0o1777}, {"var", 0o755}, {"var/empty", 0o711}, {odd, 0o755}} {
		if err := w.folder(dir.name, dir.mode, nil); err != nil {
			return err
		}
	}
	if err := w.entry(tar.Header{Typeflag: tar.TypeReg, Name: "pod", Size: int64(len(program)), Mode: 0o755}, bytes.NewReader(program)); err != nil {
		return err
	}
	files := []tar.Header{
		{Name: "bin/su", Size: 900, Mode: 0o4755},
		{Name: "bin/wall", Size: 900, Mode: 0o2755},
		{Name: "bin/ping", Size: 900, Mode: 0o755, PAXRecords: map[string]string{"SCHILY.xattr.security.capability": capability}},
		{Name: "etc/empty"},
		{Name: "etc/secret", Size: 64, Mode: 0o400},
	}
	for _, name := range oddNames() {
		files = append(files, tar.Header{Name: odd + "/" + name, Size: 100, PAXRecords: map[string]string{"SCHILY.xattr.user.bench.note": "an odd name"}})
	}
	for _, h := range files {
		if err := w.regularOrEmpty(h); err != nil {
			return err
		}
	}
	if err := w.entry(tar.Header{Typeflag: tar.TypeFifo, Name: "var/pipe", Mode: 0o600}, nil); err != nil {
		return err
	}
	return w.entry(tar.Header{Typeflag: tar.TypeLink, Name: odd + "/linked", Linkname: odd + "/" + oddNames()[0]}, nil)
}

func (w *writer) regularOrEmpty(h tar.Header) error {
	if h.Size == 0 {
		h.Typeflag = tar.TypeReg
		return w.entry(h, nil)
	}
	return w.regular(h)
}

const odd = "usr/share/odd"

// oddNames are names that tools trip over. The last is as long as a name may be.
func oddNames() []string {
	return []string{"with space", "-dash", "ünïcödé-名前", "back\\slash", "new\nline", "quote'\"", "=equals", "colon:comma,", strings.Repeat("long-", 51)}
}

// changes writes what a layer does to the one below it: a file that is gone, a folder whose contents are gone, a file
// with other contents, and one with other rights only.
func (w *writer) changes() error {
	p := w.parent
	if p == nil {
		return nil
	}
	white := func(name string) error { return w.entry(tar.Header{Typeflag: tar.TypeReg, Name: name}, nil) }
	gone := p.file(0)
	if err := white(gone[:strings.LastIndex(gone, "/")+1] + ".wh." + gone[strings.LastIndex(gone, "/")+1:]); err != nil {
		return err
	}
	if w.id%2 == 0 {
		// A layer on the first floor of which others have made the same folder opaque is no harm.
		opaque := p.dir(p.dirs() - 1)
		if err := w.folder(opaque, 0o755, nil); err != nil {
			return err
		}
		if err := white(opaque + "/.wh..wh..opq"); err != nil {
			return err
		}
		if err := w.regular(tar.Header{Name: opaque + "/new", Size: 300}); err != nil {
			return err
		}
	}
	return w.regular(tar.Header{Name: p.file(1), Size: 500, Mode: 0o4711})
}
