// Package keyboard changes the layout of the keyboard at the machine's own screens.
package keyboard

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"touchdown/backend/host"
	"touchdown/backend/message"
	"touchdown/backend/problem"
)

// named is the name of a layout: it is part of a unit's name, and a word on the command line of loadkeys.
var named = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,47}$`)

// screens are the terminals that the machine's own keyboard types at.
var screens = regexp.MustCompile(`^tty[1-9][0-9]?$`)

// At tells whether a console of this name is a screen of the machine. Every other one has the keyboard of another machine.
func At(console string) bool { return screens.MatchString(console) }

// Machine is the keyboard of a machine.
type Machine struct{ Host *host.Machine }

// Types tells whether the keyboard types at a console of this name: a machine has one for all its screens.
func (Machine) Types(console string) bool { return At(console) }

// Layouts are the names of the layouts that the machine has, sorted; none where it has no program for them.
func (m Machine) Layouts(ctx context.Context) ([]string, error) {
	out, err := m.Host.Run(ctx, "localectl", "--no-pager", "list-keymaps")
	if host.NotInstalled(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("listing keyboard layouts: %w", err)
	}
	layouts := slices.DeleteFunc(strings.Fields(out), func(name string) bool { return !named.MatchString(name) })
	slices.Sort(layouts)
	return slices.Compact(layouts), nil
}

// Use has the machine use one of its layouts until it boots. The unit does it: a console may not.
func (m Machine) Use(ctx context.Context, layout string) error {
	layouts, err := m.Layouts(ctx)
	if err != nil {
		return err
	}
	if !slices.Contains(layouts, layout) {
		return &problem.Problem{
			Code: "KEY-LACK", Summary: message.F("This machine has no keyboard layout %q.", layout),
			Fix: message.T("Choose one from the list; `localectl list-keymaps` prints it."),
		}
	}
	if _, err := m.Host.Run(ctx, "systemctl", "start", "touchdown-keyboard@"+layout+".service"); err != nil {
		return &problem.Problem{
			Code: "KEY-SET", Summary: message.F("The keyboard layout %s could not be loaded.", layout),
			Fix: message.F("The keyboard is as before. `journalctl -u touchdown-keyboard@%s` says why.", layout), Err: err,
		}
	}
	return nil
}
