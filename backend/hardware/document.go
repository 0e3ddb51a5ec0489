package hardware

import (
	"cmp"
	"net/netip"
	"strings"

	"touchdown/backend/message"
)

// Document is the inventory in the words of assisted-service (its models.Inventory), for tools that read that, with what it has
// no field for behind it. Left out are its fields that say what an installer may do with a disk, the kernel's command line, in
// which some sites have passwords, and the addresses of the BMC, which nobody asks here.
type Document struct {
	Hostname     string        `json:"hostname,omitempty"`
	Timestamp    int64         `json:"timestamp,omitempty"` // seconds since 1970
	Boot         docBoot       `json:"boot"`
	CPU          docCPU        `json:"cpu"`
	Memory       docMemory     `json:"memory"`
	Disks        []docDisk     `json:"disks"`
	Interfaces   []docPort     `json:"interfaces"`
	Routes       []docRoute    `json:"routes"`
	GPUs         []docGPU      `json:"gpus"`
	SystemVendor docVendor     `json:"system_vendor"`
	TPMVersion   string        `json:"tpm_version,omitempty"` // "2.0", "1.2", "none"
	Chassis      Plate         `json:"chassis"`
	Baseboard    Plate         `json:"baseboard"`
	Product      Product       `json:"product"`
	Topology     []Node        `json:"topology"`
	PCI          []Device      `json:"pci_devices"`
	USB          []Device      `json:"usb_devices"`
	EDAC         []Controller  `json:"edac"`
	Temperatures []Temperature `json:"temperatures"`
	BMC          *BMC          `json:"bmc"` // null: none was found
	Watchdog     bool          `json:"watchdog"`

	// Errors says by section what could not be read, and why. Without an error an empty section is empty.
	Errors map[string]string `json:"errors"`
}

type docBoot struct {
	Mode       string `json:"current_boot_mode,omitempty"` // "uefi", "bios"
	SecureBoot string `json:"secure_boot_state"`           // "Enabled", "Disabled", "NotSupported", "Unknown"
}

type docCPU struct {
	Architecture string   `json:"architecture,omitempty"`
	Count        int      `json:"count"` // threads
	Flags        []string `json:"flags"`
	Frequency    float64  `json:"frequency,omitempty"` // MHz
	Model        string   `json:"model_name,omitempty"`
	Sockets      int      `json:"sockets,omitempty"` // this and the next are ours
	Cores        int      `json:"cores,omitempty"`
}

type docMemory struct {
	Physical int64    `json:"physical_bytes"`
	Method   string   `json:"physical_bytes_method,omitempty"` // "dmidecode": the firmware's tables; "ghw"; "meminfo"
	Usable   int64    `json:"usable_bytes"`
	Modules  []Module `json:"modules"` // ours
}

type docDisk struct {
	ByID       string      `json:"by_id,omitempty"`
	ByPath     string      `json:"by_path,omitempty"`
	DriveType  string      `json:"drive_type"`
	HCTL       string      `json:"hctl,omitempty"`
	ID         string      `json:"id,omitempty"`
	Model      string      `json:"model,omitempty"`
	Name       string      `json:"name"`
	Path       string      `json:"path"`
	Removable  bool        `json:"removable,omitempty"`
	Serial     string      `json:"serial,omitempty"`
	SizeBytes  int64       `json:"size_bytes"`
	Vendor     string      `json:"vendor,omitempty"`
	WWN        string      `json:"wwn,omitempty"`
	System     bool        `json:"system,omitempty"` // this and the next are ours
	Firmware   string      `json:"firmware,omitempty"`
	Partitions []Partition `json:"partitions,omitempty"`
	Health     *Health     `json:"health,omitempty"`
}

type docPort struct {
	Name     string   `json:"name"`
	Type     string   `json:"type"` // "physical", "virtual"
	Carrier  bool     `json:"has_carrier"`
	MAC      string   `json:"mac_address,omitempty"`
	MTU      int      `json:"mtu,omitempty"`
	Speed    int      `json:"speed_mbps,omitempty"`
	Vendor   string   `json:"vendor,omitempty"`
	Product  string   `json:"product,omitempty"`
	Flags    []string `json:"flags"`
	IPv4     []string `json:"ipv4_addresses"`
	IPv6     []string `json:"ipv6_addresses"`
	Driver   string   `json:"driver,omitempty"` // this and the next are ours
	Firmware string   `json:"firmware,omitempty"`
	PCI      string   `json:"pci_address,omitempty"`
}

type docRoute struct {
	Interface   string `json:"interface,omitempty"`
	Destination string `json:"destination"` // without the length of the prefix, as there
	Family      int    `json:"family"`      // the kernel's numbers: 2 is IPv4, 10 is IPv6
	Gateway     string `json:"gateway,omitempty"`
	Metric      int    `json:"metric,omitempty"`
	Prefix      string `json:"prefix"` // ours: the destination with its length
}

type docGPU struct {
	Address  string `json:"address"`
	DeviceID string `json:"device_id,omitempty"`
	Name     string `json:"name,omitempty"`
	Vendor   string `json:"vendor,omitempty"`
	VendorID string `json:"vendor_id,omitempty"`
}

type docVendor struct {
	Manufacturer string `json:"manufacturer,omitempty"`
	Product      string `json:"product_name,omitempty"`
	Serial       string `json:"serial_number,omitempty"`
	Virtual      bool   `json:"virtual,omitempty"`
}

// english is why sections are missing, for programs.
func english(reasons map[string]message.Text) map[string]string {
	all := map[string]string{}
	for section, why := range reasons {
		all[section] = why.String()
	}
	return all
}

// Document returns the inventory as a document.
func (i *Inventory) Document() Document {
	d := Document{
		Hostname: i.Hostname, Timestamp: max(0, i.Clock.System.Unix()), // a time that is not known lies before 1970
		Boot: docBoot{Mode: strings.ToLower(i.Firmware.Boot), SecureBoot: secureBoot(i.Firmware.SecureBoot)},
		CPU: docCPU{
			Architecture: i.CPU.Arch, Count: i.CPU.Threads, Flags: list(i.CPU.Flags), Frequency: i.CPU.MHz, Model: i.CPU.Model,
			Sockets: i.CPU.Sockets, Cores: i.CPU.Cores,
		},
		Disks: []docDisk{}, Interfaces: []docPort{}, Routes: []docRoute{}, GPUs: []docGPU{},
		SystemVendor: docVendor{i.Product.Vendor, i.Product.Name, i.Product.Serial, i.Virtual != "" && i.Virtual != "none"},
		TPMVersion:   i.Firmware.TPM, Chassis: i.Chassis, Baseboard: i.Board, Product: i.Product, Topology: list(i.Nodes),
		PCI: list(i.PCI), USB: list(i.USB), EDAC: list(i.MemoryErrors), Temperatures: list(i.Temperatures), BMC: i.BMC,
		Watchdog: i.Watchdog, Errors: english(i.Errors),
	}
	d.Memory.Modules, d.Memory.Usable = list(i.Modules), i.Memory.Usable
	d.Memory.Physical, d.Memory.Method = i.physical()
	for _, disk := range i.Disks {
		d.Disks = append(d.Disks, disk.document())
	}
	for _, n := range i.NICs {
		d.Interfaces = append(d.Interfaces, n.document())
	}
	for _, r := range i.Routes {
		d.Routes = append(d.Routes, r.document())
	}
	for _, g := range i.GPUs() {
		d.GPUs = append(d.GPUs, docGPU{g.Address, g.ProductID, g.Name, g.Vendor, g.VendorID})
	}
	return d
}

// physical is the memory that is plugged in, and how that is known.
func (i *Inventory) physical() (bytes int64, method string) {
	for _, m := range i.Modules {
		bytes += m.Bytes
	}
	switch {
	case bytes > 0:
		return bytes, "dmidecode"
	case i.Memory.Physical > 0:
		return i.Memory.Physical, "ghw"
	case i.Memory.Usable > 0:
		return i.Memory.Usable, "meminfo"
	}
	return 0, ""
}

// list is a list that is never null in JSON.
func list[T any](all []T) []T { return append([]T{}, all...) }

func secureBoot(state string) string {
	return cmp.Or(map[string]string{"on": "Enabled", "off": "Disabled", "not supported": "NotSupported"}[state], "Unknown")
}

func (d Disk) document() docDisk {
	doc := docDisk{
		DriveType: d.Type, HCTL: d.HCTL, Model: d.Model, Name: d.Name, Path: "/dev/" + d.Name, Removable: d.Removable, Serial: d.Serial,
		SizeBytes: d.Bytes, Vendor: d.Vendor, WWN: d.WWN, System: d.System, Firmware: d.Firmware, Partitions: d.Partitions, Health: d.Health,
	}
	if d.Virtual {
		doc.DriveType = "virtual"
	}
	// The names that udev's rules give (60-persistent-storage.rules).
	switch {
	case d.WWN != "" && strings.HasPrefix(d.Name, "nvme"):
		doc.ByID = "/dev/disk/by-id/nvme-" + d.WWN
	case d.WWN != "":
		doc.ByID = "/dev/disk/by-id/wwn-" + d.WWN
	}
	if d.Path != "" {
		doc.ByPath = "/dev/disk/by-path/" + d.Path
	}
	doc.ID = cmp.Or(doc.ByID, doc.ByPath)
	return doc
}

func (n NIC) document() docPort {
	doc := docPort{
		Name: n.Name, Type: "physical", Carrier: n.Link == "up", MAC: n.MAC, MTU: n.MTU, Speed: n.Mbps, Vendor: n.Vendor, Product: n.Product,
		Flags: list(n.Flags), IPv4: []string{}, IPv6: []string{}, Driver: n.Driver, Firmware: n.Firmware, PCI: n.PCI,
	}
	if n.Virtual {
		doc.Type = "virtual"
	}
	for _, address := range n.Addresses {
		if strings.Contains(address, ":") {
			doc.IPv6 = append(doc.IPv6, address)
		} else {
			doc.IPv4 = append(doc.IPv4, address)
		}
	}
	return doc
}

func (r Route) document() docRoute {
	doc := docRoute{Interface: r.Interface, Destination: r.Destination, Family: 2, Gateway: r.Gateway, Metric: r.Metric, Prefix: r.Destination}
	if strings.Contains(r.Destination+r.Gateway, ":") {
		doc.Family = 10
	}
	if p, err := netip.ParsePrefix(r.Destination); err == nil {
		doc.Destination = p.Addr().String()
	}
	return doc
}
