// Package hardware looks at the machine's hardware and firmware and judges them against OpenShift's minimums.
package hardware

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"touchdown/backend/host"
)

// Inventory is what the machine is made of. A zero value means "not known"; Errors says why.
type Inventory struct {
	CPU      CPU               `json:"cpu"`
	Memory   Memory            `json:"memory"`
	Disks    []Disk            `json:"disks,omitempty"`
	NICs     []NIC             `json:"nics,omitempty"`
	Product  Product           `json:"product"`
	Firmware Firmware          `json:"firmware"`
	Virtual  string            `json:"virtual,omitempty"` // "none", "kvm", "systemd-nspawn"; "" when not known
	Var      Space             `json:"var"`
	Clock    Clock             `json:"clock"`
	Errors   map[string]string `json:"errors,omitempty"` // what could not be looked at, and why
}

// CPU is all processors together.
type CPU struct {
	Model   string   `json:"model,omitempty"`
	Sockets int      `json:"sockets,omitempty"`
	Cores   int      `json:"cores,omitempty"`
	Threads int      `json:"threads,omitempty"` // what OpenShift's documents call vCPU
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
}

// NIC is one network card's port, or a virtual one.
type NIC struct {
	Name      string   `json:"name"`
	MAC       string   `json:"mac,omitempty"` // the permanent one where the driver tells it
	Virtual   bool     `json:"virtual,omitempty"`
	PCI       string   `json:"pci,omitempty"`
	Driver    string   `json:"driver,omitempty"`
	Firmware  string   `json:"firmware,omitempty"`
	Link      string   `json:"link,omitempty"` // "up", "down"; "" when not known
	Mbps      int      `json:"mbps,omitempty"` // 0: not known
	Addresses []string `json:"addresses,omitempty"`
}

// Product is what the type plate says.
type Product struct {
	Vendor string `json:"vendor,omitempty"`
	Name   string `json:"name,omitempty"`
	Serial string `json:"serial,omitempty"`
	UUID   string `json:"uuid,omitempty"`
	BIOS   string `json:"bios,omitempty"`
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
}

// Inspect looks at the machine. It changes nothing, fails at nothing as a whole, and notes what it could not see.
func Inspect(ctx context.Context, m *host.Machine, o Options) *Inventory {
	i := &Inventory{Errors: map[string]string{}}
	i.note("cpu", i.readCPU(m))
	i.note("memory", i.readMemory(m))
	i.note("disks", i.readDisks(m))
	i.note("nics", i.readNICs(m))
	i.note("product", i.readProduct(m))
	i.note("boot", i.readBoot(m))
	i.note("tpm", i.readTPM(m))
	i.note("virtual", i.readVirtual(ctx, m))
	i.note("clock", i.readClock(m, o))
	var err error
	i.Var.Free, i.Var.Total, err = m.Space("/var")
	i.note("var", err)
	return i
}

func (i *Inventory) note(what string, err error) {
	if err != nil {
		i.Errors[what] = err.Error()
	}
}

// why tells the reason for a gap.
func (i *Inventory) why(what string) string {
	if e := i.Errors[what]; e != "" {
		return "not looked at: " + e
	}
	return "not looked at: the machine does not tell"
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
func (i *Inventory) Summary() []string {
	lines := []string{
		"Machine  " + orUnknown(strings.TrimSpace(i.Product.Vendor+" "+i.Product.Name)) + ", serial number " + orUnknown(i.Product.Serial),
		fmt.Sprintf("CPU      %s, %d threads", orUnknown(i.CPU.Model), i.CPU.Threads),
		"Memory   " + gib(max(i.Memory.Physical, i.Memory.Usable)),
	}
	for _, d := range i.Disks {
		if !d.Virtual {
			lines = append(lines, fmt.Sprintf("Disk     %s %s %s %s", d.Name, d.Type, gb(d.Bytes), strings.TrimSpace(d.Vendor+" "+d.Model)))
		}
	}
	for _, n := range i.Physical() {
		lines = append(lines, fmt.Sprintf("NIC      %s %s link %s", n.Name, orUnknown(n.MAC), orUnknown(n.Link)))
	}
	return lines
}

func orUnknown(s string) string {
	if s == "" {
		return "unknown"
	}
	return s
}

var errNothing = errors.New("the kernel shows none")
