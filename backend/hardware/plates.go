package hardware

import (
	"fmt"

	"github.com/jaypipes/ghw"

	"touchdown/backend/host"
	"touchdown/backend/message"
)

// Plate is what a maker wrote about a chassis or a board.
type Plate struct {
	Type    string `json:"type,omitempty"` // of a chassis: "Rack Mount Chassis"
	Vendor  string `json:"vendor,omitempty"`
	Name    string `json:"name,omitempty"`
	Version string `json:"version,omitempty"`
	Serial  string `json:"serial,omitempty"`
	Asset   string `json:"asset,omitempty"` // the tag of the owner
}

// errNoPlates: without this folder ghw reports texts that are not known, as if the firmware had none.
var errNoPlates = message.Failed(message.T("the firmware reports nothing to the kernel (/sys/class/dmi/id is not there)"))

// plates reports whether the firmware tells anything: as PCs do, or as boards with a device tree.
func plates(m *host.Machine) bool {
	return m.Exists("/sys/class/dmi/id") || m.Exists("/sys/firmware/devicetree/base")
}

// plate reads one of them by what ghw knows of it.
func plate(m *host.Machine, of string, read func() (Plate, error)) (Plate, error) {
	if !plates(m) {
		return Plate{}, fmt.Errorf("reading the %s: %w", of, errNoPlates)
	}
	p, err := read()
	if err != nil {
		return Plate{}, fmt.Errorf("reading the %s: %w", of, err)
	}
	for _, text := range []*string{&p.Type, &p.Vendor, &p.Name, &p.Version, &p.Serial, &p.Asset} {
		*text = known(*text)
	}
	return p, nil
}

func (p *Parts) readChassis(m *host.Machine) (err error) {
	p.Chassis, err = plate(m, "chassis", func() (Plate, error) {
		c, err := ghw.Chassis(options(m)...)
		if err != nil {
			return Plate{}, err //nolint:wrapcheck // plate says what was being done
		}
		return Plate{Type: c.TypeDescription, Vendor: c.Vendor, Version: c.Version, Serial: c.SerialNumber, Asset: c.AssetTag}, nil
	})
	return err
}

func (p *Parts) readBoard(m *host.Machine) (err error) {
	p.Board, err = plate(m, "board", func() (Plate, error) {
		b, err := ghw.Baseboard(options(m)...)
		if err != nil {
			return Plate{}, err //nolint:wrapcheck // plate says what was being done
		}
		return Plate{Vendor: b.Vendor, Name: b.Product, Version: b.Version, Serial: b.SerialNumber, Asset: b.AssetTag}, nil
	})
	return err
}

func (p *Parts) readWatchdog(m *host.Machine) error {
	w, err := ghw.Watchdog(options(m)...)
	if err != nil {
		return fmt.Errorf("looking for the watchdog: %w", err)
	}
	p.Watchdog = w.Present
	return nil
}
