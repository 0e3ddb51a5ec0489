package steps

import (
	"context"
	"fmt"

	"touchdown/backend"
	"touchdown/backend/message"
	"touchdown/backend/nodeconfig"
	"touchdown/steps/site"
)

// Syslog asks for the site's syslog server. NodeConfig brings it to the node.
//
// It is an example: RHCOS has no rsyslog, so it is of use only on a node whose image was extended by it.
type Syslog struct{ Site *site.Config }

var (
	_ asker       = (*Syslog)(nil)
	_ fileBringer = (*Syslog)(nil)
)

// ID names the step in the journal.
func (*Syslog) ID() string { return "syslog" }

// Title says what the step is about.
func (*Syslog) Title() message.Text { return message.T("Send the log to the site") }

// Fields asks for the server.
func (*Syslog) Fields() []Field {
	return []Field{{
		Path: "spec.syslogServer", Kind: Text, Label: message.T("Syslog server"), Optional: true, Check: site.SyslogServer,
		Help: message.T("Name or address. Empty: the log stays on the node."), Example: "log.example.com",
	}}
}

// Run has nothing to do.
func (*Syslog) Run(context.Context, *backend.Node, Report) error { return nil }

// NodeFiles is what rsyslog reads.
func (s *Syslog) NodeFiles() []nodeconfig.File {
	server := s.Site.Spec.SyslogServer
	if server == "" {
		return nil
	}
	return []nodeconfig.File{{
		Name: "syslog", Path: "/etc/rsyslog.d/50-site.conf", What: message.T("Syslog server"), New: message.Data(server),
		Content: fmt.Sprintf("*.* action(type=\"omfwd\" target=%q port=\"514\" protocol=\"tcp\")\n", server),
	}}
}
