package tui

import (
	"context"
	"io"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/creack/pty"

	"touchdown/test/wait"
)

// busyModel is in the middle of something until it may go on.
type busyModel struct {
	painted
	begun, goOn chan struct{}
}

func (b busyModel) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	select {
	case <-b.begun:
	default:
		close(b.begun)
	}
	<-b.goOn
	_, cmd := b.painted.Update(msg)
	return b, cmd
}

// TestAStoppedConsoleEnds: SIGTERM ends the context that a console is given. With a second handler of the signal, the library's own, a
// console that was busy at that moment never ended: it waited for that handler, and that for the console.
func TestAStoppedConsoleEnds(t *testing.T) {
	caught := make(chan os.Signal, 1)
	signal.Notify(caught, syscall.SIGTERM)
	defer signal.Stop(caught)
	for range 20 {
		keyboard, tty, err := pty.Open()
		if err != nil {
			t.Fatal(err)
		}
		go io.Copy(io.Discard, keyboard) // until it is closed
		begun, goOn := make(chan struct{}), make(chan struct{})
		o := Options{Name: "ttyS0", In: tty, Out: tty, Memory: t.TempDir()}
		o.model = func(m tea.Model) tea.Model { return busyModel{m.(painted), begun, goOn} }
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- onScreen(ctx, newFake(), o.complete()) }()
		<-begun
		if err := syscall.Kill(os.Getpid(), syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		<-caught
		for range 1000 { // whoever else has caught it goes on
			runtime.Gosched()
		}
		cancel()
		close(goOn)
		wait.Until(t, "the end of a console that was stopped", func() bool { return len(ended) > 0 })
		if err := <-ended; err != nil {
			t.Error(err)
		}
		keyboard.Close() // the line hangs up, which ends what still reads
	}
}
