package host

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxFileName is NAME_MAX of Linux (limits.h).
const maxFileName = 255

// FileName reports what is wrong with a name for a file. Every name that comes from data is judged here, and only here,
// before a file is named after it. The error does not repeat the name.
func FileName(name string) error {
	switch {
	case name == "":
		return errors.New("a file name is empty")
	case name == "." || name == "..":
		return errors.New("a file name is a folder's own name")
	case len(name) > maxFileName:
		return fmt.Errorf("a file name has %d bytes, more than the %d that are allowed", len(name), maxFileName)
	case strings.Contains(name, "/"):
		return errors.New("a file name has a slash in it")
	case !utf8.ValidString(name):
		return errors.New("a file name is not UTF-8 text")
	case strings.TrimSpace(name) != name:
		return errors.New("a file name starts or ends with a space")
	case strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }):
		return errors.New("a file name has a character in it that cannot be printed")
	}
	return nil
}

// absolute wants a path as a program writes it: from the root, with no part that leads back up.
func absolute(file string) error {
	if !path.IsAbs(file) || path.Clean(file) != file {
		return errors.New("the path is not absolute, or leads back up")
	}
	return nil
}

// Folder is a folder of the machine whose files are named after data, such as what a document calls a port. Nothing outside
// of it is opened, whatever the names are and wherever links in it lead.
type Folder struct {
	machine *Machine
	path    string
}

// Folder returns the folder at a path, which must not come from data. It need not exist.
func (m *Machine) Folder(path string) Folder { return Folder{m, path} }

// Below returns a folder in f. Its name may come from data.
func (f Folder) Below(name string) (Folder, error) {
	if err := FileName(name); err != nil {
		return Folder{}, fmt.Errorf("opening a folder below %s: %w", f.path, err)
	}
	return Folder{f.machine, path.Join(f.path, name)}, nil
}

// Path is where a file of the folder lies on the machine. It is for messages and comparisons: files are opened through f.
func (f Folder) Path(name string) string { return path.Join(f.path, name) }

// Names returns the names of the regular files, sorted; none where there is no such folder. Links are left out: they lead to
// files of others.
func (f Folder) Names() ([]string, error) {
	entries, err := os.ReadDir(f.machine.Path(f.path))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("listing %s: %w", f.path, cause(err))
	}
	var names []string
	for _, e := range entries {
		if e.Type().IsRegular() {
			names = append(names, e.Name())
		}
	}
	slices.Sort(names)
	return names, nil
}

// ReadFile returns the content of a file of the folder.
func (f Folder) ReadFile(name string) ([]byte, error) {
	if err := FileName(name); err != nil {
		return nil, fmt.Errorf("reading in %s: %w", f.path, err)
	}
	root, err := os.OpenRoot(f.machine.Path(f.path))
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", f.Path(name), cause(err))
	}
	defer func() { _ = root.Close() }()
	b, err := root.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", f.Path(name), cause(err))
	}
	return b, nil
}

// WriteFiles replaces files of the folder together, see WriteFilesAtomic. The Path of each is its name alone.
func (f Folder) WriteFiles(files ...File) error {
	placed := slices.Clone(files)
	for i, file := range files {
		if err := FileName(file.Path); err != nil {
			return fmt.Errorf("writing in %s: %w", f.path, err)
		}
		placed[i].Path = f.Path(file.Path)
	}
	return f.machine.WriteFiles(placed...)
}

// Remove removes a file of the folder, durably. One that is not there is fine.
func (f Folder) Remove(name string) error {
	if err := FileName(name); err != nil {
		return fmt.Errorf("removing in %s: %w", f.path, err)
	}
	return f.machine.Remove(f.Path(name))
}

// beneath opens the folder that holds a file, and returns the file's name in it. What is done through the folder stays in it.
func beneath(file string) (*os.Root, string, error) {
	name := filepath.Base(file)
	if err := FileName(name); err != nil {
		return nil, "", err
	}
	root, err := os.OpenRoot(filepath.Dir(file))
	if err != nil {
		return nil, "", fmt.Errorf("opening the folder: %w", cause(err))
	}
	return root, name, nil
}
