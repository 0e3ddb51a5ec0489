package factory

import (
	"bytes"
	"context"
	"fmt"

	"touchdown/backend/host"
	"touchdown/backend/layout"
)

// Installed tells whether the running program is where the units expect it, and systemd may run it there. One that was moved
// from a home folder is refused by SELinux: an armed node would have no engine, and with that no kubelet.
func Installed(m *host.Machine, running []byte) bool {
	have, err := m.ReadFile(layout.Program)
	return err == nil && bytes.Equal(have, running) && host.Inherits(m, layout.Program)
}

// Install puts the running program where the units expect it. It returns whether it had to.
func Install(m *host.Machine, running []byte) (bool, error) {
	if Installed(m, running) {
		return false, nil
	}
	return true, m.WriteFile(layout.Program, running, 0o755)
}

// Arm shuts the gate in front of kubelet, durably. A kubelet that runs goes on.
func Arm(m *host.Machine) (bool, error) {
	if m.Exists(layout.Armed) {
		return false, nil
	}
	return true, m.WriteFile(layout.Armed, []byte("kubelet waits until this file is removed\n"), 0o600)
}

// Disarm opens the gate and starts kubelet, so that the API comes back. It returns whether it had to. A start that fails leaves a kubelet that
// the gate does not hold and that does not run: it is started again when Disarm is called again.
func Disarm(ctx context.Context, m *host.Machine) (bool, error) {
	if !m.Exists(layout.Armed) && (!host.HasKubelet(m) || kubeletRuns(ctx, m)) {
		return false, nil
	}
	if err := m.Remove(layout.Armed); err != nil {
		return false, err
	}
	if _, err := m.Run(ctx, "systemctl", "start", kubeletUnit); err != nil {
		return true, fmt.Errorf("starting kubelet: %w", err)
	}
	return true, nil
}

const kubeletUnit = "kubelet.service"

// kubeletRuns tells whether systemd has started the kubelet. To start one that is starting changes nothing.
func kubeletRuns(ctx context.Context, m *host.Machine) bool {
	_, err := m.Run(ctx, "systemctl", "is-active", "--quiet", kubeletUnit)
	return err == nil
}
