package kernel

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"touchdown/backend/media/iso"
)

// Live makes a guest a live system: a stand-in of RHCOS's, whose kernel and packages are the bench's. Its Ignition config is that of a
// filled image, which the kernel unpacks as a part of the initial RAM disk, and the bench's agent lays it before systemd begins.
type Live struct {
	Image     string // a filled live image; it is a drive of the guest as well
	Disk      string // file that is the disk to install, raw
	Serial    string // serial number of that disk
	Installer []byte // what stands in for coreos-installer
	Writes    []byte // the image that it writes, gzip
}

// What a live system has. live-generator of coreos/fedora-coreos-config makes the first one.
const (
	liveMark       = "f /run/ostree-live 0644 root root\n"
	liveInstaller  = "/usr/local/bin/coreos-installer"
	liveDiskWrites = "/usr/lib/bench/installed.img.gz"
)

// layLive writes what the first boot of a live system lays over the packages, and its RAM disk.
func (g *Guest) layLive(root string) error {
	l := layer{map[string]entry{}}
	err := l.common(root, g.agent)
	l.file("/etc/tmpfiles.d/bench-live.conf", 0o644, []byte(liveMark))
	l.file(liveInstaller, 0o755, g.live.Installer)
	l.file(liveDiskWrites, 0o644, g.live.Writes)
	return errors.Join(err, g.putLayer(l), g.joinInitrd())
}

// joinInitrd puts the Ignition area of the image behind the bench's RAM disk, as the boot loader of a live image does.
func (g *Guest) joinInitrd() error {
	ours, err := os.ReadFile(g.file("initrd"))
	if err != nil {
		return fmt.Errorf("reading the RAM disk: %w", err)
	}
	file, image, err := iso.Open(g.live.Image, false)
	if err != nil {
		return fmt.Errorf("reading the live image: %w", err)
	}
	defer file.Close()
	area := make([]byte, image.Ignition.Length)
	if _, err := file.ReadAt(area, image.Ignition.Offset); err != nil {
		return fmt.Errorf("reading the live image: %w", err)
	}
	whole := append(ours, bytes.Repeat([]byte{0}, -len(ours)&3)...) // archives begin at multiples of 4
	if err := os.WriteFile(filepath.Join(g.dir, "initrd"), append(whole, area...), 0o600); err != nil {
		return fmt.Errorf("writing the RAM disk: %w", err)
	}
	return nil
}

func (g *Guest) initrd() string {
	if g.live == nil {
		return g.file("initrd")
	}
	return filepath.Join(g.dir, "initrd")
}

// drives are QEMU's arguments for the medium and the disk to install.
func (l *Live) drives() []string {
	if l == nil {
		return nil
	}
	return []string{
		"-drive", "file=" + l.Image + ",if=none,id=medium,format=raw,readonly=on", "-device", "virtio-blk-pci,drive=medium,serial=MEDIUM",
		"-drive", "file=" + l.Disk + ",if=none,id=install,format=raw", "-device", "virtio-blk-pci,drive=install,serial=" + l.Serial,
	}
}
