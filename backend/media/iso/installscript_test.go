package iso_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

const (
	medium = "0123456789abcdef"
	secret = "the-target-s-secret"
	target = `{"ignition": {"version": "3.2.0"}, "x": "` + secret + `"}`
	mib    = 1 << 20
)

// part is a disk or partition, as lsblk tells of it.
type part struct {
	Name       string  `json:"name"`
	Path       string  `json:"path"`
	Type       string  `json:"type"`
	Size       int64   `json:"size"`
	Removable  bool    `json:"rm"`
	ReadOnly   bool    `json:"ro"`
	Transport  *string `json:"tran"`
	Model      string  `json:"model,omitempty"`
	Serial     string  `json:"serial,omitempty"`
	WWN        string  `json:"wwn,omitempty"`
	System     *string `json:"fstype"`
	Label      *string `json:"label"`
	PartLabel  *string `json:"partlabel"`
	TableUUID  string  `json:"ptuuid,omitempty"`
	MountPoint *string `json:"mountpoint"`
	Children   []part  `json:"children,omitempty"`
}

// live is a live system in a folder: the real script, with programs that play the machine. Its disks are files of 2 MiB that say they
// are larger.
type live struct {
	*testing.T
	dir  string
	said string // of the last run, the console's text too
}

// programs play the machine. The power can fail before each of them does its work. coreos-installer is a stand-in, and says so; it does
// what the real one does in its order: an empty partition table with its backup in the last sectors, the image, its partition table.
var programs = map[string]string{
	"udevadm": "", "moment": "",
	"sync":      `[ ! -d DIR/bootfs ] || (cd DIR/bootfs && echo $(find . -type f | sort)) >>DIR/syncs`,
	"systemctl": `echo "$*" >>DIR/power`,
	"lsblk":     `cat DIR/lsblk.json`,
	"wipefs":    `cat DIR/wipefs.txt`,
	"sfdisk":    `cat DIR/sfdisk.txt`,
	"blockdev":  `[ "$1" = --getss ] && echo 512 || stat -c %s "$2"`,
	"mount":     `echo "$*" >>DIR/mounts; [ -d DIR/bootfs ] && [ -e "${*: -2:1}" ] || exit 32; for to; do :; done; rmdir "$to" && ln -s DIR/bootfs "$to"`,
	"umount":    `rm "$1" && mkdir "$1"`,
	"mv":        `/bin/mv "$@"`,
	"coreos-installer": `echo "a stand-in of coreos-installer"; printf '%s\n' "$@" >DIR/installer
for to; do :; done
/bin/cp DIR/empty.json DIR/lsblk.json; rm -rf DIR/bootfs; printf 'gpt\ngpt\nPMBR\n' >DIR/wipefs.txt; echo 'label: gpt' >DIR/sfdisk.txt
dd if=/dev/zero of="$to" bs=512 seek=$((4096 - 33)) count=33 conv=notrunc status=none
moment || exit 1
printf 'the image' | dd of="$to" conv=notrunc status=none
case $(cat DIR/mode) in
fail) printf 'Error: \033[2Jcannot write' >&2; exit 1 ;;
esac
moment || exit 1
mkdir -p DIR/bootfs; : >DIR/bootfs/ignition.firstboot; /bin/cp DIR/after.json DIR/lsblk.json
[ "$(cat DIR/mode)" != cut ] || kill -KILL $(cat DIR/pid)
moment || exit 1`,
}

// moment counts the programs that run, and cuts the power at the one that the file cut names.
const moment = `n=$(($(cat DIR/moments) + 1)); echo $n >DIR/moments
[ "$n" != "$(cat DIR/cut)" ] || { kill -KILL "$(cat DIR/pid)"; exit 1; }
`

func newLive(t *testing.T, disks ...part) *live {
	t.Helper()
	l := &live{T: t, dir: t.TempDir()}
	text, err := os.ReadFile("../../../iso-overlay/usr/local/bin/touchdown-install")
	if err != nil {
		t.Fatal(err)
	}
	in := string(text)
	for _, path := range []string{"/etc/touchdown", "/run/touchdown-install", "/run/ostree-live", "/proc/cmdline", "/etc/coreos/installer.d", "/sys/class/tty/console/active", "/sys/class/dmi/id", "/dev/$line"} {
		if !strings.Contains(in, path) {
			t.Fatalf("touchdown-install does not name %s", path)
		}
		in = strings.ReplaceAll(in, path, l.dir+path)
	}
	l.write("touchdown-install", in)
	for name, does := range programs {
		l.write("bin/"+name, "#!/bin/bash\n"+strings.ReplaceAll(moment+does, "DIR", l.dir)+"\n")
	}
	for name, content := range map[string]string{
		"run/ostree-live": "", "proc/cmdline": "coreos.liveiso=test\n", "sys/class/tty/console/active": "tty0 ttyS0\n", "dev/ttyS0": "", "mode": "", "wipefs.txt": "", "sfdisk.txt": "", "cut": "",
		"etc/touchdown/target.ign": target, "etc/coreos/installer.d/.keep": "",
	} {
		l.write(name, content)
	}
	if err := os.Remove(l.in("etc/coreos/installer.d/.keep")); err != nil {
		t.Fatal(err)
	}
	l.disks("lsblk.json", disks...)
	l.disks("empty.json", disk("sda", "S1"))
	l.disks("after.json", installed(disk("sda", "S1")))
	l.conf("DISK=only")
	return l
}

func (l *live) in(name string) string { return filepath.Join(l.dir, name) }

func (l *live) write(name, text string) {
	l.Helper()
	// A child that another test starts in between would have the file open for writing, and a program that is open so is not run.
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	if err := errors.Join(os.MkdirAll(filepath.Dir(l.in(name)), 0o755), os.WriteFile(l.in(name), []byte(text), 0o755)); err != nil {
		l.Fatal(err)
	}
}

func (l *live) read(name string) string {
	text, _ := os.ReadFile(l.in(name))
	return string(text)
}

func (l *live) conf(lines ...string) {
	l.Helper()
	l.write("etc/touchdown/install.conf", "# made by a test\nMEDIUM="+medium+"\n"+strings.Join(lines, "\n")+"\n")
}

// disks says what lsblk lists; each disk is a file.
func (l *live) disks(name string, disks ...part) {
	l.Helper()
	var place func(p *part)
	place = func(p *part) {
		p.Path = l.in("dev/" + p.Name)
		if _, err := os.Stat(p.Path); err != nil {
			l.write("dev/"+p.Name, string(make([]byte, 2*mib)))
		}
		for i := range p.Children {
			place(&p.Children[i])
		}
	}
	for i := range disks {
		place(&disks[i])
	}
	text, err := json.Marshal(map[string]any{"blockdevices": disks})
	if err != nil {
		l.Fatal(err)
	}
	l.write(name, string(text))
}

// boot runs the script, and returns the code that it stops with; "" where it installed, "cut" where its power went.
func (l *live) boot() string {
	l.Helper()
	for _, name := range []string{"installer", "power", "mounts"} {
		_ = os.Remove(l.in(name))
	}
	l.write("moments", "0")
	_ = os.RemoveAll(l.in("run/touchdown-install")) // memory
	l.write("dev/tty0", "")
	l.write("dev/tty1", "")
	l.write("dev/ttyS0", "")
	before := l.read("dev/sda")
	cmd := exec.Command("bash", "-c", "echo $$ >pid; exec bash ./touchdown-install")
	cmd.Dir = l.dir
	cmd.Env = append(os.Environ(), "PATH="+l.in("bin")+":/usr/sbin:/usr/bin:/sbin:/bin")
	out, err := cmd.CombinedOutput()
	l.said = l.read("dev/ttyS0")
	if l.said != l.read("dev/tty1") || l.read("dev/tty0") != "" {
		l.Errorf("the consoles say different things")
	}
	if all := string(out) + l.said + l.read("installer") + l.read("run/touchdown-install/inventory.json"); strings.Contains(all, secret) {
		l.Errorf("the target's Ignition config is told:\n%s", all)
	}
	_, code, stopped := strings.Cut(string(out), "THE INSTALLATION STOPPED (")
	code, _, _ = strings.Cut(code, ")")
	rebooted := l.read("power") == "--no-block reboot\n"
	switch {
	case err == nil && !stopped && rebooted:
		return ""
	case cmd.ProcessState.ExitCode() == -1:
		return "cut"
	case cmd.ProcessState.ExitCode() != 1 || !stopped || l.read("power") != "":
		l.Errorf("it ends with %v, the power %q:\n%s", err, l.read("power"), out)
	case !strings.Contains(l.said, code):
		l.Errorf("the console does not name %s:\n%s", code, l.said)
	case code != "NST-WRTE" && code != "NST-MRK" && code != "NST-BT" && (l.read("installer") != "" || l.read("dev/sda") != before || !strings.Contains(l.said, "Nothing was written")):
		l.Errorf("%s, and the disk was written or the console does not say that it was not:\n%s", code, l.said)
	}
	return code
}

func (l *live) boots(want, says string) {
	l.Helper()
	if code := l.boot(); code != want || !strings.Contains(l.said, says) {
		l.Errorf("it ends with %q, not with %q and %q:\n%s", code, want, says, l.said)
	}
}

func disk(name, serial string) part {
	return part{Name: name, Type: "disk", Size: 480e9, Model: "MODEL", Serial: serial, WWN: "0xABC" + serial, Transport: ptr("sata")}
}

func ptr(s string) *string { return &s }

func with(p part, change func(*part)) part {
	change(&p)
	return p
}

// installed is a disk with RHCOS on it that has never booted (coreos-assembler, src/osbuild-manifests/coreos.osbuild.x86_64.mpp.yaml).
func installed(p part) part {
	p.TableUUID = "00000000-0000-4000-A000-000000000001"
	for i, label := range []string{"BIOS-BOOT", "EFI-SYSTEM", "boot", "root"} {
		child := part{Name: fmt.Sprintf("%s%d", p.Name, i+1), Type: "part", Size: 1e9, PartLabel: ptr(label)}
		switch label {
		case "boot":
			child.System, child.Label = ptr("ext4"), ptr("boot")
		case "root":
			child.System, child.Label = ptr("xfs"), ptr("root")
		}
		p.Children = append(p.Children, child)
	}
	return p
}

// booted is a disk whose system has booted: its first boot has given the disk a random GUID.
func booted(p part) part {
	p.TableUUID = "0d8e8c2f-6a2c-4d07-8a8a-3c1f6f3f8a11"
	return p
}

// boots once from its disk, if there is a system on it, and says whether that is a node: whether it had an Ignition config.
func (l *live) startNode() (node bool) {
	l.Helper()
	if !strings.Contains(l.read("lsblk.json"), `"boot"`) {
		return false
	}
	l.disks("lsblk.json", booted(installed(disk("sda", "S1"))))
	_, err := os.Stat(l.in("bootfs/ignition/config.ign"))
	if err := errors.Join(os.RemoveAll(l.in("bootfs/ignition")), os.Remove(l.in("bootfs/ignition.firstboot"))); err != nil {
		l.Fatal(err)
	}
	return err == nil
}

func holding(p part, system, label string) part {
	p.Children = []part{{Name: p.Name + "1", Type: "part", System: ptr(system), Label: ptr(label)}}
	return p
}

// TestAnEmptyMachineIsInstalled: what coreos-installer is told, what is left on the disk, what the consoles and the inventory say.
func TestAnEmptyMachineIsInstalled(t *testing.T) {
	t.Parallel()
	l := newLive(t, disk("sda", "S1"), with(disk("sdb", "S2"), func(p *part) { p.Removable = true }))
	l.write("bin/touchdown", "#!/bin/bash\necho \"$*\" >>"+l.in("asked")+"\n[ \"$1\" != inventory ] || echo '{\"cpu\": {}}'\n")
	l.conf("DISK=only", "COPY_NETWORK=yes", "KARG_APPEND=console=ttyS0,115200n8", "KARG_APPEND=a=b c", "KARG_DELETE=quiet")
	l.boots("", "The disk "+l.in("dev/sda")+" is installed")
	want := []string{
		"install", "--offline", "--copy-network",
		"--append-karg=console=ttyS0,115200n8", "--append-karg=a=b c", "--delete-karg=quiet", l.in("dev/sda"), "",
	}
	if got := strings.Split(l.read("installer"), "\n"); !slices.Equal(got, want) {
		t.Errorf("coreos-installer was told %q", got)
	}
	if data := l.read("dev/sda"); !strings.HasPrefix(data, "the image") || strings.Contains(data, "touchdown-install") {
		t.Error("the disk still says that it is half installed")
	}
	if config, err := os.Stat(l.in("bootfs/ignition/config.ign")); err != nil || config.Mode().Perm() != 0o600 || l.read("bootfs/ignition/config.ign") != target {
		t.Errorf("the new system's Ignition config is %q, %v, %v", l.read("bootfs/ignition/config.ign"), config, err)
	}
	wantSyncs := "./ignition.firstboot ./touchdown-installed\n./ignition.firstboot ./ignition/config.new ./touchdown-installed\n" +
		strings.Repeat("./ignition.firstboot ./ignition/config.ign ./touchdown-installed\n", 2)
	if got := l.read("syncs"); got != wantSyncs { // the mark first, then a whole config
		t.Errorf("the boot partition reaches the disk as\n%s", got)
	}
	if folder, err := os.Stat(l.in("bootfs/ignition")); err != nil || folder.Mode().Perm() != 0o700 {
		t.Errorf("its folder is %v, %v", folder, err)
	}
	if mark := l.read("bootfs/touchdown-installed"); !strings.HasPrefix(mark, "medium="+medium+"\nwhen=20") {
		t.Errorf("the mark is %q", mark)
	}
	for _, says := range []string{"480 GB, MODEL, serial number S1, WWN 0xABCS1, built in, on it: nothing", "serial number S2, WWN 0xABCS2, not built in", "a stand-in of coreos-installer"} {
		if !strings.Contains(l.said, says) {
			t.Errorf("the console does not say %q:\n%s", says, l.said)
		}
	}
	var seen struct {
		Disks     []part
		Inventory map[string]any
	}
	if err := json.Unmarshal([]byte(l.read("run/touchdown-install/inventory.json")), &seen); err != nil || len(seen.Disks) != 2 || seen.Disks[0].Serial != "S1" || seen.Inventory["cpu"] == nil {
		t.Errorf("the inventory has %+v, %v", seen, err)
	}
	if info, err := os.Stat(l.in("run/touchdown-install/inventory.json")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the inventory is %v, %v", info, err)
	}
	if asked := l.read("asked"); asked != "inventory -o json\ncheck hardware\n" {
		t.Errorf("touchdown was asked %q", asked)
	}
}

// TestTheDiskIsChosen: the right one, and none if two match.
func TestTheDiskIsChosen(t *testing.T) {
	t.Parallel()
	usb := with(disk("sdb", "S2"), func(p *part) { p.Transport = ptr("usb") })
	small := with(disk("sdb", "S2"), func(p *part) { p.Size = 16e9 })
	for name, c := range map[string]struct {
		conf  []string
		disks []part
		code  string
		path  string
	}{
		"the only one":                 {nil, []part{disk("sda", "S1")}, "", "sda"},
		"the only one, with a stick":   {nil, []part{usb, disk("sda", "S1")}, "", "sda"},
		"the only one, with a small":   {nil, []part{small, disk("sda", "S1")}, "", "sda"},
		"a compressed disk in memory":  {nil, []part{{Name: "zram0", Type: "disk", Size: 500e9}, disk("sda", "S1")}, "", "sda"},
		"two of them":                  {nil, []part{disk("sdb", "S2"), disk("sda", "S1")}, "NST-MANY", ""},
		"two, one of which is full":    {nil, []part{holding(disk("sdb", "S2"), "xfs", "data"), disk("sda", "S1")}, "NST-MANY", ""},
		"none":                         {nil, []part{usb}, "NST-DSK", ""},
		"one that cannot be written":   {nil, []part{with(disk("sda", "S1"), func(p *part) { p.ReadOnly = true })}, "NST-DSK", ""},
		"too small":                    {nil, []part{small}, "NST-DSK", ""},
		"none is large enough":         {[]string{"DISK=only", "LEAST_GB=500"}, []part{disk("sda", "S1")}, "NST-DSK", ""},
		"by serial number":             {[]string{"DISK=serial:S1"}, []part{disk("sdb", "S2"), disk("sda", "S1")}, "", "sda"},
		"by a serial number of none":   {[]string{"DISK=serial:S"}, []part{disk("sdb", "S2"), disk("sda", "S1")}, "NST-DSK", ""},
		"by a serial number of two":    {[]string{"DISK=serial:S1"}, []part{disk("sdb", "S1"), disk("sda", "S1")}, "NST-MANY", ""},
		"by WWN":                       {[]string{"DISK=wwn:0xabcs1"}, []part{disk("sdb", "S2"), disk("sda", "S1")}, "", "sda"},
		"by name":                      {[]string{"DISK=DIR/dev/disk/by-id/ata-one"}, []part{disk("sdb", "S2"), disk("sda", "S1")}, "", "sda"},
		"by a name of none":            {[]string{"DISK=DIR/dev/disk/by-id/ata-two"}, []part{disk("sda", "S1")}, "NST-DSK", ""},
		"a small one by serial number": {[]string{"DISK=serial:S2"}, []part{small, disk("sda", "S1")}, "NST-SMLL", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLive(t, c.disks...)
			if c.conf != nil {
				l.conf(strings.Split(strings.ReplaceAll(strings.Join(c.conf, "\n"), "DIR", l.dir), "\n")...)
			}
			l.write("dev/disk/by-id/x", "")
			if err := os.Symlink("../../sda", l.in("dev/disk/by-id/ata-one")); err != nil {
				t.Fatal(err)
			}
			l.boots(c.code, "")
			if c.code == "" && !strings.HasSuffix(l.read("installer"), "/dev/"+c.path+"\n") {
				t.Errorf("another disk: %s", l.read("installer"))
			}
		})
	}
}

// TestADiskThatIsNotEmptyIsKept: whatever is on it, unless the medium was made for this disk's serial number.
func TestADiskThatIsNotEmptyIsKept(t *testing.T) {
	t.Parallel()
	one, other := []string{"DISK=only", "OVERWRITE_SERIAL=S1"}, []string{"DISK=only", "OVERWRITE_SERIAL=S2"}
	mounted := with(holding(disk("sda", "S1"), "xfs", "data"), func(p *part) { p.Children[0].MountPoint = ptr("/mnt") })
	swap := with(holding(disk("sda", "S1"), "swap", ""), func(p *part) { p.Children[0].MountPoint = ptr("[SWAP]") })
	active := with(holding(disk("sda", "S1"), "LVM2_member", ""), func(p *part) { p.Children[0].Children = []part{{Name: "vg-lv", Type: "lvm"}} })
	twoPaths := with(disk("sda", "S1"), func(p *part) { p.Children = []part{{Name: "mpatha", Type: "mpath"}} })
	bare := with(disk("sda", "S1"), func(p *part) { p.Children = []part{{Name: "sda1", Type: "part"}} })
	for name, c := range map[string]struct {
		disk      part
		signature string
		table     string
		says      string
		code      string // where the medium was made for this disk
	}{
		"an installed system":        {booted(installed(disk("sda", "S1"))), "gpt\nPMBR\n", "", "an installed system (partitions BIOS-BOOT, EFI-SYSTEM, boot, root)", ""},
		"one that never booted":      {installed(disk("sda", "S1")), "gpt\nPMBR\n", "", "an installed system (partitions BIOS-BOOT, EFI-SYSTEM, boot, root)", ""},
		"LVM":                        {with(disk("sda", "S1"), func(p *part) { p.System = ptr("LVM2_member") }), "LVM2_member\n", "", "LVM", ""},
		"a file system":              {holding(disk("sda", "S1"), "ext4", "data"), "dos\n", "", "ext4 data", ""},
		"partitions without content": {bare, "gpt\n", "", "1 partitions", ""},
		"what lsblk does not see":    {disk("sda", "S1"), "zfs_member\n", "", "zfs_member", ""},
		"a damaged partition table":  {disk("sda", "S1"), "gpt\n", "label: gpt\n\n/dev/sda1 : start=        2048, size=  100, type=x\n", "a damaged partition table", ""},
		"an odd partition table":     {disk("sda", "S1"), "dos\n", "fail", "a damaged partition table", ""},
		"a mounted file system":      {mounted, "gpt\n", "", "in use", "NST-NUSE"},
		"swap in use":                {swap, "gpt\n", "", "in use", "NST-NUSE"},
		"LVM in use":                 {active, "gpt\n", "", "in use", "NST-NUSE"},
		"two paths":                  {twoPaths, "", "", "in use", "NST-NUSE"},
		"a RAID that does not run":   {holding(disk("sda", "S1"), "linux_raid_member", "any:boot"), "gpt\n", "", "in use", "NST-NUSE"},
		"a RAID of the firmware":     {disk("sda", "S1"), "isw_raid_member\n", "", "RAID", "NST-NUSE"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLive(t, c.disk)
			l.write("wipefs.txt", c.signature)
			l.write("sfdisk.txt", c.table)
			if c.table == "fail" {
				l.write("bin/sfdisk", "#!/bin/sh\nexit 1\n")
			}
			l.write("bootfs/x", "")
			kept := "NST-FULL"
			if c.code != "" {
				kept = c.code
			}
			l.boots(kept, c.says)
			l.conf(other...)
			l.boots(kept, c.says)
			l.conf(one...)
			l.boots(c.code, "")
		})
	}
	t.Run("an empty partition table", func(t *testing.T) { // what coreos-installer leaves when it fails
		t.Parallel()
		l := newLive(t, disk("sda", "S1"))
		l.write("wipefs.txt", "gpt\ngpt\nPMBR\n")
		l.write("sfdisk.txt", "label: gpt\nfirst-lba: 34\n")
		l.boots("", "")
	})
	t.Run("a system on another disk", func(t *testing.T) {
		t.Parallel()
		l := newLive(t, disk("sda", "S1"), installed(disk("sdb", "S2")))
		l.conf("DISK=serial:S1", "OVERWRITE_SERIAL=S1")
		l.boots("NST-TWN", l.in("dev/sdb"))
	})
	t.Run("a serial number that two disks have", func(t *testing.T) {
		t.Parallel()
		l := newLive(t, holding(disk("sda", "S1"), "xfs", "data"), disk("sdb", "S1"))
		l.conf("DISK="+l.in("dev/sda"), "OVERWRITE_SERIAL=S1")
		l.boots("NST-FULL", "Another disk has the same serial number")
	})
	t.Run("no serial number", func(t *testing.T) {
		t.Parallel()
		for _, overwrite := range []string{"", "null", "unknown"} {
			l := newLive(t, holding(disk("sda", ""), "xfs", "data"))
			l.conf("DISK=only", "OVERWRITE_SERIAL="+overwrite)
			l.boots("NST-FULL", "xfs data")
		}
	})
}

// TestAForgottenMediumWipesNoNode: the medium installs once, even one that was made to overwrite this disk, before and after the node
// has started from it. Another medium may.
func TestAForgottenMediumWipesNoNode(t *testing.T) {
	t.Parallel()
	for _, conf := range [][]string{{"DISK=only"}, {"DISK=only", "OVERWRITE_SERIAL=S1"}} {
		l := newLive(t, disk("sda", "S1"))
		l.conf(conf...)
		l.boots("", "")
		for i := range 2 {
			l.boots("NST-DNE", "Remove the medium")
			if mounts := l.read("mounts"); !strings.HasPrefix(mounts, "-o ro,noload ") {
				t.Errorf("the node's boot partition is mounted with %q", mounts)
			}
			if i == 0 && !l.startNode() {
				t.Error("what is installed is not a node")
			}
		}
		for name, program := range map[string]string{"ls": "exit 2", "cat": "case $1 in *installed) exit 1 ;; esac; exec /bin/cat \"$@\"", "umount": "exit 1", "udevadm": "exit 1"} {
			kept := l.read("bin/" + name)
			l.write("bin/"+name, "#!/bin/bash\n"+program+"\n")
			l.boots("NST-LK", "")
			if kept == "" {
				_ = os.Remove(l.in("bin/" + name))
			} else {
				l.write("bin/"+name, kept)
			}
		}
		if err := os.RemoveAll(l.in("bootfs")); err != nil { // it cannot be mounted
			t.Fatal(err)
		}
		l.boots("NST-LK", "not known whether the disk")
	}
	l := newLive(t, booted(installed(disk("sda", "S1"))))
	l.conf("DISK=only", "OVERWRITE_SERIAL=S1")
	l.write("bootfs/touchdown-installed", "medium=fedcba9876543210\n")
	l.boots("", "")
}

// TestANodeIsKnownByOneOfItsLabels: a boot partition is found by the label of its file system or by its own.
func TestANodeIsKnownByOneOfItsLabels(t *testing.T) {
	t.Parallel()
	for name, forget := range map[string]func(*part){
		"of the file system": func(p *part) { p.PartLabel = nil },
		"of the partition":   func(p *part) { p.System, p.Label = nil, nil },
	} {
		l := newLive(t, disk("sda", "S1"))
		l.conf("DISK=only", "OVERWRITE_SERIAL=S1")
		l.boots("", "")
		l.startNode()
		l.disks("lsblk.json", with(booted(installed(disk("sda", "S1"))), func(p *part) { forget(&p.Children[2]) }))
		if code := l.boot(); code != "NST-DNE" {
			t.Errorf("the label %s alone: it ends with %q", name, code)
		}
	}
}

// TestOldUtilLinux: sizes and booleans are strings.
func TestOldUtilLinux(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ size, rm, ro, code string }{
		"a disk":          {"480000000000", "0", "0", ""},
		"a removable one": {"480000000000", "1", "0", "NST-DSK"},
		"a read-only one": {"480000000000", "0", "1", "NST-DSK"},
		"a small one":     {"8000000000", "0", "0", "NST-DSK"},
		"no size":         {"", "0", "0", "NST-LK"},
	} {
		l := newLive(t, disk("sda", "S1"))
		l.write("lsblk.json", fmt.Sprintf(`{"blockdevices": [{"name":"sda", "path":%q, "type":"disk", "size":%q, "rm":%q, "ro":%q, "tran":null}]}`, l.in("dev/sda"), c.size, c.rm, c.ro))
		if code := l.boot(); code != c.code {
			t.Errorf("%s: it ends with %q, not with %q:\n%s", name, code, c.code, l.said)
		}
	}
}

// TestADiskThatAppearsDuringTheChecks is seen.
func TestADiskThatAppearsDuringTheChecks(t *testing.T) {
	t.Parallel()
	l := newLive(t, disk("sda", "S1"), disk("sdb", "S2"))
	l.disks("later.json", disk("sda", "S1"), booted(installed(disk("sdb", "S2"))))
	l.write("bin/touchdown", "#!/bin/sh\n[ $1 = inventory ] && exit 1\ncp "+l.in("later.json")+" "+l.in("lsblk.json")+"\n")
	l.conf("DISK=serial:S1")
	l.boots("NST-TWN", l.in("dev/sdb"))
}

// TestWhatADiskIsCalledSteersNoConsole: model and label may have anything in them.
func TestWhatADiskIsCalledSteersNoConsole(t *testing.T) {
	t.Parallel()
	l := newLive(t, with(holding(disk("sda", "S1"), "xfs", "\x1b]0;x\a\nnothing\u009b2J"), func(p *part) { p.Model = "A\x1b[2J\x00\r\nB" }))
	l.boots("NST-FULL", "not empty: xfs ?")
	if strings.ContainsAny(l.said, "\x1b\x00\a\u009b") || strings.Contains(l.said, "A\r") {
		t.Errorf("a disk steers the console: %q", l.said)
	}
}

// TestAPowerCutAtAnyMoment: the next boot of the medium finishes the work, or finds it finished. If the disk boots first and is a node
// then, the medium never overwrites it, even one that may overwrite this disk.
func TestAPowerCutAtAnyMoment(t *testing.T) {
	t.Parallel()
	const untilWritten = 7 // programs that run before one writes
	old := func(t *testing.T) *live {
		l := newLive(t, booted(installed(disk("sda", "S1"))))
		l.conf("DISK=only", "OVERWRITE_SERIAL=S1")
		l.write("wipefs.txt", "gpt\nPMBR\n")
		l.write("bootfs/touchdown-installed", "medium=fedcba9876543210\n")
		return l
	}
	for name, start := range map[string]func(*testing.T) *live{
		"an empty disk":            func(t *testing.T) *live { return newLive(t, disk("sda", "S1")) },
		"a disk to be overwritten": old,
	} {
		for first, diskFirst := range map[string]bool{"the medium first": false, "the disk first": true} {
			if name == "an empty disk" && diskFirst || name != "an empty disk" && !diskFirst && testing.Short() {
				continue // a medium that may overwrite nothing wipes no node; the other way to finish is the same
			}
			t.Run(name+", "+first, func(t *testing.T) {
				t.Parallel()
				cuts, nodes, step := untilWritten, 0, 1
				if testing.Short() && !diskFirst {
					step = 3
				}
				for ; ; cuts += step {
					l := start(t)
					l.write("cut", fmt.Sprint(cuts+1))
					if end := l.boot(); end == "" {
						break
					} else if end != "cut" {
						t.Fatalf("moment %d: it ends with %s:\n%s", cuts+1, end, l.said)
					}
					l.write("cut", "")
					isNew := strings.Contains(l.read("lsblk.json"), "4000-A000")
					isNode := diskFirst && isNew && l.startNode()
					if isNode {
						nodes++
					}
					switch end := l.boot(); {
					case isNode && end != "NST-DNE":
						t.Errorf("moment %d: the disk is a node, and the medium ends with %q:\n%s", cuts+1, end, l.said)
					case !diskFirst && end == "NST-DNE" && l.read("bootfs/ignition/config.ign") != target, !diskFirst && end != "" && end != "NST-DNE":
						t.Errorf("moment %d: the medium ends with %q:\n%s", cuts+1, end, l.said)
					case end == "" && l.read("bootfs/ignition/config.ign") != target:
						t.Errorf("moment %d: the disk has no config", cuts+1)
					}
				}
				if cuts < untilWritten+10 || nodes < 2 && diskFirst {
					t.Errorf("%d cuts, of which %d left a node", cuts, nodes)
				}
			})
		}
	}
}

// TestALossOfPowerIsContinued: a disk that this medium began is written again, until its system has booted. The mark is not a permission to
// overwrite anything else.
func TestALossOfPowerIsContinued(t *testing.T) {
	t.Parallel()
	cut := func() *live {
		l := newLive(t, disk("sda", "S1"))
		l.write("mode", "cut")
		l.boots("cut", "Writing the disk")
		l.write("mode", "")
		return l
	}
	l := cut()
	l.boots("", "It starts again")
	for name, change := range map[string]func(){
		"another medium began it": func() {
			l.write("etc/touchdown/install.conf", strings.Replace(l.read("etc/touchdown/install.conf"), medium, "fedcba9876543210", 1))
		},
		"its system has booted":        func() { l.startNode() },
		"its system has begun to boot": func() { l.disks("lsblk.json", booted(installed(disk("sda", "S1")))) },
		"its system has no first boot": func() { _ = os.Remove(l.in("bootfs/ignition.firstboot")) },
		"data of someone else":         func() { l.disks("lsblk.json", holding(disk("sda", "S1"), "xfs", "data")) },
		"another system with the same GUID": func() {
			l.disks("lsblk.json", with(holding(disk("sda", "S1"), "xfs", "data"), func(p *part) { p.TableUUID = installed(*p).TableUUID }))
		},
		"a file system without partitions": func() {
			l.disks("lsblk.json", with(disk("sda", "S1"), func(p *part) { p.System = ptr("xfs") }))
		},
	} {
		l = cut()
		change()
		if code := l.boot(); code != "NST-FULL" {
			t.Errorf("%s: it ends with %q:\n%s", name, code, l.said)
		}
	}
}

// TestAFailureIsToldOnce: with what the installer said, without a reboot; the next boot may try again.
func TestAFailureIsToldOnce(t *testing.T) {
	t.Parallel()
	l := newLive(t, disk("sda", "S1"))
	l.write("mode", "fail")
	l.boots("NST-WRTE", "cannot write")
	if strings.Contains(l.said, "\x1b") {
		t.Errorf("the installer steers the console: %q", l.said)
	}
	l.write("mode", "")
	l.boots("", "")
	l = newLive(t, disk("sda", "S1"))
	l.disks("after.json", disk("sda", "S1")) // there is no boot partition
	l.boots("NST-MRK", "Boot the medium again")
	l = newLive(t, disk("sda", "S1"))
	l.write("bin/systemctl", "#!/bin/sh\nexit 1\n")
	l.boots("NST-BT", "switch the machine off and on")
}

// TestWhatStopsBeforeADiskIsChosen: wrong machines and wrong settings.
func TestWhatStopsBeforeADiskIsChosen(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*live)
		code   string
	}{
		"not a live system": {func(l *live) { _ = os.Remove(l.in("run/ostree-live")) }, "NST-LVE"},
		"another machine": {func(l *live) {
			l.conf("DISK=only", "MACHINE=SN1")
			l.write("sys/class/dmi/id/product_serial", "SN10\n")
			l.write("sys/class/dmi/id/board_serial", "B\033[2J\n")
		}, "NST-ELSE"},
		"a machine without a serial number": {func(l *live) { l.conf("DISK=only", "MACHINE=SN1") }, "NST-ELSE"},
		"two installers":                    {func(l *live) { l.write("proc/cmdline", "a coreos.inst.install_dev=/dev/sda b") }, "NST-TWCE"},
		"two, by files":                     {func(l *live) { l.write("etc/coreos/installer.d/a.yaml", "") }, "NST-TWCE"},
		"no Ignition config":                {func(l *live) { _ = os.Remove(l.in("etc/touchdown/target.ign")) }, "NST-GNTN"},
		"half of one":                       {func(l *live) { l.write("etc/touchdown/target.ign", target[:len(target)-4]) }, "NST-GNTN"},
		"udev does not end":                 {func(l *live) { l.write("bin/udevadm", "#!/bin/sh\nexit 1\n") }, "NST-LK"},
		"no size":                           {func(l *live) { l.write("bin/blockdev", "#!/bin/sh\nexit 1\n") }, "NST-LK"},
		"no settings":                       {func(l *live) { _ = os.Remove(l.in("etc/touchdown/install.conf")) }, "NST-CNF"},
		"no disk":                           {func(l *live) { l.conf() }, "NST-CNF"},
		"half a disk":                       {func(l *live) { l.conf("DISK=serial:") }, "NST-CNF"},
		"an unknown setting":                {func(l *live) { l.conf("DISK=only", "OVERWRITE=yes") }, "NST-CNF"},
		"a line without a value":            {func(l *live) { l.conf("DISK=only", "OVERWRITE_SERIAL") }, "NST-CNF"},
		"a setting twice":                   {func(l *live) { l.conf("DISK=only", "DISK=serial:S1") }, "NST-CNF"},
		"no number":                         {func(l *live) { l.conf("DISK=only", "LEAST_GB=$(reboot)") }, "NST-CNF"},
		"neither yes nor no":                {func(l *live) { l.conf("DISK=only", "COPY_NETWORK=maybe") }, "NST-CNF"},
		"lsblk fails":                       {func(l *live) { l.write("bin/lsblk", "#!/bin/sh\nexit 1\n") }, "NST-LK"},
		"lsblk says nothing":                {func(l *live) { l.write("lsblk.json", "") }, "NST-LK"},
		"wipefs fails":                      {func(l *live) { l.write("bin/wipefs", "#!/bin/sh\nexit 1\n") }, "NST-LK"},
		"the hardware fails": {func(l *live) {
			l.write("bin/touchdown", "#!/bin/sh\n[ $1 = inventory ] && exit 1\necho 'FAIL memory'\nexit 1\n")
		}, "NST-HARD"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLive(t, disk("sda", "S1"))
			c.change(l)
			l.boots(c.code, "")
			if c.code == "NST-HARD" && !strings.Contains(l.said, "FAIL memory") {
				t.Errorf("the console does not say what failed:\n%s", l.said)
			}
		})
	}
}
