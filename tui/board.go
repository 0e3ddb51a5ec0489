package tui

import (
	"context"
	"slices"
	"time"
)

// Keyboard is the keyboard at a screen of this machine.
type Keyboard interface {
	Layouts(context.Context) ([]string, error)    // names of those that the machine has
	Use(ctx context.Context, layout string) error // until the machine boots
	Types(console string) bool                    // whether a console is at a screen of this machine: all its screens share one keyboard
}

// asItIs is what is remembered where a person left the keyboard unchanged. No layout has this name.
const asItIs = "-"

// firstLayouts stand first, because a list of some hundred is long.
var firstLayouts = []string{"de", "fr", "us"}

// keyboardTimeout bounds a look at the layouts, and the loading of one. Line mode waits for both.
const keyboardTimeout = 5 * time.Second

// keyboard is what a console knows of the keyboard in front of it.
type keyboard struct {
	of      Keyboard // nil: it belongs to another machine, such as that of an SSH client
	layouts []string // none until they are known
	chosen  string   // what was chosen for the machine's screens; "": nothing yet
	asks    bool     // a person took control, and pressed no key since
}

// start finds out which layouts there are, and loads the one that a person chose before, which the kernel forgets when it boots.
func (k keyboard) start(ctx context.Context) keyboardMsg {
	msg := soon(ctx, k.begin, keyboardMsg{})
	if k.chosen == "" || k.chosen == asItIs {
		msg.failed = nil // nothing was expected, and many machines have no layouts
	}
	return msg
}

// soon returns late in place of what takes too long: a program that the kernel does not let go, on a disk that dies, ends by no signal.
func soon(ctx context.Context, do func(context.Context) keyboardMsg, late keyboardMsg) keyboardMsg {
	ctx, cancel := context.WithTimeout(ctx, keyboardTimeout)
	defer cancel()
	done := make(chan keyboardMsg, 1)
	go func() { done <- do(ctx) }()
	select {
	case msg := <-done:
		return msg
	case <-ctx.Done():
		late.failed = ctx.Err()
		return late
	}
}

func (k keyboard) begin(ctx context.Context) keyboardMsg {
	layouts, err := k.of.Layouts(ctx)
	slices.SortStableFunc(layouts, func(a, b string) int { return first(a) - first(b) })
	if err == nil && k.chosen != "" && k.chosen != asItIs {
		err = k.of.Use(ctx, k.chosen)
	}
	return keyboardMsg{layouts: layouts, failed: err}
}

// first is the place of a layout among the common ones, and the same for all others.
func first(layout string) int {
	if i := slices.Index(firstLayouts, layout); i >= 0 {
		return i
	}
	return len(firstLayouts)
}

// use loads a layout that a person chose.
func (k keyboard) use(ctx context.Context, layout string) keyboardMsg {
	return soon(ctx, func(ctx context.Context) keyboardMsg {
		return keyboardMsg{k.layouts, layout, k.of.Use(ctx, layout)}
	}, keyboardMsg{layouts: k.layouts, chosen: layout})
}
