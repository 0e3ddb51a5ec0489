package tui

import (
	"slices"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"touchdown/steps"
	"touchdown/steps/view"
)

func (f *form) keys() []key.Binding {
	k := f.desk.keys
	switch v, i := f.field(); {
	case i < 0 || !f.held:
		return []key.Binding{k.next, k.enter, k.back, k.goOn, k.help, k.log}
	case isPasted(v.Kind) && v.Files:
		return []key.Binding{k.next, k.prev, alias(k.files), k.erase, k.restore}
	case isPasted(v.Kind):
		return []key.Binding{k.next, k.prev, k.erase, k.restore}
	case isText(v.Kind):
		accept := key.NewBinding(key.WithKeys(k.enter.Keys()...), key.WithHelp(k.enter.Help().Key, t("key.accept")))
		if v.Files {
			return []key.Binding{k.next, k.prev, accept, alias(k.files), k.erase, k.restore}
		}
		if v.SecretSet || f.entry.ed.value() != "" && f.problem(v, f.entry.tried) != "" { // what is typed now goes behind what is wrong
			return []key.Binding{k.next, k.prev, accept, k.erase, k.restore}
		}
		return []key.Binding{k.next, k.prev, accept, k.restore, k.leave}
	case f.canAct(v, f.value(v)):
		return []key.Binding{k.next, k.left, k.enter, f.actKey(v), k.restore, k.back, k.help}
	default:
		return []key.Binding{k.next, k.left, k.enter, k.restore, k.back, k.help}
	}
}

// alias names a binding by its second key, the one that works while text is typed.
func alias(b key.Binding) key.Binding {
	return key.NewBinding(key.WithKeys(b.Keys()[1:]...), key.WithHelp(label(b.Keys()[1]), b.Help().Desc))
}

func (f *form) update(msg tea.Msg) (screen, tea.Cmd) {
	if _, i := f.field(); i < 0 && f.path != "" {
		f.focus("") // the field went away because another answer made it needless
	}
	f.refill()
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		return f.press(msg)
	case restoredMsg:
		if f.path != "" && msg.failed == nil {
			f.focus(f.path) // with its current value
		}
	case setMsg:
		if first := f.repeats(msg.path); first != "" && f.refused[msg.path] != "" && (!f.typing() || !f.entry.typed) {
			f.focus(first)
		}
		if f.leaving != nil && f.pending == 0 {
			return f, f.decide()
		}
	}
	return f, nil
}

func (f *form) press(msg tea.KeyPressMsg) (screen, tea.Cmd) {
	k := f.desk.keys
	v, i := f.field()
	f.leaving = nil
	switch {
	case pressed(msg, k.next), pressed(msg, k.down):
		return f, f.step(i, 1, pressed(msg, k.next))
	case pressed(msg, k.prev), pressed(msg, k.up):
		return f, f.step(i, -1, pressed(msg, k.prev))
	case i < 0:
		buttons := f.buttons()
		if hit := f.row.press(msg, k, buttons); hit != nil {
			return hit.do()
		}
	case !f.held:
		if hit := letter(msg, f.buttons()); hit != nil {
			return hit.do()
		}
		if pressed(msg, k.enter) {
			return f, f.step(i, 1, false)
		}
		f.flash = t("control.readonly")
	case pressed(msg, k.restore):
		return f, f.restore(v)
	case v.Files && pressed(msg, k.files) && msg.Key().Text == "":
		return newFileList(f, v)
	case isPasted(v.Kind):
		cmd, over := f.entry.pressLine(msg, v)
		if over {
			return f, f.step(i, 1, false)
		}
		return f, cmd
	case isText(v.Kind):
		return f, f.pressText(msg, v, i)
	default:
		return f.pressChoice(msg, v)
	}
	return f, nil
}

// step moves the focus among fields and buttons; Tab goes through the buttons one by one.
func (f *form) step(i, n int, tab bool) tea.Cmd {
	list := f.fields()
	if i < 0 {
		if at := f.row.at + n; tab && at >= 0 && at < len(f.buttons()) {
			f.row.at = at
			return nil
		}
		if n > 0 {
			f.focus(list[0].Path)
		} else {
			f.focus(list[len(list)-1].Path)
		}
		return nil
	}
	cmd := f.commit()
	list = f.fields() // what was typed may have to be typed again
	switch to := i + n; {
	case to >= 0 && to < len(list):
		f.focus(list[to].Path)
	case to < 0 && tab:
		f.focus("")
		f.row.at = 1 // Back, so that Shift-Tab on the first field leads there
	default:
		f.focus("")
	}
	return cmd
}

func (f *form) pressText(msg tea.KeyPressMsg, v view.Field, i int) tea.Cmd {
	if !pressed(msg, f.desk.keys.enter) {
		return f.entry.press(msg, v)
	}
	if v.Kind == steps.Secret && unbalanced(f.entry.ed.value()) {
		f.entry.ed.insert("\n") // a pull secret pasted on several lines
		return nil
	}
	return f.step(i, 1, false)
}

// unbalanced reports whether s is the beginning of a JSON object.
func unbalanced(s string) bool {
	return strings.HasPrefix(strings.TrimSpace(s), "{") && strings.Count(s, "{") > strings.Count(s, "}")
}

// leave leaves the page, by the way that is given, when everything typed was taken.
func (f *form) leave(way func() tea.Cmd) (screen, tea.Cmd) {
	f.entry.tried, f.leaving = true, way
	if f.pending > 0 {
		return f, nil
	}
	return f, f.decide()
}

// back leaves a form for the page before. An advanced page is closed then, and nothing leads through it again: it is judged as by "Continue".
func back(f *form) (screen, tea.Cmd) {
	if stage, _ := f.desk.stage(f.stage); stage.Advanced {
		return f.leave(f.backPage)
	}
	return f, f.backPage()
}

// decide leaves the page, or goes to the first field that keeps it from being left.
func (f *form) decide() tea.Cmd {
	way := f.leaving
	f.leaving = nil
	for _, v := range f.fields() {
		why := f.problem(v, f.entry.tried)
		if f.held && why != "" && why == labelled(f.client, v.Together) && !f.holds(v) {
			continue
		}
		if f.held && why != "" {
			f.focus(v.Path)
			if v.Repeats != "" && f.refused[v.Path] != "" {
				f.focus(v.Repeats) // both are typed again
			}
			f.flash = t("form.fix", v.Label)
			return nil
		}
	}
	return way()
}

func (f *form) buttons() []button {
	k, d := f.desk.keys, f.desk
	list := []button{
		{key: k.goOn, label: t("button.goOn"), do: func() (screen, tea.Cmd) { return f.leave(d.onward) }},
		{key: k.back, label: t("button.back"), do: func() (screen, tea.Cmd) { return back(f) }},
	}
	stage, _ := d.stage(f.stage)
	if found := findings(stage); len(found) > 0 {
		list = append(list, button{key: k.checks, label: t("button.checks", tally(found)), do: func() (screen, tea.Cmd) {
			c := newChecks(d, f.stage)
			c.over = true
			return c, nil
		}})
	}
	if next, ok := d.behind(f.stage); ok {
		list = append(list, button{key: k.advanced, label: t("button.advanced", next.Title, given(d.answers, next)), do: func() (screen, tea.Cmd) {
			d.goTo(next.ID)
			return f, nil
		}})
	}
	if f.held {
		list = append(list, button{key: k.restorePage, label: t("button.restorePage"), do: f.restorePage})
	}
	acts := func(v view.Field) bool { return f.canAct(v, f.value(v)) }
	lettered, _ := latest(f.fields(), f.acted, acts)
	for _, v := range f.fields() {
		if !acts(v) {
			continue
		}
		b := button{label: show(v.Act.Label), do: func() (screen, tea.Cmd) { return f, f.act(v, f.value(v)) }}
		if v.Path == lettered.Path { // one letter does one thing; the others are reached by Tab and Enter
			b.key = f.actKey(v)
		}
		list = append(list, b)
	}
	if v, ok := latest(f.fields(), f.filed, func(v view.Field) bool { return v.Files }); ok && f.held {
		list = append(list, button{key: k.files, label: t("button.files"), do: func() (screen, tea.Cmd) { return newFileList(f, v) }})
	}
	list = append(list, button{key: k.again, label: t("button.again"), do: func() (screen, tea.Cmd) { return f, d.lookAgain() }})
	return append(list, common(d, f)...)
}

// latest is the field that a key of the buttons is about: of those that fit, the last that was in focus, or else the first. Which buttons
// there are does not depend on the focus, so that none goes away under a person's hand; the list of the files names its field.
func latest(list []view.Field, last string, fits func(view.Field) bool) (found view.Field, ok bool) {
	for _, v := range list {
		if fits(v) && (!ok || v.Path == last) {
			found, ok = v, true
		}
	}
	return found, ok
}

// pressChoice handles the fields that are chosen, not typed.
func (f *form) pressChoice(msg tea.KeyPressMsg, v view.Field) (screen, tea.Cmd) {
	k := f.desk.keys
	choices := choicesOf(v)
	at := slices.IndexFunc(choices, func(c steps.Choice) bool { return c.Value == f.value(v) })
	_, i := f.field()
	switch {
	case v.Kind == steps.YesNo && pressed(msg, k.yes):
		return f, f.pick(v, "true")
	case v.Kind == steps.YesNo && pressed(msg, k.no):
		return f, f.pick(v, "false")
	case len(choices) > 0 && pressed(msg, k.left):
		return f, f.pick(v, choices[max(at-1, 0)].Value)
	case len(choices) > 0 && pressed(msg, k.right):
		return f, f.pick(v, choices[min(at+1, len(choices)-1)].Value)
	case len(choices) > 0 && pressed(msg, k.toggle):
		return f, f.pick(v, choices[(at+1)%len(choices)].Value)
	case v.Kind == steps.Pick && len(choices) > 0 && pressed(msg, k.enter):
		return newPick(f, v, max(at, 0)), nil
	case pressed(msg, k.enter):
		return f, f.step(i, 1, false)
	}
	if n := digit(msg); n >= 1 && n <= len(choices) {
		return f, f.pick(v, choices[n-1].Value)
	}
	if hit := letter(msg, f.buttons()); hit != nil {
		return hit.do()
	}
	return f, nil
}
