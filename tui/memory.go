package tui

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// What a line can be remembered to want.
const (
	wantsLines = "plain"
	wantsBasic = "basic"
	wantsRich  = "rich"
)

// memory is what a person chose for a line, kept over restarts. It lies where the unit of a console may write.
type memory struct{ dir string }

// file is where it is kept for a console; "" for a window, whose number is another one's tomorrow.
func (m memory) file(console, what string) string {
	if m.dir == "" || console == "" || strings.ContainsAny(console, "/ ") {
		return ""
	}
	return filepath.Join(m.dir, "touchdown-"+what+"-"+console)
}

// has reports whether a line wants something. Others may write in the folder: what they put there says nothing.
func (m memory) has(console, what string) bool {
	info, err := os.Lstat(m.file(console, what))
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid()
}

// set keeps it. What cannot be kept is not: the person chooses again.
func (m memory) set(console, what string, on bool) {
	file := m.file(console, what)
	if file == "" {
		return
	}
	if !on {
		if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return
		}
		return
	}
	if f, err := os.OpenFile(file, os.O_CREATE|os.O_EXCL|os.O_WRONLY|syscall.O_NOFOLLOW, 0o600); err == nil {
		_ = f.Close()
	}
}

// theme is the mode of a line that has screens: what a person chose there, else what was detected.
func (m memory) theme(console string, detected Mode) Mode {
	switch {
	case detected == Line:
	case m.has(console, wantsBasic):
		return Basic
	case m.has(console, wantsRich):
		return Rich
	}
	return detected
}

// setTheme keeps which of the two a person chose.
func (m memory) setTheme(console string, basic bool) {
	m.set(console, wantsBasic, basic)
	m.set(console, wantsRich, !basic)
}
