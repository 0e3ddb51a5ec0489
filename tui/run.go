package tui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"touchdown/steps/session"
)

// mostPanics is how often the screens may fail on a line before it gets plain text instead.
const mostPanics = 3

// Run shows the wizard until ctx ends, a person leaves, or the line hangs up. It never ends because of the engine:
// while that does not answer it says so and tries again. A person can change between screens and plain text.
func Run(ctx context.Context, engine session.Session, o Options) error {
	o = o.complete()
	kept := memory{o.Memory}
	plain, panics := o.Mode == Line || kept.get(o.Name, ofMode) == wantsLines, 0
	o.Language, o.token = kept.language(o.Name, o.Language), new(string)
	for {
		var err error
		if plain {
			err = onPaper(ctx, engine, o, panics >= mostPanics)
		} else {
			o.Mode = kept.theme(o.Name, o.Mode)
			err = onScreen(ctx, engine, o)
		}
		o.Language = spoken() // a person may have chosen another one
		switch {
		case errors.Is(err, errOther):
			plain, panics = !plain, 0
			kept.setMode(o.Name, plain)
		case errors.Is(err, tea.ErrProgramPanic) && ctx.Err() == nil:
			panics++
			plain = panics >= mostPanics
		default:
			return err
		}
	}
}

// onScreen is Run with screens.
func onScreen(ctx context.Context, engine session.Session, o Options) error {
	line, err := openTerminal(o.In, o.Out)
	if err != nil {
		return err
	}
	defer line.close()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	every := refresh
	if line.baud > 0 {
		every = 3 * refresh
	}
	w, h := line.size()
	painter := newPainter(o.Out, false, line.baud)
	link := newLink(ctx, engine, o.Name, every)
	root := newApp(newDesk(link, o), w, h, every)

	input, err := newInput(o.In, line.baud)
	if err != nil {
		return fmt.Errorf("preparing the terminal: %w", err)
	}
	defer input.close()
	var model tea.Model = painted{root, painter}
	if o.model != nil {
		model = o.model(model)
	}
	program := tea.NewProgram(model,
		tea.WithContext(ctx), tea.WithoutSignalHandler(), tea.WithInput(nil), tea.WithOutput(io.Discard), tea.WithoutRenderer(),
		tea.WithWindowSize(w, h), tea.WithColorProfile(colorprofile.ASCII))
	stop := line.resized(w, h, func(w, h int) { program.Send(resizedMsg{w, h}) })
	defer stop()
	painting, done := paintUntil(painter)
	defer root.seen.begin(link.ctx)()
	go link.follow()
	go input.run(program.Send, func() { cancel(ErrHungUp) })
	_, err = program.Run()
	painting()
	<-done
	if root.wantsPlain && err == nil {
		err = errOther
	}
	root.ends(o, err)
	_, secret := root.top().(*logIn)
	var last []string
	if err == nil { // a picture would seem to wait for keys
		last = wrap(t("leave.left"), root.w, "")
	}
	if secret || len(last) > 0 { // a service that is stopped leaves its last picture
		painter.erase(root.h)
	}
	painter.leave(root.h, last...)
	if errors.Is(err, errOther) {
		return err
	}
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
	if p.basic {
		f.late = p.late
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
