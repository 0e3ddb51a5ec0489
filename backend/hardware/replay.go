package hardware

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"touchdown/backend/host"
	"touchdown/backend/message"
	"touchdown/backend/problem"
)

// Replay makes the inventory of the machine that a snapshot was taken of. The snapshot is unpacked into a folder, which is
// removed again, and read by the same code as a machine. The names of PCI devices are those of this machine's list.
func Replay(ctx context.Context, snapshot io.Reader) (*Inventory, error) {
	dir, err := os.MkdirTemp("", "touchdown-snapshot-")
	if err != nil {
		return nil, fmt.Errorf("making a folder for the snapshot: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if err := unpack(snapshot, dir); err != nil {
		return nil, &problem.Problem{
			Code:    "PRT-SNAP",
			Summary: message.T("The snapshot cannot be replayed."),
			Fix:     message.T("Copy it again from where it was taken, or take a new one: touchdown inventory --snapshot FILE."),
			Err:     err,
		}
	}
	m := host.Open(host.Options{Root: dir, NoPower: true, Log: slog.New(slog.DiscardHandler), Exec: noCommands})
	a := &asker{m: m, replayed: true, got: answersIn(m)}
	return inspect(ctx, a, Options{All: true, Now: func() time.Time { return a.got.Taken }}), nil
}

// noCommands: what the machine said then is in the snapshot, and this machine is another one.
func noCommands(context.Context, host.Command) (stdout, both []byte, err error) {
	return nil, nil, errNotKept
}

// answersIn are the answers of a snapshot; there are none in ghw's own.
func answersIn(m *host.Machine) (a answers) {
	data, _, err := m.ReadHead("/"+answersFile, maxContent)
	if err == nil && json.Unmarshal(data, &a) == nil && a.Format == answersFormat {
		return a
	}
	return answers{}
}

// unpack puts a snapshot into an empty folder. Whoever made it may want more than that: nothing is written outside of the folder,
// no link leads out of it, and sizes are bounded.
func unpack(snapshot io.Reader, dir string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("opening the folder for it: %w", err)
	}
	defer func() { _ = root.Close() }()
	packed, err := io.ReadAll(io.LimitReader(snapshot, maxPacked+1))
	if err != nil {
		return fmt.Errorf("reading it: %w", err)
	}
	if len(packed) > maxPacked {
		return fmt.Errorf("it is larger than %d MiB", maxPacked>>20)
	}
	plain, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return fmt.Errorf("it is not a snapshot of Touchdown: %w", err)
	}
	u := &unpacker{root: root, files: tar.NewReader(io.LimitReader(plain, maxAll+maxEntries*1024))}
	for {
		switch err := u.next(); {
		case errors.Is(err, io.EOF) && u.entries > 0:
			return u.checkLinks()
		case errors.Is(err, io.EOF):
			return errors.New("it is empty")
		case errors.Is(err, io.ErrUnexpectedEOF):
			return fmt.Errorf("it ends in the middle, after %d files", u.entries)
		case err != nil:
			return err
		}
	}
}

// unpacker reads one snapshot.
type unpacker struct {
	root    *os.Root
	files   *tar.Reader
	entries int
	bytes   int64
	links   []string
}

// places are where a snapshot has files.
var places = []string{"proc", "sys", "run"}

// next unpacks one entry.
func (u *unpacker) next() error {
	h, err := u.files.Next()
	if err != nil {
		return err //nolint:wrapcheck // io.EOF and io.ErrUnexpectedEOF mean something to the caller
	}
	name := path.Clean(strings.TrimPrefix(h.Name, "./"))
	if !filepath.IsLocal(name) {
		return fmt.Errorf("it has a file where no snapshot has one: %s", text(h.Name))
	}
	if top, _, below := strings.Cut(name, "/"); below && !slices.Contains(places, top) || !below && name != answersFile {
		return nil // of another program's snapshot: nothing here reads it
	}
	if u.entries++; u.entries > maxEntries {
		return fmt.Errorf("it has more than %d files", maxEntries)
	}
	if err := u.put(h, name); err != nil {
		return fmt.Errorf("unpacking %s: %w", text(name), err)
	}
	return nil
}

func (u *unpacker) put(h *tar.Header, name string) error {
	if h.Typeflag == tar.TypeDir {
		return u.root.MkdirAll(name, 0o755) //nolint:wrapcheck // the caller says what it is about
	}
	if err := u.root.MkdirAll(path.Dir(name), 0o755); err != nil {
		return err //nolint:wrapcheck // the caller says what it is about
	}
	switch h.Typeflag {
	case tar.TypeSymlink:
		if path.IsAbs(h.Linkname) || !filepath.IsLocal(path.Join(path.Dir(name), h.Linkname)) {
			return fmt.Errorf("it is a link out of the snapshot")
		}
		u.links = append(u.links, name)
		return u.root.Symlink(h.Linkname, name) //nolint:wrapcheck // the caller says what it is about
	case tar.TypeReg:
		data, err := io.ReadAll(io.LimitReader(u.files, maxContent+1))
		if err != nil {
			return err //nolint:wrapcheck // io.ErrUnexpectedEOF means something to the caller
		}
		if u.bytes += int64(len(data)); len(data) > maxContent || u.bytes > maxAll {
			return fmt.Errorf("it is too large")
		}
		return u.root.WriteFile(name, data, 0o644) //nolint:wrapcheck // the caller says what it is about
	}
	return fmt.Errorf("it is neither a file nor a folder nor a link")
}

// checkLinks follows every link as the kernel will: what looks local may lead out by way of another link.
func (u *unpacker) checkLinks() error {
	for _, name := range u.links {
		if _, err := u.root.Stat(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("the link %s leads nowhere in the snapshot: %w", text(name), err)
		}
	}
	return nil
}
