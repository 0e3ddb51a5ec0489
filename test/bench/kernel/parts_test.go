package kernel

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"touchdown/backend/check"
	"touchdown/backend/hardware"
	"touchdown/backend/host"
	"touchdown/backend/layout"
	"touchdown/test/bench/site"
)

// TestPartsGone ships a machine whose kernel and firmware name its parts, takes some of them out, and swaps two cables: nothing is told of a
// machine that is as it was, each part that is gone is named with its number and its place, and so is the one that came in another's
// place. A disk that went to another slot is still the same.
func TestPartsGone(t *testing.T) {
	ctx, cancel := context.WithTimeoutCause(t.Context(), 30*time.Minute, errors.New("longer than half an hour"))
	defer cancel()
	edge := site.New(t, site.Options{})
	f := &trip{T: t, ctx: ctx, edge: edge, begun: time.Now(), guest: New(t, Options{Networks: map[int]*site.Site{Untagged: edge}})}
	f.guest.serial = siteSerial
	disk := f.blank("data")
	first := f.module("DIMM_A1", "4A110001")
	second := f.module("DIMM_B1", "4A110002")
	port := []string{"-device", "virtio-net-pci,mac=52:54:00:00:51:77,addr=0x11"}
	nvme := func(slot string) []string {
		return []string{"-drive", "file=" + disk + ",if=none,id=data,format=raw", "-device", "nvme,drive=data,serial=S4NVME0017,addr=" + slot}
	}
	bios := func(version string) []string { return []string{"-smbios", "type=0,vendor=Example,version=" + version} }

	shipped := slices.Concat(bios("1.2"), first, second, nvme("0x10"), port)
	f.must(edge.LLDP.Announce(site.Neighbour{Chassis: net.HardwareAddr{2, 0, 0, 0, 0, 7}, System: "sw-7"}))
	f.bootWith(shipped)
	f.ships()
	f.differs("as it was shipped")
	f.cables()

	f.guest.trunks[0], f.guest.trunks[1] = f.guest.trunks[1], f.guest.trunks[0]
	f.bootWith(slices.Concat(bios("1.3"), first))
	f.cables("Move the cable from enp2s0 to enp1s0.", "Move the cable from enp1s0 to enp2s0.")
	f.differs("two parts and a port gone",
		"FAIL The disk with serial number S4NVME0017 in bay pci-0000:00:10.0-nvme-1 is gone (QEMU NVMe Ctrl 1.0 GB)",
		"FAIL The memory module with serial number 4A110002 in slot DIMM_B1 is gone (0.5 GiB Example DDR4-512)",
		"FAIL The network port with MAC 52:54:00:00:51:77 at 0000:00:11.0 is gone",
		"WARN The firmware (BIOS) was Example 1.2 and is Example 1.3 now")

	f.bootWith(slices.Concat(bios("1.2"), first, f.module("DIMM_B1", "4A119999"), nvme("0x12"), port))
	f.differs("a module exchanged, and a disk in another slot",
		"FAIL The memory module in slot DIMM_B1 was exchanged: serial number 4A110002 (0.5 GiB Example DDR4-512) was shipped, 4A119999 (0.5 GiB Example DDR4-512) is there now")
}

// blank makes the file of an empty disk of 1 GB.
func (f *trip) blank(name string) string {
	f.Helper()
	file := filepath.Join(f.TempDir(), name)
	f.must(os.WriteFile(file, nil, 0o600))
	f.must(os.Truncate(file, 1_000_000_000))
	return file
}

// module is QEMU's argument for a memory module that the firmware names: a structure of type 17 (DMTF DSP0134 3.7.0, section 7.18) in
// place of QEMU's.
func (f *trip) module(slot, serial string) []string {
	f.Helper()
	const mib, dimm, ddr4, speed = 512, 0x09, 0x1a, 3200
	s := make([]byte, 0x28)
	s[0x00], s[0x01], s[0x0e], s[0x12] = 17, byte(len(s)), dimm, ddr4
	binary.LittleEndian.PutUint16(s[0x02:], 0x7000+uint16(slot[5])) // a handle for each slot
	for at, n := range map[int]uint16{0x04: 0x1000, 0x06: 0xfffe, 0x08: 64, 0x0a: 64, 0x0c: mib, 0x15: speed, 0x20: speed} {
		binary.LittleEndian.PutUint16(s[at:], n)
	}
	texts := []string{slot, "Example", serial, "DDR4-512"}
	s[0x10], s[0x17], s[0x18], s[0x1a] = 1, 2, 3, 4
	s = append(s, strings.Join(texts, "\x00")+"\x00\x00"...)
	file := filepath.Join(f.TempDir(), slot)
	f.must(os.WriteFile(file, s, 0o600))
	return []string{"-smbios", "file=" + file}
}

// bootWith cuts the power, and boots the machine with these parts. udev of the bench does not look at the PCI bus, so that the driver of
// NVMe disks is loaded here.
func (f *trip) bootWith(parts []string) {
	f.Helper()
	f.must(f.guest.Cut())
	f.guest.parts = parts
	f.must(f.guest.Boot(f.ctx))
	f.shows("modprobe nvme && udevadm settle")
}

// ships lays the machine's inventory on it, as the seal does. It is that of a snapshot, which is replayed by the code that the seal runs.
func (f *trip) ships() {
	f.Helper()
	out, err := f.guest.Shell(f.ctx, "touchdown inventory --snapshot /run/snapshot >/dev/null 2>&1 && base64 -w 0 /run/snapshot")
	f.must(err)
	packed, err := base64.StdEncoding.DecodeString(strings.TrimSpace(out))
	f.must(err)
	found, err := hardware.Replay(f.ctx, bytes.NewReader(packed))
	f.must(err)
	factory := host.Open(host.Options{Root: f.TempDir()})
	f.must(hardware.SaveShipped(factory, found))
	data, err := factory.ReadFile(layout.Shipped)
	f.must(err)
	f.shows("install -d -m 700 " + filepath.Dir(layout.Shipped))
	f.must(f.guest.WriteFile(f.ctx, layout.Shipped, data, 0o600))
	f.shows("sync")
}

// cables has the cables of both ports compared with where the site config wants them, and returns when each says this fix, or passes
// where there is none.
func (f *trip) cables(fixes ...string) {
	f.Helper()
	wiring := "  wiring: [{nic: enp1s0, switch: sw-7, port: site4}, {nic: enp2s0, switch: sw-7, port: site5}]\n"
	f.must(f.guest.WriteFile(f.ctx, "/run/site.yaml", []byte(config(form("interface: enp1s0"))+wiring), 0o600))
	var got []string
	seen := 0
	for _, c := range f.checks("-f /run/site.yaml") {
		if !strings.HasPrefix(c.ID, "wiring-") {
			continue
		}
		if seen++; c.Status != check.Pass {
			got = append(got, c.Fix.String())
		}
	}
	if seen != Ports || !slices.Equal(got, fixes) {
		f.Errorf("of %d cables is said %q, wanted %q", seen, got, fixes)
	}
}

// checks are those of the machine's hardware.
func (f *trip) checks(flags string) []check.Check {
	f.Helper()
	out, err := f.guest.Shell(f.ctx, "touchdown check hardware -o json "+flags+"; test $? -le 1")
	f.must(err)
	var said struct{ Checks []check.Check }
	if err := json.NewDecoder(strings.NewReader(out)).Decode(&said); err != nil { // an error line may follow
		f.Fatalf("%v in %s", err, out)
	}
	return said.Checks
}

// differs has the machine compared with what was shipped: these are the verdicts and the words, and no others.
func (f *trip) differs(what string, want ...string) {
	f.Helper()
	var got []string
	compared := false
	for _, c := range f.checks("") {
		if !strings.Contains(c.ID, "shipped") {
			continue
		}
		compared = true
		if c.Status != check.Pass {
			got = append(got, strings.ToUpper(string(c.Status))+" "+c.Observed.String())
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if !compared || !slices.Equal(got, want) {
		f.Errorf("%s: compared: %t; said is\n%s\nwanted\n%s", what, compared, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	f.Logf("%4.0f s: %s: %d differences", time.Since(f.begun).Seconds(), what, len(got))
}
