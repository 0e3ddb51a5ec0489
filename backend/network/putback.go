package network

import (
	"context"
	"fmt"
	"path"
	"strings"
	"time"

	"touchdown/backend/message"
	"touchdown/backend/problem"
)

// Timeouts, all of which end early on success: systemd restarts NetworkManager, a roll-back restores the addresses, the same after the
// originals were applied again (restoredWait), and an activation of br-ex that hangs (6 s on the bench for the second attempt). When one of
// the others expires, the originals are applied again. Only restoredWait ends in a problem for the technician, so it suits a busy machine.
const (
	managerBack  = time.Minute
	restoreWait  = 8 * time.Second
	restoredWait = time.Minute
	activateBack = 30 * time.Second
)

// PutBack makes the network what it was when the originals were taken: by NetworkManager's checkpoint while there is one,
// else out of the originals, and reads back that it is so. The profiles for the next boot come first, so that a power cut in
// between ends well too. A checkpoint that someone else had opened before is left alone. It is safe to repeat at any time, and does nothing where all is as it was.
func (n *Network) PutBack(ctx context.Context, saved []byte) error {
	o, err := readOriginals(saved, ovn(n.host))
	if err != nil {
		return err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	b := puttingBack{n, o}
	if err := b.settings(ctx); err != nil {
		return err
	}
	return b.bridge(ctx)
}

// puttingBack brings about again what the originals say: the settings first, then a br-ex that is up.
type puttingBack struct {
	*Network
	o *originals
}

func (b puttingBack) settings(ctx context.Context) error {
	changed, err := b.profiles().putKeptBack(b.o)
	if err != nil {
		return err
	}
	if err := b.trials().up(ctx); err != nil {
		return err
	}
	open, err := b.manager.checkpoints(ctx)
	if err != nil {
		return err
	}
	boot, err := b.host.BootID()
	if err != nil {
		return fmt.Errorf("reading the boot's id: %w", err)
	}
	open = b.o.opened(boot, b.rollBack().interrupted(), open)
	for _, c := range open {
		// One that ended since is as good as rolled back; what is true is read below.
		if err := b.manager.rollback(ctx, c.Path); err != nil && is(err, NoManager) {
			return err
		}
	}
	if err := b.host.Remove(rollBackNote); err != nil { // what it told of is rolled back
		return fmt.Errorf("noting the end of the roll-back: %w", err)
	}
	if changed {
		if err := b.manager.reload(ctx); err != nil {
			return err
		}
	}
	wait := time.Duration(0)
	if boot != b.o.Boot { // the old profiles are on the disk: this boot brings up what it can of them
		if err := b.WaitForBoot(ctx); err != nil {
			return err
		}
		wait = restoreWait
	}
	if len(open) > 0 {
		wait = restoreWait
	}
	if left, err := b.asBefore(ctx, wait); err != nil || len(left) == 0 {
		return err
	}
	return b.running(ctx)
}

// running restores what works now, without a checkpoint.
func (b puttingBack) running(ctx context.Context) error {
	boot, err := b.host.BootID()
	if err != nil {
		return fmt.Errorf("reading the boot's id: %w", err)
	}
	if boot == b.o.Boot {
		if err := b.memory(ctx); err != nil {
			return err
		}
		if left, err := b.asBefore(ctx, activateBack); err != nil || len(left) == 0 {
			return err
		}
	}
	// Another boot has made other profiles, or the previous ones do not come up: the old state is built out of them.
	now, err := readConfigured(ctx, b.Network)
	if err != nil {
		return err
	}
	m, err := readNode(b.host)
	if err != nil {
		return err
	}
	desired, err := b.o.desired(understand(now, now, m))
	if err != nil {
		return err
	}
	if err := b.rollBack().apply(ctx, desired); err != nil {
		return err
	}
	left, err := b.asBefore(ctx, restoredWait)
	if err == nil && len(left) > 0 {
		err = &problem.Problem{
			Code: "NET-BACK", Summary: message.T("The old network settings could not be put back completely."),
			Fix: message.T("Reboot the node: its profiles on the disk are the old ones."), Err: fmt.Errorf("left: %s", strings.Join(left, "; ")),
		}
	}
	return err
}

// desired is the old state as something to bring about from now.
func (o *originals) desired(now *Current) ([]byte, error) {
	d := o.own(now.Seen)
	p := &Plan{Carrier: now.Carrier, Before: o.Before, now: now}
	used := []string{}
	for _, i := range d.Interfaces {
		used = append(used, i.Name)
	}
	for _, b := range o.Before.lent(now.ports()) {
		d.Interfaces = append(d.Interfaces, b.asConfigured())
		used = append(used, b.Bond.Ports...)
	}
	p.place(now.Carrier, used)
	d.add(p.besides(d))
	for _, r := range o.strays(now.Seen) {
		if r.State = "absent"; r.Interface != now.Carrier { // of the carrier's, besides has taken care
			d.add(&state{Routes: &routes{Config: []route{r}}})
		}
	}
	return leaving(d.json(), o.Before.Settings, now)
}

// bridge sees to it that br-ex comes up all the way where it was up: after a roll-back it can have its lease and hang in its
// activation for ever, without the internal address that the dispatcher gives it at the end. A br-ex that stays down for
// want of a cable or a lease is not a failure of putting back: the settings are the old ones.
func (b puttingBack) bridge(ctx context.Context) error {
	boot, err := b.host.BootID()
	if err != nil {
		return fmt.Errorf("reading the boot's id: %w", err)
	}
	if p, err := bridgeProfile(ctx, b.manager); err != nil || p == nil || boot == b.o.Boot && !b.o.Active[p.UUID] {
		return err
	}
	if _, err := revive(ctx, b.manager); is(err, NoManager) {
		return err
	}
	return context.Cause(ctx)
}

// memory restores the profiles in memory, which outlive NetworkManager but not the boot, and starts those again
// that are not what they were.
func (b puttingBack) memory(ctx context.Context) error {
	profiles, err := b.manager.profiles(ctx)
	if err != nil {
		return err
	}
	dir := b.host.Folder(memoryDir)
	known := map[string]bool{}
	again := map[string]bool{}
	for _, f := range b.o.Files {
		known[f.UUID] = true
		if path.Dir(f.Path) != memoryDir {
			continue
		}
		changed, err := putFileBack(dir, f)
		if err != nil {
			return err
		}
		if changed {
			again[f.UUID] = true
		}
	}
	for _, p := range profiles {
		if path.Dir(p.File) != memoryDir || p.Type == "loopback" {
			continue
		}
		switch {
		case !known[p.UUID]:
			// Any other refusal means that it has ended meanwhile; what is true is read at the end.
			if err := b.manager.remove(ctx, p.UUID); is(err, NoManager) {
				return err
			}
		case b.o.file(p.File) == nil:
			// A profile of the disk was changed in memory: what shadows it goes.
			again[p.UUID] = true
			if err := dir.Remove(path.Base(p.File)); err != nil {
				return err
			}
		}
	}
	if err := b.manager.reload(ctx); err != nil {
		return err
	}
	return b.startAgain(ctx, again)
}

// startAgain activates previous profiles that changed or do not run, those at the bottom first. Ports of a bridge or bond
// pull up what is above them.
func (b puttingBack) startAgain(ctx context.Context, changed map[string]bool) error {
	profiles, err := b.manager.profiles(ctx)
	if err != nil {
		return err
	}
	order := []string{"802-3-ethernet", "bond", "vlan", "ovs-interface"}
	for _, kind := range order {
		for _, p := range profiles {
			if _, ran := b.o.Active[p.UUID]; p.Type != kind || !ran || (p.Active || p.Activating) && !changed[p.UUID] {
				continue
			}
			// A refusal is not final: the state is read back, and nmstate tries in its own way.
			if err := b.manager.activate(ctx, p.UUID); is(err, NoManager) {
				return err
			}
		}
	}
	return nil
}
