package clock

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"touchdown/backend/host"
)

// waiter holds up the start of kubelet until the clock agrees with a time server, for three minutes where none answers: from
// OpenShift 4.17 on kubelet-dependencies.target wants it (machine-config-operator #4381).
const waiter, dependencies = "chrony-wait.service", "kubelet-dependencies.target"

// BootWaits tells whether each boot waits for a time server before kubelet starts.
func BootWaits(ctx context.Context, m *host.Machine) (bool, error) {
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

// BootWait switches that wait on or off.
func BootWait(ctx context.Context, m *host.Machine, on bool) error {
	verb := "mask" // the target only wants it, and starts without
	if on {
		verb = "unmask"
	}
	if _, err := m.Run(ctx, "systemctl", verb, waiter); err != nil {
		return fmt.Errorf("changing what a boot waits for: %w", err)
	}
	return nil
}
