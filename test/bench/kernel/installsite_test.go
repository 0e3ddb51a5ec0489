package kernel

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"

	"touchdown/backend/host"
	"touchdown/backend/layout"
	"touchdown/backend/media"
	"touchdown/test/bench/site"
)

const (
	siteSerial = "SN0042"
	sitePull   = `{"auths":{"r.example":{"auth":"c2VjcmV0OnNlY3JldA=="}}}`
)

// TestALiveImageBringsTheSiteConfig boots a live image with the answers of one machine's site. A machine with another serial number is not
// installed, and told why; the one that is named is installed, once. What was written has the answers sealed, and a node that begins with it
// lands with them, with nobody there.
func TestALiveImageBringsTheSiteConfig(t *testing.T) {
	answers := config(form("interface: enp1s0")) + "  pullSecret: '" + sitePull + "'\n"
	i := liveSystem(t, map[string]string{"site.yaml": answers}, "--site", "site.yaml", "--site-serial", siteSerial, "--site-unattended")
	i.guest.serial = "SN0043"
	i.boot()
	i.shows("INSTALLATION STOPPED (NST-ELSE)")
	i.shows(`This medium is for the machine with the serial number "SN0042". This machine tells "SN0043"`)
	i.ended()
	if got := i.must("blkid -p /dev/disk/by-id/*TARGET0001* || true; cmp -n 1048576 /dev/disk/by-id/virtio-TARGET0001 /dev/zero 2>&1; test ! -e /var/bench-waited"); got != "" || i.sector() != "" {
		t.Errorf("the disk of another machine has %q, %q", got, i.sector())
	}
	i.must("rm /usr/local/bin/touchdown && touch /var/bench-waited && sync") // the emulated machine is too small for its check
	i.cut()

	i.guest.serial = siteSerial
	i.boot()
	i.shows("is installed. The machine reboots now")
	i.shows("INSTALLATION STOPPED (NST-DNE)") // the medium is still in the machine
	i.ended()
	ignition := i.must("mkdir /run/look && mount -o ro,noload /dev/disk/by-label/boot /run/look && cat /run/look/ignition/config.ign")
	i.cut()
	for _, secret := range []string{"c2VjcmV0OnNlY3JldA", targetSecret} {
		if strings.Contains(i.shown(), secret) {
			t.Errorf("the console shows %s", secret)
		}
	}
	if strings.Contains(ignition, "c2VjcmV0OnNlY3JldA") || !strings.Contains(ignition, targetSecret) {
		t.Errorf("the installed system's config:\n%s", ignition)
	}
	i.lands()
}

// onDisk is a file in the boot partition of the installed disk.
func (i *installing) onDisk(name string) []byte {
	i.Helper()
	out, err := exec.CommandContext(i.ctx, "debugfs", "-R", "cat "+name, fmt.Sprintf("%s?offset=%d", i.disk, 10*mib)).Output()
	if err != nil || len(out) == 0 {
		i.Fatalf("%s on the installed disk: %d bytes, %v", name, len(out), err)
	}
	return out
}

// lands boots a node with what is on the installed disk. The image of the stand-in has no system: the bench brings that, lays what the disk's
// Ignition config asks for in the first boot, and plays the bake and the seal. From there on all is the program's: it leaves the site config
// alone while the node is not sealed with it, and begins the landing by it in the next boot.
func (i *installing) lands() {
	edge := site.New(i.T, site.Options{Network: site.Edge()})
	f := &trip{T: i.T, ctx: i.ctx, edge: edge, begun: time.Now(), guest: New(i.T, Options{Networks: map[int]*site.Site{Untagged: edge}, Ignition: i.onDisk("/ignition/config.ign")})}
	f.guest.serial = siteSerial
	f.must(f.guest.Boot(f.ctx))
	for _, name := range []string{"baked.dsse.json", "baked.pub", "baked.key"} {
		f.shows("stat -c '%a %U' "+layout.Media+"/"+name, "600 root")
	}
	f.shows("stat -c %a "+layout.Media+" "+layout.State, "700\n700")
	f.shows("! grep -r c2VjcmV0OnNlY3JldA /var/lib/touchdown /etc/touchdown")
	f.await("why nothing starts before the seal", `touchdown status -o json | grep -q "FACTORY (in the node) starts nothing"`)
	f.waives()

	id := f.reads("cat /var/lib/touchdown/factory/site")
	f.sealed(id)
	f.must(f.guest.Reboot(f.ctx))
	f.await("the countdown", `touchdown status -o json | grep -q "The landing starts in"`)
	f.await("the start of the landing", `grep -q "The landing was started by medium FACTORY (in the node), with nobody at a console: document `+id+`" /var/lib/touchdown/journal.jsonl`)
	f.await("the network step", `grep -q '"kind":"started","step":"network"' /var/lib/touchdown/journal.jsonl`)
	f.await("the address of the site config", onBridge("198.51.100.10/24"))
	f.shows("test ! -e " + layout.Media + "/baked.key; test ! -e " + layout.Media + "/baked.dsse.json; cat " + layout.Media + "/used*")
}

// reads is what a script prints.
func (f *trip) reads(script string) string {
	f.Helper()
	out, err := f.guest.Shell(f.ctx, script)
	f.must(err)
	return strings.TrimSpace(out)
}

// sealed notes in the guest, as the seal does at its end, that the node was sealed with a document.
func (f *trip) sealed(id string) {
	f.Helper()
	m := host.Open(host.Options{Root: f.TempDir()})
	const boot = "/proc/sys/kernel/random/boot_id"
	f.must(m.WriteFile(boot, []byte(f.reads("cat "+boot)), 0o600))
	f.must(media.StartOf(m, id).Seal())
	note, err := m.ReadFile(layout.Media + "/sealed")
	f.must(err)
	f.must(f.guest.WriteFile(f.ctx, layout.Media+"/sealed", note, 0o600))
}

// waives has a person take responsibility for what speaks against an emulated machine, and leave.
func (f *trip) waives() {
	f.Helper()
	f.await("the look", `touchdown status -o json | grep -q '"hw-memory"'`)
	var actions []string
	for _, check := range waived {
		action, err := json.Marshal(map[string]string{"verb": "waive", "step": "hardware", "check": check, "by": "the bench", "reason": "it is emulated"})
		f.must(err)
		actions = append(actions, "--data '"+string(action)+"'")
	}
	f.shows(`set -e; api="curl --silent --show-error --fail-with-body --unix-socket /run/touchdown/engine.sock http://engine/v1"
token=$($api/control --data '{"console": "the bench", "force": true}' | sed 's/.*"token":"\([^"]*\)".*/\1/')
act() { $api/actions --header "Touchdown-Control: $token" "$@"; }
act ` + strings.Join(actions, "\nact ") + `
$api/control --request DELETE --header "Touchdown-Control: $token"`)
}
