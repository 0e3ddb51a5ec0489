package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"touchdown/backend/host"
)

// named is a file that a person names to be written.
type named struct {
	flag, file string
	otherwise  string // what else the person can do than name another file; "" for nothing
	replaces   bool   // the file that is there is one that this command wrote before
}

// mayWrite refuses, as a mistake of the person, what writing would put a file in the place of: a folder, a pipe and a device, also through
// a link, and the links to what a process has open, such as /dev/stdout, wherever they lead; and a file that is there, for it may be a key, or what
// the command has yet to read. It is asked before anything is done.
func (n named) mayWrite() error {
	info, err := os.Stat(n.file)
	other := err == nil && !info.Mode().IsRegular()
	if is, err := os.Lstat(n.file); err == nil && is.Mode()&fs.ModeSymlink != 0 && !other {
		folder, err := filepath.Abs(filepath.Dir(n.file))
		if err == nil {
			folder, err = filepath.EvalSymlinks(folder)
		}
		if err != nil {
			return usage(fmt.Errorf("--%s: %w", n.flag, err))
		}
		other = folder == "/dev" || strings.HasPrefix(folder, "/proc/")
	}
	text := fmt.Sprintf("--%s %s is not a regular file; name another one", n.flag, n.file)
	if !other {
		if err != nil || n.replaces {
			return nil
		}
		text = fmt.Sprintf("--%s %s is there already; name another file, or remove it", n.flag, n.file)
	}
	if n.otherwise != "" {
		text += ", or " + n.otherwise
	}
	return usage(errors.New(text))
}

// notItsOwn refuses a TARGET that a command would overwrite, which is one of the files that it reads or writes besides.
func notItsOwn(target string, others ...string) error {
	is, missing := os.Stat(target)
	for _, file := range others {
		if file == "" {
			continue
		}
		other, err := os.Stat(file)
		if filepath.Clean(file) == filepath.Clean(target) || missing == nil && err == nil && os.SameFile(is, other) {
			return usage(fmt.Errorf("%s is a file that this command itself reads or writes; name another TARGET", target))
		}
	}
	return nil
}

// write replaces the file as a whole. what it is stands in the error.
func (n named) write(what string, data []byte, mode fs.FileMode) error {
	if err := n.mayWrite(); err != nil {
		return err
	}
	if err := host.WriteFileAtomic(n.file, data, mode); err != nil {
		return fmt.Errorf("writing %s: %w", what, err)
	}
	return nil
}
