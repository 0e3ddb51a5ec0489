package iso

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/coreos/ignition/v2/config/util"
	"github.com/coreos/ignition/v2/config/v3_5/types"
	"github.com/vincent-petithory/dataurl"

	"touchdown/assets"
	"touchdown/backend/message"
	"touchdown/backend/problem"
)

// What touchdown-install reads in the live system, and the unit that starts it (assets/live/install.bu).
const (
	installConf   = "/etc/touchdown/install.conf"
	installTarget = "/etc/touchdown/target.ign"
	installUnit   = "touchdown-install.service"
	liveProgram   = "/usr/local/bin/touchdown"
)

// LeastDiskGB is the size of the smallest disk that is installed by default, in 10^9 bytes. assisted-service,
// default_hw_requirements.json, sno: disk_size_gb.
const LeastDiskGB = 100

// Install has the live system of an image install the machine that boots it.
type Install struct {
	Ignition    []byte // the config of the installed system: a secret
	Disk        string // DiskOnly, "serial:", "wwn:" with what follows, or a path such as /dev/disk/by-id/NAME
	LeastGB     int    // the smallest disk, in 10^9 bytes
	Overwrite   string // the serial number of a disk that may be overwritten with all that is on it; "" for none
	CopyNetwork bool   // the installed system gets the live system's keyfiles
	Kargs       Edits  // of the installed system; nothing can be replaced
	Program     string // URL of touchdown for the live system, which inspects the machine; "" for none
	ProgramHash string // verification.hash of it
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

// object is a part of an Ignition config. It is not decoded further: a config keeps the version of the specification that it has.
type object = map[string]any

// AddTo returns the config of a live system with the installation added. config may be nil.
func (in Install) AddTo(config []byte) ([]byte, error) {
	if err := errors.Join(in.Check(), CheckConfig(in.Ignition)); err != nil {
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
	files := append(list(added, "storage", "files"), inline(installConf, in.conf(hex.EncodeToString(id[:]))), inline(installTarget, in.Ignition))
	if in.Program != "" {
		files = append(files, object{"path": liveProgram, "mode": 0o755, "overwrite": true, "contents": object{"source": in.Program, "verification": object{"hash": in.ProgramHash}}})
	}
	whole := added
	if config != nil {
		if err := replaced(config); err != nil {
			return nil, err
		}
		if whole, err = decode(config); err != nil {
			return nil, err
		}
		files = append(list(whole, "storage", "files"), files...)
		put(whole, append(list(whole, "systemd", "units"), list(added, "systemd", "units")...), "systemd", "units")
	}
	put(whole, files, "storage", "files")
	if err := once(list(whole, "storage", "files"), "path"); err != nil {
		return nil, err
	}
	if err := once(list(whole, "systemd", "units"), "name"); err != nil {
		return nil, err
	}
	made, err := json.Marshal(whole)
	if err != nil {
		return nil, fmt.Errorf("writing the Ignition config: %w", err)
	}
	return made, CheckConfig(made)
}

// replaced refuses a config that another one replaces: everything that is added to it would be lost.
func replaced(config []byte) error {
	c, err := parse(config)
	if err != nil {
		return err
	}
	if by := c.Ignition.Config.Replace.Source; by != nil {
		return &problem.Problem{
			Code: "LVE-RPLC", Summary: message.F("The Ignition config of the live system is replaced by %s: the installation would be lost.", source(by)),
			Fix: message.T("Merge that config (ignition.config.merge) instead."),
		}
	}
	return nil
}

// inline is a file for root alone. Its content is escaped, not base64, which could not be compressed.
func inline(path string, data []byte) object {
	return object{"path": path, "mode": 0o600, "overwrite": true, "contents": object{"source": "data:," + url.PathEscape(string(data))}}
}

func decode(config []byte) (object, error) {
	var whole object
	d := json.NewDecoder(bytes.NewReader(config))
	d.UseNumber()
	if err := d.Decode(&whole); err != nil {
		return nil, fmt.Errorf("reading the Ignition config: %w", err)
	}
	return whole, nil
}

func list(whole object, section, name string) []any {
	in, _ := whole[section].(object)
	all, _ := in[name].([]any)
	return all
}

func put(whole object, all []any, section, name string) {
	in, is := whole[section].(object)
	if !is {
		in = object{}
		whole[section] = in
	}
	in[name] = all
}

// once refuses what is in a list twice: one of the two would be lost.
func once(all []any, key string) error {
	seen := map[any]bool{}
	for _, o := range all {
		o, _ := o.(object)
		if seen[o[key]] {
			return &problem.Problem{
				Code: "LVE-TWCE", Summary: message.F("The Ignition config of the live system already has %s, which the installation adds.", fmt.Sprint(o[key])),
				Fix: message.T("Remove it from the config."),
			}
		}
		seen[o[key]] = true
	}
	return nil
}

// Installation is what an image that installs does to the machine that boots it.
type Installation struct {
	Disk      string `json:"disk"`                // as Install.Disk; "" where the settings cannot be read
	LeastGB   int    `json:"leastGB,omitempty"`   // the smallest disk, in 10^9 bytes
	Overwrite string `json:"overwrite,omitempty"` // serial number of the disk that is overwritten with all that is on it
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
		if f.Path != installConf || f.Contents.Source == nil || !util.NilOrEmpty(f.Contents.Compression) {
			continue
		}
		u, err := dataurl.DecodeString(*f.Contents.Source)
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(u.Data)) {
			key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "=")
			switch key {
			case "MEDIUM":
				made.Medium = value
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
