package tui

// plainLogIn is the page for a line terminal. What was printed cannot be taken back; it can be moved off the screen.
func plainLogIn(p *prompts) error {
	p.write(t("logIn.title"), t("logIn.loading"))
	msg, ok := p.link.give().(logInMsg)
	if !ok || msg.failed != nil {
		p.write(p.explain(msg.failed))
		return nil
	}
	p.printed("the login", logInLines(msg.got, minWidth, ""))
	_, err := p.ask(t("logIn.clear"))
	for range plainScreen {
		p.write(" ")
	}
	return err
}

// plainScreen is how many lines move everything off a screen: the most that a terminal of a service processor shows, and some.
const plainScreen = 60
