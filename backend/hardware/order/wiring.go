package order

import (
	"slices"
	"strings"
	"time"

	"touchdown/backend/check"
	"touchdown/backend/message"
	"touchdown/backend/value"
)

// ListenFor is how long a port is listened to before its switch counts as silent: LLDP announces every 30 s (IEEE 802.1AB-2016,
// 9.2.5.7, msgTxInterval), and a frame may come late.
const ListenFor = 33 * time.Second

// Cable is what is seen at one network port of the machine.
type Cable struct {
	NIC, MAC    string
	Up          bool // switched on; one that is off cannot tell its link
	Link        bool
	Listened    time.Duration // to the switch at the other end
	Switch      string        // as it announces itself; "" with Port "": it was not heard
	Port        string
	Description string // what else the switch calls Port, where that is not a name alone; "": none
	VLAN        int    // of untagged frames; 0: not told
	Frame       int    // the largest frame that the switch takes, in bytes; 0: not told
}

func (c Cable) heard() bool { return c.Switch != "" || c.Port != "" }

// awaited tells of a cable whose switch may yet announce itself.
func (c Cable) awaited() bool { return c.Link && !c.heard() && c.Listened < ListenFor }

// Listening reports whether the check of a cable waits for the switch's next announcement.
func Listening(c check.Check) bool { return slices.Contains(c.Evidence, listening) }

// Unlinked reports whether the check of a cable waits for a link: it may yet come up, what a switch is set to does not change
// alone.
func Unlinked(c check.Check) bool { return slices.Contains(c.Evidence, unlinked) }

var (
	listening = message.T("listening")
	unlinked  = message.T("no link")
)

// Wiring is where the cables of a machine have to go.
type Wiring struct {
	By    message.Text // what says so: "order sheet A-17", "site config"
	Ports []Port
}

// Wiring is where the sheet wants the cables, nowhere for no sheet.
func (s *Sheet) Wiring() Wiring {
	if s == nil {
		return Wiring{}
	}
	return Wiring{By: message.F("order sheet %s", s.Name), Ports: s.Ports}
}

// Checks compares where the cables go with where they have to, a check for each port. A port that is not seen may be that of a card
// whose port cannot be seen, by its PCI address.
func (w Wiring) Checks(seen []Cable, unseen []string) []check.Check {
	checks := make([]check.Check, 0, len(w.Ports))
	for _, p := range w.Ports {
		c := check.Check{
			ID: "wiring-" + strings.ToLower(strings.ReplaceAll(p.NIC, ":", "-")), Title: message.F("Cable in %s", p.NIC), Status: check.Pass,
			Expected: p.words(), Source: w.By,
		}
		at := slices.IndexFunc(seen, p.at)
		if at < 0 && len(unseen) > 0 {
			c.Status = check.Skip
			c.Observed = message.F("not checked: %s is not here, and a pod may have the port of the card at %s", p.NIC, strings.Join(unseen, ", "))
			checks = append(checks, c)
			continue
		}
		if at < 0 {
			c.Status, c.Observed = check.Fail, message.F("the machine has no network port %s", p.NIC)
			c.Fix = message.T("Correct the name in the order sheet or site config, or look whether the network card is seated.")
			checks = append(checks, c)
			continue
		}
		c.Observed = seen[at].words()
		c = judge(c, p, seen[at], w.misplaced(p, seen))
		// The cable that belongs here may be the one that is not heard yet: then it has to be moved, and not the other end of this one.
		if c.Status == check.Fail && seen[at].Link && slices.ContainsFunc(seen, Cable.awaited) {
			c.Evidence = append(c.Evidence, listening)
		}
		checks = append(checks, c)
	}
	return checks
}

// misplaced is the port of the machine that has the cable of p. A cable that is where it has to be is not misplaced, even if p, which
// may name a switch alone, could have it too.
func (w Wiring) misplaced(p Port, seen []Cable) string {
	at := slices.IndexFunc(seen, func(c Cable) bool {
		right := slices.ContainsFunc(w.Ports, func(q Port) bool { return q.at(c) && q.end(c) })
		return c.Link && c.heard() && p.end(c) && !p.at(c) && !right
	})
	if at < 0 {
		return ""
	}
	return seen[at].NIC
}

// judge decides about one cable: where it goes, then what is set at that end.
func judge(c check.Check, p Port, here Cable, elsewhere string) check.Check {
	placed := p.Switch != "" || p.Port != ""
	switch { // more than one cable can go to a switch: where its port is not named, a link that is not heard yet may be right
	case placed && elsewhere != "" && (!here.heard() || !p.end(here)) && (here.heard() || !here.Link || p.Switch != "" && p.Port != ""):
		c.Status, c.Fix = check.Fail, message.F("Move the cable from %s to %s.", elsewhere, here.NIC)
	case !here.Up && !here.Link:
		c.Status, c.Observed = check.Skip, message.F("not checked: %s is switched off", here.NIC)
		c.Evidence = []message.Text{unlinked}
	case !here.Link:
		c.Status, c.Fix = check.Fail, message.F("Plug the cable from %s into %s, or switch that port on.", p.words(), here.NIC)
		c.Evidence = []message.Text{unlinked}
	case here.awaited():
		c.Status, c.Observed, c.Evidence = check.Skip, message.T("not checked yet: waiting for the switch to announce itself"), []message.Text{listening}
	case !here.heard():
		c.Status, c.Observed = check.Skip, message.T("not checked: there is a link, but the switch does not announce itself (LLDP)")
	case placed && !p.end(here):
		c.Status, c.Fix = check.Fail, message.F("Move the other end of the cable in %s to %s.", here.NIC, p.words())
	case p.VLAN != 0 && here.VLAN != 0 && p.VLAN != here.VLAN:
		c.Status, c.Observed = check.Fail, message.F("%s, VLAN %d", c.Observed, here.VLAN)
		c.Fix = message.F("Set the untagged VLAN of the switch's port to %d.", p.VLAN)
	case p.MTU != 0 && here.Frame != 0 && here.Frame < p.MTU+frameHead:
		c.Status, c.Observed = check.Fail, message.F("%s, frames of at most %d bytes", c.Observed, here.Frame)
		c.Fix = message.F("Let the switch's port take frames for an MTU of %d.", p.MTU)
	}
	return c
}

// frameHead is what an Ethernet frame has beside the packet: two addresses, the type and the check sum.
const frameHead = 18

// at reports whether a port of the machine is the one that is named, by its name or its MAC.
func (p Port) at(c Cable) bool { return p.NIC == c.NIC || sameMAC(p.NIC, c.MAC) }

// sameMAC compares two MACs, however each is written. It is false for what is not a MAC.
func sameMAC(a, b string) bool {
	mac := value.MAC(a)
	return mac != "" && mac == value.MAC(b)
}

// end reports whether the other end of a cable is where it has to be. A switch may announce a port by a number, and its name only in the
// description.
func (p Port) end(c Cable) bool {
	port := p.Port == "" || samePort(p.Port, c.Port) || c.Description != "" && samePort(p.Port, c.Description)
	return port && (p.Switch == "" || sameSwitch(p.Switch, c.Switch))
}

// sameSwitch compares names: some switches announce their name with its domain.
func sameSwitch(want, is string) bool {
	short := func(s string) string { first, _, _ := strings.Cut(s, "."); return first }
	if strings.Contains(want, ".") && strings.Contains(is, ".") {
		return strings.EqualFold(want, is)
	}
	return strings.EqualFold(short(want), short(is))
}

// samePort compares names of which one may be the short form of the other: "Gi1/0/4" is "GigabitEthernet1/0/4". A port that the switch
// announces by its MAC may be written in any form of that.
func samePort(want, is string) bool {
	if sameMAC(want, is) {
		return true
	}
	split := func(s string) (kind, number string) {
		s = strings.ToLower(strings.ReplaceAll(s, " ", ""))
		at := strings.IndexAny(s, "0123456789")
		if at < 0 {
			return s, ""
		}
		return s[:at], s[at:]
	}
	a, n := split(want)
	b, m := split(is)
	if n == "" || m == "" {
		return a == b && n == m
	}
	return n == m && (a == b || a != "" && b != "" && (strings.HasPrefix(a, b) || strings.HasPrefix(b, a)))
}

// words are the end of a cable: "switch sw-7 port Gi1/0/4, VLAN 20".
func (p Port) words() message.Text {
	to := ends(p.Switch, p.Port)
	switch {
	case p.VLAN <= 0:
		return to
	case to == message.Text{}:
		return message.F("VLAN %d", p.VLAN)
	}
	return message.F("%s, VLAN %d", to, p.VLAN)
}

func (c Cable) words() message.Text {
	switch {
	case c.heard() && c.Description != "":
		return ends(c.Switch, c.Port+" ("+c.Description+")")
	case c.heard():
		return ends(c.Switch, c.Port)
	case c.Link:
		return message.T("link up")
	}
	return message.T("no link")
}

func ends(system, port string) message.Text {
	switch {
	case system == "" && port == "":
		return message.Text{}
	case port == "":
		return message.F("switch %s", system)
	case system == "":
		return message.F("port %s", port)
	}
	return message.F("switch %s port %s", system, port)
}
