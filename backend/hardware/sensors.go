package hardware

import (
	"cmp"
	"fmt"
	"path"
	"strings"

	"touchdown/backend/host"
	"touchdown/backend/message"
)

// Controller is a memory controller that counts errors of the memory (EDAC).
type Controller struct {
	Name        string `json:"name"`
	Type        string `json:"type,omitempty"`
	Corrected   int    `json:"corrected"`
	Uncorrected int    `json:"uncorrected"`
}

var errNoEDAC = message.Failed(message.T("the kernel counts none here: no ECC memory, or no EDAC driver for this board"))

// found are the files of a pattern, or an error where there is none.
func found(m *host.Machine, pattern string, none error) ([]string, error) {
	all, err := m.Glob(pattern)
	if err == nil && len(all) == 0 {
		err = none
	}
	return all, err
}

func (p *Parts) readMemoryErrors(m *host.Machine) error {
	all, err := found(m, "/sys/devices/system/edac/mc/mc*", errNoEDAC)
	if err != nil {
		return fmt.Errorf("looking for memory errors: %w", err)
	}
	for _, dir := range all {
		c := Controller{Name: path.Base(dir), Type: oneLine(m, dir+"/mc_name")}
		var corrected, uncorrected error
		c.Corrected, corrected = number(m, dir+"/ce_count")
		c.Uncorrected, uncorrected = number(m, dir+"/ue_count")
		if failed := cmp.Or(corrected, uncorrected); failed != nil {
			err = fmt.Errorf("looking for memory errors: %w", failed)
			continue
		}
		p.MemoryErrors = append(p.MemoryErrors, c)
	}
	return err
}

// Temperature is what one sensor measures, in degrees Celsius; a limit of 0 is not known.
type Temperature struct {
	Chip     string  `json:"chip"` // the driver's name: "coretemp", "nvme"
	Label    string  `json:"label,omitempty"`
	Celsius  float64 `json:"celsius"`
	High     float64 `json:"high,omitempty"`
	Critical float64 `json:"critical,omitempty"`
}

func (p *Parts) readTemperatures(m *host.Machine) error {
	all, err := found(m, "/sys/class/hwmon/hwmon*/temp*_input", errNothing)
	if err != nil {
		return fmt.Errorf("looking for temperatures: %w", err)
	}
	for _, input := range all[:min(len(all), maxList)] {
		sensor := strings.TrimSuffix(input, "_input")
		milli, err := number(m, input)
		if err != nil {
			continue // a sensor that is switched off says so by an error
		}
		t := Temperature{Chip: oneLine(m, path.Dir(input)+"/name"), Label: oneLine(m, sensor+"_label"), Celsius: float64(milli) / 1000}
		if high, err := number(m, sensor+"_max"); err == nil {
			t.High = float64(high) / 1000
		}
		if critical, err := number(m, sensor+"_crit"); err == nil {
			t.Critical = float64(critical) / 1000
		}
		p.Temperatures = append(p.Temperatures, t)
	}
	if len(p.Temperatures) == 0 {
		return message.Failed(message.F("none of %d sensors answers", len(all)))
	}
	return nil
}
