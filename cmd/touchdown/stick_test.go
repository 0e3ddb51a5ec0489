package main

import (
	"path/filepath"
	"strings"
	"testing"

	"touchdown/backend/envelope"
	"touchdown/backend/host"
	"touchdown/backend/layout"
	"touchdown/backend/media"
	"touchdown/steps/view"
	"touchdown/steps/wire"
	"touchdown/test/stick"
)

const stickConfig = "apiVersion: touchdown.dev/v1alpha1\nkind: SiteConfig\nspec:\n  clusterName: store0042\n  baseDomain: retail.example.com\n"

// trusting makes a machine with serial number SN1, sealed, that trusts a key.
func trusting(t *testing.T) (*machine, string, envelope.SigningKey) {
	t.Helper()
	m := newMachine(t)
	root := filepath.Join(m.dir, "root")
	node := host.Open(host.Options{Root: root})
	key, public := stick.Key(t)
	if _, err := media.Of(node).Lay(public); err != nil {
		t.Fatal(err)
	}
	for file, text := range map[string]string{"/sys/class/dmi/id/product_serial": "SN1\n", layout.Armed: ""} {
		if err := node.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return m, root, key
}

// TestAStickAtTheConsole: a person at a terminal takes the answers of a stick that comes late, with its passphrase, from an engine
// and a console that are separate processes.
func TestAStickAtTheConsole(t *testing.T) {
	m, root, key := trusting(t)
	lock, passphrase, err := envelope.GeneratedLock()
	if err != nil {
		t.Fatal(err)
	}
	m.engine()
	c := m.console()
	c.shows(t, "nobody has control")
	c.types(t, "\x07")
	c.shows(t, "you have control")
	c.leavesHardware(t)
	stick.Plug(t, root, "sdb", stick.Image(t, envelope.New("SN1"), stickConfig, lock, key))
	c.shows(t, "Answers from a medium")
	c.types(t, "\x1b[A")
	c.shows(t, "> Answers from a medium")
	c.types(t, "\x1b[A")
	c.shows(t, "> Passphrase of the medium")
	c.types(t, passphrase)
	c.shows(t, "***")
	c.types(t, "\t")
	c.shows(t, "> Answers from a medium")
	c.types(t, "\r")
	c.shows(t, "signed with key "+key.ID())
	c.types(t, "\r")
	c.shows(t, "< SITECONFIG (sdb)")
	c.types(t, "a")
	c.shows(t, "Medium SITECONFIG (sdb) was used on this node")
	s, err := wire.Dial(m.socket()).Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range s.Stages[2].Steps[0].Fields { // the cluster's name
		if v.Source != "stick SITECONFIG" || !strings.Contains(stickConfig, v.Value) {
			t.Errorf("%+v", v)
		}
	}
}

// TestAStickOfAnotherMachine: an unattended stick that is there from the start, for another machine, does nothing; every screen
// says so, and the checks of the page Network say why.
func TestAStickOfAnotherMachine(t *testing.T) {
	m, root, key := trusting(t)
	_, recipient, err := envelope.NewNodeKey()
	if err != nil {
		t.Fatal(err)
	}
	lock, err := envelope.NodeLock(recipient)
	if err != nil {
		t.Fatal(err)
	}
	d := envelope.New("SN2")
	d.Unattended = true
	stick.Plug(t, root, "sdb", stick.Image(t, d, stickConfig, lock, key))
	m.engine()
	c := m.console()
	c.shows(t, "! Medium SITECONFIG (sdb) is not used: MED-SER. Why: page Network, Checks.")
	c.types(t, "\x07")
	c.shows(t, "you have control")
	c.leavesHardware(t)
	c.types(t, "v")
	c.shows(t, "SKIP  Medium SITECONFIG (sdb)")
	c.types(t, "\x1b[A")
	c.shows(t, "serial number SN2")
	s, err := wire.Dial(m.socket()).Snapshot(t.Context())
	if err != nil || s.State != view.Collecting || !s.Started.IsZero() || s.Cluster != "" {
		t.Errorf("%+v, %v", s, err)
	}
}
