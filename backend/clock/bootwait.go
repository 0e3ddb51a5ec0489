package clock

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"touchdown/backend/host"
	"touchdown/backend/layout/rhcos"
)

// waiter holds up the start of kubelet until the clock agrees with a time server, for three minutes where none answers: from
// OpenShift 4.17 on kubelet-dependencies.target wants it (machine-config-operator #4381).
const waiter, dependencies = "chrony-wait.service", "kubelet-dependencies.target"

// noWait is the file that keeps the waiter from starting. The unit is not masked: the Machine Config Daemon enables the units of
// all MachineConfigs again with each update, and fails where one of them is masked.
const noWait = rhcos.Units + "/" + waiter + ".d/50-touchdown.conf"

// BootWaits tells whether each boot waits for a time server before kubelet starts.
func BootWaits(ctx context.Context, m *host.Machine) (bool, error) {
	if m.Exists(noWait) {
		return false, nil
	}
	out, err := m.Run(ctx, "systemctl", "show", "--property=LoadState,WantedBy", waiter)
	if err != nil {
		return false, fmt.Errorf("asking what a boot waits for: %w", err)
	}
	state := map[string]string{}
	for line := range strings.Lines(out) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		state[name] = value
	}
	return state["LoadState"] == "loaded" && slices.Contains(strings.Fields(state["WantedBy"]), dependencies), nil
}

// BootWait switches that wait on or off. Switched off it also ends the wait of this boot, and a boot that waited in vain is not a failed
// unit any more: nothing is left of it that anyone has to look into.
func BootWait(ctx context.Context, m *host.Machine, on bool) error {
	var err error
	if on {
		err = m.Remove(noWait)
	} else {
		text := "# Written by Touchdown: this site has no time server.\n[Unit]\nConditionPathExists=!" + noWait + "\n"
		err = m.WriteFile(noWait, []byte(text), 0o644)
	}
	if err != nil {
		return fmt.Errorf("changing what a boot waits for: %w", err)
	}
	calls := [][]string{{"systemctl", "daemon-reload"}}
	if !on {
		calls = append(calls, []string{"systemctl", "stop", waiter}, []string{"systemctl", "reset-failed", waiter})
	}
	for _, call := range calls {
		if _, err := m.Run(ctx, call...); err != nil {
			return fmt.Errorf("changing what a boot waits for: %w", err)
		}
	}
	return nil
}
