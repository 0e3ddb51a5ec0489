package steps

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"touchdown/backend"
	"touchdown/backend/check"
	"touchdown/backend/hardware"
	"touchdown/backend/hardware/order"
	"touchdown/backend/host/hosttest"
	"touchdown/backend/layout"
	"touchdown/backend/network"
	"touchdown/steps/site"
)

// wiredSite is a site config that says where the cables of some ports go, in the spellings that people use, and the machine cabled so.
func wiredSite(t *testing.T, r *rand.Rand, ports int) (*site.Config, []network.Port) {
	t.Helper()
	text := "apiVersion: touchdown.dev/v1alpha1\nkind: SiteConfig\nspec:\n  clusterName: a\n  baseDomain: example.com\n  wiring:\n"
	var seen []network.Port
	for n := range ports {
		kind := [2]string{"GigabitEthernet1/0/", "Gi1/0/"}
		p := network.Port{Name: fmt.Sprint("eno", n+1), MAC: fmt.Sprintf("52:54:00:00:00:a%d", n), Up: true, Carrier: true, Listened: order.ListenFor}
		p.Neighbour = network.Neighbour{System: fmt.Sprint("sw-", n%2, [2]string{"", ".example.com"}[r.IntN(2)]), Port: fmt.Sprint(kind[r.IntN(2)], n+1), VLAN: 20, Frame: 9216}
		if at := &p.Neighbour; r.IntN(3) == 0 { // as switches do that call their ports by numbers
			at.Port, at.Description = fmt.Sprint(500+n), at.Port
		}
		nic := [3]string{p.Name, strings.ToUpper(p.MAC), strings.ReplaceAll(p.MAC, ":", "-")}[r.IntN(3)]
		text += fmt.Sprintf("  - {nic: %q, switch: sw-%d, port: %s%d, vlan: 20, mtu: 9000}\n", nic, n%2, kind[r.IntN(2)], n+1)
		seen = append(seen, p)
	}
	cfg, err := site.Parse([]byte(text), "site.yaml", nil)
	if err != nil {
		t.Fatal(err)
	}
	if errs, _ := cfg.Validate(time.Now()); len(errs) > 0 {
		t.Fatal(errs)
	}
	return cfg, seen
}

// TestSwappedCablesOfASite swaps the cables of two of 2 to 6 ports of a site config 200 times: both are named with the move that helps,
// and no other one is.
func TestSwappedCablesOfASite(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 17))
		cfg, seen := wiredSite(t, r, 2+r.IntN(5))
		w, err := (&Hardware{Site: cfg}).wiring(nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range w.Checks(ends(seen), nil) {
			if c.Status != check.Pass || c.Source.String() != "site config" {
				t.Fatalf("seed %d, as wanted: %+v", seed, c)
			}
		}
		perm := r.Perm(len(seen))
		a, b := perm[0], perm[1]
		seen[a].Neighbour, seen[b].Neighbour = seen[b].Neighbour, seen[a].Neighbour
		for n, c := range w.Checks(ends(seen), nil) {
			want := map[int]string{a: fmt.Sprintf("Move the cable from eno%d to eno%d.", b+1, a+1), b: fmt.Sprintf("Move the cable from eno%d to eno%d.", a+1, b+1)}[n]
			if (c.Status == check.Fail) != (want != "") || c.Fix.String() != want {
				t.Fatalf("seed %d, eno%d and eno%d swapped, eno%d: %+v, want %q", seed, a+1, b+1, n+1, c, want)
			}
		}
	}
}

// TestWhoSaysWhereCablesGo: the site config before an order sheet; a sheet that cannot be read is told.
func TestWhoSaysWhereCablesGo(t *testing.T) {
	cfg, _ := wiredSite(t, rand.New(rand.NewPCG(1, 1)), 2)
	sheet := &order.Sheet{Name: "A-17", Ports: []order.Port{{NIC: "eno9", Switch: "sw-7"}}}
	if w, err := (&Hardware{Site: cfg, Order: sheet}).wiring(nil); err != nil || w.By.String() != "site config" || len(w.Ports) != 2 {
		t.Errorf("%+v, %v", w, err)
	}
	if w, err := (&Hardware{Site: site.New(), Order: sheet}).wiring(nil); err != nil || w.By.String() != "order sheet A-17" || len(w.Ports) != 1 {
		t.Errorf("%+v, %v", w, err)
	}
	node := &backend.Node{Host: hosttest.New(t).Machine}
	h := &Hardware{Site: cfg, NodeNet: NewNodeNetwork(node)}
	if got := h.cables(t.Context(), node, &hardware.Inventory{}); len(got) != 2 || got[0].Status != check.Fail || got[0].Source.String() != "site config" {
		t.Errorf("a machine without ports: %+v", got)
	}
	h.Site = site.New()
	if got := h.cables(t.Context(), node, &hardware.Inventory{}); got != nil {
		t.Errorf("nobody says: %+v", got)
	}
	if err := node.Host.WriteFile(layout.Order, []byte("a: b"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := h.cables(t.Context(), node, &hardware.Inventory{}); len(got) != 1 || got[0].ID != "order-sheet" {
		t.Errorf("a spoilt sheet: %+v", got)
	}
}

// The hardware check waits for what the present look lacks: 20 s for a link, 35 s for a switch from when it was first listened to, and
// not at all for what only a person can change.
func TestLinkWaiter(t *testing.T) {
	sheet := &order.Sheet{Ports: []order.Port{{NIC: "eno1", Switch: "sw-7", VLAN: 20}}}
	look := func(c order.Cable) []check.Check {
		c.NIC = "eno1"
		return sheet.Wiring().Checks([]order.Cable{c}, nil)
	}
	off := look(order.Cable{})
	unplugged := look(order.Cable{Up: true})
	listening := look(order.Cable{Up: true, Link: true})
	wrong := look(order.Cable{Up: true, Link: true, Switch: "sw-7", VLAN: 21})
	elsewhere := look(order.Cable{Up: true, Link: true, Switch: "sw-8"})
	missing := sheet.Wiring().Checks(nil, nil)
	noPort := []check.Check{{ID: hardware.LinkCheck, Status: check.Fail}}
	for name, looks := range map[string][]struct {
		at     int // seconds after the first look
		checks []check.Check
		waits  bool
	}{
		"no port has a link":         {{0, noPort, true}, {19, noPort, true}, {20, noPort, false}},
		"no cable":                   {{0, unplugged, true}, {19, off, true}, {20, unplugged, false}},
		"a switch is silent":         {{0, listening, true}, {34, listening, true}, {35, listening, false}},
		"a link comes late":          {{0, off, true}, {19, listening, true}, {53, listening, true}, {54, listening, false}},
		"a cable goes while waiting": {{0, listening, true}, {10, unplugged, true}, {20, unplugged, false}},
		"a link comes and goes":      {{0, listening, true}, {5, unplugged, true}, {6, listening, true}, {35, listening, false}},
		"a switch is set wrong":      {{0, wrong, false}},
		"a cable is in another one":  {{0, elsewhere, false}},
		"a port is not there":        {{0, missing, false}},
	} {
		began := time.Now()
		w := linkWaiter{began: began}
		for _, l := range looks {
			if _, waits := w.wants(l.checks, began.Add(time.Duration(l.at)*time.Second)); waits != l.waits {
				t.Errorf("%s, after %d s: waits is %v", name, l.at, waits)
			}
		}
	}
}
