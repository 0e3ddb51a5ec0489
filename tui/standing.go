package tui

import "strings"

// tellStanding tells how the job stands before control or the PIN is asked for: who comes to a node that failed has to know that first. It
// is said once, until it changes.
func tellStanding(p *prompts) {
	lines := standing(p)
	if text := strings.Join(lines, "\n"); text != p.stands {
		p.stands = text
		p.write(lines...)
	}
}

func standing(p *prompts) []string {
	switch p.ofJob() {
	case "problem":
		return whatFailed(p.desk)
	case "dashboard":
		d := dashboard{base: base{p.desk}}
		return d.text(minWidth)
	case "question":
		return []string{show(p.snap.Question.Text), show(p.snap.Question.Detail)}
	case "form", "checks", "review":
		var lines []string
		for _, f := range p.allFindings(func(f finding) bool { return !f.stale && f.Status == "fail" }) {
			lines = append(lines, p.theme.verdict(f.Check)+"  "+show(f.Title)+": "+show(f.Observed))
		}
		return lines
	}
	return nil
}
