package hardware

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/jaypipes/ghw"

	"touchdown/backend/host"
	"touchdown/backend/message"
)

// Device is something on the PCI bus or at a USB socket.
type Device struct {
	Address   string `json:"address"` // PCI: "0000:01:00.0"; USB: bus and sockets, "1-1.4"
	Class     string `json:"class,omitempty"`
	ClassID   string `json:"class_id,omitempty"` // PCI: class and subclass, "0200"
	Vendor    string `json:"vendor,omitempty"`
	VendorID  string `json:"vendor_id,omitempty"` // "8086"
	Name      string `json:"name,omitempty"`
	ProductID string `json:"product_id,omitempty"`
	Serial    string `json:"serial,omitempty"` // USB only
	Driver    string `json:"driver,omitempty"`
	Function  bool   `json:"function,omitempty"` // a virtual function of another device
}

const pciDevices = "/sys/bus/pci/devices"

// readPCI lists the PCI bus. The names need a list of names (hwdata's pci.ids), and ghw returns nothing at all for one device
// that it does not understand; the numbers are there in any case.
func (p *Parts) readPCI(m *host.Machine) error {
	all, err := m.Glob(pciDevices + "/*")
	if err != nil {
		return fmt.Errorf("listing the PCI bus: %w", err)
	}
	if err := missing(m, pciDevices); err != nil {
		return fmt.Errorf("listing the PCI bus: %w", err)
	}
	if len(all) == 0 {
		return nil // a machine without a PCI bus
	}
	names, found := pciNames(m)
	for _, dir := range all[:min(len(all), maxList)] {
		d := names[filepath.Base(dir)]
		d.Address, d.Function = filepath.Base(dir), m.Exists(dir+"/physfn")
		hex := func(file string, digits int) string {
			s := strings.TrimPrefix(oneLine(m, dir+"/"+file), "0x")
			return s[:min(len(s), digits)]
		}
		if d.VendorID == "" {
			d.VendorID, d.ProductID, d.ClassID = hex("vendor", 4), hex("device", 4), hex("class", 4)
		}
		if target, err := os.Readlink(m.Path(dir + "/driver")); err == nil {
			d.Driver = filepath.Base(target)
		}
		p.PCI = append(p.PCI, d)
	}
	return found
}

// pciNames is what ghw knows of the PCI bus, by address.
func pciNames(m *host.Machine) (map[string]Device, error) {
	info, err := ghw.PCI(options(m)...)
	if err != nil {
		return nil, fmt.Errorf("naming the PCI devices: %w", err)
	}
	names := map[string]Device{}
	for _, d := range info.Devices {
		names[d.Address] = Device{
			Class: known(d.Class.Name), ClassID: d.Class.ID + d.Subclass.ID, Vendor: known(d.Vendor.Name), VendorID: d.Vendor.ID,
			Name: known(d.Product.Name), ProductID: d.Product.ID,
		}
		if sub := known(d.Subclass.Name); sub != "" {
			named := names[d.Address]
			named.Class = sub
			names[d.Address] = named
		}
	}
	if len(names) == 0 {
		return nil, message.Failed(message.T("one of the PCI devices does not report what it is"))
	}
	return names, nil
}

// GPUs are the display controllers, that of a BMC too: every PCI device of class 03. ghw's own list reads the list of names
// again, a tenth of a second, and leaves out what has no driver.
func (p *Parts) GPUs() []Device { return p.class("03") }

// Accelerators are the processing accelerators: every PCI device of class 12.
func (p *Parts) Accelerators() []Device { return p.class("12") }

func (p *Parts) class(id string) []Device {
	var all []Device
	for _, d := range p.PCI {
		if strings.HasPrefix(d.ClassID, id) {
			all = append(all, d)
		}
	}
	return all
}

// readUSB lists what is at the USB sockets, hubs too. ghw lists the functions of each device instead, and no socket.
func (p *Parts) readUSB(m *host.Machine) error {
	const dir = "/sys/bus/usb/devices"
	if err := missing(m, dir); err != nil {
		return fmt.Errorf("listing the USB devices: %w", err)
	}
	all, err := m.Glob(dir + "/*/idVendor")
	if err != nil {
		return fmt.Errorf("listing the USB devices: %w", err)
	}
	for _, file := range all[:min(len(all), maxList)] {
		at := filepath.Dir(file)
		d := Device{
			Address: filepath.Base(at), VendorID: oneLine(m, file), ProductID: oneLine(m, at+"/idProduct"),
			Vendor: oneLine(m, at+"/manufacturer"), Name: oneLine(m, at+"/product"), Serial: oneLine(m, at+"/serial"),
		}
		if oneLine(m, at+"/bDeviceClass") == "09" {
			d.Class = "hub"
		}
		p.USB = append(p.USB, d)
	}
	return nil
}
