package tui

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"touchdown/backend/message"
	"touchdown/backend/problem"
	"touchdown/steps"
	"touchdown/steps/chosen"
	"touchdown/steps/session"
	"touchdown/steps/view"
	"touchdown/test/wait"
)

// atCard goes to the field that has the machine do something.
func atCard(b *bench) {
	b.press("c", "tab", "'example.com", "tab", "tab", "tab", "enter")
	b.shows("> Network port")
}

// asked waits until the machine was asked to do something for the values, in this order.
func (b *bench) asked(want ...string) {
	b.t.Helper()
	wait.Soon(b.t, 5*time.Second, "the machine to be asked", func() error {
		var got []string
		b.fake.mu.Lock()
		for _, a := range b.fake.actions {
			if a.Verb == session.Act && a.Path == "spec.network.interface" {
				got = append(got, a.Value)
			}
		}
		b.fake.mu.Unlock()
		if !slices.Equal(got, want) {
			return fmt.Errorf("asked for %q, want %q", got, want)
		}
		return nil
	})
}

// TestAct: the value in the field, and one that is only pointed at in the list, can be tried out; the screen tells it.
func TestAct(t *testing.T) {
	b := newBench(t, 80, 24)
	atCard(b)
	b.press("a")
	b.shows("eno1: its LED blinks for 10 seconds.")
	b.golden("act")
	b.asked("eno1")
	b.press("a") // it blinks already
	b.press("enter", "down")
	b.press("a")
	b.shows("eno2: its LED blinks for 10 seconds.")
	b.asked("eno1", "eno2")
	b.golden("act-pick")
	if len(b.fake.sets) != 1 { // the base domain's
		t.Errorf("trying a value chose it: %q", b.fake.sets)
	}
	b.press("enter")
	b.shows("< eno2, no link >")
	if sets := b.fake.sets; sets[len(sets)-1] != "spec.network.interface=eno2" {
		t.Errorf("nothing was chosen while the LED blinked: %q", sets)
	}
}

// TestActEnds: the sentence goes when it is over; what could not be done is told with what to try instead.
func TestActEnds(t *testing.T) {
	over := func(b *bench, value string, failed error) {
		b.app.Update(actMsg{b.app.link.look(), session.Action{Verb: session.Act, Path: "spec.network.interface", Value: value}, failed})
	}
	b := newBench(t, 80, 24)
	atCard(b)
	b.press("a")
	over(b, "eno2", nil) // the one before
	b.shows("eno1: its LED")
	over(b, "eno1", nil)
	if strings.Contains(b.screen(), "its LED") {
		t.Errorf("it is over:\n%s", b.screen())
	}
	b.press("a")
	over(b, "eno1", &problem.Problem{
		Code: "NET-LED", Summary: message.T("The driver of eno1 cannot blink its LED."), Fix: message.T("Find the port by its MAC on the sticker."),
	})
	b.shows("! The driver of eno1 cannot blink its LED. Find the port by its")
	b.shows("MAC on the sticker.")
	b.golden("act-failed")
	b.press("tab")
	if strings.Contains(b.screen(), "its LED") {
		t.Errorf("the next field is about something else:\n%s", b.screen())
	}
}

// TestActNeedsThePen: who only watches has nothing done.
func TestActNeedsThePen(t *testing.T) {
	b := newBench(t, 80, 24, func(s *view.Snapshot) { s.Control = view.Control{Holder: "tty1", Since: epoch} })
	b.press("c", "c", "a", "down", "a", "enter", "a")
	b.shows("Network port")
	b.asked()
}

// TestButtonsOwnTheirKeys: no two buttons of a page have one key, in any language, and "a" does what the field says that was in focus last;
// the other one is reached by Tab and Enter.
func TestButtonsOwnTheirKeys(t *testing.T) {
	const medium, port = "medium.volume", "spec.network.interface"
	for _, language := range Languages() {
		t.Run(language, func(t *testing.T) {
			t.Cleanup(func() { here.Store(nil) })
			b := newBenchIn(t, language, 80, 24, []func(*view.Snapshot){withStickAndPorts, func(s *view.Snapshot) {
				step := at(s, "network-settings")
				step.Fields = append([]view.Field{{
					Path: medium, Kind: steps.Pick, Label: message.Data("Medium"), Help: message.Data("Choose one."), Visible: true, Value: "sdb1",
					Choices: []steps.Choice{{Value: "sdb1", Label: message.Data("sdb1")}},
					Act:     &steps.Act{Label: message.Data("Take it"), Doing: message.Data("it is read")},
				}}, step.Fields...)
			}})
			for _, stage := range b.app.snap.Stages {
				b.app.goTo(stage.ID)
				b.app.followJob()
				f, ok := b.app.page.(*form)
				if !ok {
					continue
				}
				for _, v := range f.fields() {
					f.focus(v.Path)
					f.focus("")
					owner := map[string]string{}
					for _, one := range f.buttons() {
						for _, name := range one.key.Keys() {
							if other, ok := owner[name]; ok {
								t.Errorf("%s: %q is the key of %q and of %q", stage.ID, name, other, one.label)
							}
							owner[name] = one.label
						}
					}
				}
			}
			b.app.goTo("network")
			b.app.followJob()
			f := b.app.page.(*form)
			for _, path := range []string{port, medium} {
				f.focus(path)
				f.focus("")
				b.press("a")
				if f.aside.path != path {
					t.Errorf("after %s, a does something for %q", path, f.aside.path)
				}
				f.aside = aside{}
			}
			f.row.at = slices.IndexFunc(f.buttons(), func(b button) bool { return b.label == "Take it" }) + 1
			b.press("enter")
			if f.aside.path != port {
				t.Errorf("the button without a key does something for %q", f.aside.path)
			}
		})
	}
}

// TestActPlain: a line terminal names the choice and waits.
func TestActPlain(t *testing.T) {
	f := newFake()
	p, _ := startPlain(t, f)
	p.after(t, "Type control to take control:", "control")
	p.after(t, "Cluster name [sno-042]:", "")
	p.after(t, "Base domain []:", "example.com")
	p.after(t, "Pull secret []:", "")
	p.after(t, "API certificate []:", "")
	p.after(t, "a1, a2 and so on: Blink LED.", "a2")
	f.acting <- nil
	p.after(t, "eno2: its LED blinks for 10 seconds.", "a1")
	f.acting <- &problem.Problem{Summary: message.T("The driver of eno1 cannot blink its LED."), Fix: message.T("Find it by its MAC.")}
	p.after(t, "! The driver of eno1 cannot blink its LED. Find it by its MAC.", "")
	p.in.Close()
}

// TestBundleGoesOntoAStick: where one is in the machine, else onto the disk; line mode prints it for a record.
func TestBundleGoesOntoAStick(t *testing.T) {
	b := newBench(t, 80, 24, failed)
	b.now = b.now.Add(2 * time.Second)
	b.fake.stick = &chosen.Saved{Volume: "MINE (sdb1)", File: "touchdown-support.tar.gz", Bytes: 5 << 10, SHA256: strings.Repeat("0a", 32)}
	b.press("p", "enter")
	b.shows("Support bundle: MINE (sdb1) touchdown-support.tar.gz, 6 kB")
	half := "  0a0a0a0a  0a0a0a0a  0a0a0a0a  0a0a0a0a"
	b.shows("All of its SHA-256:")
	if n := strings.Count(b.screen(), half); n != 2 {
		t.Errorf("%d halves of the SHA-256", n)
	}
	b.press("enter")
	b.fake.stick = nil
	b.press("p", "enter")
	b.shows("Support bundle: /var/tmp")

	f := newFake()
	f.change(failed)
	p, _ := startPlain(t, f)
	p.after(t, "to take control", "control")
	p.printed(t, "Support summary on this line")
	f.stick = &chosen.Saved{Volume: "MINE (sdb1)", File: "touchdown-support.tar.gz", Bytes: 5 << 10, SHA256: strings.Repeat("0a", 32)}
	p.after(t, "Number: ", "5")
	p.printed(t, "All of its SHA-256:")
	p.printed(t, half)
	p.after(t, "Number: ", "8")
	p.printed(t, "Record this terminal")
	p.printed(t, "bundle")
}
