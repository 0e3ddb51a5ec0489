package drift

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/coreos/ignition/v2/config/util"
	ignition "github.com/coreos/ignition/v2/config/v3_5"

	"touchdown/backend/host"
	"touchdown/backend/layout/rhcos"
)

// EnableUnits enables again the units that the node's configuration has enabled and that are disabled, and returns their names. They are not
// started: only a boot does that in their order. Nothing is enabled on a machine that no daemon has configured.
func EnableUnits(ctx context.Context, m *host.Machine) ([]string, error) {
	n, err := readNote(m)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	config, _, err := ignition.ParseCompatibleVersion(n.Spec.Config)
	if err != nil {
		return nil, fmt.Errorf("reading the Ignition config of %s: %w", rhcos.CurrentConfig, err)
	}
	out, err := m.Run(ctx, "systemctl", "list-unit-files", "--state=disabled", "--plain", "--no-legend", "--no-pager")
	if err != nil {
		return nil, fmt.Errorf("listing the disabled units: %w", err)
	}
	disabled := map[string]bool{}
	for line := range strings.Lines(out) {
		if fields := strings.Fields(line); len(fields) > 0 {
			disabled[fields[0]] = true
		}
	}
	var due []string
	for _, u := range config.Systemd.Units {
		if util.IsTrue(u.Enabled) && !util.IsTrue(u.Mask) && disabled[u.Name] {
			due = append(due, u.Name)
		}
	}
	if len(due) == 0 {
		return nil, nil
	}
	if _, err := m.Run(ctx, append([]string{"systemctl", "enable", "--quiet"}, due...)...); err != nil {
		return nil, fmt.Errorf("enabling units: %w", err)
	}
	return due, nil
}
