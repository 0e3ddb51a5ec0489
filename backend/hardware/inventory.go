// Package hardware looks at the machine's hardware and firmware and judges them against OpenShift's minimums.
package hardware

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"strings"
	"time"

	"touchdown/backend/host"
	"touchdown/backend/message"
)

// Inventory is what the machine is made of. A zero value means "not known"; Errors says why.
type Inventory struct {
	Hostname string                  `json:"hostname,omitempty"`
	CPU      CPU                     `json:"cpu"`
	Memory   Memory                  `json:"memory"`
	Disks    []Disk                  `json:"disks,omitempty"`
	NICs     []NIC                   `json:"nics,omitempty"`
	Product  Product                 `json:"product"`
	Firmware Firmware                `json:"firmware"`
	Virtual  string                  `json:"virtual,omitempty"` // "none", "kvm", "systemd-nspawn"; "" when not known
	Var      Space                   `json:"var"`
	Clock    Clock                   `json:"clock"`
	Parts                            // only with Options.Parts or All
	Errors   map[string]message.Text `json:"errors,omitempty"` // what could not be read, and why
}

// Parts are what no check judges, but whoever orders, repairs or replaces a part has to know.
type Parts struct {
	Chassis      Plate         `json:"chassis,omitzero"`
	Board        Plate         `json:"board,omitzero"`
	Modules      []Module      `json:"modules,omitempty"` // one for each memory slot, empty ones too
	Nodes        []Node        `json:"nodes,omitempty"`
	PCI          []Device      `json:"pci,omitempty"`
	USB          []Device      `json:"usb,omitempty"`
	Routes       []Route       `json:"routes,omitempty"`
	MemoryErrors []Controller  `json:"edac,omitempty"`
	Temperatures []Temperature `json:"temperatures,omitempty"`
	BMC          *BMC          `json:"bmc,omitempty"`
	Watchdog     bool          `json:"watchdog,omitempty"`
}

// CPU is all processors together.
type CPU struct {
	Model   string   `json:"model,omitempty"`
	Arch    string   `json:"arch,omitempty"` // as the kernel calls it: "x86_64"
	Sockets int      `json:"sockets,omitempty"`
	Cores   int      `json:"cores,omitempty"`
	Threads int      `json:"threads,omitempty"` // what OpenShift's documents call vCPU
	MHz     float64  `json:"mhz,omitempty"`     // the highest that the kernel allows, else the current one
	Flags   []string `json:"-"`
}

// Memory in bytes.
type Memory struct {
	Physical int64 `json:"physical,omitempty"` // 0: only Usable is known
	Usable   int64 `json:"usable,omitempty"`
}

// Disk is one disk.
type Disk struct {
	Name      string `json:"name"`
	Bytes     int64  `json:"bytes"`
	Type      string `json:"type"` // "SSD", "HDD", "ODD", "unknown"
	Removable bool   `json:"removable,omitempty"`
	Virtual   bool   `json:"-"` // made of other disks or of memory
	System    bool   `json:"system,omitempty"`
	Vendor    string `json:"vendor,omitempty"`
	Model     string `json:"model,omitempty"`
	Serial    string `json:"serial,omitempty"`
	WWN       string `json:"wwn,omitempty"`

	Bus        string      `json:"bus,omitempty"`  // "SCSI", "NVMe", "virtio"
	Path       string      `json:"path,omitempty"` // where it is plugged in, as udev calls it: "pci-0000:00:1f.2-ata-1"
	HCTL       string      `json:"hctl,omitempty"` // of SCSI: "0:0:0:0"
	Firmware   string      `json:"firmware,omitempty"`
	Partitions []Partition `json:"partitions,omitempty"`
	Health     *Health     `json:"health,omitempty"` // nil: nobody asked, or nobody answered
}

// Partition is a part of a disk.
type Partition struct {
	Name  string `json:"name"`
	Bytes int64  `json:"bytes"`
	Label string `json:"label,omitempty"`
	Type  string `json:"type,omitempty"`  // of the file system: "xfs"
	Mount string `json:"mount,omitempty"` // one of the places where it is mounted
}

// NIC is one network card's port, or a virtual one.
type NIC struct {
	Name      string   `json:"name"`
	MAC       string   `json:"mac,omitempty"` // the permanent one where the driver tells it
	Virtual   bool     `json:"virtual,omitempty"`
	PCI       string   `json:"pci,omitempty"`
	Driver    string   `json:"driver,omitempty"`
	Firmware  string   `json:"firmware,omitempty"`
	Bus       string   `json:"bus,omitempty"`      // "pci", "usb", "virtio"
	Function  bool     `json:"function,omitempty"` // a virtual function of another port
	Link      string   `json:"link,omitempty"`     // "up", "down"; "" when not known
	Mbps      int      `json:"mbps,omitempty"`     // 0: not known
	MTU       int      `json:"mtu,omitempty"`
	Flags     []string `json:"flags,omitempty"`   // "up", "broadcast"
	Vendor    string   `json:"vendor,omitempty"`  // its number: "0x8086"
	Product   string   `json:"product,omitempty"` // its number: "0x1572"
	Addresses []string `json:"addresses,omitempty"`
}

// Product is what the type plate says.
type Product struct {
	Vendor string `json:"vendor,omitempty"`
	Name   string `json:"name,omitempty"`
	Serial string `json:"serial,omitempty"`
	UUID   string `json:"uuid,omitempty"`
	BIOS   string `json:"bios,omitempty"`

	Family  string `json:"family,omitempty"`
	SKU     string `json:"sku,omitempty"`
	Version string `json:"version,omitempty"`
}

// Firmware is how the machine started.
type Firmware struct {
	Boot       string `json:"boot,omitempty"`       // "UEFI", "BIOS"
	SecureBoot string `json:"secureBoot,omitempty"` // "on", "off", "not supported"
	TPM        string `json:"tpm,omitempty"`        // "2.0", "1.2", "none"
}

// Space on a file system in bytes.
type Space struct {
	Free  int64 `json:"free,omitempty"`
	Total int64 `json:"total,omitempty"`
}

// Clock compares the clocks with each other and with the age of this program.
type Clock struct {
	System time.Time `json:"system"`
	RTC    time.Time `json:"rtc,omitzero"`
	Floor  time.Time `json:"floor"` // it cannot be earlier than this
}

// Options of Inspect.
type Options struct {
	Now   func() time.Time // nil: time.Now
	Floor time.Time        // when this program was built; zero: the date of the OpenShift API that it uses
	Parts bool             // look at Parts too, which only the comparison with another time needs
	All   bool             // look at Parts, and ask the disks for their health: up to 10 s where a disk is dying
}

// Inspect looks at the machine. It changes nothing, fails at nothing as a whole, and notes what it could not see.
func Inspect(ctx context.Context, m *host.Machine, o Options) *Inventory {
	return inspect(ctx, &asker{m: m}, o)
}

// section is one part of the inventory. When it fails the others are looked at all the same.
type section struct {
	name string
	look func() error
}

func inspect(ctx context.Context, a *asker, o Options) *Inventory {
	i, m := &Inventory{Errors: map[string]message.Text{}}, a.m
	all := []section{
		{"cpu", func() error { return i.readCPU(a) }},
		{"memory", func() error { return i.readMemory(m) }},
		{"disks", func() error { return i.readDisks(m) }},
		{"nics", func() error { return i.readNICs(a) }},
		{"product", func() error { return i.readProduct(m) }},
		{"boot", func() error { return i.readBoot(m) }},
		{"tpm", func() error { return i.readTPM(m) }},
		{"virtual", func() error { return i.readVirtual(ctx, a) }},
		{"clock", func() error { return i.readClock(m, o) }},
		{"var", func() (err error) { i.Var, err = a.space(); return err }},
	}
	if o.Parts || o.All {
		all = append(all, i.parts(a)...)
	}
	if o.All {
		all = append(all, section{"health", func() error { return i.readHealth(ctx, a) }})
	}
	for _, s := range all {
		i.note(s.name, safely(s.look))
	}
	clean(reflect.ValueOf(i).Elem())
	return i
}

// parts are the sections of what no check judges.
func (i *Inventory) parts(a *asker) []section {
	m := a.m
	return []section{
		{"hostname", func() (err error) { i.Hostname, err = hostname(m); return err }},
		{"chassis", func() error { return i.readChassis(m) }},
		{"board", func() error { return i.readBoard(m) }},
		{"modules", func() error { return i.readModules(m) }},
		{"topology", func() error { return i.readTopology(m) }},
		{"pci", func() error { return i.readPCI(m) }},
		{"usb", func() error { return i.readUSB(m) }},
		{"routes", func() (err error) { i.Routes, err = a.routes(); return err }},
		{"edac", func() error { return i.readMemoryErrors(m) }},
		{"temperatures", func() error { return i.readTemperatures(m) }},
		{"bmc", func() error { return i.readBMC(m) }},
		{"watchdog", func() error { return i.readWatchdog(m) }},
	}
}

func hostname(m *host.Machine) (string, error) {
	name, err := m.Hostname()
	if err != nil {
		return "", fmt.Errorf("reading the host name: %w", err)
	}
	return name, nil
}

// safely turns a panic into an error: what the firmware wrote is read by libraries of others.
func safely(look func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("reading what the machine tells: %v", p)
		}
	}()
	return look()
}

// note keeps why a section is missing. A sentence of ours needs no word on what was being done: the section says it.
func (i *Inventory) note(what string, err error) {
	if err != nil {
		i.Errors[what] = reason(err)
	}
}

// failed tells whether a section is missing, or a part of it.
func (i *Inventory) failed(section string) bool { return i.Errors[section] != message.Text{} }

// why tells the reason for a gap.
func (i *Inventory) why(what string) message.Text {
	if why, failed := i.Errors[what]; failed {
		return message.F("not checked: %s", message.OrVerbatim(why))
	}
	return message.T("not checked: the machine does not say")
}

// SystemDisk returns the disk that the system is installed on, or nil when it cannot be told.
func (i *Inventory) SystemDisk() *Disk {
	for k := range i.Disks {
		if i.Disks[k].System {
			return &i.Disks[k]
		}
	}
	return nil
}

// Physical returns the NICs that are hardware.
func (i *Inventory) Physical() []NIC {
	var nics []NIC
	for _, n := range i.NICs {
		if !n.Virtual {
			nics = append(nics, n)
		}
	}
	return nics
}

// Summary is the inventory in a few lines for people.
func (i *Inventory) Summary() []message.Text {
	lines := []message.Text{
		message.F("Machine  %s, serial number %s", named(strings.TrimSpace(i.Product.Vendor+" "+i.Product.Name)), named(i.Product.Serial)),
		message.F("CPU      %s, %d threads", named(i.CPU.Model), i.CPU.Threads),
		message.F("Memory   %s", gib(max(i.Memory.Physical, i.Memory.Usable))),
	}
	for _, d := range i.Disks {
		if !d.Virtual {
			lines = append(lines, message.F("Disk     %s %s %s %s", d.Name, d.Type, gb(d.Bytes), strings.TrimSpace(d.Vendor+" "+d.Model)))
		}
	}
	for _, n := range i.Physical() {
		lines = append(lines, message.F("NIC      %s %s link %s", n.Name, named(n.MAC), word(cmp.Or(n.Link, "unknown"))))
	}
	return lines
}

// named is a name, or that there is none.
func named(s string) message.Text {
	if s == "" {
		return message.T("unknown")
	}
	return message.Data(s)
}

func orUnknown(s string) string {
	if s == "" {
		return "unknown"
	}
	return s
}

var errNothing = message.Failed(message.T("the kernel shows none"))
