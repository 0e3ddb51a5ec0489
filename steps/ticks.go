package steps

import (
	"context"

	"touchdown/backend"
	"touchdown/backend/check"
	"touchdown/backend/factory"
	"touchdown/backend/message"
)

// tick is something that only a person can see.
type tick struct {
	id                       string
	title, text, detail, fix message.Text
}

// ticks are what the bench line looks at by hand before a node ships.
func ticks() []tick {
	return []tick{
		{
			"label", message.T("Serial number on the labels"), message.T("Does the serial number on the node match its delivery note?"),
			message.T("The serial number is on the first line of this screen and in the report."), message.T("Sort out which node this is before it ships."),
		},
		{
			"passwords", message.T("BMC password"), message.T("Has the BMC's default password been changed, and the new one recorded?"),
			message.T("A BMC with its default password gives the machine to anyone on the site's network."), message.T("Change it in the BMC's web page or with ipmitool, and record it."),
		},
		{
			"media", message.T("Site config"), message.T("Is the site config on its USB stick, or agreed to be typed at the site?"),
			message.T("The technician needs addresses and names from someone."), message.T("Write the stick, label it with the serial number, and pack it."),
		},
		{
			"kubeconfig", message.T("Access kept"), message.T("Are the cluster's kubeconfig and the core user's SSH key stored with this serial number?"),
			message.T("Without them nobody can look into this cluster from outside."), message.T("Store both in the place that your organisation keeps them."),
		},
		{
			"packed", message.T("Packed"), message.T("Is the node packed in an antistatic bag, with its cables and seals?"),
			message.T("What is missing cannot be had at the site."), message.T("Pack what is missing."),
		},
	}
}

// byHand asks the person on the bench line for what no program can see.
type byHand struct{}

// ID names the step in the journal.
func (*byHand) ID() string { return "ticks" }

// Title says what the step does.
func (*byHand) Title() message.Text { return message.T("Tick off what only a person sees") }

// Run asks what was not answered with yes before, on this stay on the bench line: a node that was taken back has been unpacked.
// A no is a check that failed: it can be fixed and asked again, or waived.
func (*byHand) Run(ctx context.Context, node *backend.Node, report Report) error {
	const yes = "yes"
	ticked := yes + " " + factory.Stay(node.Host)
	for _, t := range ticks() {
		before, _, err := notedAt(report, t.id)
		if err != nil {
			return err
		}
		answer := yes
		if string(before) != ticked {
			answer, err = report.Ask(ctx, Question{
				ID: "tick-" + t.id, Text: t.text, Detail: t.detail,
				Choices: []Choice{{Value: yes, Label: message.T("Yes")}, {Value: "no", Label: message.T("No")}}, Default: "no",
			})
			if err != nil {
				return err
			}
			note := answer
			if answer == yes {
				note = ticked
			}
			if err := report.Note(t.id, []byte(note)); err != nil {
				return err
			}
		}
		c := check.Check{
			ID: "tick-" + t.id, Title: t.title, Status: check.Pass, Observed: message.T(yes), Expected: message.T(yes),
			Source: message.F("asked: %s", t.text),
		}
		if answer != yes {
			c.Status, c.Observed, c.Fix = check.Fail, message.T("no"), t.fix
		}
		report.Check(c)
	}
	return nil
}
