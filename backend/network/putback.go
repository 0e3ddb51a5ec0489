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

// How long things take at most: NetworkManager restarted by systemd, addresses back after a roll-back, an activation of
// br-ex that hangs (bench: 6 s for the second attempt).
const (
	managerBack  = 15 * time.Second
	restoreWait  = 8 * time.Second
	activateBack = 15 * time.Second
	pollPause    = 100 * time.Millisecond
)

// PutBack makes the network what it was when the originals were taken: by NetworkManager's checkpoint while there is one,
// else out of the originals, and reads back that it is so. The profiles for the next boot come first, so that a power cut in
// between ends well too. A checkpoint that someone else had opened before is left alone. It is safe to repeat at any time, and does nothing where all is as it was.
func (n *Network) PutBack(ctx context.Context, saved []byte) error {
	o, err := readOriginals(saved)
	if err != nil {
		return err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	changed, err := n.profiles().putKeptBack(o)
	if err != nil {
		return err
	}
	if err := n.trials().up(ctx); err != nil {
		return err
	}
	open, err := n.manager.checkpoints(ctx)
	if err != nil {
		return err
	}
	boot, err := n.host.BootID()
	if err != nil {
		return fmt.Errorf("reading the boot's id: %w", err)
	}
	open = o.opened(boot, n.rollBack().interrupted(), open)
	for _, c := range open {
		// One that ended since is as good as rolled back; what is true is read below.
		if err := n.manager.rollback(ctx, c.Path); err != nil && is(err, NoManager) {
			return err
		}
	}
	if err := n.host.Remove(rollBackNote); err != nil { // what it told of is rolled back
		return fmt.Errorf("noting the end of the roll-back: %w", err)
	}
	if changed {
		if err := n.manager.reload(ctx); err != nil {
			return err
		}
	}
	wait := time.Duration(0)
	if boot != o.Boot { // the profiles on the disk are those of before: this boot makes of them what it can
		if err := n.WaitForBoot(ctx); err != nil {
			return err
		}
		wait = restoreWait
	}
	if len(open) > 0 {
		wait = restoreWait
	}
	back := puttingBack{n, o}
	if left, err := back.asBefore(ctx, wait); err != nil || len(left) == 0 {
		return err
	}
	return back.running(ctx)
}

// puttingBack brings about again, in a machine that runs, what the originals say.
type puttingBack struct {
	*Network
	o *originals
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
	// Another boot has made other profiles, or those of before do not come up: the old state is built out of them.
	now, err := b.library.show(ctx, true)
	if err != nil {
		return err
	}
	own, err := b.host.Own()
	if err != nil {
		return err
	}
	if err := b.rollBack().apply(ctx, b.o.desired(understand(now, now, own, hint(b.host)))); err != nil {
		return err
	}
	left, err := b.asBefore(ctx, restoreWait)
	if err == nil && len(left) > 0 {
		err = &problem.Problem{
			Code: "NET-BACK", Summary: message.T("The old network settings could not be put back completely."),
			Fix: message.T("Reboot the node: its profiles on the disk are the old ones."), Err: fmt.Errorf("left: %s", strings.Join(left, "; ")),
		}
	}
	return err
}

// desired is the old state as something to bring about from now.
func (o *originals) desired(now *Current) []byte {
	d := o.Before.own()
	p := &Plan{Carrier: now.Carrier, before: o.Before, now: now}
	used := []string{}
	for _, i := range d.Interfaces {
		used = append(used, i.Name)
	}
	p.place(now.Carrier, used)
	d.add(p.besides(d))
	return d.json()
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

// startAgain activates profiles of before that changed or do not run, those at the bottom first. Ports of a bridge or bond
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

// asBefore waits until the network is what it was and returns what is not.
func (b puttingBack) asBefore(ctx context.Context, timeout time.Duration) ([]string, error) {
	boot, err := b.host.BootID()
	if err != nil {
		return nil, fmt.Errorf("reading the boot's id: %w", err)
	}
	// Another boot has other profiles in memory.
	sameBoot := boot == b.o.Boot
	var left []string
	err = until(ctx, timeout, func() (bool, error) {
		now, err := b.library.show(ctx, true)
		if err != nil {
			return false, err
		}
		left = differences(b.o.Before.own(), now)
		left = append(left, strayRoutes(b.o.Before.own(), now)...)
		profiles, err := b.manager.profiles(ctx)
		if err != nil {
			return false, err
		}
		if sameBoot {
			left = append(left, b.o.idle(profiles)...)
		}
		return len(left) == 0, nil
	})
	return left, err
}

// strayRoutes are default routes that were not there before.
func strayRoutes(before, now *state) []string {
	var stray []string
	if now.Routes == nil {
		return nil
	}
	for _, r := range defaults(now.Routes.Config, "") {
		if !before.asks(r) && !before.has(r) {
			stray = append(stray, "route by "+r.Gateway)
		}
	}
	return stray
}

// idle names the profiles of before that should run in this boot and do not, and those in memory that came since.
func (o *originals) idle(profiles []profile) []string {
	var left []string
	known := map[string]bool{}
	for _, f := range o.Files {
		known[f.UUID] = true
	}
	for _, p := range profiles {
		if o.Active[p.UUID] && !p.Active && !p.Activating {
			left = append(left, p.ID+" does not run")
		}
		if !known[p.UUID] && path.Dir(p.File) == memoryDir && p.Type != "loopback" {
			left = append(left, p.ID+" is new")
		}
	}
	return left
}

// until asks again and again whether something is so; it returns false and no error at the timeout.
func until(ctx context.Context, timeout time.Duration, ask func() (bool, error)) error {
	for end := time.Now().Add(timeout); ; {
		ok, err := ask()
		if ok || err != nil || time.Now().After(end) {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(pollPause):
		}
	}
}
