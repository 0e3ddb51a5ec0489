package imagestore

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/vbatts/tar-split/tar/asm"
	"github.com/vbatts/tar-split/tar/storage"
	"golang.org/x/sys/unix"
)

// File is one entry of a layer's tar. The zero type is a file with random content of Size bytes.
type File struct {
	Name   string
	Type   byte // of archive/tar
	Size   int64
	Seed   uint64 // of the content
	Target string // of links
	Mode   int64  // 0: 0644, folders 0755
	UID    int
	Attrs  map[string]string
}

// Odd is one of everything that images hold: whiteouts, hidden folders, attributes, hard links, setuid, names in no
// alphabet.
func Odd() []File {
	const long = "a/very/deep/folder/with/a/name/that/does/not/fit/into/the/hundred/bytes/of/a/header/of/a/tar/so/that/it/needs/another"
	files := []File{
		{Name: "etc/", Type: tar.TypeDir},
		{Name: "etc/empty"},
		{Name: "etc/passwd", Size: 700},
		{Name: "usr/", Type: tar.TypeDir, Mode: 0o2755},
		{Name: "usr/bin/", Type: tar.TypeDir, Mode: 0o1777},
		{Name: "usr/bin/ping", Size: 30000, Attrs: map[string]string{"security.capability": "\x01\x00\x00\x02\x00\x20\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"}},
		{Name: "usr/bin/sudo", Size: 5000, Mode: 0o4755},
		{Name: "usr/bin/secret", Size: 99, Mode: 0o000, UID: 1234},
		{Name: "usr/bin/su", Type: tar.TypeLink, Target: "usr/bin/sudo", Mode: 0o4755},
		{Name: "usr/bin/again", Type: tar.TypeLink, Target: "usr/bin/sudo", Mode: 0o4755},
		{Name: "lib", Type: tar.TypeSymlink, Target: "usr"},
		{Name: "up", Type: tar.TypeSymlink, Target: "../../../../etc/shadow"},
		{Name: "name with spaces and \"quotes\"", Size: 3},
		{Name: "latin\xe9", Size: 4},
		{Name: "grün-日本", Size: 5000},
		{Name: "new\nline", Size: 1},
		{Name: ".wh.gone"},
		{Name: "etc/.wh..wh..opq"},
		{Name: "usr/.wh.share"},
		{Name: "pipe", Type: tar.TypeFifo},
		{Name: "null", Type: tar.TypeChar},
		{Name: "attr", Size: 10, Attrs: map[string]string{"user.note": "kept", "trusted.note": "kept too"}},
		{Name: "exact", Size: 512},
		{Name: "block", Size: 4096},
		{Name: "big", Size: 3<<20 + 17},
	}
	for n := range strings.Split(long, "/") {
		files = append(files, File{Name: strings.Join(strings.Split(long, "/")[:n+1], "/") + "/", Type: tar.TypeDir})
	}
	return append(files, File{Name: long + "/file", Size: 12})
}

// folder is how many files lie in one: in real images it is between 3 and 5.
const folder = 5

// Tree is a layer of so many files and bytes, in folders of 5, with the sizes of real images: most are small.
func Tree(seed uint64, files int, size int64) []File {
	rnd := rand.New(rand.NewPCG(seed, 1))
	weights, sum := make([]float64, files), 0.0
	for n := range weights {
		weights[n] = rnd.ExpFloat64() * rnd.ExpFloat64() * rnd.ExpFloat64()
		sum += weights[n]
	}
	var all []File
	dir := ""
	for n, w := range weights {
		if n%folder == 0 {
			dir = fmt.Sprintf("d%d-%x/", n/folder, seed)
			all = append(all, File{Name: dir, Type: tar.TypeDir})
		}
		f := File{Name: fmt.Sprintf("%sfile-%d", dir, n), Size: int64(w / sum * float64(size)), Seed: rnd.Uint64()}
		switch n % 25 {
		case 7:
			f = File{Name: f.Name, Type: tar.TypeSymlink, Target: "file-" + strconv.Itoa(n/folder*folder)}
		case 13:
			f.Mode = 0o755
		}
		all = append(all, f)
	}
	return all
}

// unpack writes the files' tar, keeps its tar-split, and unpacks it as the library does.
func unpack(dir, split string, files []File) (digest string, size int64, err error) {
	out, err := os.OpenFile(split, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", 0, fmt.Errorf("making the tar-split: %w", err)
	}
	defer out.Close()
	zip, err := gzip.NewWriterLevel(out, gzip.BestSpeed)
	if err != nil {
		return "", 0, fmt.Errorf("packing the tar-split: %w", err)
	}
	pr, pw := io.Pipe()
	stream, done, err := asm.NewInputTarStreamWithDone(pr, storage.NewJSONPacker(zip), storage.NewDiscardFilePutter())
	if err != nil {
		return "", 0, fmt.Errorf("splitting the tar: %w", err)
	}
	go func() { pw.CloseWithError(write(dir, files, pw)) }()
	sum := sha256.New()
	size, err = io.Copy(sum, stream)
	if err = errors.Join(err, <-done, zip.Close()); err != nil {
		return "", 0, fmt.Errorf("unpacking: %w", err)
	}
	return "sha256:" + hex.EncodeToString(sum.Sum(nil)), size, nil
}

// Tar is the layer that files are made from. They are unpacked below dir on the way.
func Tar(dir string, files ...File) ([]byte, error) {
	var out bytes.Buffer
	err := write(dir, files, &out)
	return out.Bytes(), err
}

var old = time.Date(2025, 5, 6, 7, 8, 9, 0, time.UTC)

func write(dir string, files []File, to io.Writer) error {
	w := tar.NewWriter(to)
	for _, f := range files {
		h := &tar.Header{Name: f.Name, Typeflag: f.Type, Linkname: f.Target, Mode: f.Mode, Uid: f.UID, ModTime: old, PAXRecords: map[string]string{}}
		if f.Type == 0 {
			h.Typeflag, h.Size = tar.TypeReg, f.Size
		}
		if f.Mode == 0 && !strings.Contains(f.Name, "secret") {
			h.Mode = 0o644
			switch f.Type {
			case tar.TypeDir:
				h.Mode = 0o755
			case tar.TypeSymlink:
				h.Mode = 0o777
			}
		}
		if f.Type == tar.TypeChar {
			h.Devmajor, h.Devminor = 1, 3
		}
		for name, value := range f.Attrs {
			h.PAXRecords["SCHILY.xattr."+name] = value
		}
		if strings.Contains(f.Name, "\xe9") {
			h.PAXRecords, h.Format = nil, tar.FormatGNU
		}
		if err := w.WriteHeader(h); err != nil {
			return fmt.Errorf("packing %q: %w", f.Name, err)
		}
		if err := place(dir, f, h, w); err != nil {
			return err
		}
	}
	for n := len(files) - 1; n >= 0; n-- { // folders change as long as something is put into them
		if f := files[n]; !strings.Contains(f.Name, ".wh.") {
			ts := []unix.Timespec{unix.NsecToTimespec(old.UnixNano()), unix.NsecToTimespec(old.UnixNano())}
			_ = unix.UtimesNanoAt(unix.AT_FDCWD, filepath.Join(dir, f.Name), ts, unix.AT_SYMLINK_NOFOLLOW)
		}
	}
	return w.Close()
}

// place puts one entry into the layer's folder, its content into the tar too.
func place(dir string, f File, h *tar.Header, w io.Writer) error {
	path := filepath.Join(dir, f.Name)
	base := filepath.Base(f.Name)
	var err error
	switch {
	case base == ".wh..wh..opq":
		err = unix.Lsetxattr(filepath.Dir(path), "trusted.overlay.opaque", []byte("y"), 0)
	case strings.HasPrefix(base, ".wh."):
		err = unix.Mknod(filepath.Join(filepath.Dir(path), base[4:]), unix.S_IFCHR, 0)
	case f.Type == tar.TypeDir:
		err = os.MkdirAll(path, 0o755)
	case f.Type == tar.TypeSymlink:
		err = os.Symlink(f.Target, path)
	case f.Type == tar.TypeLink:
		return os.Link(filepath.Join(dir, f.Target), path)
	case f.Type == tar.TypeFifo:
		err = unix.Mkfifo(path, 0o644)
	case f.Type == tar.TypeChar:
		err = unix.Mknod(path, unix.S_IFCHR|0o644, int(unix.Mkdev(1, 3)))
	default:
		err = fill(path, f, w)
	}
	if err != nil {
		return fmt.Errorf("unpacking %q: %w", f.Name, err)
	}
	if strings.HasPrefix(base, ".wh.") || f.Type == tar.TypeSymlink {
		return nil
	}
	err = errors.Join(os.Lchown(path, f.UID, 0), unix.Chmod(path, uint32(h.Mode)))
	for name, value := range f.Attrs {
		err = errors.Join(err, unix.Lsetxattr(path, name, []byte(value), 0))
	}
	return err
}

func fill(path string, f File, w io.Writer) error {
	out, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	var seed [32]byte
	copy(seed[:], fmt.Sprintf("%d", f.Seed))
	rnd := rand.NewChaCha8(seed)
	buf := make([]byte, min(f.Size, 256<<10))
	for left := f.Size; left > 0; left -= int64(len(buf)) {
		buf = buf[:min(left, int64(len(buf)))]
		if _, err := rnd.Read(buf); err != nil {
			return err
		}
		if _, err := io.Copy(io.MultiWriter(out, w), bytes.NewReader(buf)); err != nil {
			return err
		}
	}
	return out.Close()
}
