package hardware

import (
	"errors"
	"fmt"

	"github.com/jaypipes/ghw"

	"touchdown/backend/host"
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
var errNoPlates = errors.New("the firmware tells the kernel nothing (/sys/class/dmi/id is not there)")

// plates reports whether the firmware tells anything: as PCs do, or as boards with a device tree.
func plates(m *host.Machine) bool {
	return m.Exists("/sys/class/dmi/id") || m.Exists("/sys/firmware/devicetree/base")
}

func (p *Parts) readChassis(m *host.Machine) error {
	if !plates(m) {
		return fmt.Errorf("reading the chassis: %w", errNoPlates)
	}
	c, err := ghw.Chassis(options(m)...)
	if err != nil {
		return fmt.Errorf("reading the chassis: %w", err)
	}
	p.Chassis = Plate{
		Type: known(c.TypeDescription), Vendor: known(c.Vendor), Version: known(c.Version), Serial: known(c.SerialNumber), Asset: known(c.AssetTag),
	}
	return nil
}

func (p *Parts) readBoard(m *host.Machine) error {
	if !plates(m) {
		return fmt.Errorf("reading the board: %w", errNoPlates)
	}
	b, err := ghw.Baseboard(options(m)...)
	if err != nil {
		return fmt.Errorf("reading the board: %w", err)
	}
	p.Board = Plate{
		Vendor: known(b.Vendor), Name: known(b.Product), Version: known(b.Version), Serial: known(b.SerialNumber), Asset: known(b.AssetTag),
	}
	return nil
}

func (p *Parts) readWatchdog(m *host.Machine) error {
	w, err := ghw.Watchdog(options(m)...)
	if err != nil {
		return fmt.Errorf("looking for the watchdog: %w", err)
	}
	p.Watchdog = w.Present
	return nil
}
