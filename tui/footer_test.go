package tui

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"charm.land/bubbles/v2/key"
)

// afterKeys is a bench on the page of a scene, after keys, and a text of all that they did.
func afterKeys(t *testing.T, s scene, keys ...string) (*bench, string) {
	b := newBench(t, 80, 24, s.edits...)
	b.press(s.keys...)
	b.now = b.now.Add(2 * time.Second) // past the second in which a page that decides ignores Enter
	b.app.View()
	b.press(keys...)
	screen := b.screen()
	b.fake.mu.Lock() // an action may be under way yet
	defer b.fake.mu.Unlock()
	return b, fmt.Sprint(screen, b.fake.actions, b.app.wantsPlain, b.app.wipe, b.fake.snap.Control)
}

// actsOn tells whether a key does something on the page of a scene, which is before without it.
func actsOn(t *testing.T, s scene, before, name string) bool {
	_, after := afterKeys(t, s, name)
	return before != after
}

// pressable are the keys of a binding that a bench can press. The arrows stand in the footer as pairs.
func pressable(k key.Binding) (names []string) {
	for _, name := range k.Keys() {
		switch name {
		case "f1", "alt+1", "shift+tab", "ctrl+h", "delete", "pgup":
		case "up", "pgdown", "space": // nothing moves where all of a text fits
		case "left":
			names = append(names, "left", "right")
		default:
			names = append(names, name)
		}
	}
	return names
}

// TestEachKeyOfTheFooterWorks: on each page, each key of the footer does something.
func TestEachKeyOfTheFooterWorks(t *testing.T) {
	for _, s := range scenes() {
		if s.name == "form-secret" { // nobody sees what a key does to a secret's line
			continue
		}
		b, before := afterKeys(t, s)
		for _, k := range b.app.top().keys() {
			names := pressable(k)
			if len(names) > 0 && k.Enabled() && !slices.ContainsFunc(names, func(name string) bool { return actsOn(t, s, before, name) }) {
				t.Errorf("%s: %s (%s) is in the footer and does nothing", s.name, k.Help().Key, k.Help().Desc)
			}
		}
	}
}

// TestEachKeyIsNamed: on each page where nothing is typed, a letter, a digit or Esc that does something stands in the footer, on a button or
// in the list of every page's keys.
func TestEachKeyIsNamed(t *testing.T) {
	everywhere := []string{"m", "1", "?"}
	for _, s := range scenes() {
		b, before := afterKeys(t, s)
		top := b.app.top()
		if top.typing() {
			continue
		}
		if actsOn(t, s, before, "z") { // it takes any key, as No, or says that another console has control
			continue
		}
		var named []string
		for _, k := range top.keys() {
			named = append(named, k.Keys()...)
		}
		if of, ok := top.(interface{ buttons() []button }); ok {
			for _, one := range of.buttons() {
				named = append(named, one.key.Keys()...)
			}
		}
		for _, name := range append([]string{"esc", "/"}, alphabet()...) {
			if word, ok := top.(wantsWord); ok && word.wordGoesOn(keyPress(name)) {
				continue
			}
			if !slices.Contains(named, name) && !slices.Contains(everywhere, name) && actsOn(t, s, before, name) {
				t.Errorf("%s: %q does something that no footer and no button names", s.name, name)
			}
		}
	}
}

func alphabet() (all []string) {
	for r := 'a'; r <= 'z'; r++ {
		all = append(all, string(r))
	}
	return all
}
