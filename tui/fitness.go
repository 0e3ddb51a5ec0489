package tui

import (
	"slices"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"touchdown/backend/check"
	"touchdown/backend/message"
	"touchdown/steps"
	"touchdown/steps/view"
)

// The answers of the page, and the check of the disk's test.
const (
	profilePath  = "spec.hardware.profile"
	diskTestPath = "spec.hardware.diskTest"
	diskLatency  = "hw-disk-latency"
)

// fitness is the verdict on the hardware: what the machine is judged by, what is missing, and the disk's test.
type fitness struct {
	base
	stage  string
	row    row
	scroll scroller
}

func newFitness(d *desk, stage string) *fitness { return &fitness{base: base{d}, stage: stage} }

func (f *fitness) name() string  { return "fitness" }
func (f *fitness) overlay() bool { return true }

func (f *fitness) keys() []key.Binding {
	k := f.desk.keys
	return []key.Binding{k.next, k.enter, k.back}
}

func (f *fitness) update(msg tea.Msg) (screen, tea.Cmd) {
	press, ok := msg.(tea.KeyPressMsg)
	if !ok {
		return f, nil
	}
	if f.scroll.press(press, f.desk.keys) {
		return f, nil
	}
	if hit := f.row.press(press, f.desk.keys, f.buttons()); hit != nil {
		return hit.do()
	}
	return f, nil
}

// asked is a field of the page, and whether this list of steps has it: the bench line does not.
func asked(c *client, path string) (view.Field, bool) {
	list := c.allFields()
	i := slices.IndexFunc(list, func(v view.Field) bool { return v.Path == path })
	if i < 0 {
		return view.Field{}, false
	}
	return list[i], true
}

func (f *fitness) buttons() []button {
	k, d := f.desk.keys, f.desk
	list := []button{{key: k.back, label: t("button.back"), do: func() (screen, tea.Cmd) { return nil, nil }}}
	if !d.held || d.snap.State != view.Collecting {
		return list
	}
	if v, ok := asked(d.client, profilePath); ok && len(v.Choices) > 0 {
		list = append(list, button{key: k.profile, label: t("button.profile"), do: func() (screen, tea.Cmd) {
			return f, d.set(profilePath, nextChoice(v.Choices, v.Value))
		}})
	}
	if v, ok := asked(d.client, diskTestPath); ok {
		label, wanted := t("button.diskTest"), "true"
		if v.Value == "true" {
			label, wanted = t("button.diskForget"), "false"
			if c, told := f.disk(); !told || runs(c) {
				label = t("button.diskStop")
			}
		}
		list = append(list, button{key: k.diskTest, label: label, do: func() (screen, tea.Cmd) { return f, d.set(diskTestPath, wanted) }})
	}
	return list
}

// nextChoice is the choice after a value, the first after the last and after none.
func nextChoice(choices []steps.Choice, value string) string {
	at := slices.IndexFunc(choices, func(c steps.Choice) bool { return c.Value == value })
	return choices[(at+1)%len(choices)].Value
}

// disk is the check of the disk's test, while it runs too.
func (f *fitness) disk() (finding, bool) {
	stage, _ := f.desk.stage(f.stage)
	found := findings(stage)
	i := slices.IndexFunc(found, func(c finding) bool { return c.ID == diskLatency && !c.stale })
	if i < 0 {
		return finding{}, false
	}
	return found[i], true
}

// runs reports whether the disk's test has not ended: what has ended tells when.
func runs(c finding) bool { return c.Status == check.Skip && len(c.Evidence) == 0 }

func (f *fitness) view(w, h int) page {
	buttons, x, y := f.row.view(f.theme, f.buttons(), true, w)
	f.scroll.fill(f.text(w), w, h-len(buttons)-1)
	lines := append(append(f.scroll.view(f.theme), f.theme.rule(w)), buttons...)
	return page{lines: lines, x: x, y: h - len(buttons) + y}
}

func (f *fitness) text(w int) []string {
	by := message.Data(t("fitness.minimum"))
	if v, _ := asked(f.client, profilePath); v.Value != "" {
		by = message.Data(v.Value)
		if i := slices.IndexFunc(v.Choices, func(c steps.Choice) bool { return c.Value == v.Value }); i >= 0 {
			by = v.Choices[i].Label
		}
	}
	stage, _ := f.desk.stage(f.stage)
	found := findings(stage)
	lines := []string{f.theme.head.Render(t("fitness.title")), ""}
	lines = append(append(lines, wrap(t("fitness.by", by), w, "")...), wrap(f.verdict(found), w, "")...)
	for _, c := range found {
		if c.Status != check.Fail || c.stale {
			continue
		}
		lines = append(append(lines, ""), wrap(show(c.Title)+": "+show(c.Observed), w, "")...)
		if show(c.Expected) != "" {
			lines = append(lines, wrap(t("checks.expected", c.Expected), w, "  ")...)
		}
		if show(c.Fix) != "" {
			lines = append(lines, wrap(t("checks.fix", c.Fix), w, "  ")...)
		}
	}
	told := t("fitness.noDisk")
	if c, ok := f.disk(); ok {
		told = show(c.Observed)
		if !runs(c) {
			told = f.theme.verdict(c.Check) + "  " + told
		}
	} else if v, _ := asked(f.client, diskTestPath); v.Value == "true" {
		told = t("fitness.diskSoon")
	}
	return append(append(lines, ""), wrap(t("fitness.disk", told), w, "")...)
}

// verdict is the sentence: what was not judged yet is not called fit.
func (f *fitness) verdict(found []finding) string {
	var failed []string
	for _, c := range found {
		switch {
		case c.stale:
			return t("fitness.looking")
		case c.Status == check.Fail:
			failed = append(failed, show(c.Title))
		}
	}
	switch {
	case len(found) == 0:
		return t("fitness.looking")
	case len(failed) > 0:
		return t("fitness.unfit", strings.Join(failed, "; "))
	}
	return t("fitness.fit")
}
