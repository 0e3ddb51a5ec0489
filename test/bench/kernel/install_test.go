package kernel

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"touchdown/test/bench"
	"touchdown/test/bench/node"
	"touchdown/test/liveiso"
	"touchdown/test/wait"
)

const (
	mib          = 1 << 20
	installDisk  = 6 << 30 // bytes, of which few are ever written; larger than the guest's own disk
	targetSecret = "what-only-the-installed-node-may-know"
)

// standIn plays coreos-installer: it clears both ends of the disk, as the real one does with an empty partition table
// (src/download.rs, image_copy_default), and writes an image that is as small as one can be. The first time it waits after the image for
// the power to fail.
const standIn = `#!/bin/bash
set -eu
echo "a stand-in of coreos-installer writes a small image"
[ $# = 3 ] && [ "$1" = install ] && [ "$2" = --offline ]
shift 2
size=$(blockdev --getsz "$1")
dd if=/dev/zero of="$1" count=34 conv=fsync status=none
dd if=/dev/zero of="$1" seek=$((size - 33)) count=33 conv=fsync status=none
zcat ` + liveDiskWrites + ` | dd of="$1" bs=1M conv=fsync status=none
blockdev --rereadpt "$1"
udevadm settle
if [ ! -e /var/bench-waited ]; then
	touch /var/bench-waited
	sync
	echo "the image is written"
	sleep infinity
fi
`

// installedImage is a disk image with the partitions of RHCOS, a boot partition with the file that asks for a first boot, and nothing
// else. Debian's kernel reads the partition table.
func installedImage(t *testing.T) []byte {
	t.Helper()
	dir := t.TempDir()
	boot, content := filepath.Join(dir, "boot"), filepath.Join(dir, "content")
	if err := errors.Join(os.Mkdir(content, 0o755), os.WriteFile(filepath.Join(content, "ignition.firstboot"), nil, 0o644)); err != nil {
		t.Fatal(err)
	}
	if err := run("mkfs.ext4", "-q", "-L", "boot", "-d", content, boot, "16M"); err != nil {
		t.Fatal(err)
	}
	system, err := os.ReadFile(boot)
	if err != nil {
		t.Fatal(err)
	}
	image := make([]byte, 40*mib)
	copy(image[10*mib:], system)
	partitions(image, map[string][2]int{"BIOS-BOOT": {1, 2}, "EFI-SYSTEM": {2, 10}, "boot": {10, 26}, "root": {26, 38}}, "BIOS-BOOT", "EFI-SYSTEM", "boot", "root")
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err := w.Write(image); err != nil || w.Close() != nil {
		t.Fatal("compressing the image")
	}
	return packed.Bytes()
}

// partitions writes a GPT with its first header alone (UEFI specification, 5.3); places are in MiB, from the first to behind the last.
func partitions(image []byte, places map[string][2]int, names ...string) {
	const sector, entries = 512, 128
	table := image[2*sector : 2*sector+entries*128]
	for i, name := range names {
		e := table[i*128:]
		copy(e, "linux filesystem")        // a type; none in particular
		copy(e[16:], name+"-unique-part-") // its id
		binary.LittleEndian.PutUint64(e[32:], uint64(places[name][0]*mib/sector))
		binary.LittleEndian.PutUint64(e[40:], uint64(places[name][1]*mib/sector-1))
		for n, c := range name {
			e[56+2*n] = byte(c)
		}
	}
	h := image[sector : sector+92]
	copy(h, "EFI PART\x00\x00\x01\x00\x5c\x00\x00\x00")
	for at, n := range map[int]uint64{24: 1, 32: uint64(len(image)/sector - 1), 40: 34, 48: uint64(len(image)/sector - 34), 72: 2} {
		binary.LittleEndian.PutUint64(h[at:], n)
	}
	copy(h[56:], "\x00\x00\x00\x00\x00\x00\x00\x40\xa0\x00\x00\x00\x00\x00\x00\x01") // that of a system that never booted
	binary.LittleEndian.PutUint32(h[80:], entries)
	binary.LittleEndian.PutUint32(h[84:], 128)
	binary.LittleEndian.PutUint32(h[88:], crc32.ChecksumIEEE(table))
	binary.LittleEndian.PutUint32(h[16:], crc32.ChecksumIEEE(h))
	protective := image[446:]
	copy(protective, "\x00\x00\x02\x00\xee\xff\xff\xff\x01\x00\x00\x00")
	binary.LittleEndian.PutUint32(protective[12:], uint32(len(image)/sector-1))
	copy(image[510:], "\x55\xaa")
}

// installing is a guest that boots with what is in a filled live image.
type installing struct {
	*testing.T
	ctx   context.Context //nolint:containedctx // of one test
	guest *Guest
	disk  string // that it installs
}

// liveSystem fills a synthetic live image with the program's own command, and makes a guest that boots with what is in it. The flags are
// added to those of the command, which runs in the folder of the image.
func liveSystem(t *testing.T, files map[string]string, flags ...string) *installing {
	t.Helper()
	ctx, cancel := context.WithTimeoutCause(t.Context(), 45*time.Minute, errors.New("longer than 45 minutes"))
	t.Cleanup(cancel)
	root, err := bench.Root()
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("/var/tmp", "live-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	in := func(name string) string { return filepath.Join(dir, name) }
	target := `{"ignition":{"version":"3.2.0"},"storage":{"files":[{"path":"/etc/a","contents":{"source":"data:,` + targetSecret + `"}}]}}`
	all := map[string]string{"live.iso": string(liveiso.Make(liveiso.Y2023, true)), "target.ign": target, "disk": ""}
	maps.Copy(all, files)
	for name, data := range all {
		if err := os.WriteFile(in(name), []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Truncate(in("disk"), installDisk); err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(root, ".cache", "bin", "touchdown")
	if _, err := os.Stat(program); err != nil {
		node.Require(t, fmt.Errorf("%w: %w", node.ErrUnable, err))
	}
	if _, err := exec.LookPath("mkfs.ext4"); err != nil {
		node.Require(t, fmt.Errorf("%w: %w", node.ErrUnable, err))
	}
	embed := exec.CommandContext(ctx, program, append([]string{"iso", "embed", "live.iso", "--out", "filled.iso", "--install-ignition", "target.ign", "--install-disk", "only", "--install-least-gb", "5"}, flags...)...)
	embed.Dir = dir
	if out, err := embed.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	guest := New(t, Options{Live: &Live{Image: in("filled.iso"), Disk: in("disk"), Serial: "TARGET0001", Installer: []byte(standIn), Writes: installedImage(t)}})
	return &installing{t, ctx, guest, in("disk")}
}

func (i *installing) boot() {
	i.Helper()
	if err := i.guest.Boot(i.ctx); err != nil {
		i.Fatal(err)
	}
}

func (i *installing) cut() {
	i.Helper()
	if err := i.guest.Cut(); err != nil {
		i.Fatal(err)
	}
}

// shown is what the console has shown in all boots.
func (i *installing) shown() string {
	text, _ := os.ReadFile(filepath.Join(i.guest.dir, "console.log"))
	return string(text)
}

func (i *installing) shows(text string) {
	i.Helper()
	ctx, cancel := context.WithTimeout(i.ctx, wait.Timeout(time.Minute))
	defer cancel()
	if err := wait.For(ctx, fmt.Sprintf("%q on the console", text), func() bool { return strings.Contains(i.shown(), text) }); err != nil {
		i.Fatal(err)
	}
}

func (i *installing) must(script string) string {
	i.Helper()
	out, err := i.guest.Shell(i.ctx, script)
	if err != nil {
		i.Fatal(err)
	}
	return strings.TrimSpace(out)
}

func (i *installing) await(script string) {
	i.Helper()
	if err := i.guest.Wait(i.ctx, script); err != nil {
		i.Fatal(err)
	}
}

// ended waits for the end of the installer: it stays failed, without a restart and without emergency mode.
func (i *installing) ended() {
	i.Helper()
	i.await("systemctl is-failed --quiet touchdown-install && ! systemctl is-active --quiet emergency.target")
}

// sector is where the mark of a begun installation is on the disk.
func (i *installing) sector() string {
	i.Helper()
	b := make([]byte, 512)
	f, err := os.Open(i.disk)
	if err == nil {
		_, err = f.ReadAt(b, installDisk-mib)
		_ = f.Close()
	}
	if err != nil {
		i.Fatal(err)
	}
	return strings.TrimRight(string(b), "\x00")
}

// TestALiveImageInstalls boots a filled live image on a real kernel with real disks. The program's own check finds the machine too small
// and stops it; without the program it writes the disk, the power fails behind the image, the next boot begins again by the mark near
// the end of the disk, and reboots. The medium is still in the machine then, and refuses. coreos-installer is a stand-in.
func TestALiveImageInstalls(t *testing.T) {
	i := liveSystem(t, nil)
	i.boot()
	i.shows("INSTALLATION STOPPED (NST-HARD)")
	i.shows("serial number TARGET0001")
	i.ended()
	if got := i.must(`jq -r '"\(.inventory.memory.physical_bytes > 0) \([.disks[].serial] | index("TARGET0001") != null)"' /run/touchdown-install/inventory.json; stat -c %a /run/touchdown-install/inventory.json /etc/touchdown/target.ign`); got != "true true\n600\n600" {
		t.Errorf("the inventory has, and its files are: %s", got)
	}
	if i.sector() != "" {
		t.Error("the disk was written all the same")
	}
	i.must("rm /usr/local/bin/touchdown && sync && systemctl restart --no-block touchdown-install")
	i.shows("Writing the disk")
	i.await("test -e /var/bench-waited")
	i.cut()
	if got := i.sector(); !strings.HasPrefix(got, "touchdown-install begun ") {
		t.Errorf("the sector of the mark is %q", got)
	}

	i.boot()
	i.shows("It starts again")
	i.shows("is installed. The machine reboots now")
	i.shows("INSTALLATION STOPPED (NST-DNE)") // after its own reboot
	i.ended()
	if got := i.must("mkdir /run/look && mount -o ro,noload /dev/disk/by-label/boot /run/look && cd /run/look && ls && stat -c %a ignition ignition/config.ign && cat ignition/config.ign"); !strings.Contains(got, "touchdown-installed") || !strings.Contains(got, "\n700\n600\n") || !strings.Contains(got, targetSecret) {
		t.Errorf("the boot partition has:\n%s", got)
	}
	i.cut()
	if got := i.sector(); got != "" {
		t.Errorf("the sector of the mark is %q", got)
	}
	if strings.Contains(i.shown(), targetSecret) {
		t.Error("the console shows the target's Ignition config")
	}
}
