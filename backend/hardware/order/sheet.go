// Package order reads what was ordered, a profile or an order sheet, and judges the machine that came by it.
package order

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/sys/unix"
	"gopkg.in/yaml.v3"

	"touchdown/assets"
	"touchdown/backend/message"
	"touchdown/backend/problem"
	"touchdown/backend/value"
)

// Sheet is a profile, which has limits alone, or an order sheet.
type Sheet struct {
	APIVersion string   `yaml:"apiVersion"`
	Kind       string   `yaml:"kind"`
	Name       string   `yaml:"name"`
	Source     string   `yaml:"source"`  // where the limits come from
	Profile    string   `yaml:"profile"` // a profile of Touchdown, whose limits hold where the sheet has none
	Minimum    Minimum  `yaml:"minimum"`
	Serials    []string `yaml:"serials"` // of the machines of this order
	Model      string   `yaml:"model"`
	BIOS       string   `yaml:"bios"` // part of vendor, version and date
	Modules    []Item   `yaml:"modules"`
	Disks      []Item   `yaml:"disks"`
	NICs       []Item   `yaml:"nics"`
	Ports      []Port   `yaml:"ports"` // where the cables go

	raw []byte // as it was written
}

// Minimum are the limits; 0 and false: none.
type Minimum struct {
	Threads    int64 `yaml:"threads"`
	MemoryGiB  int64 `yaml:"memoryGiB"`
	DiskGB     int64 `yaml:"diskGB"` // of 10^9 bytes
	Ports      int64 `yaml:"ports"`
	LinkMbps   int64 `yaml:"linkMbps"`
	TPM        bool  `yaml:"tpm"` // 2.0
	SecureBoot bool  `yaml:"secureBoot"`
	UEFI       bool  `yaml:"uefi"`
}

// Item is a number of equal parts: the text that their model has in it, their size in GiB for memory and in GB for disks, and
// their firmware.
type Item struct {
	Count    int    `yaml:"count"`
	Model    string `yaml:"model"`
	Size     int64  `yaml:"size"`
	Firmware string `yaml:"firmware"`
}

// Port is where the cable of a network port goes.
type Port struct {
	NIC    string `yaml:"nic"`    // its name, or its MAC
	Switch string `yaml:"switch"` // as the switch announces itself by LLDP
	Port   string `yaml:"port"`
	VLAN   int    `yaml:"vlan"` // of untagged frames; 0: not checked
	MTU    int    `yaml:"mtu"`  // 0: not checked
}

// The bounds of a sheet. Chosen: a server has some dozens of parts, and an order some hundred machines.
const (
	maxBytes = 256 << 10
	maxText  = 160
	maxList  = 1024
	maxItems = 64
)

const (
	apiVersion = "touchdown.dev/v1alpha1"
	kind       = "OrderSheet"
)

// Profiles are the names of the profiles of Touchdown.
func Profiles() []string { return []string{"sno", "vdu", "retail"} }

// Load reads a profile by its name, or a file.
func Load(nameOrFile string) (*Sheet, error) {
	if slices.Contains(Profiles(), nameOrFile) {
		return profile(nameOrFile)
	}
	file, err := os.OpenFile(nameOrFile, os.O_RDONLY|unix.O_NONBLOCK, 0) // a pipe would wait for its writer
	if err != nil {
		return nil, unreadable(nameOrFile, err)
	}
	defer func() { _ = file.Close() }()
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, unreadable(nameOrFile, cmp.Or(err, message.Failed(message.T("it is not a regular file"))))
	}
	data, err := io.ReadAll(io.LimitReader(file, maxBytes+1))
	if err != nil {
		return nil, unreadable(nameOrFile, err)
	}
	return Parse(data, nameOrFile)
}

func profile(name string) (*Sheet, error) {
	data, err := assets.Profiles.ReadFile("profiles/" + name + ".yaml")
	if err != nil {
		return nil, fmt.Errorf("reading the profile %s: %w", name, err)
	}
	return Parse(data, name)
}

func unreadable(name string, err error) error {
	return &problem.Problem{
		Code: "SHT-FLE", Err: err, Summary: message.F("The profile or order sheet %s cannot be used.", path.Base(name)),
		Fix: message.F("Give one of the profiles %s, or a file like those in assets/profiles; correct what is named.", strings.Join(Profiles(), ", ")),
	}
}

// Parse reads a sheet, with the limits of its profile where it has none. Whoever wrote it may have meant harm.
func Parse(data []byte, name string) (*Sheet, error) {
	if len(data) > maxBytes {
		return nil, unreadable(name, message.Failed(message.F("it is larger than %d KiB", maxBytes>>10)))
	}
	s := Sheet{raw: data}
	if err := decode(data, &s); err != nil {
		return nil, unreadable(name, err)
	}
	if err := s.validate(); err != nil {
		return nil, unreadable(name, err)
	}
	if s.Profile != "" {
		p, err := profile(s.Profile)
		if err != nil {
			return nil, err
		}
		s.Minimum.begin(p.Minimum)
		s.Source = strings.TrimSuffix(s.Source+"; "+p.Source, "; ")
	}
	return &s, nil
}

// decode reads one document without unknown keys. The YAML library has crashed on hostile input before.
func decode(data []byte, into *Sheet) (err error) {
	defer func() {
		if recover() != nil {
			err = message.Failed(message.T("it is not YAML"))
		}
	}()
	d := yaml.NewDecoder(bytes.NewReader(data))
	d.KnownFields(true)
	if err := d.Decode(into); err != nil {
		return message.Failed(message.F("reading the YAML: %s", message.Verbatim(printable(err.Error())))) // it quotes keys of the document
	}
	if err := d.Decode(&yaml.Node{}); !errors.Is(err, io.EOF) {
		return message.Failed(message.T("it has more than one document"))
	}
	var document yaml.Node
	if err := yaml.Unmarshal(data, &document); err != nil || len(document.Content) == 0 {
		return message.Failed(message.T("it is not YAML"))
	}
	return whole(document.Content[0], reflect.TypeFor[Sheet](), "")
}

// begin takes over limits that are not set.
func (m *Minimum) begin(from Minimum) {
	for _, n := range []struct {
		to   *int64
		from int64
	}{{&m.Threads, from.Threads}, {&m.MemoryGiB, from.MemoryGiB}, {&m.DiskGB, from.DiskGB}, {&m.Ports, from.Ports}, {&m.LinkMbps, from.LinkMbps}} {
		if *n.to == 0 {
			*n.to = n.from
		}
	}
	m.TPM, m.SecureBoot, m.UEFI = m.TPM || from.TPM, m.SecureBoot || from.SecureBoot, m.UEFI || from.UEFI
}

// validate says where the sheet is wrong.
func (s *Sheet) validate() error {
	m := s.Minimum
	switch {
	case s.APIVersion != apiVersion || s.Kind != kind:
		return message.Failed(message.F("apiVersion and kind are not %s and %s", apiVersion, kind))
	case s.Profile != "" && !slices.Contains(Profiles(), s.Profile):
		return message.Failed(message.F("profile: %q is none of %s", clip(s.Profile, maxText), strings.Join(Profiles(), ", ")))
	case min(m.Threads, m.MemoryGiB, m.DiskGB, m.Ports, m.LinkMbps) < 0 || max(m.Threads, m.MemoryGiB, m.DiskGB, m.Ports, m.LinkMbps) > 1<<24:
		return message.Failed(message.T("minimum: a number is negative or too large"))
	case len(s.Serials) > maxList || len(s.Ports) > maxItems:
		return message.Failed(message.F("serials or ports: more than %d serials or %d ports", maxList, maxItems))
	}
	for at, text := range append([]string{s.Name, s.Source, s.Model, s.BIOS}, s.Serials...) {
		where := []string{"name", "source", "model", "bios"}
		if err := plain(text); err != nil {
			return message.Doing(message.Data(append(where, fmt.Sprintf("serials[%d]", at-4))[min(at, 4)]), err)
		}
	}
	for n, items := range [][]Item{s.Modules, s.Disks, s.NICs} {
		if err := checkItems([]string{"modules", "disks", "nics"}[n], items); err != nil {
			return err
		}
	}
	if slices.ContainsFunc(s.NICs, func(i Item) bool { return i.Size != 0 }) {
		return message.Failed(message.T("nics: they have no size"))
	}
	return s.checkPorts()
}

func checkItems(list string, items []Item) error {
	if len(items) > maxItems {
		return message.Failed(message.F("%s: more than %d", list, maxItems))
	}
	for n, i := range items {
		if i.Count < 1 || i.Count > maxItems || i.Size < 0 || i.Size > 1<<24 {
			return message.Failed(message.F("%s: count has to be 1 to %d, and size 0 to %d", item(list, n), maxItems, 1<<24))
		}
		if err := cmp.Or(plain(i.Model), plain(i.Firmware)); err != nil {
			return message.Doing(item(list, n), err)
		}
	}
	return nil
}

// item is the place of something in the sheet.
func item(list string, n int) message.Text { return message.Data(fmt.Sprintf("%s[%d]", list, n)) }

// nicName is a kernel's name (IFNAMSIZ is 16 with the closing zero).
var nicName = regexp.MustCompile(`^[A-Za-z0-9._-]{1,15}$`)

// checkPorts wants each port once, and each socket of a switch once: two cables in one socket are a mistake of the sheet.
func (s *Sheet) checkPorts() error {
	seen := map[string]bool{}
	for n, p := range s.Ports {
		where := item("ports", n)
		if err := cmp.Or(plain(p.NIC), plain(p.Switch), plain(p.Port)); err != nil {
			return message.Doing(where, err)
		}
		mac := value.MAC(p.NIC)
		nic, socket := "nic "+cmp.Or(mac, strings.ToLower(p.NIC)), "socket "+p.Switch+" "+p.Port
		switch {
		case p.NIC == "" || p.Switch == "" && p.Port == "" && p.VLAN == 0 && p.MTU == 0:
			return message.Doing(where, message.Failed(message.T("it needs nic, and one of switch, port, vlan, mtu")))
		case mac == "" && !nicName.MatchString(p.NIC):
			return message.Doing(where, message.Failed(message.T("nic has to be a name as the kernel has it, like eno1, or a MAC like 52:54:00:00:00:01")))
		case p.VLAN < 0 || p.VLAN > 4094:
			return message.Doing(where, message.Failed(message.T("vlan has to be 1 to 4094")))
		case p.MTU < 0 || p.MTU > 65535:
			return message.Doing(where, message.Failed(message.T("mtu has to be at most 65535")))
		case seen[nic] || p.Port != "" && seen[socket]:
			return message.Doing(where, message.Failed(message.F("%s is named twice", clip(p.NIC, maxText))))
		}
		seen[nic], seen[socket] = true, true
	}
	return nil
}

func plain(text string) error {
	switch {
	case len(text) > maxText:
		return message.Failed(message.F("a text has more than %d bytes", maxText))
	case strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }):
		return message.Failed(message.T("a text has a character in it that cannot be printed"))
	}
	return nil
}

// printable leaves out of a text what a terminal could obey.
func printable(text string) string {
	return clip(strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, text), 4*maxText)
}

func clip(text string, most int) string { return text[:min(len(text), most)] }
