package tui

import (
	"slices"
	"strings"
	"testing"

	"touchdown/steps/engine"
)

// fresh is a console that was just opened: nobody has pressed a key at it.
func fresh(t *testing.T, edits ...func(*engine.Snapshot)) *bench {
	t.Helper()
	b := newBench(t, 80, 24, edits...)
	b.app.link.release()
	b.app.held = false
	b.fake.tokens = 0
	b.refresh()
	return b
}

// TestFirstKeyTakesThePen: a console at which nobody sits leaves the pen where it is, and the first key of a person both
// takes it and does what it does.
func TestFirstKeyTakesThePen(t *testing.T) {
	b := fresh(t)
	b.run(b.app.Init())
	b.refresh()
	b.shows("nobody has the pen, any key takes it")
	if b.fake.tokens != 0 {
		t.Fatal("the pen was taken without anybody at the console")
	}
	b.golden("pen-free")
	b.press("ctrl+l")
	if b.fake.tokens != 0 {
		t.Error("drawing the screen again took the pen")
	}
	b.press("c")
	b.shows("you have the pen")
	b.shows("Base domain")
	if b.fake.tokens != 1 {
		t.Errorf("the pen was taken %d times", b.fake.tokens)
	}
}

// TestTypedAhead: what is typed while the pen is on its way is not lost, and stays in its order.
func TestTypedAhead(t *testing.T) {
	b := fresh(t)
	_, take := b.app.Update(keyPress("c"))
	for _, k := range []string{"ctrl+u", "T", "q", "tab"} {
		if _, cmd := b.app.Update(keyPress(k)); cmd != nil {
			b.run(cmd)
		}
	}
	b.run(take)
	if !slices.Equal(b.fake.sets, []string{"spec.clusterName=Tq"}) {
		t.Errorf("set %q", b.fake.sets)
	}
}

// TestTAloneTakesAFreePen: whoever knows the key may use it, and it is no letter then.
func TestTAloneTakesAFreePen(t *testing.T) {
	b := fresh(t, func(s *engine.Snapshot) { s.Stages = s.Stages[1:] }) // the first page has a text in focus
	b.press("T")
	b.shows("you have the pen")
	b.shows("[sno-042 ")
}

// TestSomebodyWasFaster: the key does nothing then, and the screen says whose turn it is.
func TestSomebodyWasFaster(t *testing.T) {
	b := fresh(t)
	if _, err := b.fake.TakePen(t.Context(), "tty1", false); err != nil {
		t.Fatal(err)
	}
	b.press("c")
	b.shows("tty1 has the pen. Press T to take over.")
	if strings.Contains(b.screen(), "Base domain") {
		t.Errorf("the key went on without the pen:\n%s", b.screen())
	}
	b.press("c") // to look is free
	b.shows("Base domain")
}

// TestOwnPenOfBefore: a console that was started anew is not told that it has to take the pen over from itself.
func TestOwnPenOfBefore(t *testing.T) {
	b := fresh(t)
	b.fake.change(func(s *engine.Snapshot) { s.Pen.Holder = "ttyS0" })
	b.refresh()
	b.shows("nobody has the pen, any key takes it")
}

// TestPlainTakesNothingUnasked: a line terminal nobody types at leaves the pen, in a question too.
func TestPlainTakesNothingUnasked(t *testing.T) {
	f := newFake()
	asking(&f.snap)
	p, _ := startPlain(t, f)
	defer p.in.Close()
	p.printed(t, "Press Enter to take the pen:")
	if s, err := f.Snapshot(t.Context()); err != nil || s.Pen.Holder != "" {
		t.Errorf("before a key was pressed the pen is with %q, %v", s.Pen.Holder, err)
	}
	p.after(t, "", "")
	p.after(t, "Keep the new settings", "1")
	f.did(t, engine.Reply)
}
