// Package host is the only way out to the machine: commands, systemd and files.
package host

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Options says which machine to open, and how far it may be touched.
type Options struct {
	Root    string                                                      // prefix of every path; "" is the machine itself
	NoPower bool                                                        // refuse Reboot and PowerOff
	Log     *slog.Logger                                                // nil: slog.Default
	Exec    Exec                                                        // nil: start real processes
	Write   func(path string, write func([]byte) error, b []byte) error // nil: plain write; tests let a disk fill up here
	Clock   func(ahead time.Duration) error                             // nil: the kernel's clock is moved; where that is not allowed, a stand-in
}

// Machine is the machine that Touchdown runs on, or in tests a directory that looks like one.
type Machine struct {
	NoPower bool // Reboot and PowerOff are refused

	root  string
	log   *slog.Logger
	exec  Exec
	files atomic
	clock func(ahead time.Duration) error
}

// Open returns the machine that o describes.
func Open(o Options) *Machine {
	m := &Machine{NoPower: o.NoPower, root: o.Root, log: o.Log, exec: o.Exec, files: atomic{o.Write}, clock: o.Clock}
	if m.log == nil {
		m.log = slog.Default()
	}
	if m.exec == nil {
		m.exec = start
	}
	if m.clock == nil {
		m.clock = moveClock
	}
	return m
}

// Root is the prefix of every path: "" on the machine itself.
func (m *Machine) Root() string { return m.root }

// Path returns where a path of the machine lies for this process.
func (m *Machine) Path(path string) string {
	if m.root == "" {
		return path
	}
	return filepath.Join(m.root, path)
}

// follow goes along a link to a path of the machine, such as the kubelet's to its newest certificate: below a root the kernel
// would go outside of it.
func (m *Machine) follow(path string) string {
	if m.root == "" {
		return path
	}
	for range 8 { // more than any honest chain of links
		to, err := os.Readlink(m.Path(path))
		if err != nil || !filepath.IsAbs(to) {
			break
		}
		path = to
	}
	return path
}

// WriteFile replaces a file as a whole, see WriteFileAtomic, and makes the directories above it.
func (m *Machine) WriteFile(path string, data []byte, perm fs.FileMode) error {
	if err := absolute(path); err != nil {
		return fmt.Errorf("writing a file: %w", err)
	}
	if err := mkdirAll(filepath.Dir(m.Path(path))); err != nil {
		return failed("writing", path, err)
	}
	if err := m.files.replace(m.Path(path), data, perm); err != nil {
		return failed("writing", path, err)
	}
	return nil
}

// WriteFiles replaces several files of one directory, see WriteFilesAtomic, and makes the directories above them.
func (m *Machine) WriteFiles(files ...File) error {
	there := slices.Clone(files)
	for i, f := range files {
		if err := absolute(f.Path); err != nil {
			return fmt.Errorf("writing a file: %w", err)
		}
		there[i].Path = m.Path(f.Path)
		if err := mkdirAll(filepath.Dir(there[i].Path)); err != nil {
			return failed("writing", f.Path, err)
		}
	}
	if err := m.files.replaceAll(there...); err != nil { // of one directory, so that the first stands for all
		return failed(fmt.Sprintf("writing %d files like", len(files)), files[0].Path, err)
	}
	return nil
}

// Remove removes a file, durably. One that is not there is fine.
func (m *Machine) Remove(path string) error {
	if err := absolute(path); err != nil {
		return fmt.Errorf("removing a file: %w", err)
	}
	dir, name, err := beneath(m.Path(path))
	if err == nil {
		err = dir.Remove(name)
		_ = dir.Close()
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = syncDir(filepath.Dir(m.Path(path)))
	}
	if err != nil {
		return failed("removing", path, err)
	}
	return nil
}

// Exists reports whether there is something at path.
func (m *Machine) Exists(path string) bool {
	_, err := os.Lstat(m.Path(path))
	return err == nil
}

// Glob returns the paths on the machine that match pattern.
func (m *Machine) Glob(pattern string) ([]string, error) {
	found, err := filepath.Glob(m.Path(pattern))
	if err != nil {
		return nil, fmt.Errorf("looking for %s: %w", pattern, err)
	}
	if m.root == "" {
		return found, nil
	}
	for i, f := range found {
		rel, err := filepath.Rel(m.root, f)
		if err != nil {
			return nil, fmt.Errorf("looking for %s: %w", pattern, err)
		}
		found[i] = "/" + rel
	}
	return found, nil
}

// Free returns how many bytes an unprivileged writer can still put on the file system that holds path.
func (m *Machine) Free(path string) (int64, error) {
	free, _, err := m.Space(path)
	return free, err
}

// Space is Free together with the size of the whole file system.
func (m *Machine) Space(path string) (free, total int64, err error) {
	var st unix.Statfs_t
	if err := unix.Statfs(m.Path(path), &st); err != nil {
		return 0, 0, fmt.Errorf("asking for free space on %s: %w", path, err)
	}
	return int64(st.Bavail) * st.Bsize, int64(st.Blocks) * st.Bsize, nil
}

// BootID names the current boot; it is a different one after each reboot.
func (m *Machine) BootID() (string, error) {
	return m.line("/proc/sys/kernel/random/boot_id")
}

// Hostname returns the name that the kernel has now.
func (m *Machine) Hostname() (string, error) {
	return m.line("/proc/sys/kernel/hostname")
}

func (m *Machine) line(path string) (string, error) {
	b, err := m.ReadFile(path)
	return strings.TrimSpace(string(b)), err
}

// Serial returns the serial number on the machine's type plate, or "" when the firmware has none.
func (m *Machine) Serial() string {
	for _, name := range []string{"product_serial", "chassis_serial", "board_serial"} {
		if s, err := m.line("/sys/class/dmi/id/" + name); err == nil && !Placeholder(s) {
			return s
		}
	}
	return ""
}

// Placeholder tells the texts that makers of boards leave where a serial number belongs.
func Placeholder(serial string) bool {
	s := strings.ToLower(strings.Trim(serial, " .0-"))
	switch s {
	case "", "none", "n/a", "na", "unknown", "default string", "default", "system serial number", "chassis serial number",
		"base board serial number", "to be filled by o.e.m", "to be filled by oem", "not specified", "not applicable",
		"not available", "not provided", "not present", "not set", "no serial number", "none provided", "invalid", "oem", "empty", "null",
		"undefined", "serial", "serial number", "serialnumber":
		return true
	}
	const inOrder = "123456789012345678901234567890" // as 01234567890123456789AB
	digits := strings.TrimRight(s, "abcdef")         // of "1ABCDEF", a serial number that a maker may give, only one
	return len(s) > 3 && strings.Trim(s, s[:1]) == "" || len(digits) > 5 && strings.HasPrefix(inOrder, digits)
}

// failed is why something could not be done to a path of the machine, in a form from which a problem names the path.
func failed(what, path string, err error) error {
	return &fs.PathError{Op: what, Path: path, Err: cause(err)}
}

// cause drops the path that os put into err: ours, without the root of a test, is in the text already.
func cause(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err
	}
	if l, ok := errors.AsType[*os.LinkError](err); ok {
		return l.Err
	}
	return err
}
