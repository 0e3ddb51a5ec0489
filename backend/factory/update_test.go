package factory_test

import (
	"crypto/ed25519"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"strings"
	"testing"
	"time"

	"touchdown/backend/envelope"
	"touchdown/test/bench/node"
	"touchdown/test/wait"
)

// cutShort is a program whose engine does not answer and stops the update that tries it, before that can end the trial.
const cutShort = `#!/bin/sh
[ "$1" = version ] && echo touchdown v9 && exit
kill -$(cat /run/update.signal) $(cat /run/update.pid)
exec sleep 1h
`

// cutTrial ends an update to cutShort in the middle of its trial: the command is killed, and the power is cut. Both times the engine of the
// program before answers again without a person.
func cutTrial(t *testing.T, m *node.Machine, update, running, before string) {
	t.Helper()
	const trial = `test "$(tr '\0' ' ' < /proc/$(systemctl show --property=MainPID --value touchdown-engine)/cmdline)" = "sleep 1h "`
	must(t, m, "truncate --size=0 /var/lib/touchdown/engine.log; sync") // what systemd wrote when the units were enabled
	for _, end := range []struct {
		name, signal string
		does         func()
	}{
		{"the command is killed", "KILL", func() {
			must(t, m, "systemctl is-active touchdown-update-end.timer")
			must(t, m, "systemctl start touchdown-update-end.service") // what the timer does in 15 minutes
		}},
		{"the power is cut", "STOP", func() {
			if err := errors.Join(m.PowerCut(wait.Within(t, time.Minute), true), m.Boot(wait.Within(t, time.Minute))); err != nil {
				t.Fatal(err)
			}
		}},
	} {
		must(t, m, "echo "+end.signal+" > /run/update.signal; setsid sh -c 'echo $$ > /run/update.pid; exec "+update+"' > /run/update.txt 2>&1 < /dev/null &")
		await(t, m, time.Minute, trial)
		end.does()
		await(t, m, time.Minute, "touchdown status > /dev/null && test ! -e /run/systemd/system/touchdown-engine.service.d/zz-touchdown-update.conf")
		must(t, m, "test ! -e /usr/local/bin/touchdown.new && grep 'an update was cut off' /var/lib/touchdown/engine.log && truncate --size=0 /var/lib/touchdown/engine.log")
		if after := must(t, m, running); after != before {
			t.Errorf("%s: engine and program are %q, before the update %q", end.name, after, before)
		}
		must(t, m, "systemctl stop touchdown-update-end.timer 2>/dev/null || true")
	}
}

// TestUpdateOnANode replaces the program of a node by that of a signed release and goes back. One that tells its version and has no engine
// is not installed, and neither is one whose trial was cut short.
func TestUpdateOnANode(t *testing.T) {
	m := node.Start(t, node.Options{})
	must(t, m, "true")
	err := errors.Join(m.Program(), m.WriteFile(node.AdminKubeconfig, []byte(away), 0o600))
	if err != nil {
		t.Fatal(err)
	}
	must(t, m, "mv /usr/local/bin/touchdown /var/tmp/touchdown; /var/tmp/touchdown install")
	await(t, m, time.Minute, "test -S /run/touchdown/engine.sock && systemctl is-active touchdown-console@tty1")
	public, secret, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKIXPublicKey(public)
	if err != nil {
		t.Fatal(err)
	}
	release := func(make string) {
		t.Helper()
		sums := must(t, m, "rm -rf /var/tmp/release; mkdir /var/tmp/release; cd /var/tmp/release; "+make+"; sha256sum touchdown") + "\n"
		err := errors.Join(m.WriteFile("/var/tmp/release/SHA256SUMS", []byte(sums), 0o600), m.WriteFile("/var/tmp/release/SHA256SUMS.sig", ed25519.Sign(secret, []byte(sums)), 0o600),
			m.WriteFile("/var/tmp/release.pub", envelope.ForReleases(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})), 0o600))
		if err != nil {
			t.Fatal(err)
		}
	}
	const update, journal = "touchdown update /var/tmp/release --key /var/tmp/release.pub 2>&1", "sha256sum /var/lib/touchdown/journal.jsonl; "
	const running = "sha256sum < /proc/$(systemctl show --property=MainPID --value touchdown-engine)/exe; sha256sum < /usr/local/bin/touchdown"
	first := must(t, m, running)
	release("cp /usr/local/bin/touchdown . && echo other >> touchdown")
	if out, err := m.Shell(t.Context(), strings.Replace(update, " --key /var/tmp/release.pub", "", 1)); err == nil || !strings.Contains(out, "UPD-NKEY") {
		t.Errorf("without a key: %v: %s", err, out)
	}
	t.Log(must(t, m, update))
	second := must(t, m, running)
	if lines := strings.Fields(second); second == first || len(lines) != 4 || lines[0] != lines[2] {
		t.Errorf("after the update engine and program are %q, before it %q", second, first)
	}
	must(t, m, "! grep 'an update was cut off' /var/lib/touchdown/engine.log")
	if out := must(t, m, update); !strings.Contains(out, "has that program already") {
		t.Errorf("the same again: %s", out)
	}
	release(`printf '#!/bin/sh\n[ "$1" = version ] && echo touchdown v9\n' > touchdown`)
	before := must(t, m, journal)
	if out, err := m.Shell(t.Context(), update); err == nil || !strings.Contains(out, "UPD-BACK") {
		t.Errorf("a program without an engine: %v: %s", err, out)
	}
	if after := must(t, m, running); after != second || must(t, m, journal) != before {
		t.Errorf("after a program without an engine: %q, before it %q", after, second)
	}
	release("cat > touchdown <<'END'\n" + cutShort + "END\n:")
	cutTrial(t, m, update, running, second)
	updatesAtTheConsole(t, m, release, running, journal+"true")
	release("cp /usr/local/bin/touchdown . && echo third >> touchdown")
	must(t, m, update)
	must(t, m, "touchdown update --back")
	if back := must(t, m, running); back != second {
		t.Errorf("back: %q, want %q", back, second)
	}
	// The consoles begin again behind the command, and uninstall meets their jobs.
	must(t, m, "cp /usr/local/bin/touchdown /var/tmp/touchdown")
	for range 3 {
		must(t, m, "/var/tmp/touchdown install")
		await(t, m, time.Minute, "touchdown status > /dev/null && systemctl is-active touchdown-console@tty1")
		must(t, m, update)
		if left := must(t, m, "touchdown uninstall > /var/tmp/uninstall.txt 2>&1 || cat /var/tmp/uninstall.txt; ls /usr/local/bin/touchdown* /var/lib/touchdown/installed.json 2>/dev/null || true"); left != "" {
			t.Errorf("left: %s", left)
		}
	}
}
