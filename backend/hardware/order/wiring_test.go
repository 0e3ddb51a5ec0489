package order

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"touchdown/backend/check"
)

// wired is a sheet with a number of ports, and the machine cabled as it says: names of every kind that switches use.
func wired(r *rand.Rand, ports int) (*Sheet, []Cable) {
	s := &Sheet{Name: "A-17"}
	var seen []Cable
	for n := range ports {
		long, short := [2]string{"GigabitEthernet1/0/", "Gi1/0/"}, r.IntN(2)
		p := Port{NIC: fmt.Sprint("eno", n+1), Switch: fmt.Sprint("sw-", n%2), Port: fmt.Sprint(long[short], n+1), VLAN: 20, MTU: 9000}
		c := Cable{NIC: p.NIC, MAC: fmt.Sprint("52:54:00:00:00:0", n), Up: true, Link: true, Listened: ListenFor, Switch: p.Switch, Port: fmt.Sprint(long[r.IntN(2)], n+1), VLAN: 20, Frame: 9216}
		if r.IntN(2) == 0 {
			c.Switch += ".example.com"
		}
		if r.IntN(3) == 0 {
			p.NIC = strings.ToUpper(c.MAC)
		}
		s.Ports, seen = append(s.Ports, p), append(seen, c)
	}
	return s, seen
}

// swap exchanges what two cables lead to.
func swap(a, b *Cable) {
	a.NIC, b.NIC = b.NIC, a.NIC
	a.MAC, b.MAC = b.MAC, a.MAC
	*a, *b = *b, *a
}

// TestSwappedCables swaps the cables of two of 2 to 6 ports 200 times: both are named with the move that helps, and no other one is.
func TestSwappedCables(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 3))
		s, seen := wired(r, 2+r.IntN(5))
		for _, c := range s.Wiring().Checks(seen, nil) {
			if c.Status != check.Pass {
				t.Fatalf("seed %d, as wanted: %+v", seed, c)
			}
		}
		order := r.Perm(len(seen))
		a, b := order[0], order[1]
		swap(&seen[a], &seen[b])
		for n, c := range s.Wiring().Checks(seen, nil) {
			want := map[int]string{a: fmt.Sprintf("Move the cable from eno%d to eno%d.", b+1, a+1), b: fmt.Sprintf("Move the cable from eno%d to eno%d.", a+1, b+1)}[n]
			if (c.Status == check.Fail) != (want != "") || c.Fix.String() != want {
				t.Fatalf("seed %d, eno%d and eno%d swapped, eno%d: %+v, want %q", seed, a+1, b+1, n+1, c, want)
			}
		}
	}
}

// TestASwapIsNotToldByHalf: of two swapped cables, one is heard first. Its port cannot say which cable belongs there before the other one is heard.
func TestASwapIsNotToldByHalf(t *testing.T) {
	s, seen := wired(rand.New(rand.NewPCG(1, 1)), 2)
	swap(&seen[0], &seen[1])
	late := seen[1]
	seen[1].Switch, seen[1].Port, seen[1].Listened = "", "", 1
	for _, c := range s.Wiring().Checks(seen, nil) {
		if c.Status != check.Fail || !Listening(c) {
			t.Errorf("while one is not heard: %+v", c)
		}
	}
	seen[1] = late
	for n, c := range s.Wiring().Checks(seen, nil) {
		if c.Fix.String() != [2]string{"Move the cable from eno2 to eno1.", "Move the cable from eno1 to eno2."}[n] || Listening(c) {
			t.Errorf("both are heard: %+v", c)
		}
	}
}

// TestWiringIsJudged: what else can be wrong at the two ends of a cable, and what nobody can know.
func TestWiringIsJudged(t *testing.T) {
	for name, c := range map[string]struct {
		hurt   func(s *Sheet, seen []Cable)
		status check.Status
		says   string
	}{
		"in the wrong socket of the machine": {func(_ *Sheet, seen []Cable) {
			seen[1].Switch, seen[1].Port = seen[0].Switch, seen[0].Port
			seen[0] = Cable{NIC: "eno1", MAC: seen[0].MAC}
		}, check.Fail, "Move the cable from eno2 to eno1."},
		"in the wrong socket of the switch": {func(_ *Sheet, seen []Cable) { seen[0].Port = "Gi1/0/40" }, check.Fail, "Move the other end of the cable in eno1 to switch sw-0 port"},
		"at the wrong switch":               {func(_ *Sheet, seen []Cable) { seen[0].Switch = "sw-00" }, check.Fail, "Move the other end"},
		"beside one that is right": {func(s *Sheet, seen []Cable) {
			s.Ports[0].Switch, s.Ports[0].Port, seen[0].Switch = s.Ports[1].Switch, "", "sw-9"
		}, check.Fail, "Move the other end of the cable in eno1 to switch sw-1"},
		"without a link": {func(_ *Sheet, seen []Cable) { seen[0] = Cable{NIC: "eno1", MAC: seen[0].MAC, Up: true} }, check.Fail, "Plug the cable from switch sw-0 port"},
		"moved away from where it was heard": {func(_ *Sheet, seen []Cable) {
			seen[1].Switch, seen[1].Port, seen[1].Link = seen[0].Switch, seen[0].Port, false
			seen[0].Switch, seen[0].Port, seen[0].Listened = "", "", 1
		}, check.Skip, "not checked yet: waiting for the switch"},
		"in a port that is off":       {func(_ *Sheet, seen []Cable) { seen[0] = Cable{NIC: "eno1", MAC: seen[0].MAC} }, check.Skip, "eno1 is switched off"},
		"in another VLAN":             {func(_ *Sheet, seen []Cable) { seen[0].VLAN = 21 }, check.Fail, "Set the untagged VLAN of the switch's port to 20."},
		"with small frames":           {func(_ *Sheet, seen []Cable) { seen[0].Frame = 1518 }, check.Fail, "take frames for an MTU of 9000"},
		"in a port that is not there": {func(s *Sheet, _ []Cable) { s.Ports[0].NIC = "eno9" }, check.Fail, "Correct the name"},
		"to a switch that is silent":  {func(_ *Sheet, seen []Cable) { seen[0].Switch, seen[0].Port = "", "" }, check.Skip, "does not announce itself"},
		"to a silent switch, beside one that nobody asked for": {func(s *Sheet, seen []Cable) {
			s.Ports[0].Port, seen[0].Switch, seen[0].Port = "", "", ""
			s.Ports[1].NIC, seen[1].Switch = "eno7", s.Ports[0].Switch
		}, check.Skip, "does not announce itself"},
		"to a switch not heard yet":    {func(_ *Sheet, seen []Cable) { seen[0].Switch, seen[0].Port, seen[0].Listened = "", "", 1 }, check.Skip, "waiting for the switch"},
		"with a VLAN that is not told": {func(_ *Sheet, seen []Cable) { seen[0].VLAN, seen[0].Frame = 0, 0 }, check.Pass, "switch sw-0"},
		"without a name of the switch": {func(s *Sheet, _ []Cable) { s.Ports[0].Switch = "" }, check.Pass, "switch sw-0"},
	} {
		s, seen := wired(rand.New(rand.NewPCG(1, 1)), 2)
		c.hurt(s, seen)
		got := s.Wiring().Checks(seen, nil)
		if got[0].Status != c.status || !strings.Contains(got[0].Observed.String()+" "+got[0].Fix.String(), c.says) {
			t.Errorf("a cable %s: %+v", name, got[0])
		}
		if Listening(got[0]) != strings.Contains(c.says, "waiting") {
			t.Errorf("a cable %s: listening is %v", name, Listening(got[0]))
		}
		if Unlinked(got[0]) != (strings.Contains(c.says, "Plug the cable") || strings.Contains(c.says, "switched off")) {
			t.Errorf("a cable %s: unlinked is %v", name, Unlinked(got[0]))
		}
	}
	s, seen := wired(rand.New(rand.NewPCG(1, 1)), 2)
	s.Ports[0].NIC = "eno9"
	if got := s.Wiring().Checks(seen, []string{"0000:60:00.0"}); got[0].Status != check.Skip || !strings.Contains(got[0].Observed.String(), "0000:60:00.0") || got[1].Status != check.Pass {
		t.Errorf("a port that a pod has: %+v", got)
	}
	if len((*Sheet)(nil).Wiring().Checks(nil, nil)) != 0 {
		t.Error("no sheet has cables")
	}
}

// TestPortNames: the short form of a name is the same port, and another number or another kind is not.
func TestPortNames(t *testing.T) {
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"Gi1/0/4", "GigabitEthernet1/0/4", true},
		{"Ethernet 1/4", "Eth1/4", true},
		{"4", "4", true},
		{"ge-0/0/4", "ge-0/0/4", true},
		{"uplink", "UPLINK", true},
		{"Gi1/0/4", "Gi1/0/14", false},
		{"Gi1/0/4", "Te1/0/4", false},
		{"4", "Gi4", false},
		{"uplink", "up", false},
		{"Gi1/0/4", "", false},
		{"", "", true},
	} {
		if samePort(c.a, c.b) != c.same || samePort(c.b, c.a) != c.same {
			t.Errorf("%q and %q: the same is not %v", c.a, c.b, c.same)
		}
	}
}

// TestMACOfAnyForm: a person copies a MAC from a label, from Linux or from a switch, for either end of the cable.
func TestMACOfAnyForm(t *testing.T) {
	here := Cable{NIC: "eno1", MAC: "52:54:00:00:00:0a", Up: true, Link: true, Listened: ListenFor, Switch: "sw-7", Port: "aa:bb:cc:dd:ee:0f"}
	named := here
	named.Port, named.Description = "Gi1/0/4", "aa:bb:cc:dd:ee:0f" // the switch announces a MAC, and the name beside it
	for _, nic := range []string{"52:54:00:00:00:0A", "52-54-00-00-00-0a", "5254.0000.000A"} {
		for _, port := range []string{"aa:bb:cc:dd:ee:0f", "AA-BB-CC-DD-EE-0F", "aabb.ccdd.ee0f"} {
			s, err := Parse([]byte(head+"ports: [{nic: '"+nic+"', switch: sw-7, port: '"+port+"'}]\n"), "order.yaml")
			if err != nil {
				t.Fatal(err)
			}
			for _, at := range []Cable{here, named} {
				if c := s.Wiring().Checks([]Cable{at}, nil)[0]; c.Status != check.Pass {
					t.Errorf("%s at %s: %+v", nic, port, c)
				}
			}
			s.Ports[0].Port = "aabb.ccdd.ee10"
			if c := s.Wiring().Checks([]Cable{here}, nil)[0]; c.Status != check.Fail {
				t.Errorf("another port: %+v", c)
			}
		}
	}
}

// TestPortByItsDescription: a switch that announces its ports by numbers has their names in the descriptions. Either is right.
func TestPortByItsDescription(t *testing.T) {
	here := Cable{NIC: "eno1", Up: true, Link: true, Listened: ListenFor, Switch: "sw-7", Port: "513", Description: "ge-0/0/1"}
	for port, want := range map[string]check.Status{"ge-0/0/1": check.Pass, "513": check.Pass, "ge-0/0/2": check.Fail} {
		c := Wiring{Ports: []Port{{NIC: "eno1", Switch: "sw-7", Port: port}}}.Checks([]Cable{here}, nil)[0]
		if c.Status != want || c.Observed.String() != "switch sw-7 port 513 (ge-0/0/1)" {
			t.Errorf("%s: %+v", port, c)
		}
	}
	there := Cable{NIC: "eno2", Up: true, Link: true, Listened: ListenFor, Switch: "sw-7", Port: "514", Description: "ge-0/0/2"}
	c := Wiring{Ports: []Port{{NIC: "eno1", Port: "ge-0/0/2"}}}.Checks([]Cable{here, there}, nil)[0]
	if want := "Move the cable from eno2 to eno1."; c.Fix.String() != want {
		t.Errorf("swapped: %+v, want %q", c, want)
	}
}
