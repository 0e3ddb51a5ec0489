package iso

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/coreos/ignition/v2/config/util"
	"github.com/coreos/ignition/v2/config/v3_5/types"

	"touchdown/assets"
	"touchdown/backend/layout"
)

// What touchdown-install reads in the live system, and the unit that starts it (assets/live/install.bu).
const (
	installConf   = "/etc/touchdown/install.conf"
	installTarget = "/etc/touchdown/target.ign"
	installUnit   = "touchdown-install.service"
	liveProgram   = layout.Program
)

// LeastDiskGB is the size of the smallest disk that is installed by default, in 10^9 bytes. assisted-service,
// default_hw_requirements.json, sno: disk_size_gb.
const LeastDiskGB = 100

// Install has the live system of an image install the machine that boots it.
type Install struct {
	Ignition    []byte // the config of the installed system: a secret
	Disk        string // DiskOnly, "serial:", "wwn:" with what follows, or a path such as /dev/disk/by-id/NAME
	LeastGB     int    // the smallest disk, in 10^9 bytes
	Machine     string // serial number of the only machine that is installed; "" for any
	Overwrite   string // the serial number of a disk that may be overwritten with all that is on it; "" for none
	CopyNetwork bool   // the installed system gets the live system's keyfiles
	Kargs       Edits  // of the installed system; nothing can be replaced
	Program     string // URL of touchdown for the live system, which inspects the machine; "" for none
	ProgramHash string // verification.hash of it

	Lay map[string][]byte // files that the installed system gets beside those of Ignition, by their paths below /var/lib, for root alone
}

// DiskOnly is the only disk that is built in and large enough.
const DiskOnly = "only"

var diskName = regexp.MustCompile(`^(only|/[!-~]*[!-.0-~]|serial:[!-~]([ -~]*[!-~])?|wwn:[!-~]+)$`)

var asciiLine = regexp.MustCompile(`^[!-~]([ -~]*[!-~])?$`)

// Check says what is wrong with the settings. AddTo checks the config of the installed system.
func (in Install) Check() error {
	if !diskName.MatchString(in.Disk) {
		return fmt.Errorf("%q names no disk: give only, serial:NUMBER, wwn:NUMBER or /dev/disk/by-id/NAME", in.Disk)
	}
	if in.LeastGB < 1 || in.LeastGB > 999_999 {
		return fmt.Errorf("a disk of %d GB cannot be the smallest one", in.LeastGB)
	}
	if in.Overwrite != "" && !asciiLine.MatchString(in.Overwrite) {
		return fmt.Errorf("%q is not a serial number: it has to be ASCII text without spaces around it", in.Overwrite)
	}
	if in.Machine != "" && !asciiLine.MatchString(in.Machine) {
		return fmt.Errorf("%q is not a serial number: it has to be ASCII text without spaces around it", in.Machine)
	}
	for _, text := range slices.Concat(in.Kargs.Append, in.Kargs.Delete) {
		if !asciiLine.MatchString(text) {
			return fmt.Errorf("%q is not a kernel argument: it has to be ASCII text without spaces around it", text)
		}
	}
	if (in.Program == "") != (in.ProgramHash == "") {
		return errors.New("the program for the live system needs both a URL and a hash")
	}
	return nil
}

// conf is the content of installConf. medium tells this medium from every other: each installs a disk once.
func (in Install) conf(medium string) []byte {
	var b bytes.Buffer
	line := func(key, value string) { fmt.Fprintf(&b, "%s=%s\n", key, value) }
	b.WriteString("# Written by touchdown iso embed for touchdown-install.\n")
	line("MEDIUM", medium)
	if in.Machine != "" {
		line("MACHINE", in.Machine)
	}
	line("DISK", in.Disk)
	line("LEAST_GB", strconv.Itoa(in.LeastGB))
	if in.Overwrite != "" {
		line("OVERWRITE_SERIAL", in.Overwrite)
	}
	if in.CopyNetwork {
		line("COPY_NETWORK", "yes")
	}
	for _, a := range in.Kargs.Append {
		line("KARG_APPEND", a)
	}
	for _, a := range in.Kargs.Delete {
		line("KARG_DELETE", a)
	}
	return b.Bytes()
}

// AddTo returns the config of a live system with the installation added. config may be nil.
func (in Install) AddTo(config []byte) ([]byte, error) {
	if err := errors.Join(in.Check(), CheckConfig(in.Ignition)); err != nil {
		return nil, err
	}
	target, err := in.target()
	if err != nil {
		return nil, err
	}
	added, err := decode(assets.LiveInstall)
	if err != nil {
		return nil, err
	}
	var id [8]byte
	if _, err := rand.Read(id[:]); err != nil {
		return nil, fmt.Errorf("naming the medium: %w", err)
	}
	files := append(list(added, "storage", "files"), inline(installConf, in.conf(hex.EncodeToString(id[:]))), inline(installTarget, target))
	if in.Program != "" {
		files = append(files, object{"path": liveProgram, "mode": 0o755, "overwrite": true, "contents": object{"source": in.Program, "verification": object{"hash": in.ProgramHash}}})
	}
	whole := added
	if config != nil {
		if err := live.replaced(config); err != nil {
			return nil, err
		}
		if whole, err = decode(config); err != nil {
			return nil, err
		}
		files = append(list(whole, "storage", "files"), files...)
		put(whole, append(list(whole, "systemd", "units"), list(added, "systemd", "units")...), "systemd", "units")
	}
	put(whole, files, "storage", "files")
	if err := live.once(list(whole, "storage", "files"), "path"); err != nil {
		return nil, err
	}
	if err := live.once(list(whole, "systemd", "units"), "name"); err != nil {
		return nil, err
	}
	made, err := json.Marshal(whole)
	if err != nil {
		return nil, fmt.Errorf("writing the Ignition config: %w", err)
	}
	return made, CheckConfig(made)
}

// Installation is what an image that installs does to the machine that boots it.
type Installation struct {
	Disk      string `json:"disk"`                // as Install.Disk; "" where the settings cannot be read
	LeastGB   int    `json:"leastGB,omitempty"`   // the smallest disk, in 10^9 bytes
	Overwrite string `json:"overwrite,omitempty"` // serial number of the disk that is overwritten with all that is on it
	Machine   string `json:"machine,omitempty"`   // serial number of the only machine that is installed
	Medium    string `json:"medium"`              // by which the installed disk knows this medium
}

// installation is nil for a config that installs nothing.
func installation(c types.Config) *Installation {
	var made *Installation
	for _, u := range c.Systemd.Units {
		if u.Name == installUnit && util.IsTrue(u.Enabled) {
			made = &Installation{}
		}
	}
	if made == nil {
		return nil
	}
	for _, f := range c.Storage.Files {
		if f.Path != installConf {
			continue
		}
		for line := range strings.Lines(string(content(f))) {
			key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "=")
			switch key {
			case "MEDIUM":
				made.Medium = value
			case "MACHINE":
				made.Machine = value
			case "DISK":
				made.Disk = value
			case "OVERWRITE_SERIAL":
				made.Overwrite = value
			case "LEAST_GB":
				made.LeastGB, _ = strconv.Atoi(value)
			}
		}
	}
	return made
}
