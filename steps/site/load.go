package site

import (
	"cmp"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"

	"touchdown/backend/message"
)

// Load reads the document at a path of this machine. The files that it names are read below its folder and nowhere
// else: os.Root refuses a symbolic link that leads out of it.
func Load(name string) (*Config, error) {
	root, err := os.OpenRoot(filepath.Dir(name))
	if err != nil {
		return nil, Errors{{File: filepath.Base(name), Msg: message.F("cannot be read: %s", cause(err))}}
	}
	defer func() { _ = root.Close() }()
	return loadFS(unwaiting{root}, filepath.Base(name))
}

// loadFS reads the document of that name; the files that it names are read in its folder.
func loadFS(files fs.FS, name string) (*Config, error) {
	base := path.Base(name)
	data, f := readLimited(files, name, maxDocument)
	if f != nil {
		f.File = base
		return nil, Errors{f}
	}
	beside, err := fs.Sub(files, path.Dir(name))
	if err != nil {
		return nil, Errors{{File: base, Msg: message.F("cannot be read: %s", cause(err))}}
	}
	return Parse(data, base, beside)
}

// readReferenced reads a file that the document names.
func readReferenced(files fs.FS, name string, limit int) (string, *Error) {
	if files == nil {
		return "", fault(message.T("put the value itself into the document"), message.T("names a file, but this document was not read from a folder"))
	}
	if strings.ContainsAny(name, "\n\r{}") || strings.Contains(name, "-----BEGIN") {
		return "", fault(message.T("write the name of the file, or use the key without File"), message.T("holds the value itself instead of a file name"))
	}
	if len(name) > maxFileName {
		return "", fault(message.T("use a shorter name"), message.F("is a file name of more than %d bytes", maxFileName))
	}
	if path.IsAbs(name) || strings.Contains(name, `\`) || !fs.ValidPath(path.Clean(name)) {
		return "", fault(message.T("copy the file beside the document and write only its name"), message.T("leads out of the document's folder"))
	}
	data, f := readLimited(files, path.Clean(name), limit)
	if f != nil {
		return "", fault(f.Fix, message.F("the file %s %s", shown(name), f.Msg))
	}
	text, f := readable(data)
	if f != nil {
		return "", fault(cmp.Or(derHint(data), f.Fix), message.F("the file %s %s, in its line %d", shown(name), f.Msg, f.Line))
	}
	if strings.TrimSpace(string(text)) == "" {
		return "", fault(message.T("check the file"), message.F("the file %s is empty", shown(name)))
	}
	return string(text), nil
}

// derHint helps with the commonest binary file: a certificate or key as DER, which starts with an ASN.1 SEQUENCE.
func derHint(data []byte) message.Text {
	if len(data) > 1 && data[0] == 0x30 && data[1] >= 0x80 {
		return message.T("convert it to PEM with openssl")
	}
	return message.Text{}
}

// unwaiting is a folder of this machine whose files are opened without waiting: to open a named pipe otherwise waits for a writer that
// may never come.
type unwaiting struct{ *os.Root }

// Open implements fs.FS.
func (f unwaiting) Open(name string) (fs.File, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	return f.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0)
}

// readLimited reads a regular file and no more of it than allowed. It asks what it has opened: what a name stands for can change.
func readLimited(files fs.FS, name string, limit int) ([]byte, *Error) {
	file, err := files.Open(name)
	if err != nil {
		return nil, unreadable(err)
	}
	defer func() { _ = file.Close() }()
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, fault(message.T("name a regular file"), message.T("is not a regular file"))
	}
	data, err := io.ReadAll(io.LimitReader(file, int64(limit)+1))
	if err != nil {
		return nil, unreadable(err)
	}
	if len(data) > limit {
		return nil, fault(message.T("check that it is the right file"), message.F("is larger than %d KiB", limit>>10))
	}
	return data, nil
}

func unreadable(err error) *Error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fault(message.T("check the name, upper and lower case too"), message.T("does not exist"))
	case strings.Contains(err.Error(), "path escapes"): // os.Root has no error value for it
		return fault(message.T("copy the file itself beside the document"), message.T("is a link that leads out of the document's folder"))
	}
	return fault(message.Text{}, message.F("cannot be read: %s", cause(err)))
}

// cause drops the path of this machine from an error.
func cause(err error) message.Text {
	var pe *fs.PathError
	var errno syscall.Errno
	switch {
	case errors.As(err, &errno):
		return message.Detail(errno)
	case errors.As(err, &pe):
		return message.Detail(pe.Err)
	}
	return message.Detail(err)
}
