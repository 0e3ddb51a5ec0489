package tui

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"touchdown/steps/engine"
)

// ErrHungUp is returned by Run when the line is gone. The work goes on without it.
var ErrHungUp = errors.New("the console's line hung up")

// Mode is how much the terminal can show.
type Mode int

// The modes.
const (
	Auto   Mode = iota // Basic on serial lines, Colour on kernel consoles and where TERM has colours
	Basic              // ASCII, bold and reverse
	Colour             // ASCII frames, eight colours
	Line               // numbered prompts, for terminals that cannot place the cursor
)

// Options say where and how the console runs.
type Options struct {
	Name    string                       // of this console, unique on the machine: "tty1", "ttyS0", "ssh pts/3"
	In, Out *os.File                     // the terminal; standard input and output when nil
	Mode    Mode                         //
	Support string                       // whom to call, as help shows it
	Clock   func() time.Time             // time.Now when nil
	Save    func([]byte) (string, error) // keeps a support bundle and says where; a file in /var/tmp when nil
}

// Run shows the wizard until ctx ends, a person leaves, or the line hangs up. It never ends because of the engine:
// while that does not answer it says so and tries again.
func Run(ctx context.Context, session engine.Session, o Options) error {
	o = o.complete()
	if o.Mode == Line {
		return Plain(ctx, session, o.Name, o.In, o.Out)
	}
	line, err := openTerminal(o.In, o.Out)
	if err != nil {
		return err
	}
	defer line.close()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	every := time.Second
	if line.baud > 0 {
		every = 3 * time.Second
	}
	w, h := line.size()
	painter := newPainter(o.Out, false, line.baud)
	link := newLink(ctx, session, o.Name, every)
	root := newApp(newDesk(link, o), w, h, every)

	input, err := newInput(o.In, line.baud)
	if err != nil {
		return fmt.Errorf("preparing the terminal: %w", err)
	}
	defer input.close()
	program := tea.NewProgram(painted{root, painter},
		tea.WithContext(ctx), tea.WithInput(nil), tea.WithOutput(io.Discard), tea.WithoutRenderer(),
		tea.WithWindowSize(w, h), tea.WithColorProfile(colorprofile.ASCII))
	stop := line.resized(w, h, func(w, h int) { program.Send(resizedMsg{w, h}) })
	defer stop()
	painting, done := paintUntil(painter)
	go link.follow()
	go input.run(program.Send, func() { cancel(ErrHungUp) })
	_, err = program.Run()
	painting()
	<-done
	link.release()
	painter.leave(root.h)
	return outcome(ctx, err)
}

// painted is the app with the painter behind its View, in the place of Bubble Tea's renderer.
type painted struct {
	*app
	painter *painter
}

// Update implements tea.Model.
func (p painted) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	_, cmd := p.app.Update(msg)
	return p, cmd
}

// View implements tea.Model.
func (p painted) View() tea.View {
	v := p.app.View()
	f := frame{page: page{lines: strings.Split(v.Content, "\n")}, w: p.w, h: p.h, wipe: p.wipe, ascii: p.basic}
	if v.Cursor != nil {
		f.x, f.y = v.Cursor.X, v.Cursor.Y
	}
	p.painter.show(f)
	return v
}

// paintUntil paints in the background until stop is called; done is closed after the last frame.
func paintUntil(p *painter) (stop func(), done chan struct{}) {
	ctx, stop := context.WithCancel(context.Background())
	done = make(chan struct{})
	go func() {
		defer close(done)
		p.run(ctx)
	}()
	return stop, done
}

// outcome is why the console ended: nil when someone wanted it to.
func outcome(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); errors.Is(cause, ErrHungUp) {
		return cause
	}
	if err == nil || ctx.Err() != nil || errors.Is(err, tea.ErrInterrupted) {
		return nil
	}
	return fmt.Errorf("console: %w", err)
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

// detect chooses a mode by the kind of line first: TERM is often wrong on consoles.
func detect(fd int, name string) Mode {
	switch {
	case name == "dumb":
		return Line
	case kernelConsole(fd):
		return Colour
	case old(name) || os.Getenv("NO_COLOR") != "":
		return Basic
	}
	return Colour
}

// old reports whether a terminal of that name may have neither colours nor UTF-8, as serial lines are told to be.
func old(name string) bool {
	return name == "" || name == "vt220" || name == "vt102" || name == "vt100"
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
