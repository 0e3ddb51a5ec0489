package tui

import (
	"errors"
	"io"
	"os"
	"time"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
	"golang.org/x/sys/unix"
)

const (
	// joinWait is how long the bytes of one key may be apart. Service processors pass them on one by one.
	joinWait = 200 * time.Millisecond
	// hands is what two keys are apart at least when a person types them. What comes faster was pasted, or typed ahead.
	hands = 30 * time.Millisecond
	// pasteGap is how long a paste may stall in the middle: a line over a network stalls, and so does a busy machine.
	pasteGap = time.Second
	// showAfter and showBytes are when a paste that still goes on is shown so far.
	showAfter = 100 * time.Millisecond
	showBytes = 16 << 10
)

// input reads a terminal. It tells keys that a person presses from what comes faster than hands type.
type input struct {
	in           *os.File
	stopR, stopW *os.File
	hands        time.Duration
	now          func() time.Time
	pasted       time.Time // when the last batch came; zero when a key was pressed since
	decoder
}

// newInput reads in, a line of so many baud, or 0 when it has no speed.
func newInput(in *os.File, baud int) (*input, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	i := &input{in: in, stopR: r, stopW: w, hands: hands, now: time.Now}
	if baud > 0 { // a character has ten bits, and a paste no pauses
		i.hands = max(hands, 30*time.Second/time.Duration(baud))
	}
	return i, nil
}

// close ends run. The terminal stays open.
func (i *input) close() { _ = i.stopW.Close() }

// run sends what is typed until close is called or the line hangs up, which it tells.
func (i *input) run(send func(tea.Msg), hung func()) {
	buf := make([]byte, 4096)
	goesOn := false // what was sent last was not followed by a pause
	for {
		wait := time.Duration(-1)
		switch {
		case i.unfinished():
			wait = joinWait
		case goesOn:
			wait = i.hands
		}
		n, err := i.read(buf, wait)
		i.feed(buf[:n])
		began, paused := i.now(), n == 0 && err == nil
		if paused {
			i.rest()
		}
		for size := n; err == nil && !paused; size += n {
			// Time alone proves no paste: a busy machine may run this late. What follows the first bytes, or does not, is looked at.
			if size >= showBytes || size > n && i.now().Sub(began) >= showAfter && !i.inKey() {
				break
			}
			if wait = i.hands; i.unfinished() {
				wait = joinWait
			}
			n, err = i.read(buf, wait)
			i.feed(buf[:n])
			if paused = n == 0; paused {
				i.rest()
			}
		}
		if msg := typed(i.take(), !goesOn, paused); msg != nil {
			send(i.joined(msg, i.now()))
		}
		if err != nil {
			if !errors.Is(err, errStopped) {
				hung()
			}
			return
		}
		goesOn = !paused
	}
}

// joined makes a batch the continuation of the one before, when that ended a moment ago: what is refused is refused as a whole.
func (i *input) joined(msg tea.Msg, now time.Time) tea.Msg {
	b, ok := msg.(batchMsg)
	if !ok {
		i.pasted = time.Time{}
		return msg
	}
	b.first = b.first && now.Sub(i.pasted) > pasteGap
	i.pasted = now
	return b
}

// typed is the message for items that came together: one key, or a batch of them. first is false when they go on from the
// batch before, and last is false when more came behind them without a pause: a key with no pause on both sides was not pressed by hand.
func typed(items []item, first, last bool) tea.Msg {
	if len(items) == 0 {
		return nil
	}
	if one := items[0]; len(items) == 1 && first && last && one != (item{}) {
		r, n := utf8.DecodeRuneInString(one.text)
		switch {
		case one.text == "":
			return one.key
		case n == len(one.text):
			return tea.KeyPressMsg{Code: r, Text: one.text}
		}
	}
	return batchMsg{items, first}
}

// errStopped is what a read returns behind close.
var errStopped = errors.New("stopped")

// read waits for input as long as it takes when wait is negative; after wait it returns 0 bytes.
func (i *input) read(p []byte, wait time.Duration) (int, error) {
	ms := -1
	if wait >= 0 {
		ms = int(wait / time.Millisecond)
	}
	fds := []unix.PollFd{
		{Fd: int32(i.in.Fd()), Events: unix.POLLIN},
		{Fd: int32(i.stopR.Fd()), Events: unix.POLLIN},
	}
	for {
		n, err := unix.Poll(fds, ms)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil:
			return 0, err
		case n == 0:
			return 0, nil
		case fds[1].Revents != 0:
			return 0, errStopped
		}
		got, err := unix.Read(int(i.in.Fd()), p)
		switch {
		case errors.Is(err, unix.EINTR), errors.Is(err, unix.EAGAIN):
			continue
		case err != nil || got <= 0:
			return 0, io.EOF
		}
		return got, nil
	}
}
