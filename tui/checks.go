package tui

import (
	"fmt"
	"slices"
	"strings"

	"touchdown/backend/message"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
)

// checks shows what was found out: as the page of a stage that asks nothing, or on top of another page.
type checks struct {
	base
	stage string
	over  bool
	at    int // the check in focus, or that was before the buttons got it; -1: none was
	row   row
	onRow bool
}

func newChecks(d *desk, stage string) *checks {
	return &checks{base: base{d}, stage: stage, at: -1, onRow: true}
}

func (c *checks) name() string  { return "checks" }
func (c *checks) overlay() bool { return c.over }

func (c *checks) keys() []key.Binding {
	k := c.desk.keys
	enter := k.enter
	if !c.onRow {
		enter = means(k.enter, "key.evidence")
	}
	return []key.Binding{ // back and log are buttons of the page
		k.next, k.up, enter, k.goOn, k.help, k.plain,
	}
}

func (c *checks) update(msg tea.Msg) (screen, tea.Cmd) {
	press, ok := msg.(tea.KeyPressMsg)
	if !ok {
		return c, nil
	}
	k, list := c.desk.keys, c.buttons()
	n := len(c.findings())
	switch {
	case pressed(press, k.next, k.prev) && !c.onRow:
		c.onRow = true
	case pressed(press, k.up) && n > 0:
		switch {
		case c.onRow && c.at < 0:
			c.at = n - 1
		case !c.onRow:
			c.at = max(c.at-1, 0)
		}
		c.onRow = false
	case pressed(press, k.down) && n > 0:
		switch {
		case c.onRow:
			c.onRow, c.at = false, max(c.at, 0)
		case c.at < n-1:
			c.at++
		default:
			c.onRow = true
		}
	case pressed(press, k.enter) && !c.onRow && c.at >= 0 && c.at < n:
		return newEvidence(c.desk, c.findings()[c.at]), nil
	default:
		if hit := c.row.press(press, k, list); hit != nil {
			return hit.do()
		}
	}
	return c, nil
}

// findings are the stage's checks, what needs attention first. While they still come in they stay in their order:
// nothing may jump away under someone's eyes.
func (c *checks) findings() []finding {
	stage, _ := c.desk.stage(c.stage)
	found := findings(stage)
	if c.waiting() == "" {
		slices.SortStableFunc(found, func(a, b finding) int { return attention(b) - attention(a) })
	}
	return found
}

func attention(f finding) int {
	switch f.Status {
	case "fail":
		return 2
	case "warn":
		return 1
	}
	return 0
}

// explained is the index of the check that is explained, and that "Waive" is about: the one chosen, else the first that
// needs attention, else the first that was waived, or -1.
func (c *checks) explained(found []finding) int {
	if c.at >= 0 && c.at < len(found) {
		return c.at
	}
	if at := slices.IndexFunc(found, bad); at >= 0 {
		return at
	}
	return slices.IndexFunc(found, func(f finding) bool { return f.Waiver != nil })
}

func (c *checks) buttons() []button {
	k, d := c.desk.keys, c.desk
	var list []button
	if c.over {
		list = []button{{key: k.back, label: t("button.back"), do: func() (screen, tea.Cmd) { return nil, nil }}}
	} else {
		list = []button{
			{key: k.goOn, label: t("button.goOn"), do: func() (screen, tea.Cmd) { return c, d.onward() }},
			{key: k.back, label: t("button.back"), do: func() (screen, tea.Cmd) { return c, d.backPage() }},
		}
	}
	list = append(list, button{key: k.again, label: t("button.again"), do: func() (screen, tea.Cmd) { return c, d.lookAgain() }})
	found := c.findings()
	if at := c.explained(found); d.held && at >= 0 && bad(found[at]) {
		list = append(list, button{key: k.waive, label: t("button.waive"), do: func() (screen, tea.Cmd) {
			return newWaive(d, found[at]), nil
		}})
	} else if d.held && at >= 0 && d.withdrawable(found[at]) {
		list = append(list, button{key: k.withdraw, label: t("button.withdraw"), do: func() (screen, tea.Cmd) {
			return newWithdraw(d, found[at]), nil
		}})
	}
	if slices.ContainsFunc(found, ofHardware) {
		list = append(list, button{key: k.inventory, label: t("button.inventory"), do: func() (screen, tea.Cmd) { return newInventory(d) }})
		if _, ok := asked(d.client, profilePath); ok {
			list = append(list, button{key: k.fitness, label: t("button.fitness"), do: func() (screen, tea.Cmd) { return newFitness(d, c.stage), nil }})
		}
	}
	return append(list, common(d, c)...)
}

// ofHardware reports whether a check is about the machine's parts.
func ofHardware(f finding) bool { return strings.HasPrefix(f.ID, "hw-") }

// bad reports whether a check needs someone's attention.
func bad(f finding) bool { return !f.stale && attention(f) > 0 }

func (c *checks) view(w, h int) page {
	buttons, bx, by := c.row.view(c.theme, c.buttons(), c.onRow, w)
	found := c.findings()
	var lines []string
	if !c.over && len(c.pages()) > 0 && c.pages()[0] == c.stage {
		lines = append(wrap(c.desk.say("checks.welcome"), w, ""), "")
	}
	c.at = min(c.at, len(found)-1)
	detail := c.detail(found, w)
	room := h - len(lines) - len(detail) - len(buttons) - 2
	from := max(0, min(c.at-room/2, len(found)-room))
	p := page{x: bx}
	if len(found) > room {
		detail[len(detail)-1] += "   " + t("checks.more", from+1, from+room, len(found))
	}
	for i := from; i < len(found) && i < from+room; i++ {
		mark := " "
		if !c.onRow && i == c.at {
			mark, p.x, p.y = marker, 0, len(lines)
		}
		lines = append(lines, mark+" "+c.line(found[i], w-2, widest(found)))
	}
	if waits := c.waiting(); waits != "" {
		lines = append(lines, "  "+waits)
	}
	for len(lines) < h-len(detail)-len(buttons)-1 {
		lines = append(lines, "")
	}
	lines = append(append(lines, detail...), "")
	if c.onRow {
		p.y = len(lines) + by
	}
	p.lines = append(lines, buttons...)
	return p
}

// narrowTitle is the room of a check's title at 80 columns.
const narrowTitle = 34

// widest is the width of the longest title of checks.
func widest(found []finding) (w int) {
	for _, f := range found {
		w = max(w, columns(show(f.Title)))
	}
	return w
}

// line is a check in w columns, among checks whose longest title has the width title: where there is room all are whole.
func (c *checks) line(f finding, w, title int) string {
	title = min(w/2, max(narrowTitle, min(title, w/2-8)))
	verdict, observed := c.theme.verdict(f.Check), f.Observed
	if f.stale {
		verdict, observed = undecided, message.Data(t("checks.stale"))
	}
	return verdict + "  " + pad(cut(show(f.Title), title), title) + "  " + brief(show(observed), w-title-8)
}

// brief is what was seen in w columns. Where it does not fit, the words that call it a technical detail leave their room to it: the
// detail, Enter and the report have them.
func brief(seen string, w int) string {
	if columns(seen) > w {
		seen = strings.Replace(seen, strings.TrimSuffix(show(message.Verbatim("x")), "x"), "", 1)
	}
	return cut(seen, w)
}

// waiting says what is still being looked at.
func (c *checks) waiting() string {
	stage, _ := c.desk.stage(c.stage)
	for _, step := range stage.Steps {
		if step.Inspecting {
			return t("checks.looking", step.Title)
		}
	}
	return ""
}

// detail explains the check in focus; on the buttons the first that needs attention.
func (c *checks) detail(found []finding, w int) []string {
	at := c.explained(found)
	if at < 0 {
		return []string{tally(found)}
	}
	f := found[at]
	if f.stale {
		return []string{c.theme.rule(w), cut(show(f.Title)+": "+t("checks.stale"), w), tally(found)}
	}
	lines := append([]string{c.theme.rule(w)}, wrap(show(f.Title)+": "+show(f.Observed), w, "")...)
	if show(f.Expected) != "" {
		expected := t("checks.expected", f.Expected)
		if show(f.Source) != "" {
			expected += t("checks.source", f.Source)
		}
		lines = append(lines, wrap(expected, w, "")...)
	}
	if f.Waiver != nil {
		lines = append(lines, wrap(t("checks.waived", f.Waiver.By, f.Waiver.Reason), w, "")...)
	}
	if show(f.Fix) != "" {
		lines = append(lines, wrap(t("checks.fix", f.Fix), w, "")...)
	}
	if !c.onRow {
		lines = append(lines, c.evidence(f, w)...)
	}
	return append(lines, tally(found))
}

// evidenceRoom is how many lines of evidence stand below the list; Enter shows all of it.
const evidenceRoom = 3

func (c *checks) evidence(f finding, w int) (lines []string) {
	for i, e := range f.Evidence {
		if i == evidenceRoom-1 && len(f.Evidence) > evidenceRoom {
			return append(lines, "  "+t("checks.evidence", len(f.Evidence)-i))
		}
		lines = append(lines, cut("  "+show(e), w))
	}
	return lines
}

// tally counts verdicts: "7 PASS, 1 WARN". What is about earlier answers counts as no verdict: "5 checking, 2 PASS".
func tally(found []finding) string {
	counts := map[string]int{}
	for _, f := range found {
		if f.stale {
			counts["stale"]++
			continue
		}
		counts[string(f.Status)]++
	}
	s := ""
	for _, v := range [...]string{"stale", "pass", "warn", "fail", "skip", "waived"} {
		if counts[v] == 0 {
			continue
		}
		if s != "" {
			s += ", "
		}
		s += fmt.Sprintf("%d %s", counts[v], t("verdict."+v))
	}
	return s
}
