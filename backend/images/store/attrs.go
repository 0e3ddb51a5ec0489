package store

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// maxAttrs is the kernel's own limit for the list of names and for one value, bytes.
const maxAttrs = 64 << 10

// attrs copies what a file has beside its content: owner, mode, extended attributes, times.
type attrs struct {
	umask    uint32 // of this process: with it a new file needs no chmod
	uid, gid uint32 // that a new file gets
	list     []byte
	value    []byte
	other    []byte
}

func newAttrs() *attrs {
	return &attrs{
		umask: umask(), uid: uint32(os.Geteuid()), gid: uint32(os.Getegid()),
		list: make([]byte, maxAttrs), value: make([]byte, maxAttrs), other: make([]byte, 256),
	}
}

// umask reads the process's mask without changing it; unknown is all bits, so that every mode is set by chmod.
func umask() uint32 {
	const unknown = 0o7777
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return unknown
	}
	_, rest, found := strings.Cut(string(status), "Umask:\t")
	value, _, _ := strings.Cut(rest, "\n")
	mask, err := strconv.ParseUint(value, 8, 32)
	if !found || err != nil {
		return unknown
	}
	return uint32(mask)
}

// open puts the attributes of one open file on another that was made with the same mode. The order matters: a change of
// owner takes setuid bits and file capabilities away. Times come last, see times.
func (a *attrs) open(from, to int, st *unix.Stat_t) error {
	if st.Uid != a.uid || st.Gid != a.gid {
		if err := unix.Fchown(to, int(st.Uid), int(st.Gid)); err != nil {
			return fmt.Errorf("setting the owner: %w", err)
		}
	}
	if mode := st.Mode & 0o7777; mode&^a.umask&0o777 != mode || st.Uid != a.uid || st.Gid != a.gid {
		if err := unix.Fchmod(to, mode); err != nil {
			return fmt.Errorf("setting the mode: %w", err)
		}
	}
	return a.extended(from, to)
}

func (a *attrs) extended(from, to int) error {
	n, err := unix.Flistxattr(from, a.list)
	if errors.Is(err, unix.EOPNOTSUPP) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("listing attributes: %w", err)
	}
	for _, name := range names(a.list[:n]) {
		size, err := unix.Fgetxattr(from, name, a.value)
		if err != nil {
			return fmt.Errorf("reading attribute %s: %w", name, err)
		}
		// Under SELinux a new file has a label already, mostly the right one.
		if name == selinux {
			had, err := unix.Fgetxattr(to, name, a.other)
			if err == nil && bytes.Equal(a.other[:had], a.value[:size]) {
				continue
			}
		}
		if err := unix.Fsetxattr(to, name, a.value[:size], 0); err != nil {
			return fmt.Errorf("setting attribute %s: %w", name, err)
		}
	}
	return nil
}

const selinux = "security.selinux"

// named does the same for what can't be opened: links, devices, pipes. Their extended attributes are reached by the path
// of the open folder.
func (a *attrs) named(from, to int, name string, st *unix.Stat_t) error {
	if st.Uid != a.uid || st.Gid != a.gid {
		if err := unix.Fchownat(to, name, int(st.Uid), int(st.Gid), unix.AT_SYMLINK_NOFOLLOW); err != nil {
			return fmt.Errorf("setting the owner: %w", err)
		}
	}
	if st.Mode&unix.S_IFMT != unix.S_IFLNK {
		if err := unix.Fchmodat(to, name, st.Mode&0o7777, 0); err != nil { // made by us a moment ago: no link
			return fmt.Errorf("setting the mode: %w", err)
		}
	}
	if err := a.extendedByPath(inFolder(from, name), inFolder(to, name)); err != nil {
		return err
	}
	return times(to, name, st)
}

func (a *attrs) extendedByPath(from, to string) error {
	n, err := unix.Llistxattr(from, a.list)
	if errors.Is(err, unix.EOPNOTSUPP) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("listing attributes: %w", err)
	}
	for _, name := range names(a.list[:n]) {
		size, err := unix.Lgetxattr(from, name, a.value)
		if err == nil {
			err = unix.Lsetxattr(to, name, a.value[:size], 0)
		}
		if err != nil {
			return fmt.Errorf("copying attribute %s: %w", name, err)
		}
	}
	return nil
}

// times sets the times of access and of change, in nanoseconds, of a name that may be a link.
func times(at int, name string, st *unix.Stat_t) error {
	ts := []unix.Timespec{st.Atim, st.Mtim}
	if err := unix.UtimesNanoAt(at, name, ts, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return fmt.Errorf("setting the times: %w", err)
	}
	return nil
}

func names(list []byte) []string {
	return strings.FieldsFunc(string(list), func(r rune) bool { return r == 0 })
}

// inFolder is the path of a name in an open folder.
func inFolder(fd int, name string) string { return "/proc/self/fd/" + strconv.Itoa(fd) + "/" + name }
