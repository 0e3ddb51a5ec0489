package steps

import (
	"context"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"touchdown/backend"
	"touchdown/backend/check"
	"touchdown/backend/media"
	"touchdown/backend/message"
	"touchdown/backend/network"
	"touchdown/backend/problem"
	"touchdown/steps/site"
)

// NetworkEntry asks how the node is reached at its site, fills in what the machine has now, and tries the answers out
// before anything is changed. siteNetwork applies them. Its page is the first that asks, so that it offers the answers of media, too.
type NetworkEntry struct {
	Site    *site.Config
	NodeNet *NodeNetwork
	Media   *media.Watcher // nil: none
}

var (
	_ asker     = (*NetworkEntry)(nil)
	_ Inspector = (*NetworkEntry)(nil)
	_ Actor     = (*NetworkEntry)(nil)
	_ Reader    = (*NetworkEntry)(nil)
)

// blinkTime is how long a port's LED blinks: to walk round a rack takes about as long.
const blinkTime = 10 * time.Second

// ID names the step in the journal.
func (*NetworkEntry) ID() string { return "network-settings" }

// Title says what the step is about.
func (*NetworkEntry) Title() message.Text { return message.T("Choose the network") }

const (
	methodStatic   = "static"
	methodDHCP     = "dhcp"
	methodAutoconf = "autoconf"
	methodDisabled = "disabled"
)

// Fields asks for port, addresses, name and time servers. Everything may stay empty: then it stays unchanged.
func (s *NetworkEntry) Fields() []Field {
	simple := func() bool { return s.Site.Spec.NetworkConfig == "" }
	static4 := func() bool { return simple() && s.Site.Spec.Network.IPv4.Method == methodStatic }
	static6 := func() bool { return simple() && s.Site.Spec.Network.IPv6.Method == methodStatic }
	fields := append(mediumFields(s.Media), []Field{
		{
			Path: "spec.network.interface", Kind: Pick, Label: message.T("Network port"), Dynamic: true, Optional: true, Visible: simple,
			Help: message.T("The socket that the site's cable is in."),
			Act:  &Act{Label: message.T("Blink LED"), Doing: message.F("its LED blinks for %.0f seconds", blinkTime.Seconds())},
		},
		{
			Path: "spec.network.ipv4.method", Kind: Pick, Label: message.T("IPv4 method"), Optional: true, Visible: simple,
			Help:    message.T("Static: the numbers on your sheet. DHCP: the site gives them."),
			Choices: []Choice{{methodStatic, message.T("static")}, {methodDHCP, message.T("DHCP")}, {methodDisabled, message.T("no IPv4")}},
		},
	}...)
	fields = append(fields, s.family("ipv4", "IPv4", static4, "198.51.100.10", "24", "198.51.100.1")...)
	fields = append(fields, Field{
		Path: "spec.network.ipv6.method", Kind: Pick, Label: message.T("IPv6 method"), Optional: true, Visible: simple,
		Help:    message.T("As your sheet says. Router: it announces the addresses."),
		Choices: []Choice{{methodDisabled, message.T("no IPv6")}, {methodStatic, message.T("static")}, {methodAutoconf, message.T("router (SLAAC)")}, {methodDHCP, message.T("DHCP")}},
	})
	fields = append(fields, s.family("ipv6", "IPv6", static6, "2001:db8:51::10", "64", "2001:db8:51::1")...)
	return append(fields,
		Field{
			Path: "spec.network.dnsServers", Kind: Text, Label: message.T("DNS servers"), Example: "198.51.100.53", Optional: true,
			Check: site.DNSServers, Visible: simple, Help: message.T("Up to three, with commas. Empty: by DHCP, or none."),
		},
		Field{
			Path: "spec.additionalNTPSources", Kind: Text, Label: message.T("Time servers (NTP)"), Example: "198.51.100.123",
			Optional: true, Check: site.NTPSources, Help: message.T("If any: names or addresses, with commas."),
		},
		Field{
			Path: "spec.network.vlanID", Kind: Text, Label: message.T("VLAN"), Example: "120", Optional: true, Check: site.VLANID,
			Visible: simple, Help: message.T("Only if your sheet names one: 1 to 4094."),
		},
		Field{
			Path: "spec.network.bond.ports", Kind: Text, Label: message.T("Bond ports"), Example: "enp1s0,enp2s0", Optional: true,
			Check: site.BondPorts, Visible: simple, Help: message.T("Only if two cables work as one. They replace the network port above."),
		},
		Field{
			Path: "spec.network.bond.mode", Kind: Pick, Label: message.T("Bond mode"), Optional: true, Choices: bondModes(),
			Help:    message.T("As the switch is set."),
			Visible: func() bool { return simple() && len(s.Site.Spec.Network.Bond.Ports) > 0 },
		},
		Field{
			Path: "spec.network.mtu", Kind: Text, Label: message.T("MTU"), Example: "1500", Optional: true,
			Check: site.MTU, Visible: simple, Help: message.T("Bytes. Empty: unchanged."),
		})
}

// family asks for the numbers of one family.
func (*NetworkEntry) family(path, name string, visible func() bool, address, prefix, gateway string) []Field {
	checks := map[string][3]func(string) error{
		"ipv4": {site.IPv4Address, site.IPv4Prefix, site.IPv4Gateway},
		"ipv6": {site.IPv6Address, site.IPv6Prefix, site.IPv6Gateway},
	}[path]
	return []Field{
		{
			Path: "spec.network." + path + ".address", Kind: Text, Label: message.F("%s address", name), Example: address,
			Check: checks[0], Visible: visible, Help: message.T("The node's own address at the site."),
		},
		{
			Path: "spec.network." + path + ".prefixLength", Kind: Text, Label: message.F("%s prefix length", name), Example: prefix,
			Check: checks[1], Visible: visible, Help: message.T("The size of the subnet, or its netmask."),
		},
		{
			Path: "spec.network." + path + ".gateway", Kind: Text, Label: message.F("%s gateway", name), Example: gateway, Optional: true,
			Check: checks[2], Visible: visible, Help: message.T("The site's router, if any."),
		},
	}
}

func bondModes() []Choice {
	var choices []Choice
	for _, m := range network.BondModes {
		choices = append(choices, Choice{m, message.Data(m)})
	}
	return choices
}

// Reads names what else the network is asked about: names to resolve, the proxy, and the registry with who vouches for it.
func (*NetworkEntry) Reads() []string {
	return []string{
		"spec.networkConfig", "spec.network.dnsSearch", "spec.clusterName", "spec.baseDomain", "spec.proxy.httpsProxy", "spec.proxy.noProxy",
		"spec.imageDigestMirrors", "spec.additionalTrustBundle", "spec.registryCerts",
	}
}

// Inspect offers the ports, fills in what is in force, and tries the answers out.
func (s *NetworkEntry) Inspect(ctx context.Context, node *backend.Node, report Report) error {
	mediumChecks(s.Media, report.Check)
	if node.Host.Root() != "" { // what can be asked is the network of the machine that this runs on, not the one below the root
		report.Check(check.Check{ID: "network-now", Title: message.T("Current network"), Status: check.Skip, Observed: message.T("not this machine's")})
		return nil
	}
	ports, err := s.NodeNet.net.Ports(ctx)
	if err != nil {
		return err
	}
	var choices []Choice
	var carriers strings.Builder
	for _, p := range ports {
		choices = append(choices, Choice{p.Name, p.Label()})
		carriers.WriteString(p.Name + strconv.FormatBool(p.Carrier) + " ")
	}
	report.Offer("spec.network.interface", choices)
	now, err := s.NodeNet.net.Read(ctx)
	if err != nil {
		p := problem.From(err)
		report.Check(check.Check{ID: "network-now", Title: message.T("Current network"), Status: check.Skip, Observed: p.Summary, Fix: p.Fix})
		return nil
	}
	c := networkNow(now)
	unchanged := s.Site.Spec.Network.IsZero() && s.Site.Spec.NetworkConfig == ""
	if unchanged {
		outside(&c, now, insideOf(node))
	}
	report.Check(c)
	s.suggest(report, now)
	if unchanged {
		return nil
	}
	settings := settingsOn(node, s.Site)
	if faults := s.NodeNet.net.Validate(ctx, settings, networkFacts(now, ports, node)); len(faults) > 0 {
		report.Check(s.faultCheck(faults))
		return nil
	}
	report.Check(check.Check{ID: "network-sense", Title: message.T("Settings fit together"), Status: check.Pass, Observed: message.T("yes")})
	target := probeTarget(s.Site, settings.Resolve(now), node)
	return s.NodeNet.probe(ctx, node.Now(), target, carriers.String(), report.Check)
}

// Forget has the next look ask the network again.
func (s *NetworkEntry) Forget(now time.Time) { s.NodeNet.forget(now) }

// Act lets the LED of a port blink.
func (s *NetworkEntry) Act(ctx context.Context, _ *backend.Node, _, port string) error {
	return s.NodeNet.net.Blink(ctx, port, blinkTime)
}

// suggest fills in what is in force, with its source. The numbers come once someone wants them by hand: they say what
// the site's DHCP gave, which is often what the sheet says.
func (s *NetworkEntry) suggest(report Report, now *network.Current) {
	offer := func(path, value string) {
		if value == "" || value == "0" {
			return
		}
		source := now.Sources[path]
		if source == "" {
			source = network.SourceCurrent
		}
		report.Suggest("spec.network."+path, value, source)
	}
	if s.Site.Spec.NetworkConfig != "" {
		return
	}
	if len(s.Site.Spec.Network.Bond.Ports) == 0 {
		offer("interface", now.Interface)
	}
	for _, f := range []struct {
		path      string
		now       network.Family
		want      string
		automatic bool
	}{
		{"ipv4", now.IPv4, s.Site.Spec.Network.IPv4.Method, now.IPv4.Automatic()},
		{"ipv6", now.IPv6, s.Site.Spec.Network.IPv6.Method, now.IPv6.Automatic()},
	} {
		method := f.now.Method
		if method != methodStatic && method != methodDHCP && method != methodAutoconf {
			method = methodDisabled
		}
		offer(f.path+".method", method)
		if f.want == methodStatic {
			offer(f.path+".address", f.now.Address)
			offer(f.path+".prefixLength", strconv.Itoa(f.now.Prefix))
			offer(f.path+".gateway", f.now.Gateway)
			offer("dnsServers", strings.Join(now.DNS, ","))
		}
	}
}

// networkNow tells the current network in one line.
func networkNow(now *network.Current) check.Check {
	c := check.Check{ID: "network-now", Title: message.T("Current network"), Status: check.Pass}
	var words []message.Text
	for _, f := range []network.Family{now.IPv4, now.IPv6} {
		switch {
		case f.Address == "":
		case f.Automatic():
			words = append(words, message.F("%s/%d from the site", f.Address, f.Prefix))
		default:
			words = append(words, message.F("%s/%d static", f.Address, f.Prefix))
		}
	}
	if len(words) == 0 {
		words = append(words, message.T("no address from outside"))
	}
	c.Observed = message.Join(append(words, message.F("port %s", now.Interface)), ", ")
	return c
}

// outside fails a network that is to stay, and overlaps one inside the cluster: the settings are not judged then, as they came by DHCP.
func outside(c *check.Check, now *network.Current, inside []network.Reserved) {
	for _, f := range []network.Family{now.IPv4, now.IPv6} {
		addr, err := netip.ParseAddr(f.Address)
		if err != nil {
			continue
		}
		subnet := netip.PrefixFrom(addr, f.Prefix).Masked()
		for _, r := range inside {
			if r.Prefix.Overlaps(subnet) {
				c.Status, c.Observed = check.Fail, message.F("%s, which overlaps %s network %s", subnet, r.Whose(), r.Prefix)
				c.Fix = message.T("Ask the site's network administrator for another subnet: the networks inside a cluster cannot be changed.")
				return
			}
		}
	}
}

// faultCheck tells the first fault beside its field, as the page calls it.
func (s *NetworkEntry) faultCheck(faults []network.Fault) check.Check {
	where := message.Data(faults[0].Path)
	for _, f := range s.Fields() {
		if f.Path == faults[0].Path {
			where = f.Label
		}
	}
	c := check.Check{
		ID: "network-sense", Title: message.T("Settings fit together"), Status: check.Fail,
		Observed: message.F("%s: %s", where, faults[0].Text), Fix: message.T("Go back to the field and fix it."),
	}
	for _, f := range faults[1:] {
		c.Evidence = append(c.Evidence, message.F("%s: %s", f.Path, f.Text))
	}
	return c
}

// Run has nothing to do.
func (*NetworkEntry) Run(context.Context, *backend.Node, Report) error { return nil }
