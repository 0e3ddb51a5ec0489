package dns

import (
	"fmt"
	"regexp"
	"strings"

	"touchdown/backend/host"
)

// chosen is a setting of dnsmasq that says where it listens.
var chosen = regexp.MustCompile(`(?m)^\s*(interface|except-interface|listen-address|bind-interfaces|bind-dynamic)\s*(=|#|$)`)

// listen is where dnsmasq answers: to the node itself and to its pods, whose resolver (CoreDNS) has the servers of the node's
// resolv.conf. Without it everyone on the site's LAN could ask the node for any name, and would be told the internal address
// for the cluster's. It is "" where another file already says where dnsmasq listens:
// dnsmasq does not start with two settings that contradict each other.
func listen(m *host.Machine, z Zone) (string, error) {
	files, err := m.Glob(folder + "/*")
	if err != nil {
		return "", err
	}
	for _, f := range append(files, "/etc/dnsmasq.conf") {
		if f == own || !m.Exists(f) {
			continue
		}
		b, err := m.ReadFile(f)
		if err != nil {
			return "", err
		}
		if chosen.Match(b) {
			return "", nil
		}
	}
	// bind-dynamic follows addresses that come and go: dnsmasq may start before br-ex has its own.
	var out strings.Builder
	out.WriteString("bind-dynamic\nlisten-address=127.0.0.1\n")
	for _, a := range z.Addresses {
		fmt.Fprintf(&out, "listen-address=%s\n", a)
	}
	return out.String(), nil
}
