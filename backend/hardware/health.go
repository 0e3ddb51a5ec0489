package hardware

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"touchdown/backend/message"
)

// Health is what a disk says about itself (SMART).
type Health struct {
	Passed      *bool `json:"passed,omitempty"` // its own verdict; nil: none
	Hours       int64 `json:"hours,omitempty"`  // under power
	WornPercent *int  `json:"worn_percent,omitempty"`
	MediaErrors int64 `json:"media_errors,omitempty"` // data that it could not read any more
	Reallocated int64 `json:"reallocated,omitempty"`  // of ATA: sectors that it replaced by spare ones
	Celsius     int   `json:"celsius,omitempty"`
}

// The bounds of asking disks. A good disk answers in a tenth of a second; one that is dying holds the kernel for half a minute.
const (
	healthTimeout = 5 * time.Second  // of one disk
	healthEnough  = 10 * time.Second // of all
	healthDisks   = 64
)

// readHealth asks each disk by smartctl, which RHEL CoreOS does not have by default.
func (i *Inventory) readHealth(ctx context.Context, a *asker) error {
	ctx, cancel := context.WithTimeout(ctx, healthEnough)
	defer cancel()
	var failed error
	asked := 0
	for k := range i.Disks {
		d := &i.Disks[k]
		if d.Virtual || d.Bytes == 0 {
			continue
		}
		if asked++; asked > healthDisks {
			return message.Failed(message.F("only the first %d disks were asked for their health", healthDisks))
		}
		switch err := d.askHealth(ctx, a); {
		case errors.Is(err, errNotInstalled):
			return message.Failed(message.T("smartctl is not installed on this machine (package smartmontools)"))
		case err != nil && failed == nil: // one is enough to say
			failed = message.Failed(message.F("asking %s for its health: %s", d.Name, reason(err)))
		}
	}
	return failed
}

func (d *Disk) askHealth(ctx context.Context, a *asker) error {
	ctx, cancel := context.WithTimeout(ctx, healthTimeout)
	defer cancel()
	// It exits with a set of bits, some of which only say that the disk is ill: what it wrote decides.
	out, err := a.run(ctx, "smartctl", "--json=c", "--nocheck=standby", "--info", "--health", "--attributes", "/dev/"+d.Name)
	health, firmware, parsed := parseHealth([]byte(out))
	switch {
	case parsed != nil && err != nil:
		return err
	case parsed != nil:
		return parsed
	}
	d.Health, d.Firmware = health, cmp.Or(firmware, d.Firmware) // the kernel cuts what SCSI tells
	return nil
}

// answer is the part of smartctl's JSON that is read (smartmontools 7.0 and later).
type answer struct {
	Smartctl struct {
		Messages []struct {
			String   string `json:"string"`
			Severity string `json:"severity"`
		} `json:"messages"`
	} `json:"smartctl"`
	Firmware string `json:"firmware_version"`
	Status   *struct {
		Passed bool `json:"passed"`
	} `json:"smart_status"`
	Temperature struct {
		Current int `json:"current"`
	} `json:"temperature"`
	Power struct {
		Hours int64 `json:"hours"`
	} `json:"power_on_time"`
	Endurance *struct { // smartmontools 7.4 and later
		Percent int `json:"current_percent"`
	} `json:"endurance_used"`
	NVMe *struct {
		Used        int   `json:"percentage_used"`
		MediaErrors int64 `json:"media_errors"`
	} `json:"nvme_smart_health_information_log"`
	ATA struct {
		Table []struct {
			ID  int `json:"id"`
			Raw struct {
				Value int64 `json:"value"`
			} `json:"raw"`
		} `json:"table"`
	} `json:"ata_smart_attributes"`
}

// The numbers of the attributes of ATA disks that makers agree on.
const (
	ataReallocated = 5   // sectors that were replaced
	ataUncorrected = 187 // errors that could not be corrected
	ataPending     = 197 // sectors that could not be read
)

// parseHealth reads what smartctl wrote.
func parseHealth(out []byte) (*Health, string, error) {
	var a answer
	if err := json.Unmarshal(out, &a); err != nil {
		return nil, "", fmt.Errorf("reading what smartctl wrote: %w", err)
	}
	h := &Health{Hours: a.Power.Hours, Celsius: a.Temperature.Current}
	if a.Status != nil {
		h.Passed = &a.Status.Passed
	}
	if a.Endurance != nil {
		h.WornPercent = &a.Endurance.Percent
	}
	if a.NVMe != nil {
		h.WornPercent, h.MediaErrors = &a.NVMe.Used, a.NVMe.MediaErrors
	}
	for _, attribute := range a.ATA.Table {
		switch attribute.ID {
		case ataUncorrected, ataPending:
			h.MediaErrors += attribute.Raw.Value
		case ataReallocated:
			h.Reallocated += attribute.Raw.Value
		}
	}
	if *h != (Health{}) {
		return h, a.Firmware, nil
	}
	for _, m := range a.Smartctl.Messages {
		if m.Severity == "error" {
			return nil, "", fmt.Errorf("smartctl: %s", text(m.String))
		}
	}
	return nil, "", message.Failed(message.T("the disk reports nothing"))
}
