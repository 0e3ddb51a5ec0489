package main

import (
	"fmt"
	"strings"

	"touchdown/test/bench/site"
)

// howToLeave is the first thing that a demo says.
const howToLeave = "Ctrl-] ends the demo, from the moment the wizard is on the screen; Ctrl-C ends it before that."

// sheet is what a technician has on paper, and how to use the terminal.
func (d *demo) sheet(n site.Network) string {
	gateway := n.Gateway4.String()
	if d.fault != nil && d.fault.gateway != "" {
		gateway = d.fault.gateway
	}
	text := fmt.Sprintf(`
  The site's sheet                          The terminal
    port              enp1s0                  Ctrl-]  ends the demo
    IPv4 address      %-22s  Ctrl-O  shows this sheet again
    prefix length     24                      Ctrl-C  leaves the wizard
    gateway           %s
    DNS server        %s
    time server       %s
    cluster name      store0042
    base domain       retail.example.com

  Ctrl-G takes control. Two hardware checks fail, because the node is only as
  large as this machine: choose Waive on the first page.
`, n.Node4, gateway, n.DNS4[0], n.NTP4[0])
	if d.fault != nil {
		text += "\n  FAULT=" + d.fault.name + "\n"
		for line := range strings.Lines(d.fault.story) {
			text += "  " + line
		}
		text += "\n"
	}
	return text + "\n"
}
