package tui

// tellFound tells what was found out, and what to do about what did not pass.
func tellFound(p *prompts) {
	for _, stage := range p.snap.Stages {
		tell(p, findings(stage))
	}
}

func tell(p *prompts, found []finding) {
	c := checks{base: base{p.desk}}
	for _, f := range found {
		if p.write(c.line(f, minWidth, narrowTitle)); bad(f) && show(f.Fix) != "" {
			p.write(hang(t("checks.fix", f.Fix), minWidth, "        ", 8)...)
		}
	}
}
