package network

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"touchdown/backend/host"
	"touchdown/backend/host/hosttest"
)

var update = flag.Bool("update", false, "write the golden files")

// factory is a node as it leaves the factory: DHCP on br-ex, which stands on enp1s0.
func factory(t *testing.T) *Current { t.Helper(); return factoryOf(t) }

func factoryOf(t testing.TB) *Current {
	t.Helper()
	configured, err := os.ReadFile("testdata/factory-configured.json")
	if err != nil {
		t.Fatal(err)
	}
	live, err := os.ReadFile("testdata/factory-live.json")
	if err != nil {
		t.Fatal(err)
	}
	c, errC := parseState(configured)
	l, errL := parseState(live)
	if err := errors.Join(errC, errL); err != nil {
		t.Fatal(err)
	}
	return understand(c, l, node{own: host.DefaultOwn})
}

func static() Settings {
	return Settings{
		IPv4: Family{Method: Static, Address: "198.51.100.10", Prefix: 24, Gateway: "198.51.100.1"},
		IPv6: Family{Method: Disabled}, DNS: []string{"198.51.100.53"},
	}
}

// offline has the real library, whose generate needs no machine.
func offline(t *testing.T) *Network { return offlineOf(t) }

func offlineOf(t testing.TB) *Network {
	return &Network{host: hosttest.New(t).Machine, library: nmstateLibrary{}, manager: networkManager{}}
}

func TestFactoryIsRead(t *testing.T) {
	now := factory(t)
	if now.Interface != "enp1s0" || !now.Bridged || now.Carrier != Bridge || now.Device != "enp1s0" || now.VLAN != 0 {
		t.Errorf("read %+v", now)
	}
	if want := (Family{DHCP, "192.0.2.10", 24, "192.0.2.1"}); now.IPv4 != want {
		t.Errorf("IPv4 is %+v, want %+v", now.IPv4, want)
	}
	if got := now.Addresses(); !slices.Equal(got, []netip.Addr{netip.MustParseAddr("192.0.2.10")}) {
		t.Errorf("the site reaches it at %v", got)
	}
	if now.Sources["ipv4.address"] != SourceDHCP || now.Sources["ipv4.method"] != SourceCurrent {
		t.Errorf("sources are %v", now.Sources)
	}
}

func TestPlansAreGolden(t *testing.T) {
	bonded := static()
	bonded.Bond = Bond{"active-backup", []string{"enp1s0", "enp2s0"}}
	bonded.VLAN, bonded.MTU = 100, 9000
	dual := static()
	dual.Interface = "enp2s0"
	dual.IPv6 = Family{Method: Static, Address: "2001:db8:51::10", Prefix: 64, Gateway: "fe80::1"}
	dual.DNS, dual.Search = []string{"198.51.100.53", "2001:db8:51::53", "198.51.100.54"}, []string{"site.example"}
	automatic := Settings{IPv4: Family{Method: DHCP}, IPv6: Family{Method: Autoconf}, DNS: []string{"198.51.100.53"}}
	raw := Settings{Raw: []byte(rawVLAN)}
	for name, s := range map[string]Settings{"static": static(), "bond-vlan-mtu": bonded, "dual-other-port": dual, "automatic": automatic, "raw": raw} {
		t.Run(name, func(t *testing.T) {
			now := factory(t)
			n := offline(t)
			p, err := compilePlan(t.Context(), n.library, s, now, now)
			if err != nil {
				t.Fatal(err)
			}
			golden(t, name, p)
			if !strings.Contains(string(p.desired), "192.168.127.10") {
				t.Error("the node's internal address is gone")
			}
			// nmstate itself accepts the running state, too.
			if _, err := n.library.generate(t.Context(), p.desired); err != nil {
				t.Errorf("nmstate refuses the running state: %v", err)
			}
		})
	}
}

// rawVLAN is what a site may bring: everything but the internal address.
const rawVLAN = `
interfaces:
- name: enp2s0.7
  type: vlan
  state: up
  vlan: {base-iface: enp2s0, id: 7}
  ipv4:
    enabled: true
    dhcp: false
    address: [{ip: 198.51.100.10, prefix-length: 24}]
- name: enp2s0
  type: ethernet
  state: up
routes:
  config:
  - {destination: 0.0.0.0/0, next-hop-interface: enp2s0.7, next-hop-address: 198.51.100.1}
dns-resolver:
  config: {server: [198.51.100.53]}
`

func golden(t *testing.T, name string, p *Plan) {
	t.Helper()
	var pretty map[string]any
	if err := json.Unmarshal(p.desired, &pretty); err != nil {
		t.Fatal(err)
	}
	text, err := json.MarshalIndent(pretty, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	out := fmt.Sprintf("carrier %s, released %v\n\n# now\n%s\n", p.Carrier, p.Released, text)
	for _, f := range p.files {
		out += fmt.Sprintf("\n# %s\n%s", f.Name, f.Text)
	}
	path := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.WriteFile(path, []byte(out), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if out != string(want) {
		t.Errorf("the plan is\n%s\nwant\n%s", out, want)
	}
}

func TestKeptProfilesReplaceTheirRivals(t *testing.T) {
	m := hosttest.New(t)
	other := "[connection]\nid=storage\nuuid=1\ntype=ethernet\ninterface-name=enp3s0\n"
	rivals := map[string]string{
		"by-name":         "[connection]\nid=a\nuuid=2\ntype=ethernet\ninterface-name=enp1s0\n",
		"by-mac":          "[connection]\nid=b\nuuid=3\ntype=802-3-ethernet\n\n[802-3-ethernet]\nmac-address=AA:00:00:00:00:02\n",
		"touchdown-bond0": "[connection]\nid=touchdown-bond0\nuuid=4\ntype=bond\ninterface-name=bond0\n",
	}
	m.File(keptDir+"/storage.nmconnection", other)
	for name, text := range rivals {
		m.File(keptDir+"/"+name+".nmconnection", text)
	}
	now := factory(t)
	now.Macs = map[string]string{"aa:00:00:00:00:01": "enp1s0", "aa:00:00:00:00:02": "enp2s0"}
	for _, mac := range []string{"AA:00:00:00:00:02", "aa-00-00-00-00-02", "aa00.0000.0002"} {
		if port := now.portName(mac); port != "enp2s0" {
			t.Errorf("%s is the port %s", mac, port)
		}
	}
	n := &Network{host: m.Machine, library: nmstateLibrary{}, manager: networkManager{}}
	s := static()
	s.Interface = "AA:00:00:00:00:02"
	p, err := compilePlan(t.Context(), n.library, s, now, now)
	if err != nil {
		t.Fatal(err)
	}
	if n.Persisted(p) {
		t.Error("nothing is written yet")
	}
	// A full disk leaves everything as it was.
	m.Fill(100)
	if err := n.Persist(p); err == nil {
		t.Error("a full disk goes unnoticed")
	}
	m.Fill(-1)
	if left := m.Content(keptDir + "/by-name.nmconnection"); left != rivals["by-name"] {
		t.Error("a rival was removed before its successor was there")
	}
	for range 2 {
		if err := n.Persist(p); err != nil {
			t.Fatal(err)
		}
	}
	if !n.Persisted(p) {
		t.Error("what was written does not count")
	}
	files, err := m.Glob(keptDir + "/*")
	if err != nil {
		t.Fatal(err)
	}
	want := []string{keptDir + "/storage.nmconnection", keptDir + "/touchdown-enp1s0.nmconnection", keptDir + "/touchdown-enp2s0.nmconnection"}
	if !slices.Equal(files, want) {
		t.Errorf("profiles are %v, want %v", files, want)
	}
	info, err := os.Stat(m.Path(want[2]))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode is %v (%v)", info.Mode(), err)
	}
}

func TestResolveKeepsWhatIsNotSaid(t *testing.T) {
	now := factory(t)
	if r := (Settings{}).Resolve(now); r.Interface != "enp1s0" || r.IPv4.Method != DHCP || r.IPv4.Address != "" || len(r.DNS) != 0 || !slices.Equal(r.Own, host.DefaultOwn) {
		t.Errorf("nothing said: %+v", r)
	}
	s := static()
	s.DNS = []string{"198.51.100.53", "2001:db8::1", "198.51.100.54"}
	if r := s.Resolve(now); !slices.Equal(r.DNS, []string{"198.51.100.53", "198.51.100.54", "2001:db8::1"}) {
		t.Errorf("name servers are not by family: %v", r.DNS)
	}
}

// TestErrorsHoldNoState: nmstate's errors repeat the whole desired state, with what is secret in it.
func TestErrorsHoldNoState(t *testing.T) {
	secret := "interfaces:\n- name: enp1s0\n  type: ethernet\n  802.1x: {eap-methods: [pwd], identity: me, password: sesame}\n  bogus: 1\n"
	_, err := nmstateLibrary{}.generate(t.Context(), []byte(secret))
	if err == nil || strings.Contains(err.Error(), "sesame") || strings.Contains(err.Error(), "bogus") || !is(err, "NET-ARG") {
		t.Errorf("err is %v", err)
	}
	for text, code := range map[string]string{
		"failed applying nmstate net state SECRET with rc: 1, err_msg: CheckpointConflict: Another checkpoint exists, please wait its timeout or destroy it, err_kind: Bug":                               "NET-CKPT",
		"failed applying nmstate net state SECRET with rc: 1, err_msg: VerificationError: Verification failure: br-ex.interface.ipv4.enabled desire 'true', current 'false', err_kind: VerificationError": "NET-VRFY",
		"failed applying nmstate net state SECRET with rc: 1, err_msg: Bug: Manager(InvalidArguments): checkpoint /org/freedesktop/NetworkManager/Checkpoint/4 does not exist, err_kind: Bug":             NoManager,
		"failed applying nmstate net state SECRET, err_msg: x, err_kind: y with rc: 1, err_msg: strange\nSECRET, err_kind: Bug":                                                                           "NET-PRTY",
		"nothing like it: SECRET": "NET-PRTY",
	} {
		err := explain(applying, errors.New(text), nil)
		if !is(err, code) || strings.Contains(err.Error(), "SECRET") {
			t.Errorf("%q becomes %v, want %s", text, err, code)
		}
	}
}

// TestNothingIsBackThatWasNotApplied: only what applies settings puts old ones back, and a NetworkManager that is not there gets the same
// words whatever was asked of it, also in those of zbus, which begin with a capital.
func TestNothingIsBackThatWasNotApplied(t *testing.T) {
	said := func(text string) error { return errors.New("failed with rc: 1, err_msg: " + text + ", err_kind: Bug") }
	for _, doing := range []string{reading, applying, compiling, comparing} {
		for _, away := range []string{
			"DbusConnectionError: Failed to connect to address `unix:path=/var/run/dbus/system_bus_socket`: No such file or directory (os error 2)",
			"Bug: failed to connect to the bus", "org.freedesktop.DBus.Error.ServiceUnknown: no NetworkManager",
		} {
			if err := explain(doing, said(away), nil); !is(err, NoManager) {
				t.Errorf("%s, %q becomes %v", doing, away, err)
			}
		}
		for _, other := range []error{said("Bug: strange"), errors.New("failed with rc: 1, err_msg: no, err_kind: NotSupportedError")} {
			err := explain(doing, other, nil)
			if back := strings.Contains(err.Error(), "are back"); back && doing != applying || doing == reading && !is(err, "NET-READ") {
				t.Errorf("%s: %v", doing, err)
			}
		}
	}
	if err := explain(applying, said("Bug: strange"), nil); !is(err, "NET-PRTY") {
		t.Errorf("applying: %v", err)
	}
}

func TestDeadlinesHaveBounds(t *testing.T) {
	n := offline(t)
	for _, d := range []time.Duration{0, time.Millisecond, 2 * time.Hour} {
		if err := n.Apply(context.Background(), &Plan{}, d); err == nil {
			t.Errorf("a trial of %s is accepted", d)
		}
	}
}

// TestADirectoryHasNoNetwork: a machine of a test must never show or change the network of the machine below.
func TestADirectoryHasNoNetwork(t *testing.T) {
	n := Open(hosttest.New(t).Machine)
	if _, err := n.Read(t.Context()); !is(err, NoManager) {
		t.Errorf("reading: %v", err)
	}
	if _, err := n.Originals(t.Context()); !is(err, NoManager) {
		t.Errorf("originals: %v", err)
	}
	if err := n.Apply(t.Context(), &Plan{}, time.Minute); !is(err, NoManager) {
		t.Errorf("applying: %v", err)
	}
	if ports, err := n.Ports(t.Context()); err != nil || len(ports) > 0 {
		t.Errorf("ports: %v (%v)", ports, err)
	}
}

// dying is a library that looks at what is noted while it applies.
type dying struct {
	library
	look func()
}

func (d dying) apply(context.Context, []byte, time.Duration) error { d.look(); return nil }

// TestOwnCheckpointsAreKnown: after a crash those of our trials and roll-backs are put back, and nobody else's.
func TestOwnCheckpointsAreKnown(t *testing.T) {
	n := &Network{host: hosttest.New(t).Machine}
	var during time.Duration
	n.library = dying{look: func() { during = n.rollBack().interrupted() }}
	before := sinceBoot()
	if err := n.rollBack().apply(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if during < before || during > sinceBoot() || n.rollBack().interrupted() != 0 {
		t.Errorf("noted %s during the roll-back, which began after %s, and %s behind it", during, before, n.rollBack().interrupted())
	}
	o := &originals{Boot: "this", Taken: 10 * time.Second}
	for _, c := range []struct {
		boot                 string
		interrupted, created time.Duration
		ours                 bool
	}{
		{"this", 0, 11 * time.Second, true},
		{"this", 0, 9 * time.Second, false},
		{"next", 0, 11 * time.Second, false},
		{"next", 5 * time.Second, 6 * time.Second, true},
		{"next", 5 * time.Second, 4 * time.Second, false},
	} {
		if got := o.opened(c.boot, c.interrupted, []checkpoint{{Created: c.created}}); (len(got) == 1) != c.ours {
			t.Errorf("%+v: %v", c, got)
		}
	}
}
