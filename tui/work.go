package tui

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"

	"touchdown/backend/message"
	"touchdown/backend/progress"
	"touchdown/steps/session"
	"touchdown/steps/view"
)

// sidebar is how wide the list of stages is on a screen of w columns.
func sidebar(w int) int { return min(max(w*2/5, 20), 48) }

// work shows the job going on. It changes nothing: closing this console leaves the work alone.
type work struct {
	base
	row row
}

func (s *work) name() string { return "work" }

func (s *work) keys() []key.Binding {
	k := s.desk.keys
	if !s.held {
		return []key.Binding{k.next, k.enter, k.log, k.control, k.help, k.leave}
	}
	return []key.Binding{k.next, k.enter, k.log, k.stop, k.help, k.leave}
}

func (s *work) update(msg tea.Msg) (screen, tea.Cmd) {
	press, ok := msg.(tea.KeyPressMsg)
	if !ok {
		return s, nil
	}
	if hit := s.row.choose(press, s.desk.keys, s.buttons()); hit != nil {
		return hit.do()
	}
	return s, nil
}

// buttons begins with the log: Enter, however often, does no harm.
func (s *work) buttons() []button {
	d := s.desk
	list := common(d, s)
	if d.held {
		list = append(list, button{key: d.keys.stop, label: t("button.cancel"), careful: true, do: func() (screen, tea.Cmd) {
			c := confirm{title: t("cancel.title"), text: t("cancel.text"), verb: session.Action{Verb: session.Cancel}}
			if d.snap.Life == view.LifeMoving {
				c.word = d.words() // the node has users
			}
			return newConfirm(d, c), nil
		}})
	}
	return list
}

func (s *work) view(w, h int) page {
	buttons, x, y := s.row.view(s.theme, s.buttons(), true, w)
	head := s.whole(w)
	room := h - len(head) - len(buttons) - 1
	side := sidebar(w)
	left, right := s.stages(side, room), s.step(w-side-3, room)
	body := lipgloss.JoinHorizontal(lipgloss.Top, s.theme.left(left, side, room), strings.Join(right, "\n"))
	lines := append(head, page{lines: strings.Split(body, "\n")}.fit(room).lines...)
	lines = append(append(lines, s.theme.rule(w)), buttons...)
	return page{lines: lines, x: x, y: len(head) + room + 1 + y}
}

// whole are the lines about the whole landing: one bar, one time, and why that has grown.
func (s *work) whole(w int) []string {
	rest, done, ok := left(s.snap, s.now())
	if !ok {
		return nil
	}
	text := t("work.left", about(rest), done.UTC().Format("15:04"))
	if s.snap.State == view.InQuestion { // it waits for a person, so the end is not known
		text = t("work.rest", about(rest))
	}
	worked := int64(s.snap.Worked)
	lines := []string{s.theme.bar(worked, worked+int64(rest.Seconds())+1, max(min(w-lipgloss.Width(text)-1, 40), 0)) + " " + text}
	if late := s.snap.Late; show(late) != "" {
		lines = append(lines, wrap(t("work.grows", late), w, "")...)
	}
	return append(lines, s.theme.rule(w))
}

// stages is the sidebar: the stages with how many steps are done, or put back, and their steps with their times: of all stages
// where there is room, else of the one at work, as many around its step as fit.
func (s *work) stages(side, room int) []string {
	_, at := s.desk.current()
	stages := slices.Clone(s.snap.Stages)
	whole, spare := 0, room
	for i, stage := range stages {
		if s.snap.State == view.UndoingAll {
			stages[i] = undoable(stage)
		}
		if stage.Advanced { // it only asked
			stages[i].Steps = nil
		}
		if n := len(stages[i].Steps); n > 0 {
			whole, spare = whole+1+n, spare-1
		}
	}
	var lines []string
	for i, stage := range stages {
		if len(stage.Steps) == 0 {
			continue
		}
		done, status := tallied(stage)
		count := t("work.count", done, len(stage.Steps))
		line := s.theme.status(status) + " " + ends(show(stage.Title), "", side-6-lipgloss.Width(count))
		lines = append(lines, line+" "+count)
		list := stage.Steps
		if whole > room && i != at {
			list = nil
		} else if whole > room {
			now := slices.IndexFunc(list, func(step view.Step) bool { return step.ID == s.snap.Current })
			list = around(list, now, spare)
		}
		for _, step := range list {
			lines = append(lines, "  "+s.theme.status(step.Status)+" "+ends(show(step.Title), took(step), side-7))
		}
	}
	return lines
}

// around are n of the steps, with the one at work in the middle where that can be.
func around(list []view.Step, at, n int) []view.Step {
	n = min(max(n, 0), len(list))
	from := min(max(at-n/2, 0), len(list)-n)
	return list[from : from+n]
}

// took is how long a step that is over has worked, if that is worth telling.
func took(step view.Step) string {
	if step.Status != view.StepDone && step.Status != view.StepUndone || step.Seconds < 1 {
		return ""
	}
	return fmt.Sprintf("%d:%02d", int(step.Seconds)/60, int(step.Seconds)%60)
}

// undoable is a stage with the steps that an undo puts back, and those that it has put back.
func undoable(stage view.Stage) view.Stage {
	stage.Steps = slices.DeleteFunc(slices.Clone(stage.Steps), func(step view.Step) bool { return !step.Undo })
	for i := range stage.Steps {
		if step := &stage.Steps[i]; step.Status != view.Running && step.Status != view.StepUndone {
			step.Status = view.Pending // whatever became of it on the way forward
		}
	}
	return stage
}

// tallied counts a stage's finished steps and sums their statuses up.
func tallied(stage view.Stage) (done int, status view.StepStatus) {
	status = view.Pending
	for _, step := range stage.Steps {
		switch step.Status {
		case view.StepDone, view.StepSkip, view.StepUndone:
			done++
		case view.Running:
			status = view.Running
		case view.StepFailed:
			if status != view.Running { // it may be on its way to the step that failed, or was stopped
				status = view.StepFailed
			}
		}
	}
	if len(stage.Steps) > 0 && done == len(stage.Steps) {
		status = stage.Steps[0].Status
		for _, step := range stage.Steps {
			if step.Status != view.StepSkip {
				status = step.Status
			}
		}
	}
	return done, status
}

// step is the right half: what is done now, how far it is and what it waits for.
func (s *work) step(w, room int) []string {
	step, i := s.desk.current()
	if i < 0 {
		return wrap(t("work.between"), w, "")
	}
	title := step.Title
	if s.snap.State == view.UndoingAll {
		title = message.Data(t("work.undoing", title))
	}
	var lines []string
	for _, line := range wrap(show(title), w, "") {
		lines = append(lines, s.theme.strong.Render(line))
	}
	lines = append(lines, "")
	elapsed := s.answered().Sub(step.Started) - seconds(step.Waited)
	if step.Started.IsZero() {
		elapsed = 0
	}
	lines = append(lines, s.measure(step, w)...)
	lines = append(lines, wrap(t("work.elapsed", span(elapsed), s.heart()), w+1, "")...) // to the edge of the screen
	if p := step.Progress; p != nil {
		lines = append(lines, s.waiting(*p, elapsed.Seconds(), w)...)
	}
	if age := stillFor(step, s.now()); age > 0 {
		lines = append(lines, wrap(t("work.still", span(age)), w, "")...)
	}
	lines = append(lines, "")
	said := step.Said
	var tail []string
	for _, text := range said {
		tail = append(tail, hang(bullet+show(text), w, "", 2)...)
	}
	return append(lines, tail[max(0, len(tail)-max(room-len(lines), 0)):]...)
}

// stillAfter is how long nothing changes before that is told, and how exactly: each change of the page costs bytes on a slow line.
const stillAfter = 10 * time.Second

// stillFor is for how long the progress of the step at work has been the same; 0 while that is nothing to tell.
func stillFor(step view.Step, now time.Time) time.Duration {
	if step.Moved.IsZero() || now.Sub(step.Moved) < 2*stillAfter {
		return 0
	}
	return now.Sub(step.Moved).Truncate(stillAfter)
}

// measure is the bar and the count.
func (s *work) measure(step view.Step, w int) []string {
	p, count := step.Progress, s.counted(step)
	if p == nil || p.Total <= 0 {
		return count
	}
	return []string{s.theme.bar(p.Done, p.Total, min(w-lipgloss.Width(count[0])-1, 30)) + " " + count[0]}
}

// counted is the count, where something is counted, and of bytes how fast.
func (s *work) counted(step view.Step) []string {
	p := step.Progress
	if p == nil {
		return nil
	}
	rate := ""
	switch perSecond := step.Rate; {
	case p.Unit != "MiB" || perSecond <= 0:
	case perSecond < 10:
		rate = t("work.rate", int64(perSecond*1024), "KiB")
	default:
		rate = t("work.rate", int64(perSecond), "MiB")
	}
	switch {
	case p.Total > 0:
		return []string{t("work.of", p.Done, p.Total, worded("unit", p.Unit)) + rate}
	case p.Done > 0:
		return []string{t("work.counted", p.Done, worded("unit", p.Unit)) + rate}
	}
	return nil
}

// waiting tells what we are waiting for, how long that usually takes, and when it takes too long.
func (s *work) waiting(p progress.Progress, elapsed float64, w int) []string {
	if show(p.Waiting) == "" {
		return nil
	}
	lines := wrap(t("work.waiting", p.Waiting), w, "")
	switch {
	case p.Usual <= 0:
	case elapsed > 2*p.Usual:
		for _, line := range wrap(alert+t("work.late", limit(seconds(p.Usual))), w, "") {
			lines = append(lines, s.theme.warn.Render(line))
		}
	default:
		lines = append(lines, wrap(t("work.usual", limit(seconds(p.Usual))), w, "")...)
	}
	return lines
}
