package hardware

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/jaypipes/ghw"

	"touchdown/backend/host"
	"touchdown/backend/message"
)

// secureBootVariable holds 4 bytes of attributes and 1 byte that says on or off.
const secureBootVariable = "/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"

func (i *Inventory) readBoot(m *host.Machine) error {
	if !m.Exists("/sys/firmware") {
		return missing(m, "/sys/firmware")
	}
	if !m.Exists("/sys/firmware/efi") {
		i.Firmware.Boot, i.Firmware.SecureBoot = "BIOS", "not supported"
		return nil
	}
	i.Firmware.Boot = "UEFI"
	b, err := m.ReadFile(secureBootVariable)
	switch {
	case errors.Is(err, fs.ErrNotExist) && m.Exists("/sys/firmware/efi/efivars"):
		i.Firmware.SecureBoot = "not supported"
	case err != nil:
		return fmt.Errorf("asking for Secure Boot: %w", err)
	case len(b) != 5:
		return message.Failed(message.F("the variable of Secure Boot has %d bytes instead of 5", len(b)))
	case b[4] == 1:
		i.Firmware.SecureBoot = "on"
	default:
		i.Firmware.SecureBoot = "off"
	}
	return nil
}

func (i *Inventory) readTPM(m *host.Machine) error {
	// Without /sys/class nothing can be said; without a tpm class in it the kernel has found none.
	if !m.Exists("/sys/class") {
		return missing(m, "/sys/class")
	}
	info, err := ghw.TPM(options(m)...)
	if err != nil {
		return fmt.Errorf("reading the TPM: %w", err)
	}
	i.Firmware.TPM = "none"
	for _, d := range info.Devices {
		i.Firmware.TPM = orUnknown(d.SpecVersion)
	}
	return nil
}

// readVirtual asks systemd, which knows containers too, and falls back to the CPU's own word.
func (i *Inventory) readVirtual(ctx context.Context, a *asker) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	// On bare metal the command says "none" and exits with 1.
	out, err := a.run(ctx, "systemd-detect-virt")
	if out = strings.TrimSpace(out); out != "" {
		i.Virtual = out
		return nil
	}
	if slices.Contains(i.CPU.Flags, "hypervisor") {
		i.Virtual = "vm"
		return nil
	}
	if err != nil {
		return fmt.Errorf("asking for virtualisation: %w", err)
	}
	return nil
}

// epoch is the date of the OpenShift API that this program is built with, so earlier than any build of it.
var epoch = time.Date(2025, time.October, 15, 0, 0, 0, 0, time.UTC)

func (i *Inventory) readClock(m *host.Machine, o Options) error {
	i.Clock.System, i.Clock.Floor = time.Now(), epoch
	if o.Now != nil {
		i.Clock.System = o.Now()
	}
	if !o.Floor.IsZero() {
		i.Clock.Floor = o.Floor
	}
	const chip = "/sys/class/rtc/rtc0/since_epoch"
	if err := missing(m, chip); err != nil {
		return err
	}
	n, err := number(m, chip)
	if err != nil {
		return fmt.Errorf("reading the hardware clock: %w", err)
	}
	i.Clock.RTC = time.Unix(int64(n), 0).UTC()
	return nil
}

// container reports whether the "machine" shares its kernel with another one.
func container(virtual string) bool {
	return slices.Contains([]string{"systemd-nspawn", "podman", "docker", "lxc", "lxc-libvirt", "container-other", "oci", "openvz", "wsl", "proot", "rkt", "pouch"}, virtual)
}
