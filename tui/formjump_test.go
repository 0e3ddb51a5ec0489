package tui

import (
	"slices"
	"strings"
	"testing"

	"touchdown/steps/view"
)

// longReason is why a value is refused, on three rows of 80 columns in each spacing.
var longReason = strings.Repeat("reason ", 16) + "ends"

// TestFormDoesNotJump: a reason that is longer than the help of its field changes no row above the field, in any language. With the focus on the
// field, a page that has no room for all of it scrolls as far as the page goes, and no further.
func TestFormDoesNotJump(t *testing.T) {
	for _, language := range Languages() {
		t.Run(language, func(t *testing.T) {
			t.Cleanup(func() { here.Store(nil) })
			b := newBenchIn(t, language, 80, 24, []func(*view.Snapshot){withStickAndPorts})
			if language != "" && language != "en" {
				b.fake.spell = inGerman(true)
				b.refresh()
			}
			refused := 0
			for _, stage := range b.app.snap.Stages {
				b.app.goTo(stage.ID)
				b.app.followJob()
				if f, ok := b.app.page.(*form); ok {
					refused += b.refuseEach(f)
				}
			}
			if refused < 10 {
				t.Errorf("only %d fields were refused", refused)
			}
		})
	}
}

// refuseEach refuses each field of a page in turn, with the focus on it and elsewhere, and returns how many there are.
func (b *bench) refuseEach(f *form) int {
	b.t.Helper()
	list := f.fields()
	for i, v := range list {
		for _, focus := range []string{v.Path, list[0].Path} {
			f.focus(focus)
			before, from := b.rows(), f.scroll.port.YOffset()
			f.refused[v.Path] = longReason
			after, moved := b.rows(), f.scroll.port.YOffset()-from
			_, starts, _ := sheet{values{f}, 80, b.spacing(f)}.body()
			delete(f.refused, v.Path)
			if focus == v.Path && !slices.ContainsFunc(after, func(row string) bool { return strings.HasSuffix(row, "ends") }) {
				b.t.Errorf("%s: the reason is cut off:\n%s", v.Path, strings.Join(after, "\n"))
			}
			if most := starts[len(list)] - f.scroll.port.Height(); moved != 0 && (focus != v.Path || starts[i+1] <= from+f.scroll.port.Height() || moved > most) {
				b.t.Errorf("%s: the page moved by %d rows", v.Path, moved)
			}
			for y := above; y < above+min(starts[i]-from-moved, f.scroll.port.Height()); y++ {
				if moved >= 0 && y+moved < len(before) && before[y+moved] != after[y] {
					b.t.Errorf("%s, focus on %s: row %d was %q and is %q", v.Path, focus, y, before[y+moved], after[y])
				}
			}
		}
	}
	return len(list)
}

// spacing is that of a form on the screen.
func (b *bench) spacing(f *form) spacing {
	buttons, _, _ := f.row.view(f.theme, f.buttons(), f.path == "", b.app.w)
	s := sheet{values{f}, b.app.w, airy}
	for s.spacing != bare && s.usual() > b.app.h-above-below-len(buttons)-1 {
		s.spacing++
	}
	return s.spacing
}

// TestFormInALowWindow: however low the window is, the field in focus is in it, with the cursor on its row.
func TestFormInALowWindow(t *testing.T) {
	for h := above + below + 1; h <= 16; h++ {
		b := newBench(t, 80, h, withStickAndPorts)
		for _, stage := range b.app.snap.Stages {
			b.app.goTo(stage.ID)
			b.app.followJob()
			f, ok := b.app.page.(*form)
			if !ok {
				continue
			}
			for _, v := range f.fields() {
				f.focus(v.Path)
				p := b.app.frame(b.app.top(), 80, h)
				if len(p.lines) != h || !strings.Contains(p.lines[min(p.y, len(p.lines)-1)], marker+" "+cut(show(v.Label), labelMax)) {
					t.Errorf("%d rows: the cursor is in row %d, not at %s:\n%s", h, p.y, v.Path, b.screen())
				}
			}
		}
	}
}
