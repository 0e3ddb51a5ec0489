// Package volume reads the file systems of site media, FAT, exFAT and ISO9660, and writes FAT and ISO9660, without mounting them. All
// that it reads is hostile: whoever made the volume may have written any byte of it.
package volume

import (
	"fmt"
	"io"
	"os"
	"strings"

	"touchdown/backend/host"
	"touchdown/backend/message"
	"touchdown/backend/problem"
)

// What one volume may cost. Chosen: a signed site config of the largest size has 1.8 MiB, and a stick that people also use for
// other things has a few hundred files in its first folders.
const (
	MaxFile    = 2 << 20  // bytes of a file whose content is wanted
	MaxContent = 4 << 20  // bytes of all of them together
	MaxEntries = 1024     // files and folders that are listed; what is behind them is left out
	maxDepth   = 4        // folders above a file; deeper ones are not entered
	maxFolder  = 2 << 20  // bytes of a folder, the largest that FAT allows (65,536 entries of 32 bytes)
	maxRead    = 64 << 20 // bytes that are read from the device in all
)

// The file systems that are read.
const (
	FAT   = "vfat"
	ExFAT = "exfat"
	ISO   = "iso9660"
)

// Entry is a file or folder of a volume.
type Entry struct {
	Path   string `json:"path"` // from the root, with slashes, each part a name that host.FileName accepts
	Size   int64  `json:"size"` // bytes; 0 for a folder
	Folder bool   `json:"folder,omitempty"`
	Data   []byte `json:"data,omitempty"` // the content, of files that were wanted
	Start  int64  `json:"-"`              // where it begins in an ISO9660 image, in bytes; FAT scatters its files
}

// Content is what lies on a volume.
type Content struct {
	Kind    string  `json:"kind"`  // FAT, ExFAT or ISO
	Label   string  `json:"label"` // printable text, "" when it has none
	Entries []Entry `json:"entries"`
	Skipped int     `json:"skipped,omitempty"` // entries that were left out: links, devices, unusable names
	More    bool    `json:"more,omitempty"`    // there are more than MaxEntries, or folders below maxDepth
}

// Find returns the file at a path, without regard to case, as FAT names its files; nil when it is not there.
func (c *Content) Find(path string) *Entry {
	for i := range c.Entries {
		if e := &c.Entries[i]; !e.Folder && strings.EqualFold(e.Path, path) {
			return e
		}
	}
	return nil
}

// node is a file or folder as a file system tells of it. Its position means something to the file system alone.
type node struct {
	name   string
	size   int64
	folder bool
	other  bool // a link or a device
	start  int64
}

// system is a file system of some kind.
type system interface {
	kind() string
	label() string
	root() node
	// list returns what is in a folder, at most limit entries, and how many bytes its list was read from.
	list(folder node, limit int) (nodes []node, more bool, err error)
	// read gives a file to take, in parts.
	read(file node, take func([]byte) error) error
}

// Read lists the volume on a device of size bytes, and reads the files that are wanted. It only reads, follows no link, and
// fails with a *problem.Problem.
func Read(device io.ReaderAt, size int64, wanted func(path string) bool) (content *Content, err error) {
	defer func() {
		if err = fell(recover(), err); err != nil {
			content = nil
		}
	}()
	from := &source{device: device, size: size, left: maxRead}
	fs, err := identify(from)
	if err != nil {
		return nil, err
	}
	w := &walk{system: fs, wanted: wanted, seen: map[int64]bool{}, paths: map[string]bool{}}
	w.content = Content{Kind: fs.kind(), Label: printable(fs.label()), Entries: []Entry{}}
	if err := w.run(); err != nil {
		return nil, err
	}
	return &w.content, nil
}

// fell is the error of a reader that fell over what a volume says.
func fell(r any, err error) error {
	if r != nil {
		return damaged(message.F("reading it ended in a fault of Touchdown: %v", r))
	}
	return err
}

// Copy gives a file of the root folder to take, in parts; one that is larger than most bytes is refused. What was taken before an error is
// not a file. Like Read it only reads, and fails with a *problem.Problem, but for errors of take and a file that is not there.
func Copy(device io.ReaderAt, size int64, name string, most int64, take func([]byte) error) (err error) {
	defer func() { err = fell(recover(), err) }()
	from := &source{device: device, size: size, left: maxRead + most}
	fs, err := identify(from)
	if err != nil {
		return err
	}
	nodes, _, err := fs.list(fs.root(), MaxEntries)
	if err != nil {
		return err
	}
	var found *node
	for i, n := range nodes {
		switch {
		case n.folder || n.other || !strings.EqualFold(n.name, name):
		case found != nil:
			return damaged(message.F("it has %s twice, and which one counts cannot be told", name))
		default:
			found = &nodes[i]
		}
	}
	if found == nil {
		return fmt.Errorf("there is no file %q: %w", name, os.ErrNotExist)
	}
	if found.size > most {
		return tooLarge(name, found.size, most)
	}
	return fs.read(*found, take)
}

func tooLarge(path string, size, most int64) error {
	return &problem.Problem{
		Code: "MED-LRGE", Summary: message.F("The file %s on the volume is too large: %d bytes.", path, size),
		Fix: message.F("Check that it is the right file; a file may have %d MiB.", most>>20),
	}
}

// walk goes through a volume, the folders near its root first.
type walk struct {
	system
	wanted  func(string) bool
	content Content
	seen    map[int64]bool  // folders, by where they begin
	paths   map[string]bool // in lower case
	bytes   int64           // of content
}

type folder struct {
	node
	path  string
	depth int
}

func (w *walk) run() error {
	root := w.root()
	w.seen[root.start] = true
	for queue := []folder{{node: root}}; len(queue) > 0; queue = queue[1:] {
		f := queue[0]
		nodes, more, err := w.list(f.node, MaxEntries+1-len(w.content.Entries))
		if err != nil {
			return err
		}
		w.content.More = w.content.More || more
		for _, n := range nodes {
			path, err := w.add(f, n)
			if err != nil {
				return err
			}
			switch {
			case path == "" || !n.folder:
			case f.depth+1 >= maxDepth:
				w.content.More = true
			case w.seen[n.start]:
				return damaged(message.F("its folders lead back into themselves at %s", path))
			default:
				w.seen[n.start] = true
				queue = append(queue, folder{n, path, f.depth + 1})
			}
		}
	}
	return nil
}

// add takes a file or folder into the list, and returns its path; "" when it was left out.
func (w *walk) add(f folder, n node) (string, error) {
	if n.other || host.FileName(n.name) != nil || strings.Contains(n.name, `\`) {
		w.content.Skipped++
		return "", nil
	}
	if len(w.content.Entries) == MaxEntries {
		w.content.More = true
		return "", nil
	}
	path := strings.TrimPrefix(f.path+"/"+n.name, "/")
	if w.paths[strings.ToLower(path)] {
		return "", damaged(message.F("it has %s twice, and which one counts cannot be told", path))
	}
	w.paths[strings.ToLower(path)] = true
	e := Entry{Path: path, Size: n.size, Folder: n.folder, Start: n.start}
	if !n.folder && w.wanted(path) {
		if w.bytes += n.size; n.size > MaxFile || w.bytes > MaxContent {
			return "", tooLarge(path, n.size, MaxFile)
		}
		err := w.read(n, func(part []byte) error { e.Data = append(e.Data, part...); return nil })
		if err != nil {
			return "", err
		}
	}
	w.content.Entries = append(w.content.Entries, e)
	return path, nil
}

// printable keeps of a label what can be shown.
func printable(label string) string {
	label = strings.TrimSpace(strings.ToValidUTF8(label, "?"))
	if host.FileName(label) != nil {
		return ""
	}
	return label
}
