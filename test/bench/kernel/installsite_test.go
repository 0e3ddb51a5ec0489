package kernel

import (
	"strings"
	"testing"
)

const (
	siteSerial = "SN0042"
	sitePull   = `{"auths":{"r.example":{"auth":"c2VjcmV0OnNlY3JldA=="}}}`
)

// TestALiveImageBringsTheSiteConfig boots a live image with the answers of one machine's site. A machine with another serial number is not
// installed, and told why; the one that is named is installed, once. What was written has the answers sealed.
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
}
