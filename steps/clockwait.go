package steps

import (
	"context"
	"fmt"

	"touchdown/backend"
	"touchdown/backend/clock"
	"touchdown/backend/host"
	"touchdown/backend/message"
)

// waitsInVain tells whether each boot would wait for a time server that the site does not have; named: it has one. A machine whose systemd cannot be asked
// keeps what it does: no landing fails for three minutes of a boot.
func waitsInVain(ctx context.Context, node *backend.Node, named bool, v clock.Verdict) bool {
	if named || v.From != (message.Text{}) && !v.Typed || !host.HasKubelet(node.Host) {
		return false
	}
	waits, err := clock.BootWaits(ctx, node.Host)
	if err != nil {
		node.Log.Warn("it is not known what a boot waits for", "error", err)
	}
	return waits
}

// planWait tells of the wait that goes.
func planWait(ctx context.Context, node *backend.Node, named bool, v clock.Verdict) []Change {
	if !waitsInVain(ctx, node, named, v) {
		return nil
	}
	return []Change{{What: message.T("Start of the cluster at boot"), Old: message.T("waits up to 3 minutes for a time server"), New: message.T("does not wait: the site has none")}}
}

// noWait ends that wait.
func noWait(ctx context.Context, node *backend.Node, report Report, named bool, v clock.Verdict) error {
	if !waitsInVain(ctx, node, named, v) {
		return nil
	}
	if err := report.Save("boot-wait", []byte("on")); err != nil {
		return fmt.Errorf("noting what a boot waits for: %w", err)
	}
	if err := clock.BootWait(ctx, node.Host, false); err != nil {
		return err
	}
	report.Say(message.T("The site has no time server, so a boot no longer waits for one."))
	return nil
}
