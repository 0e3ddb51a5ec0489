package host

import (
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// Inherits tells whether the file at path has the SELinux type that its folder gives to a new one. A file that was moved there
// keeps the type of where it was made: systemd runs no program that came from a home folder, and other services may not read
// such a file. Without labels there is nothing to differ.
func Inherits(m *Machine, path string) bool {
	file, folder := labelType(m.Path(path)), labelType(filepath.Dir(m.Path(path)))
	return file == "" || folder == "" || file == folder
}

// labelType is the third part of a label: user, role, type and level have colons between them.
func labelType(path string) string {
	label := make([]byte, 256)
	n, err := unix.Getxattr(path, "security.selinux", label)
	if err != nil {
		return ""
	}
	parts := strings.Split(strings.TrimRight(string(label[:n]), "\x00"), ":")
	if len(parts) < 3 {
		return ""
	}
	return parts[2]
}
