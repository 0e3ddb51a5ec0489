package steps

import (
	"context"
	"fmt"
	"strings"
	"time"

	"touchdown/backend"
	"touchdown/backend/drift"
	"touchdown/backend/host"
	"touchdown/backend/kubelet"
	"touchdown/backend/layout"
	"touchdown/backend/message"
)

// rollsOut is part of each step that waits until the Machine Config Daemon has written the node's files and units. A roll-out that is nobody's
// here, as of an upgrade after the hand-over, is not looked after.
type rollsOut struct{}

var _ Recoverer = rollsOut{}

// enabledAgain is the job's note of the units that were enabled again, behind the boot in which that was.
const enabledAgain = "job-units-enabled"

// Recover enables again what a power cut in the daemon's work left disabled, and has the node reboot: with no kubelet there is no daemon that
// would do it, and what this boot started without those units has to come behind them. While the kubelet runs, the daemon may just have disabled
// them, and enables them itself.
func (rollsOut) Recover(ctx context.Context, node *backend.Node, report Report) error {
	if !host.HasKubelet(node.Host) { // the units may not be this machine's
		return nil
	}
	noted, _, err := notedAt(report, enabledAgain)
	if err != nil {
		return err
	}
	forget := func() error {
		if len(noted) == 0 {
			return nil
		}
		return report.Note(enabledAgain, nil)
	}
	if kubelet.Active(ctx, node.Host) {
		return forget()
	}
	boot, err := node.Host.BootID()
	if err != nil {
		return err
	}
	units, err := drift.EnableUnits(ctx, node.Host)
	if err != nil {
		return fmt.Errorf("enabling the node's units again: %w", err)
	}
	inBoot, before, _ := strings.Cut(string(noted), " ")
	now := strings.Join(units, ", ")
	switch {
	case now == "" && inBoot != boot:
		return forget()
	case now == "": // the reboot has not come
		now = before
	case now == before && inBoot != boot: // another reboot would be a loop
		node.Log.Error("units do not stay enabled", "units", now)
		return nil
	default:
		report.Say(message.F("The Machine Config Daemon was cut off while it wrote the node's units. These are enabled again, and take effect with a reboot: %s.", now))
		if err := report.Note(enabledAgain, []byte(boot+" "+now)); err != nil {
			return err
		}
	}
	return &Reboot{message.F("units that were disabled are enabled again: %s", now)}
}

// The daemon's files are looked at now and then, and put back where they were the same for long enough: it says that it is stopped until it has
// ended the update that it began again, and writes meanwhile.
const (
	driftLook = 30 * time.Second
	driftRest = 2 * time.Minute
)

// filesPutBack is there once the files were put back in this boot. What is found after that is the daemon at work: its update of the operating
// system alone takes minutes in which no file changes. A daemon that is killed while it writes once more has to wait for the next boot.
const filesPutBack = layout.Run + "/files-put-back"

// putBackFiles ends what stops the Machine Config Daemon after a power cut while it wrote: it is kube.RollOut's Drifted.
func putBackFiles(node *backend.Node, report Report) func(context.Context, string) {
	var last drift.Half
	var looked, since time.Time
	return func(ctx context.Context, current string) {
		now := node.Now()
		if !host.HasKubelet(node.Host) || now.Sub(looked) < driftLook || node.Host.Exists(filesPutBack) { // the files may not be this machine's
			return
		}
		looked = now
		found, err := drift.Find(ctx, node.Kube, node.Host, current)
		if err != nil { // it is tried again, and the wait ends with what the operator says
			node.Log.Error("the node's files cannot be compared", "error", err)
			return
		}
		if since.IsZero() || !found.Same(last) {
			last, since = found, now
		}
		if found.Empty() || now.Sub(since) < driftRest {
			return
		}
		done, err := found.PutBack(node.Host)
		if err == nil {
			err = node.Host.WriteFile(filesPutBack, nil, 0o600)
		}
		if err != nil {
			node.Log.Error("the node's files are not put back", "error", err)
		}
		if len(done) > 0 {
			report.Say(message.F("The Machine Config Daemon was cut off while it wrote the node's files. These are as before again, so that it can start over: %s.", strings.Join(done, ", ")))
		}
	}
}
