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
}

// asItIs is what is remembered for a line whose keyboard a person left unchanged. No layout has this name.
const asItIs = "-"

// firstLayouts stand first, because a list of some hundred is long.
var firstLayouts = []string{"de", "fr", "us"}

// keyboardTimeout bounds a look at the layouts, and the loading of one.
const keyboardTimeout = 15 * time.Second

// keyboard is what a console knows of the keyboard in front of it.
type keyboard struct {
	of      Keyboard // nil: it belongs to another machine, such as that of an SSH client
	layouts []string // none until they are known
	chosen  string   // what was chosen for this line; "": nothing yet
}

// start finds out which layouts there are, and loads the one that a person chose before, which the kernel forgets when it boots.
func (k keyboard) start(ctx context.Context) keyboardMsg {
	ctx, cancel := context.WithTimeout(ctx, keyboardTimeout)
	defer cancel()
	layouts, err := k.of.Layouts(ctx)
	slices.SortStableFunc(layouts, func(a, b string) int { return first(a) - first(b) })
	switch {
	case k.chosen == "" || k.chosen == asItIs:
		err = nil // nothing was expected, and many machines have no layouts
	case err == nil:
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
	ctx, cancel := context.WithTimeout(ctx, keyboardTimeout)
	defer cancel()
	return keyboardMsg{k.layouts, layout, k.of.Use(ctx, layout)}
}
