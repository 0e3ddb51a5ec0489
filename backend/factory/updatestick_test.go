package factory_test

import (
	"crypto/ed25519"
	"fmt"
	"strings"
	"testing"
	"time"

	"touchdown/test/bench/node"
	"touchdown/test/bench/person"
	"touchdown/test/wait"
)

// plugIn puts the image of a release into a socket of a node, in place of what is there: the node's sysfs is the machine's own, so that it is
// told of the stick by files before it.
const plugIn = `cd /var/tmp && rm -f /dev/sdb && touchdown media write --force --release release release.img >/dev/null && ln -s /var/tmp/release.img /dev/sdb
for folder in /sys/class/block /sys/dev/block; do mountpoint -q $folder || mount -t tmpfs none $folder; done
rm -rf /run/usb1; mkdir -p /run/usb1/sdb; cd /run/usb1/sdb; echo 8:16 > dev; echo 1 > removable; echo %d > diskseq; echo $(($(stat -L -c %%s /dev/sdb) / 512)) > size
ln -sfn /run/usb1/sdb /sys/dev/block/8:16; ln -sfn /run/usb1/sdb /sys/class/block/sdb`

// updatesAtTheConsole updates a node by keys at its console, from a stick. The release of a key that the node does not trust is told as what
// it is; the next one is installed when the person says so; one without an engine is tried and not installed.
func updatesAtTheConsole(t *testing.T, m *node.Machine, release func(make string), running, journal string) {
	t.Helper()
	must(t, m, "mkdir -p /var/lib/touchdown/media; cp /var/tmp/release.pub /var/lib/touchdown/media/releases.pub")
	sticks := 0
	plug := func(make string, signature []byte) {
		t.Helper()
		release(make)
		if signature != nil {
			if err := m.WriteFile("/var/tmp/release/SHA256SUMS.sig", signature, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		sticks++
		must(t, m, fmt.Sprintf(plugIn, sticks))
	}
	first, kept := must(t, m, running), must(t, m, journal)
	p := person.Sit(t, m.Console("tty1"))
	defer func() { t.Log(p.Transcript()) }()
	answer := func(key, shows string) {
		t.Helper()
		p.Types(key)
		var pressed time.Time
		wait.Until(t, shows, func() bool {
			if strings.Contains(p.Screen(), "> "+key) && time.Since(pressed) > 20*time.Second {
				pressed = time.Now()
				p.Types("\r")
			}
			return strings.Contains(p.Screen(), shows)
		})
	}
	p.Take()

	plug("cp /usr/local/bin/touchdown . && echo fourth >> touchdown", make([]byte, ed25519.SignatureSize))
	p.Shows("UPD-SGN")
	p.Keep("a release that nobody whom the node trusts has signed")
	if p.Shows("is not used"); must(t, m, running) != first {
		t.Error("it was installed")
	}

	plug("cp /usr/local/bin/touchdown . && echo fourth >> touchdown", nil)
	p.Shows("Update now")
	p.Keep("a release")
	answer("2", "is being updated")
	p.Keep("it is being installed")
	p.Shows("To go back to")
	p.Keep("afterwards")
	second := must(t, m, running)
	if lines := strings.Fields(second); second == first || len(lines) != 4 || lines[0] != lines[2] {
		t.Errorf("after the update engine and program are %q, before it %q", second, first)
	}
	must(t, m, "journalctl --unit touchdown-update | grep 'has the program of the release now'")

	p.Take()
	plug(`printf '#!/bin/sh\n[ "$1" = version ] && echo touchdown v9\n' > touchdown`, nil)
	p.Shows("Touchdown v9 is on the stick")
	answer("2", "UPD-BACK")
	p.Keep("a release without an engine")
	if after := must(t, m, running); after != second {
		t.Errorf("after a program without an engine: %q, before it %q", after, second)
	}
	if now := must(t, m, journal); !strings.Contains(now, "journal.jsonl") || now != kept {
		t.Errorf("the journal is another one: %q, %q", now, kept)
	}
	must(t, m, "umount /sys/class/block /sys/dev/block; rm -rf /run/usb1 /dev/sdb /var/lib/touchdown/media/releases.pub; touchdown update --back")
}
