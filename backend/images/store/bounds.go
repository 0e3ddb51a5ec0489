package store

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/vbatts/tar-split/tar/storage"
	"golang.org/x/sys/unix"

	"touchdown/backend/message"
	"touchdown/backend/problem"
)

// What unpacking a layer may cost, whatever its tar says. The largest images have 300,000 files and 30 MB of names.
const (
	// unpackTime and a second for each slowestDisk bytes are how long it may take.
	unpackTime  = 10 * time.Minute
	slowestDisk = 1 << 20
	// maxFiles is how many entries it may have: each costs half a kilobyte of memory and a tenth of a millisecond.
	maxFiles = 1 << 20
	// maxHeaders is how many bytes of headers there may be before a file, which the reader of the tar-split keeps in memory.
	maxHeaders = 8 << 20
	// maxNames is how many bytes of names are kept in memory, to find names that occur twice.
	maxNames = 256 << 20
	// spare is what stays free on the disk, bytes, for etcd and the logs; unpacking looks after each checkEvery entries or bytes.
	spare           = 256 << 20
	checkEvery      = 1024
	checkEveryBytes = 64 << 20
	// sparseRecord begins the names of GNU's extended headers of a sparse file.
	sparseRecord = "GNU.sparse."
)

// errSparse refuses sparse files: no tool that makes images writes them, they are as large as their header says, and a layer
// that has one cannot be put together again from its files.
var errSparse = errors.New("a sparse file does not belong in a layer")

// budget is what is left to one layer while it is unpacked.
type budget struct {
	disk    int   // an open folder of the file system it goes to
	left    int64 // bytes that files may still have: the tar holds them, so they are no more than the tar
	entries int
	written int64 // since the free space was looked at
}

// stopping is a reader that ends with a context.
type stopping struct {
	ctx  context.Context //nolint:containedctx // a reader takes none
	from io.Reader
}

func (s stopping) Read(b []byte) (int, error) {
	if s.ctx.Err() != nil {
		return 0, context.Cause(s.ctx)
	}
	return s.from.Read(b) //nolint:wrapcheck // io.EOF has to stay what it is
}

// entry judges a header before anything is made of it.
func (b *budget) entry(h *tar.Header) error {
	for name := range h.PAXRecords {
		attr, is := strings.CutPrefix(name, attrRecord)
		switch {
		case strings.HasPrefix(name, sparseRecord):
			return errSparse
		case is && (strings.HasPrefix(attr, "trusted.overlay.") || strings.HasPrefix(attr, "user.overlay.")):
			return fmt.Errorf("attribute %.80q is overlayfs's own", attr)
		}
	}
	switch {
	case h.Typeflag == tar.TypeGNUSparse:
		return errSparse
	case len(h.Name) >= unix.PathMax || len(h.Linkname) >= unix.PathMax:
		return fmt.Errorf("its name is longer than %d bytes", unix.PathMax)
	case strings.Count(h.Name, "/") > maxDepth:
		return fmt.Errorf("more than %d folders lie in each other", maxDepth)
	case h.Size > b.left:
		return fmt.Errorf("it has %d bytes, and the layer's record leaves %d", h.Size, b.left)
	}
	b.left -= h.Size
	b.written += h.Size
	if b.entries++; b.entries > maxFiles {
		return fmt.Errorf("the layer has more than %d files", maxFiles)
	}
	if b.entries%checkEvery != 0 && b.written < checkEveryBytes {
		return nil
	}
	b.written = 0
	return room(b.disk, 0)
}

// Room makes sure that so many bytes fit into a folder's file system, beside those that have to stay free.
func Room(folder string, bytes int64) error {
	fd, err := openDir(unix.AT_FDCWD, folder)
	if err != nil {
		return err
	}
	defer shut(fd)
	return room(fd, bytes)
}

// room makes sure that a file system has so many bytes, and those that stay free.
func room(folder int, bytes int64) error {
	var st unix.Statfs_t
	if err := unix.Fstatfs(folder, &st); err != nil {
		return fmt.Errorf("reading the free space: %w", err)
	}
	free := st.Bavail * uint64(st.Bsize)
	if free >= uint64(bytes)+spare && (st.Files == 0 || st.Ffree > checkEvery) {
		return nil
	}
	return &problem.Problem{
		Code: "STR-SPCE",
		Summary: message.F("A layer of the image store does not fit on the disk: it needs %d MiB, %d MiB and %d files are free, and %d MiB have to stay free.",
			bytes>>20, free>>20, st.Ffree, spare>>20),
		Fix: message.T("Free some space in /var/lib/containers, then retry."),
	}
}

// meter bounds what the reader of the tar-split keeps and does. It reads the tar before untar does and believes its headers.
type meter struct {
	storage.Packer
	storage.FilePutter
	ctx     context.Context //nolint:containedctx // its callers are a library that takes none
	from    io.Reader
	headers int64 // bytes since the last entry that are not of a file
	names   int64
	left    int64 // bytes that files may still have
	inFile  bool
}

// Read gives bytes of the tar.
func (m *meter) Read(b []byte) (int, error) {
	n, err := stopping{m.ctx, m.from}.Read(b)
	if !m.inFile {
		if m.headers += int64(n); m.headers > maxHeaders {
			return 0, fmt.Errorf("it has more than %d MiB of headers before a file", maxHeaders>>20)
		}
	}
	return n, err
}

// AddEntry keeps a piece of the tar-split.
func (m *meter) AddEntry(e storage.Entry) (int, error) {
	m.headers = 0
	name := len(e.GetName())
	if m.names += int64(name); name >= unix.PathMax || m.names > maxNames {
		return 0, fmt.Errorf("a name has %d bytes, all names %d", name, m.names)
	}
	return m.Packer.AddEntry(e) //nolint:wrapcheck // the library's own text says what it is about
}

// Put sums up a file.
func (m *meter) Put(name string, content io.Reader) (int64, []byte, error) {
	m.inFile = true
	defer func() { m.inFile = false }()
	n, sum, err := m.FilePutter.Put(name, io.LimitReader(stopping{m.ctx, content}, m.left+1))
	if m.left -= n; m.left < 0 && err == nil {
		err = errors.New("its files are larger than it is; one of them is sparse")
	}
	return n, sum, err
}
