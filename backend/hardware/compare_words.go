package hardware

import (
	"cmp"

	"touchdown/backend/message"
)

// bay is where a part is plugged in, in the machine's words.
func (p part) bay() message.Text { return named(p.place) }

// serial is the number of a part.
func (p part) serial() message.Text { return named(p.number()) }

// model is what kind of part it is.
func (p part) model() message.Text { return named(cmp.Or(p.name, p.like)) }

func diskKind() kind {
	return kind{
		id: "disk", title: message.T("As shipped: disk"),
		fix: message.T("Check that the disk is seated in its bay. Waive the check with your name and a reason, or call the factory."),
		gone: func(a, _ part) message.Text {
			return message.F("The disk with serial number %s in bay %s is gone (%s)", a.serial(), a.bay(), a.model())
		},
		added: func(_, b part) message.Text {
			return message.F("The disk with serial number %s in bay %s is new (%s)", b.serial(), b.bay(), b.model())
		},
		exchanged: func(a, b part) message.Text {
			return message.F("The disk in bay %s was exchanged: serial number %s (%s) was shipped, %s (%s) is there now", a.bay(), a.serial(), a.model(), b.serial(), b.model())
		},
	}
}

func moduleKind() kind {
	return kind{
		id: "memory-module", title: message.T("As shipped: memory module"),
		fix: message.T("Switch the machine off and check that the memory module is seated. Waive the check with your name and a reason, or call the factory."),
		gone: func(a, _ part) message.Text {
			return message.F("The memory module with serial number %s in slot %s is gone (%s)", a.serial(), a.bay(), a.model())
		},
		added: func(_, b part) message.Text {
			return message.F("The memory module with serial number %s in slot %s is new (%s)", b.serial(), b.bay(), b.model())
		},
		exchanged: func(a, b part) message.Text {
			return message.F("The memory module in slot %s was exchanged: serial number %s (%s) was shipped, %s (%s) is there now", a.bay(), a.serial(), a.model(), b.serial(), b.model())
		},
	}
}

func portKind() kind {
	return kind{
		id: "nic", title: message.T("As shipped: network port"),
		fix: message.T("Check that the network card is seated. Waive the check with your name and a reason, or call the factory."),
		gone: func(a, _ part) message.Text {
			return message.F("The network port with MAC %s at %s is gone", a.serial(), a.bay())
		},
		added: func(_, b part) message.Text {
			return message.F("The network port with MAC %s at %s is new", b.serial(), b.bay())
		},
		exchanged: func(a, b part) message.Text {
			return message.F("The network port at %s was exchanged: MAC %s was shipped, %s is there now", a.bay(), a.serial(), b.serial())
		},
	}
}

func cardKind() kind {
	return kind{
		id: "card", title: message.T("As shipped: card"),
		fix: message.T("Switch the machine off and check that the card is seated. Waive the check with your name and a reason, or call the factory."),
		gone: func(a, _ part) message.Text {
			return message.F("The card %s at %s is gone", a.model(), a.bay())
		},
		added: func(_, b part) message.Text {
			return message.F("The card %s at %s is new", b.model(), b.bay())
		},
		exchanged: func(a, b part) message.Text {
			return message.F("The card at %s was exchanged: %s was shipped, %s is there now", a.bay(), a.model(), b.model())
		},
	}
}
