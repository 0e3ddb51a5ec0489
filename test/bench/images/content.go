package images

import (
	"archive/tar"
	"fmt"
	"io"
	"math/rand/v2"
	"path"
	"strings"
	"time"
)

// The mix of a layer, per thousand inodes; hard links are more names for them. Measured on images of OpenShift.
const (
	dirShare     = 220
	symlinkShare = 35
	hardShare    = 13
)

// epoch is the time of the oldest file. Times have nanoseconds, which only the extended headers of a tar archive keep.
var epoch = time.Date(2024, 2, 29, 12, 0, 0, 123456789, time.UTC)

// capability is the attribute of a program that may open raw sockets: revision 2, effective, cap_net_raw permitted.
const capability = "\x01\x00\x00\x02\x00\x20\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"

// writer writes one layer's archive.
type writer struct {
	*tar.Writer
	*layer
	random *rand.Rand
	pool   []byte // what files are filled from
}

// root is the folder in which a layer has its own files; the layers above change some of them.
func (l *layer) root() string { return fmt.Sprintf("usr/share/layer-%03d", l.id) }

// dir is the path of the n-th folder of a layer: six in each.
func (l *layer) dir(n int) string {
	if n == 0 {
		return l.root()
	}
	return fmt.Sprintf("%s/d%d", l.dir((n-1)/6), n)
}

func (l *layer) dirs() int { return max(3, l.inodes*dirShare/1000) }

// file is the path of the n-th regular file: they are spread over the folders in turn.
func (l *layer) file(n int) string { return fmt.Sprintf("%s/f%d.dat", l.dir(n%l.dirs()), n) }

func (w *writer) entry(h tar.Header, content io.Reader) error {
	h.Format = tar.FormatPAX
	h.ModTime = epoch.Add(time.Duration(w.random.Int64N(int64(365 * 24 * time.Hour))))
	if h.Mode == 0 {
		h.Mode = 0o644
	}
	if err := w.WriteHeader(&h); err != nil {
		return fmt.Errorf("writing %q: %w", h.Name, err)
	}
	if content == nil {
		return nil
	}
	if _, err := io.CopyN(w, content, h.Size); err != nil {
		return fmt.Errorf("writing %q: %w", h.Name, err)
	}
	return nil
}

func (w *writer) folder(name string, mode int64, attributes map[string]string) error {
	return w.entry(tar.Header{Typeflag: tar.TypeDir, Name: name + "/", Mode: mode, PAXRecords: attributes}, nil)
}

// regular writes a file with contents that occur nowhere else.
func (w *writer) regular(h tar.Header) error {
	h.Typeflag = tar.TypeReg
	return w.entry(h, io.MultiReader(strings.NewReader(fmt.Sprintf("%03d %s\n", w.id, path.Base(h.Name))), &filler{pool: w.pool, at: w.random.IntN(len(w.pool))}))
}

// filler repeats the pool for ever.
type filler struct {
	pool []byte
	at   int
}

func (f *filler) Read(p []byte) (int, error) {
	n := copy(p, f.pool[f.at:])
	f.at = (f.at + n) % len(f.pool)
	return n, nil
}

// pool is what files are filled from: noise and text by turns, which a fast gzip makes a bit less than half as large.
func pool(seed uint64) []byte {
	random := rand.New(rand.NewPCG(seed, 1))
	data := make([]byte, 0, 4<<20)
	for len(data) < 4<<20-8192 {
		for range 32 + random.IntN(256) {
			v := random.Uint64()
			data = append(data, byte(v), byte(v>>8), byte(v>>16), byte(v>>24), byte(v>>32), byte(v>>40), byte(v>>48), byte(v>>56))
		}
		data = append(data, strings.Repeat(fmt.Sprintf("key-%d: the quick brown fox jumps over the lazy dog\n", random.IntN(99)), 8+random.IntN(64))...)
	}
	return data
}

// write writes the whole layer.
func (w *writer) write(program []byte) error {
	for _, part := range []func() error{
		func() error { return w.base(program) }, w.folders, w.files, w.links, w.changes,
	} {
		if err := part(); err != nil {
			return fmt.Errorf("layer %d: %w", w.id, err)
		}
	}
	return nil
}

func (w *writer) folders() error {
	for n := range w.dirs() {
		var attributes map[string]string
		if n == 1 {
			attributes = map[string]string{"SCHILY.xattr.user.bench.folder": fmt.Sprint(w.id)}
		}
		if err := w.folder(w.dir(n), []int64{0o755, 0o755, 0o750, 0o2775}[n%4], attributes); err != nil {
			return err
		}
	}
	return nil
}

// The classes of files: few large ones hold most of the bytes.
type class struct{ bytes, members int64 } // percent of the layer's bytes, and how many files share them

func classOf(n int) int {
	switch {
	case n%50 < 3:
		return 2
	case n%50 < 18:
		return 1
	}
	return 0
}

func (w *writer) files() error {
	count := w.inodes - w.dirs() - w.inodes*symlinkShare/1000
	classes := []class{{bytes: 2}, {bytes: 38}, {bytes: 60}}
	for n := range count {
		classes[classOf(n)].members++
	}
	for n := range count {
		c := classes[classOf(n)]
		size := 40 + w.bytes*c.bytes/100/c.members*(50+w.random.Int64N(101))/100
		if err := w.regular(w.describe(n, size)); err != nil {
			return err
		}
	}
	return nil
}

// describe is the header of the n-th file: attributes, owners and rights go round.
func (w *writer) describe(n int, size int64) tar.Header {
	h := tar.Header{Name: w.file(n), Size: size, Mode: []int64{0o644, 0o644, 0o755, 0o600, 0o640}[n%5], PAXRecords: map[string]string{}}
	switch {
	case n%130 == 0:
		h.PAXRecords["SCHILY.xattr.user.bench.origin"] = fmt.Sprintf("layer %d, file %d", w.id, n)
	case n%130 == 65:
		h.PAXRecords["SCHILY.xattr.security.capability"] = capability
	case n%40 == 1:
		h.Uid, h.Gid = 1001, 0
	case n%40 == 2:
		h.Uid, h.Gid = 1000680000, 1000680000
	}
	return h
}

func (w *writer) links() error {
	for n := range max(1, w.inodes*symlinkShare/1000) {
		target := []string{"/" + w.file(n), path.Base(w.file(n)), "../../nowhere", "."}[n%4]
		if err := w.entry(tar.Header{Typeflag: tar.TypeSymlink, Name: fmt.Sprintf("%s/s%d", w.dir(n%w.dirs()), n), Linkname: target, Mode: 0o777}, nil); err != nil {
			return err
		}
	}
	for n := range max(1, w.inodes*hardShare/1000) {
		if err := w.entry(tar.Header{Typeflag: tar.TypeLink, Name: fmt.Sprintf("%s/h%d", w.dir((n+1)%w.dirs()), n), Linkname: w.file(n)}, nil); err != nil {
			return err
		}
	}
	return nil
}
