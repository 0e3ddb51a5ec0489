package tui

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	tea "charm.land/bubbletea/v2"
)

// ErrHungUp is returned by Run when the line is gone. The work goes on without it.
var ErrHungUp = errors.New("the console's line hung up")

// errOther ends the console in one mode because a person wants the other one.
var errOther = errors.New("the other mode is wanted")

// Mode is how much the terminal can show.
type Mode int

// The modes.
const (
	Auto  Mode = iota // Rich on kernel consoles and in terminal windows, else Basic
	Basic             // ASCII, bold and reverse
	Rich              // box drawing, colours, filled bars
	Line              // numbered prompts, for terminals that cannot place the cursor
)

// Options say where and how the console runs.
type Options struct {
	Name     string                       // of this console, unique on the machine: "tty1", "ttyS0", "ssh pts/3"
	In, Out  *os.File                     // the terminal; standard input and output when nil
	Mode     Mode                         //
	Language string                       // code of the console's language, as Language takes it; without one, what a person chose for the line comes before the environment
	Keyboard Keyboard                     // in front of the console; nil when it belongs to another machine
	Support  string                       // whom to call, as help shows it
	Clock    func() time.Time             // time.Now when nil
	Memory   string                       // folder where a line keeps what a person chose for it; "": it is not kept
	Save     func([]byte) (string, error) // keeps a support bundle and says where; a file in /var/tmp when nil

	token *string                   // of control that the console had in its other mode, which goes on with it; nil: there is no other mode
	model func(tea.Model) tea.Model // what a test puts around the program; nil: nothing
}

func (o Options) complete() Options {
	if o.In == nil {
		o.In = os.Stdin
	}
	if o.Out == nil {
		o.Out = os.Stdout
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.Save == nil {
		o.Save = saveBundle
	}
	if o.Name == "" {
		o.Name = "console"
	}
	if o.Mode == Auto {
		o.Mode = detect(int(o.Out.Fd()), os.Getenv("TERM"))
	}
	return o
}

// detect chooses a mode by the kind of line first: TERM is often wrong on consoles. A serial line gets ASCII whatever it says.
func detect(fd int, name string) Mode {
	switch {
	case name == "dumb":
		return Line
	case os.Getenv("NO_COLOR") == "" && (kernelConsole(fd) || pseudo(fd) && window(name) && utf8Locale()):
		return Rich
	}
	return Basic
}

// saveBundle keeps a support bundle where it outlives a reboot, readable by root only.
func saveBundle(data []byte) (string, error) {
	f, err := os.CreateTemp("/var/tmp", "touchdown-support-*.tar.gz")
	if err != nil {
		return "", fmt.Errorf("saving the support bundle: %w", err)
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		_ = os.Remove(f.Name())
		return "", fmt.Errorf("saving the support bundle: %w", err)
	}
	name, err := filepath.Abs(f.Name())
	return t("bundle.where", name, len(data)/1024+1, fmt.Sprintf("%.12x", sha256.Sum256(data))), err
}
