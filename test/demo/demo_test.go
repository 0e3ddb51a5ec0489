package main

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"touchdown/test/bench/site"
)

// TestFaultList: what the Makefile offers is what there is, each with a line for people.
func TestFaultList(t *testing.T) {
	var listed, known []string
	for line := range strings.Lines(faultList) {
		name, text, ok := strings.Cut(line, " ")
		if !ok || strings.TrimSpace(text) == "" || len("  make demo FAULT="+line) > 80 {
			t.Errorf("the line %q", line)
		}
		listed = append(listed, name)
	}
	for _, f := range faults() {
		known = append(known, f.name)
		if f.strike == nil && f.land == nil || f.story == "" {
			t.Errorf("%s shows nothing", f.name)
		}
	}
	if !slices.Equal(listed, known) {
		t.Errorf("faults.txt has %q, the demo has %q", listed, known)
	}
}

func TestParse(t *testing.T) {
	tests := []struct {
		args, site, fault, wrong string
		terminal                 bool
	}{
		{args: "", terminal: true},
		{args: "", site: "test/sites/store.yaml"},
		{args: "-site a.yaml", terminal: true, site: "a.yaml"},
		{args: "-fault power", terminal: true, fault: "power"},
		{args: "-fault power", fault: "power", site: "test/sites/store.yaml"},
		{args: "-fault gateway", fault: "gateway", site: "test/sites/network.yaml"},
		{args: "-fault gateway -site a.yaml", fault: "gateway", site: "a.yaml"},
		{args: "-fault gatway", wrong: "gateway   the sheet's"},
	}
	for _, c := range tests {
		t.Run(c.args, func(t *testing.T) {
			d, err := parse(strings.Fields(c.args), c.terminal)
			if c.wrong != "" {
				if err == nil || !strings.Contains(err.Error(), c.wrong) {
					t.Fatalf("%v does not say %q", err, c.wrong)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			fault := ""
			if d.fault != nil {
				fault = d.fault.name
			}
			if d.site != c.site || fault != c.fault {
				t.Errorf("site %q, fault %q", d.site, fault)
			}
		})
	}
}

// TestSheet: everything on it fits a terminal, the keys are on it, and the wrong gateway only where that is the fault.
func TestSheet(t *testing.T) {
	for _, name := range append([]string{""}, names()...) {
		d := &demo{}
		if name != "" {
			var err error
			if d.fault, err = findFault(name); err != nil {
				t.Fatal(err)
			}
		}
		sheet := d.sheet(site.Edge())
		lines := strings.Split(sheet, "\n")
		for _, line := range lines {
			if len(line) > 80 {
				t.Errorf("%s: %d columns: %q", name, len(line), line)
			}
		}
		if len(lines) > 24 {
			t.Errorf("%s: %d lines", name, len(lines))
		}
		if !strings.Contains(sheet, "Ctrl-]  ends the demo") || strings.Contains(sheet, wrongGateway) != (name == "gateway") {
			t.Errorf("%s:\n%s", name, sheet)
		}
	}
}

func names() []string {
	var all []string
	for _, f := range faults() {
		all = append(all, f.name)
	}
	return all
}

func TestWithGateway(t *testing.T) {
	const config = "spec:\n  network:\n    ipv4: {gateway: 198.51.100.1, address: 198.51.100.10}\n    ipv6:\n      gateway: 2001:db8:51::1\n"
	got, err := withGateway(config, wrongGateway)
	if want := strings.Replace(config, "198.51.100.1,", wrongGateway+",", 1); err != nil || got != want {
		t.Errorf("%v\n%s", err, got)
	}
	if _, err := withGateway("spec:\n  clusterName: a\n", wrongGateway); err == nil || !strings.Contains(err.Error(), "network.yaml") {
		t.Errorf("a site config without a gateway: %v", err)
	}
}

// TestScreen: nothing of a boot reaches the terminal, and no key the node while it is off.
func TestScreen(t *testing.T) {
	var out, line bytes.Buffer
	s := newScreen(&out, &line)
	step := func(what, wantOut, wantLine string, do func() error) {
		t.Helper()
		out.Reset()
		line.Reset()
		if err := do(); err != nil {
			t.Fatal(err)
		}
		if out.String() != wantOut || line.String() != wantLine {
			t.Errorf("%s: the terminal got %q, the node %q", what, out.String(), line.String())
		}
	}
	writes := func(text string) func() error {
		return func() error { _, err := s.Write([]byte(text)); return err }
	}
	types := func(keys string) func() error { return func() error { return s.typed([]byte(keys)) } }
	step("a boot", "", "", writes("\x1b[6nTouch"))
	step("keys meanwhile", "", "", types("abc"))
	step("the wizard", cleared, repaint, writes("down  sno"))
	step("its screen", "Touchdown", "", writes("Touchdown"))
	step("keys", "", "abc", types("abc"))
	step("the sheet", cleared+"a\r\nb  Press any key.", "", func() error { return s.show("a\nb") })
	step("what the wizard draws meanwhile", "", "", writes("Touchdown"))
	step("a key", cleared, repaint, types("x"))
	step("the power", cleared+"off", "", func() error { return s.dark("off") })
	step("the sheet while it is off", "", "", func() error { return s.show("a") })
	step("the wizard again", cleared, repaint, writes("Touchdown"))
	step("the end", restored, "", s.close)
	step("what the wizard draws after it", "", "", writes("Touchdown"))
}
