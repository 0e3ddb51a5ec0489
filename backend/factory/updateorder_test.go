package factory_test

import (
	"crypto/ed25519"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"touchdown/test/bench/node"
	"touchdown/test/bench/person"
	"touchdown/test/wait"
)

// versioned is a version of a release, v1.N, with as many characters as another one, so that it takes that one's place in a program.
func versioned(t *testing.T, n int, like string) string {
	t.Helper()
	version := fmt.Sprintf("v1.%d.", n)
	for _, last := range []string{"1", "1-1-gabc"} { // the second one has room for more
		if room := len(like) - len(version) - len(last); room >= 0 && (room < 6 || strings.Contains(last, "g")) {
			if strings.Contains(last, "g") {
				return version + last + strings.Repeat("a", room)
			}
			return version + strings.Repeat("0", room) + last
		}
	}
	t.Fatalf("no version of a release has the length of %q", like)
	return ""
}

// TestAnOrderOnANode: a node with nobody at its keys takes the release on a stick that carries an order for it, on a real systemd with real
// consoles; once, also after a power cut. One whose program has no engine is tried and taken back, and all of it is in the journal.
func TestAnOrderOnANode(t *testing.T) {
	m := node.Start(t, node.Options{})
	must(t, m, "true")
	if err := errors.Join(m.Program(), m.WriteFile(node.AdminKubeconfig, []byte(away), 0o600)); err != nil {
		t.Fatal(err)
	}
	built := strings.Fields(must(t, m, "touchdown version"))[1]
	is := func(n int) string { return versioned(t, n, built) }
	// The programs of a checkout have no version with an order: those of this test get one.
	as := func(n int, from string) string {
		return fmt.Sprintf("LC_ALL=C sed 's/%s/%s/g' %s > touchdown; chmod 755 touchdown; ./touchdown version | grep '%s '", built, is(n), from, is(n))
	}
	must(t, m, "mkdir /var/tmp/built; mv /usr/local/bin/touchdown /var/tmp/built/; cd /var/tmp; "+as(1, "built/touchdown")+"; /var/tmp/touchdown install")
	await(t, m, time.Minute, "test -S /run/touchdown/engine.sock && systemctl is-active touchdown-console@tty1")
	if err := m.Plate(wait.Within(t, time.Minute), "SN-ORDER"); err != nil {
		t.Fatal(err)
	}
	must(t, m, "cd /var/tmp; touchdown media keygen --release release; mkdir -p /var/lib/touchdown/media; cp release.pub /var/lib/touchdown/media/releases.pub")
	block, _ := pem.Decode([]byte(must(t, m, "cat /var/tmp/release.key")))
	secret, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	sticks := 0
	plug := func(make, serial string) {
		t.Helper()
		sums := must(t, m, "rm -rf /var/tmp/release; mkdir /var/tmp/release; cd /var/tmp/release; { "+make+"; } > /dev/null; chmod 755 touchdown; sha256sum touchdown") + "\n"
		err := errors.Join(m.WriteFile("/var/tmp/release/SHA256SUMS", []byte(sums), 0o600),
			m.WriteFile("/var/tmp/release/SHA256SUMS.sig", ed25519.Sign(secret.(ed25519.PrivateKey), []byte(sums)), 0o600))
		if err != nil {
			t.Fatal(err)
		}
		sticks++
		script := fmt.Sprintf(plugIn, sticks)
		ordered := strings.Replace(script, "--release release release.img", "--release release --unattended --key release.key --serial "+serial+" release.img", 1)
		if ordered == script {
			t.Fatal("the order is not written")
		}
		must(t, m, ordered)
	}
	const running = "sha256sum < /proc/$(systemctl show --property=MainPID --value touchdown-engine)/exe; sha256sum < /usr/local/bin/touchdown"
	first := must(t, m, running)
	p := person.Sit(t, m.Console("tty1"))
	defer func() { t.Log(p.Transcript()) }()

	plug(as(2, "/var/tmp/built/touchdown"), "SN-OTHER")
	p.Shows("UPD-SERL")
	p.Keep("an order for another machine")
	plug(as(2, "/var/tmp/built/touchdown"), "SN-ORDER")
	p.Shows("by the order on the stick. Any key stops it.")
	p.Keep("the countdown")
	if now := must(t, m, running); now != first {
		t.Errorf("in the countdown engine and program are %q, before it %q", now, first)
	}
	wait.Until(t, "the update", func() bool { return strings.Contains(p.Screen(), "To go back to") })
	p.Keep("afterwards")
	second := must(t, m, running)
	if lines := strings.Fields(second); second == first || len(lines) != 4 || lines[0] != lines[2] || !strings.Contains(must(t, m, "touchdown version"), is(2)) {
		t.Errorf("after the update engine and program are %q, before it %q", second, first)
	}
	await(t, m, time.Minute, "grep 'has updated Touchdown from "+is(1)+" to "+is(2)+"' /var/lib/touchdown/journal.jsonl && grep ' begun$' /var/lib/touchdown/update-orders")

	plug(fmt.Sprintf(`printf '#!/bin/sh\n[ "$1" = version ] && echo touchdown %s\n' > touchdown`, is(3)), "SN-ORDER")
	await(t, m, 5*time.Minute, "grep 'failed: UPD-BACK' /var/lib/touchdown/journal.jsonl")
	p.Shows("UPD-BACK")
	p.Keep("a release without an engine")
	if now := must(t, m, running); now != second {
		t.Errorf("after a program without an engine: %q, before it %q", now, second)
	}
	if err := errors.Join(m.PowerCut(wait.Within(t, time.Minute), true), m.Boot(wait.Within(t, time.Minute))); err != nil {
		t.Fatal(err)
	}
	await(t, m, time.Minute, "touchdown status > /dev/null")
	if now := must(t, m, running); now != second {
		t.Errorf("after a power cut: %q, before it %q", now, second)
	}
	must(t, m, "test $(grep -c begun /var/lib/touchdown/update-orders) = 2; test $(grep -c '\"by\":\"order\"' /var/lib/touchdown/journal.jsonl) = 4")
}
