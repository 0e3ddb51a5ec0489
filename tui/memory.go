package tui

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// memory is whether a line wants plain text, kept over restarts. It lies where the unit of a console may write.
type memory struct{ dir string }

// file is where it is kept for a console; "" for a window, whose number is another one's tomorrow.
func (m memory) file(console string) string {
	if m.dir == "" || console == "" || strings.ContainsAny(console, "/ ") {
		return ""
	}
	return filepath.Join(m.dir, "touchdown-plain-"+console)
}

// plain reports whether the line wants plain text. Others may write in the folder: what they put there says nothing.
func (m memory) plain(console string) bool {
	info, err := os.Lstat(m.file(console))
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid()
}

// set keeps it. What cannot be kept is not: the person chooses again.
func (m memory) set(console string, plain bool) {
	file := m.file(console)
	if file == "" {
		return
	}
	if !plain {
		if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return
		}
		return
	}
	if f, err := os.OpenFile(file, os.O_CREATE|os.O_EXCL|os.O_WRONLY|syscall.O_NOFOLLOW, 0o600); err == nil {
		_ = f.Close()
	}
}
