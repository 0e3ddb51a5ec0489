package host

import (
	"context"
	"fmt"

	"golang.org/x/sys/unix"

	"touchdown/backend/message"
	"touchdown/backend/problem"
)

// Reboot asks systemd to reboot the machine. It returns before the machine goes down.
func (m *Machine) Reboot(ctx context.Context, reason string) error {
	return m.power(ctx, "reboot", reason)
}

// PowerOff asks systemd to switch the machine off.
func (m *Machine) PowerOff(ctx context.Context, reason string) error {
	return m.power(ctx, "poweroff", reason)
}

func (m *Machine) power(ctx context.Context, verb, reason string) error {
	if m.NoPower {
		return &problem.Problem{
			Code:    "PWR-LCK",
			Summary: message.T("This Touchdown may not reboot the machine or switch it off."),
			Fix:     message.T("Reboot the machine by hand, then open Touchdown again: it continues automatically."),
			Err:     fmt.Errorf("%s refused: power control is off", verb),
		}
	}
	// What was written without its own sync, such as other programs' logs, should survive too.
	if m.root == "" {
		unix.Sync()
	}
	if _, err := m.Run(ctx, "systemctl", verb, "--message="+reason); err != nil {
		return &problem.Problem{
			Code:    "PWR-ERR",
			Summary: message.F("The machine did not accept the request to %s", map[string]message.Text{"reboot": message.T("reboot."), "poweroff": message.T("switch off.")}[verb]),
			Fix:     message.T("Retry; if it fails again, press the machine's power button briefly."),
			Err:     err,
		}
	}
	return nil
}
