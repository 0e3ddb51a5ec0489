package steps

import (
	"context"
	"slices"

	"touchdown/backend"
	"touchdown/backend/message"
	"touchdown/steps/site"
)

// advanced asks for all that the site config can say and no other page asks. Other steps apply it.
type advanced struct{ Site *site.Config }

var (
	_ asker   = (*advanced)(nil)
	_ Planner = (*advanced)(nil)
)

// ID names the step in the journal.
func (*advanced) ID() string { return "advanced" }

// Title says what the step is about.
func (*advanced) Title() message.Text { return message.T("Choose the advanced settings") }

// Fields asks for what may all stay unchanged. A value is judged by the rules of the document.
func (s *advanced) Fields() []Field {
	fields := append(s.node(), s.registries()...)
	return slices.Concat(fields, s.logins(), s.objects(), s.monitor(), s.rules(), s.machine())
}

// objects asks what else node and cluster get; the steps for it plan it.
func (s *advanced) objects() []Field {
	return []Field{
		s.ask("spec.nodeLabels", Lines, message.T("Labels of the node"), message.T("For the site's workloads: name=value, one a line or with commas.")),
		s.ask("spec.manifests", Lines, message.T("Objects for the cluster"), message.T("Kubernetes YAML, such as a hub's import manifest; best from a file, or a folder with several.")),
	}
}

// machine asks what the hardware check judges by. It changes nothing on the node.
func (s *advanced) machine() []Field {
	profile := s.ask("spec.hardware.profile", Pick, message.T("Hardware profile"), message.T("What the machine has to be. Empty: what OpenShift asks for."))
	profile.Choices = hardwareProfiles()
	return []Field{
		profile,
		s.ask("spec.hardware.diskTest", YesNo, message.T("Test the disk"), message.T("Before the review: 22 MiB in about 30 s, nothing is left behind.")),
		s.ask("spec.wiring", Lines, message.T("Where the cables go"), message.T("A YAML list of nic, switch, port, vlan and mtu. The hardware check compares it with the switches.")),
	}
}

// ask is a field of a path, with the schema's check and example.
func (*advanced) ask(path string, kind Kind, label, help message.Text) Field {
	return Field{Path: path, Kind: kind, Label: label, Help: help, Optional: true, Check: site.Check(path), Example: site.Sample(path)}
}

// node asks what the node is called and how it is connected, beyond the page Network.
func (s *advanced) node() []Field {
	hostname := s.ask("spec.hostname", Text, message.T("Name of the node"), message.T("Empty: the name stays. A new one costs a reboot and about 10 minutes."))
	hostname.Visible = func() bool { return s.Site.Spec.Policy.AllowHostnameChange }
	search := s.ask("spec.network.dnsSearch", Text, message.T("DNS search domains"), message.T("Appended to short names; separate with commas."))
	search.Visible = func() bool { return s.Site.Spec.NetworkConfig == "" }
	return []Field{
		s.ask("metadata.name", Text, message.T("Label of the site"), message.T("For people and reports only.")),
		s.ask("spec.policy.allowHostnameChange", YesNo, message.T("Allow another node name"), message.T("OpenShift does not support it; undo does not take it back.")),
		hostname, search,
		s.ask("spec.networkConfig", Lines, message.T("Network as nmstate YAML"), message.T("Replaces the answers on the page Network.")),
		s.ask("spec.sshKeys", Lines, message.T("SSH keys"), message.T("Public keys for the user core, one a line.")),
	}
}

// registries asks where images come from, how the node gets out of the site, and whom it trusts there.
func (s *advanced) registries() []Field {
	return []Field{
		s.ask("spec.imageDigestMirrors", Lines, message.T("Mirrors, by digest"), message.T("A file of oc-mirror, or a YAML list of source and mirrors.")),
		s.ask("spec.imageTagMirrors", Lines, message.T("Mirrors, by tag"), message.T("The same for images named by tag. Drains the node.")),
		s.ask("spec.removeFactoryMirrors", YesNo, message.T("Remove factory mirrors"), message.T("Once the site's are in place. Drains the node.")),
		s.ask("spec.registryCerts", Lines, message.T("CAs of registries"), message.T("A YAML list: registryHostname, registryPort, certificate (PEM after a |).")),
		s.ask("spec.additionalTrustBundle", PEM, message.T("Trusted CAs of the site"), message.T("Certificates that node and cluster trust.")),
		s.ask("spec.proxy.httpProxy", Text, message.T("Proxy for http"), message.T("A URL. Visible while you type; hidden later if it has a password.")),
		s.ask("spec.proxy.httpsProxy", Text, message.T("Proxy for https"), message.T("A URL. Visible while you type; hidden later if it has a password.")),
		s.ask("spec.proxy.noProxy", Text, message.T("Bypass the proxy for"), message.T("Names, addresses and subnets, with commas. The cluster's own are added.")),
	}
}

// logins asks what becomes of the credentials; the step that replaces them plans it.
func (s *advanced) logins() []Field {
	kubeadmin := s.ask("spec.credentials.kubeadmin", Pick, message.T("Password of kubeadmin"), message.T("Whether this node gets its own."))
	kubeadmin.Choices = []Choice{{"replace", message.T("replace with a new one")}, {"keep", message.T("keep the factory password")}}
	return []Field{
		kubeadmin,
		s.ask("spec.credentials.clusterSecret", YesNo, message.T("Credentials in a Secret"), message.T("Password and kubeconfig, in openshift-config, for a hub.")),
	}
}

// monitor asks where reports go; the step that sends them plans it.
func (s *advanced) monitor() []Field {
	fields := []Field{
		s.ask("spec.monitor.url", Text, message.T("Monitor"), message.T("A URL that takes reports and hardware faults by POST. Empty: none are sent.")),
		s.ask("spec.monitor.token", Secret, message.T("Token for the monitor"), message.T("Sent as a bearer token; needs https.")),
		s.ask("spec.monitor.ca", PEM, message.T("CAs of the monitor"), message.T("Trusted for the monitor alone.")),
		s.ask("spec.monitor.cert", PEM, message.T("Certificate for the monitor"), message.T("Where the monitor asks who sends.")),
		s.ask("spec.monitor.key", PEM, message.T("Key of that certificate"), message.T("Its private key, not encrypted.")),
	}
	for i := range fields[1:] {
		fields[i+1].Visible = func() bool { return s.Site.Spec.Monitor.URL != "" }
	}
	return fields
}

// rules asks what applies during the work and at the consoles. No step applies it, so that only the plan of this one tells it.
func (s *advanced) rules() []Field {
	return []Field{
		s.ask("spec.credentials.show", YesNo, message.T("Show the new password"), message.T("On request, at the console that has control, until the hand-over.")),
		s.ask("spec.credentials.kubeconfigDays", Text, message.T("Kubeconfig lasts (days)"), message.T("How long a kubeconfig from Touchdown is valid, 1 to 3650.")),
		s.ask("spec.console.lockAfter", Text, message.T("Lock a console after"), message.T("The time without a key, 1m to 24h.")),
		s.ask("spec.policy.allowReboot", YesNo, message.T("Allow reboots"), message.T("When a step needs one.")),
		s.ask("spec.policy.keepNetworkWhenProbesPass", YesNo, message.T("Keep a working network"), message.T("Without a question, when every probe has passed.")),
		s.ask("spec.policy.keepNetworkUnanswered", YesNo, message.T("Keep it if nobody answers"), message.T("No: the old settings come back.")),
		s.ask("spec.policy.rollbackOnFailure", YesNo, message.T("Undo after a failure"), message.T("When nobody is there to decide.")),
		s.ask("spec.policy.keepGoingOnWarnings", YesNo, message.T("Start despite warnings"), message.T("Only without a person; at a console you decide.")),
		s.ask("spec.policy.seedImages", YesNo, message.T("Keep images on the node"), message.T("In a store that needs no registry.")),
		s.ask("spec.policy.stabilityWindow", Text, message.T("Stay healthy for"), message.T("How long without a break before the node has landed, 1s to 30m.")),
		s.ask("spec.policy.watchdog", Text, message.T("Report as stuck after"), message.T("The time without progress, 5m to 4h.")),
	}
}

// Plan tells the rules that differ from those of a site that says nothing.
func (s *advanced) Plan(context.Context, *backend.Node) (Plan, error) {
	var plan Plan
	usual := site.New()
	for _, f := range s.rules() {
		value, _ := s.Site.Get(f.Path)
		old, _ := usual.Get(f.Path)
		if value == old {
			continue
		}
		plan.Changes = append(plan.Changes, Change{What: f.Label, Old: said(f, old), New: said(f, value)})
	}
	return plan, nil
}

// said is a value as a person reads it.
func said(f Field, value string) message.Text {
	switch {
	case f.Kind != YesNo:
		return message.Data(value)
	case value == "true":
		return message.T("yes")
	}
	return message.T("no")
}

// Run has nothing to do.
func (*advanced) Run(context.Context, *backend.Node, Report) error { return nil }
