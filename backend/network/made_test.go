package network

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"touchdown/backend/host"
	"touchdown/backend/host/hosttest"
)

// standing is a node in use whose br-ex stands on device; links are the interfaces of software that it has.
func standing(t *testing.T, device string, links ...iface) *Current {
	t.Helper()
	var seen []*state
	for _, file := range []string{"testdata/factory-configured.json", "testdata/factory-live.json"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		s, err := parseState(text)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range s.find(Bridge, "ovs-bridge").Bridge.Ports {
			if p.Name == "enp1s0" {
				s.find(Bridge, "ovs-bridge").Bridge.Ports[0].Name, s.find(Bridge, "ovs-bridge").Bridge.Ports[1].Name = device, Bridge
			}
		}
		s.Interfaces = append(s.Interfaces, links...)
		seen = append(seen, s)
	}
	return understand(seen[0], seen[1], node{own: host.DefaultOwn})
}

func aVLAN(name, base string, id int) iface {
	return iface{Name: name, Type: "vlan", State: "up", VLAN: &vlan{base, id}}
}

func aBond(name string, ports ...string) iface {
	return iface{Name: name, Type: "bond", State: "up", Bond: &bond{Mode: "active-backup", Ports: ports}}
}

// TestWhatIsThereKeepsItsName: the kernel has a VLAN of a number once on an interface, and a port in one bond, whatever they are called.
func TestWhatIsThereKeepsItsName(t *testing.T) {
	form := func(change func(*Settings)) Settings {
		s := static()
		change(&s)
		return s
	}
	tagged := form(func(s *Settings) { s.VLAN = 7 })
	onPort := form(func(s *Settings) { s.Interface, s.VLAN = "enp1s0", 7 })
	bonded := form(func(s *Settings) { s.Bond = Bond{"active-backup", []string{"enp2s0", "enp1s0"}} })
	both := form(func(s *Settings) { s.Bond, s.VLAN = bonded.Bond, 7 })
	for name, c := range map[string]struct {
		now  *Current
		s    Settings
		made string // what the plan makes, by name
		gone string
	}{
		"a VLAN under another name":             {standing(t, "vlan7", aVLAN("vlan7", "enp1s0", 7)), tagged, "vlan7", ""},
		"it, and its port is named":             {standing(t, "vlan7", aVLAN("vlan7", "enp1s0", 7)), onPort, "vlan7", ""},
		"it, and nothing is said":               {standing(t, "vlan7", aVLAN("vlan7", "enp1s0", 7)), Settings{}, "vlan7", ""},
		"its VLAN gets another number":          {standing(t, "vlan8", aVLAN("vlan8", "enp1s0", 8)), onPort, "enp1s0.7", "vlan8"},
		"no VLAN any more":                      {standing(t, "vlan7", aVLAN("vlan7", "enp1s0", 7)), form(func(s *Settings) { s.Interface = "enp1s0" }), "", "vlan7"},
		"a VLAN of another program's":           {standing(t, "enp1s0", aVLAN("storage", "enp1s0", 7)), onPort, "storage", ""},
		"one of that name and another number":   {standing(t, "enp1s0", aVLAN("enp1s0.7", "enp1s0", 70)), onPort, "vlan7", ""},
		"a VLAN of a document":                  {standing(t, "vlan7", aVLAN("vlan7", "enp2s0", 7)), Settings{Raw: []byte(rawVLAN)}, "vlan7", ""},
		"both names are others'":                {standing(t, "enp1s0", aVLAN("enp1s0.7", "enp1s0", 70), aVLAN("vlan7", "enp2s0", 7)), onPort, "vlan7-2", ""},
		"a bond under another name":             {standing(t, "bond1", aBond("bond1", "enp1s0", "enp2s0")), bonded, "bond1", ""},
		"a bond in a VLAN, and nothing is said": {standing(t, "out", aBond("bond1", "enp1s0", "enp2s0"), aVLAN("out", "bond1", 7)), Settings{VLAN: 7}, "bond1 out", ""},
		"it, in a VLAN":                         {standing(t, "bond1", aBond("bond1", "enp1s0", "enp2s0")), both, "bond1 bond1.7", ""},
		"its bond gets another port":            {standing(t, "team", aBond("team", "enp1s0")), bonded, "team", ""},
		"no bond any more":                      {standing(t, "bond1", aBond("bond1", "enp1s0", "enp2s0")), onPort, "enp1s0.7", "bond1"},
		"a bond of another program's":           {standing(t, "enp1s0", aBond("bond0", "enp3s0")), bonded, "bond1", ""},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := compilePlan(t.Context(), offline(t).library, c.s, c.now, c.now)
			if err != nil {
				t.Fatal(err)
			}
			want, err := parseState(p.desired)
			if err != nil {
				t.Fatal(err)
			}
			var made, gone []string
			for _, i := range want.Interfaces {
				switch {
				case i.State == "absent":
					gone = append(gone, i.Name)
				case i.VLAN != nil || i.Bond != nil:
					made = append(made, i.Name)
				}
			}
			if got := strings.Join(made, " "); got != c.made {
				t.Errorf("makes %q, want %q:\n%s", got, c.made, p.desired)
			}
			if got := strings.Join(gone, " "); got != c.gone {
				t.Errorf("removes %q, want %q:\n%s", got, c.gone, p.desired)
			}
			if c.made != "" && !slices.ContainsFunc(p.files, func(f keyfile) bool { return f.Name == prefix+lastWord(c.made)+".nmconnection" }) {
				t.Errorf("the next boot makes no %s: %v", lastWord(c.made), p.files)
			}
		})
	}
}

func lastWord(s string) string { return s[strings.LastIndexByte(s, ' ')+1:] }

// TestWhatAnEarlierTryMadeKeepsItsName: a VLAN that an earlier try kept keeps its name, although the network from before had none.
func TestWhatAnEarlierTryMadeKeepsItsName(t *testing.T) {
	form := static()
	form.Interface, form.VLAN = "enp2s0", 7
	for name, s := range map[string]Settings{"a form": form, "a document": {Raw: []byte(rawVLAN)}} {
		now := standing(t, "site", aVLAN("site", "enp2s0", 7))
		p, err := compilePlan(t.Context(), offline(t).library, s, standing(t, "enp1s0"), now)
		if err != nil {
			t.Fatal(err)
		}
		want, err := parseState(p.desired)
		if err != nil {
			t.Fatal(err)
		}
		if i := want.find("site", ""); i == nil || i.State != "up" || want.find("enp2s0.7", "") != nil {
			t.Errorf("%s: the VLAN loses its name: %s", name, p.desired)
		}
	}
}

// TestANameThatIsTakenIsNoneFromBefore: another VLAN has it now.
func TestANameThatIsTakenIsNoneFromBefore(t *testing.T) {
	s := static()
	s.Interface, s.VLAN = "enp1s0", 7
	before, now := standing(t, "site", aVLAN("site", "enp1s0", 7)), standing(t, "site", aVLAN("site", "enp2s0", 7))
	if got := s.makes(now, before).vlan; got != "enp1s0.7" {
		t.Errorf("the VLAN is called %q", got)
	}
}

// TestAnUndoKnowsTheNames: what is put back has the names that it had, after a restart of the engine too.
func TestAnUndoKnowsTheNames(t *testing.T) {
	before := standing(t, "out", aBond("team", "enp1s0", "enp2s0"), aVLAN("out", "team", 7))
	text, err := json.Marshal(originals{Version: originalsVersion, Before: before})
	if err != nil {
		t.Fatal(err)
	}
	o, err := readOriginals(text, nil)
	if err != nil {
		t.Fatal(err)
	}
	own := o.Before.own()
	if b, v := own.find("team", "bond"), own.find("out", "vlan"); b == nil || v == nil || v.VLAN.Base != "team" {
		t.Errorf("what is put back has not the bond and the VLAN that were there: %+v", own.Interfaces)
	}
	trial := standing(t, "team.8", aBond("team", "enp1s0", "enp2s0"), aVLAN("team.8", "team", 8))
	text, err = o.desired(trial)
	if err != nil {
		t.Fatal(err)
	}
	back, err := parseState(text)
	if err != nil {
		t.Fatal(err)
	}
	if i := back.find("team.8", ""); i == nil || i.State != "absent" {
		t.Errorf("the VLAN of the trial stays: %+v", back.Interfaces)
	}
	if i := back.find("out", ""); i == nil || i.State == "absent" {
		t.Errorf("the VLAN that was there does not come back: %+v", back.Interfaces)
	}
}

// TestWhatTheReleaseBeforeSavedIsWhatWasConfigured: it saved nmstate's picture, in which OVN-Kubernetes' address and a lease for ever look as
// if a profile had them. What this release saves has that picture for it, too.
func TestWhatTheReleaseBeforeSavedIsWhatWasConfigured(t *testing.T) {
	const seen = `{"interfaces":[{"name":"br-ex","type":"ovs-interface",
		"ipv4":{"enabled":true,"dhcp":true,"address":[{"ip":"203.0.113.9","prefix-length":24},{"ip":"198.51.100.7","prefix-length":24},{"ip":"192.168.127.10","prefix-length":32}]},
		"ipv6":{"enabled":true,"autoconf":true,"address":[{"ip":"fd69::2","prefix-length":112},{"ip":"2001:db8:5::7","prefix-length":64}]}}]}`
	const byHand = `{"interfaces":[{"name":"br-ex","type":"ovs-interface",
		"ipv4":{"enabled":true,"dhcp":false,"address":[{"ip":"198.51.100.7","prefix-length":24},{"ip":"192.168.127.10","prefix-length":32}]},
		"ipv6":{"enabled":true,"autoconf":false,"address":[{"ip":"fd69::2","prefix-length":112},{"ip":"2001:db8:5::7","prefix-length":64}]}}]}`
	picture, err := parseState([]byte(seen))
	if err != nil {
		t.Fatal(err)
	}
	old := originals{Version: originalsVersion, Before: &Current{Seen: picture}, Files: []saved{{Path: "p", Data: []byte("[ipv4]\naddress1=198.51.100.7/24,198.51.100.1\n[ipv6]\naddress=2001:db8:5::7/64\n")}}}
	old.Before.Own = host.DefaultOwn
	read := func(o originals) string {
		text, err := json.Marshal(o)
		if err != nil {
			t.Fatal(err)
		}
		again, err := readOriginals(text, ovn(hosttest.New(t).Machine))
		if err != nil {
			t.Fatal(err)
		}
		var all []string
		i := again.Before.Seen.find("br-ex", "")
		for _, a := range append(i.IPv4.addresses(), i.IPv6.addresses()...) {
			all = append(all, a.prefix().String())
		}
		return strings.Join(all, " ")
	}
	const want = "198.51.100.7/24 192.168.127.10/32 2001:db8:5::7/64"
	if got := read(old); got != want {
		t.Errorf("of the release before %s, want %s", got, want)
	}
	if old.Before.Seen, err = parseState([]byte(byHand)); err != nil {
		t.Fatal(err)
	}
	if got := read(old); got != want {
		t.Errorf("of the release before, by hand, %s, want %s", got, want)
	}
	old.Configured = &state{Interfaces: []iface{{Name: "br-ex", IPv4: &family{Enabled: true, Address: []address{{IP: "198.51.100.9", Prefix: 24}}}}}}
	if got := read(old); got != "198.51.100.9/24" {
		t.Errorf("of this release %s", got)
	}
}

// TestPortsSayThatTheyLeaveABond: nmstate would leave them as they are, and down once the bond is gone.
func TestPortsSayThatTheyLeaveABond(t *testing.T) {
	bonded := standing(t, "bond0.7", aBond("bond0", "enp1s0", "enp2s0"), aVLAN("bond0.7", "bond0", 7))
	plain, tagged, other, same := static(), static(), static(), static()
	plain.Interface, tagged.Interface, tagged.VLAN = "enp1s0", "enp1s0", 8
	same.VLAN, same.MTU = 7, bonded.MTU
	other.Bond = Bond{"802.3ad", []string{"enp1s0", "enp2s0"}}
	for name, c := range map[string]struct {
		s      Settings
		leaves []string
	}{
		"a port of br-ex":             {plain, []string{"enp2s0"}},
		"the base of a VLAN":          {tagged, []string{"enp1s0", "enp2s0"}},
		"a base that nothing else is": {Settings{Raw: []byte(strings.ReplaceAll(lonelyVLAN, "enp2s0", "enp1s0"))}, []string{"enp1s0", "enp2s0"}},
		"it, and the other is absent": {Settings{Raw: []byte(strings.NewReplacer("enp2s0", "enp1s0", "routes:", "- {name: enp2s0, type: ethernet, state: absent}\nroutes:").Replace(lonelyVLAN))}, []string{"enp1s0", "enp2s0"}},
		"another mode":                {other, nil},
		"a bond that is not touched":  {same, nil},
	} {
		portsLeave(t, name, bonded, c.s, c.leaves)
	}
	beside := static()
	beside.Interface = "enp2s0"
	elsewhere := standing(t, "enp2s0", aBond("bond1", "enp1s0"))
	for name, c := range map[string]struct {
		s      Settings
		leaves []string
	}{
		"the base of a VLAN in another one": {tagged, []string{"enp1s0"}},
		"and of a document's":               {Settings{Raw: []byte(strings.ReplaceAll(lonelyVLAN, "enp2s0", "enp1s0"))}, []string{"enp1s0"}},
		"the bond gets the port":            {other, nil},
		"a port of br-ex":                   {plain, nil}, // the bridge takes it
		"nothing of it":                     {beside, nil},
	} {
		portsLeave(t, name, elsewhere, c.s, c.leaves)
	}
	p := portsLeave(t, "a VLAN that leads nowhere", elsewhere, Settings{Raw: []byte(vlanBeside)}, nil)
	if slices.ContainsFunc(p.files, func(f keyfile) bool { return f.Name == prefix+"enp1s0.nmconnection" }) {
		t.Errorf("the next boot takes a port out of a bond that this boot leaves there: %v", p.files)
	}
}

// TestPutBackGivesPortsBack: out of a bond of the trial, and into the one that they were in.
func TestPutBackGivesPortsBack(t *testing.T) {
	both := aBond("bond1", "enp1s0", "enp2s0")
	for name, c := range map[string]struct {
		before, now *Current
		leaves      []string
		bond        []string // ports of bond1
	}{
		"a bond of the trial": {standing(t, "enp1s0"), standing(t, "bond1", both), []string{"enp2s0"}, nil},
		"from another bond":   {standing(t, "enp3s0", both), standing(t, "enp1s0", aBond("bond1", "enp2s0")), nil, both.Bond.Ports},
	} {
		o := originals{Version: originalsVersion, Before: c.before}
		text, err := o.desired(c.now)
		if err != nil {
			t.Fatal(err)
		}
		back, err := parseState(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := whoLeave(t, text); !slices.Equal(got, c.leaves) {
			t.Errorf("%s: %v leave their bond, want %v: %s", name, got, c.leaves, text)
		}
		if i := back.find("bond1", ""); c.bond != nil && (i == nil || i.Bond == nil || !slices.Equal(i.Bond.Ports, c.bond)) {
			t.Errorf("%s: the bond is %+v, want the ports %v", name, i, c.bond)
		}
		if _, err := (nmstateLibrary{}).generate(t.Context(), text); err != nil {
			t.Errorf("%s: nmstate refuses it: %v", name, err)
		}
	}
}

// whoLeave are the ports that a state takes out of their bond.
func whoLeave(t *testing.T, text []byte) (leave []string) {
	t.Helper()
	var d document
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	for _, i := range d.list("interfaces") {
		if c, ok := i["controller"]; ok && c == "" && i["state"] == "up" {
			leave = append(leave, i["name"].(string))
		}
	}
	slices.Sort(leave)
	return leave
}

// portsLeave wants a plan to take these ports out of their bond, now and in the next boot.
func portsLeave(t *testing.T, name string, now *Current, s Settings, leaves []string) *Plan {
	t.Helper()
	p, err := compilePlan(t.Context(), nmstateLibrary{}, s, now, now)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if slices.Contains(leaves, "enp1s0") && !slices.ContainsFunc(p.files, func(f keyfile) bool { return f.Name == prefix+"enp1s0.nmconnection" }) {
		t.Errorf("%s: the next boot makes enp1s0 a port of the bond again: %v", name, p.files)
	}
	if leave := whoLeave(t, p.desired); !slices.Equal(leave, leaves) {
		t.Errorf("%s: %v leave the bond, want %v:\n%s", name, leave, leaves, p.desired)
	}
	if _, err := (nmstateLibrary{}).generate(t.Context(), p.desired); err != nil {
		t.Errorf("%s: nmstate refuses it: %v", name, err)
	}
	return p
}

// vlanBeside is a document that leads out over one port, and has a VLAN of another of which it does not speak.
const vlanBeside = `
interfaces:
- {name: enp2s0, type: ethernet, state: up, ipv4: {enabled: true, dhcp: false, address: [{ip: 198.51.100.10, prefix-length: 24}]}}
- {name: storage, type: vlan, state: up, vlan: {base-iface: enp1s0, id: 8}}
routes:
  config: [{destination: 0.0.0.0/0, next-hop-interface: enp2s0, next-hop-address: 198.51.100.1}]
`

// lonelyVLAN is a document that does not speak of the port below its VLAN.
const lonelyVLAN = `
interfaces:
- {name: site, type: vlan, state: up, vlan: {base-iface: enp2s0, id: 8}, ipv4: {enabled: true, dhcp: false, address: [{ip: 198.51.100.10, prefix-length: 24}]}}
routes:
  config: [{destination: 0.0.0.0/0, next-hop-interface: site, next-hop-address: 198.51.100.1}]
dns-resolver:
  config: {server: [198.51.100.53]}
`

// TestWhatGoesStaysGone: the next boot would make a VLAN again out of the profile that another program wrote, with its addresses and routes.
func TestWhatGoesStaysGone(t *testing.T) {
	m := hosttest.New(t)
	m.File(keptDir+"/site.nmconnection", "[connection]\nid=site\nuuid=1\ntype=vlan\ninterface-name=vlan8\n\n[vlan]\nid=8\nparent=enp1s0\n")
	m.File(keptDir+"/storage.nmconnection", "[connection]\nid=storage\nuuid=2\ntype=vlan\ninterface-name=vlan9\n\n[vlan]\nid=9\nparent=enp1s0\n")
	n := &Network{host: m.Machine, library: nmstateLibrary{}, manager: networkManager{}}
	now := standing(t, "vlan8", aVLAN("vlan8", "enp1s0", 8), aVLAN("vlan9", "enp1s0", 9))
	s := static()
	s.Interface = "enp1s0"
	p, err := compilePlan(t.Context(), n.library, s, now, now)
	if err != nil {
		t.Fatal(err)
	}
	if err := n.Persist(p); err != nil {
		t.Fatal(err)
	}
	if n.host.Exists(keptDir + "/site.nmconnection") {
		t.Error("the next boot makes the VLAN again")
	}
	if !n.host.Exists(keptDir + "/storage.nmconnection") {
		t.Error("the VLAN of another program is gone")
	}
}

// TestVLANsOfPortsWithLongNames: the kernel's names have at most 15 characters, and those of today's ports leave no room for a number.
func TestVLANsOfPortsWithLongNames(t *testing.T) {
	const long = "eno12399np0"
	now := factory(t)
	now.Macs["aa:00:00:00:00:09"] = long
	n := offline(t)
	for id, want := range map[int]string{7: long + ".7", 100: long + ".100", 1000: "vlan1000"} {
		s := static()
		s.Interface, s.VLAN = long, id
		if faults := n.Validate(t.Context(), s, Facts{Now: now, Ports: []Port{{Name: long}}}); len(faults) > 0 {
			t.Errorf("VLAN %d is refused: %+v", id, faults)
		}
		p, err := compilePlan(t.Context(), n.library, s, now, now)
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(p.files, func(f keyfile) bool { return f.Name == prefix+want+".nmconnection" })
		if i < 0 {
			t.Errorf("VLAN %d has no profile for %s: %v", id, want, p.files)
			continue
		}
		if v := values(p.files[i].Text); v["vlan.parent"] != long || v["connection.interface-name"] != want {
			t.Errorf("VLAN %d has the profile %s", id, p.files[i].Text)
		}
	}
}
