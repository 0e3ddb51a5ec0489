package tui

import (
	"cmp"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// What a person can choose for a line.
const (
	ofMode     = "mode"     // wantsLines; else the line has screens, if it can
	ofTheme    = "theme"    // wantsBasic or wantsRich
	ofLanguage = "language" // a code
	ofKeyboard = "keyboard" // the name of a layout, or asItIs
)

// allScreens stands for a console's name in what is remembered of the keyboard: the machine's screens share it, and the last choice at
// any of them counts.
const allScreens = "screens"

const (
	wantsLines = "plain"
	wantsBasic = "basic"
	wantsRich  = "rich"
)

// longestChoice is more than any choice has.
const longestChoice = 64

// memory is what a person chose for a line, kept over restarts. It lies where the unit of a console may write.
type memory struct{ dir string }

// file is where it is kept for a console; "" for a window, whose number is another one's tomorrow.
func (m memory) file(console, what string) string {
	if m.dir == "" || console == "" || strings.ContainsAny(console, "/ ") {
		return ""
	}
	return filepath.Join(m.dir, "touchdown-"+what+"-"+console)
}

// get is what was chosen, or "". Others may write in the folder: what they put there says nothing, and cannot make it wait.
func (m memory) get(console, what string) string {
	f, err := os.OpenFile(m.file(console, what), os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return ""
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return ""
	}
	if st, ok := info.Sys().(*syscall.Stat_t); !ok || int(st.Uid) != os.Geteuid() {
		return ""
	}
	value, err := io.ReadAll(io.LimitReader(f, longestChoice))
	if err != nil {
		return ""
	}
	return string(value)
}

// keep keeps a choice, or forgets it when it is "". What cannot be kept is not: the person chooses again.
func (m memory) keep(console, what, value string) {
	file := m.file(console, what)
	if file == "" || m.get(console, what) == value && value != "" {
		return
	}
	if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) || value == "" {
		return
	}
	if f, err := os.OpenFile(file, os.O_CREATE|os.O_EXCL|os.O_WRONLY|syscall.O_NOFOLLOW, 0o600); err == nil {
		_, _ = f.WriteString(value)
		_ = f.Close()
	}
}

// language is the code of the language that was asked for, else what a person chose for the line, else what the environment says.
func (m memory) language(console, asked string) string {
	if chosen := m.get(console, ofLanguage); asked == "" && slices.Contains(Languages(), chosen) {
		return chosen
	}
	code, err := Language(asked)
	if err != nil {
		return mother
	}
	return code
}

// theme is the mode of a line that has screens: what a person chose there, else what was detected.
func (m memory) theme(console string, detected Mode) Mode {
	switch chosen := m.get(console, ofTheme); {
	case detected == Line:
		return detected
	case chosen == wantsBasic:
		return Basic
	case chosen == wantsRich:
		return Rich
	}
	return detected
}

// layout is the keyboard layout that was chosen last at any of the machine's screens. An earlier release kept it for each console.
func (m memory) layout(console string) string {
	return cmp.Or(m.get(allScreens, ofKeyboard), m.get(console, ofKeyboard))
}

// setMode keeps whether a person wants plain text there.
func (m memory) setMode(console string, plain bool) {
	if plain {
		m.keep(console, ofMode, wantsLines)
	} else {
		m.keep(console, ofMode, "")
	}
}

// setTheme keeps which of the two a person chose.
func (m memory) setTheme(console string, basic bool) {
	if basic {
		m.keep(console, ofTheme, wantsBasic)
	} else {
		m.keep(console, ofTheme, wantsRich)
	}
}
