package network

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"touchdown/backend/message"
	"touchdown/backend/problem"
)

// graceOfKeep is how far the deadline is moved before settings are kept, so that it cannot pass in the middle of it.
const graceOfKeep = 60 * time.Second

// longest is the longest deadline of a trial: whoever is locked out waits no longer than this.
const longest = 30 * time.Minute

// Apply brings p about in memory only, under a checkpoint: unless Commit comes, NetworkManager itself puts the old settings
// back after rollback (whole seconds; counted from the end of Apply). The originals must be saved before. A checkpoint that
// is open already is someone else's, and a Problem (Busy), with nothing changed. Settings that do not come about are
// put back at once, unless NetworkManager died over them: after any other error PutBack makes sure.
func (n *Network) Apply(ctx context.Context, p *Plan, rollback time.Duration) error {
	if rollback < time.Second || rollback > longest {
		return fmt.Errorf("applying the network settings: a deadline of %s is not between 1 s and %s", rollback, longest)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if err := n.trials().free(ctx); err != nil {
		return err
	}
	before, err := n.manager.profiles(ctx)
	if err != nil {
		return err
	}
	if err := n.library.apply(ctx, p.desired, rollback); err != nil {
		return err
	}
	if err := n.trials().prefer(ctx, before); err != nil {
		return err
	}
	return n.trials().extend(ctx, rollback) // what the profiles took is not taken from the trial: on a busy processor that is much
}

// Busy is the code of the Problem that someone else is trying out settings.
const Busy = "NET-CKPT"

// Free returns a Problem (Busy) while a checkpoint is open. It waits for a NetworkManager that is just being restarted.
func (n *Network) Free(ctx context.Context) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if err := n.trials().up(ctx); err != nil {
		return err
	}
	return n.trials().free(ctx)
}

// Extend moves the deadline: the old settings come back that long after now. It fails with NET-LATE when they are back
// already.
func (n *Network) Extend(ctx context.Context, by time.Duration) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if err := n.trials().up(ctx); err != nil {
		return err
	}
	return n.trials().extend(ctx, by)
}

// TakeOver puts an end to someone else's trial (Busy): their checkpoint is rolled back, so that the network is as it
// was before they began.
func (n *Network) TakeOver(ctx context.Context) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if err := endAll(ctx, n.manager, n.manager.rollback); err != nil {
		return fmt.Errorf("taking over the network settings: %w", err)
	}
	return nil
}

// endAll ends each open checkpoint, by the manager's destroy or rollback.
func endAll(ctx context.Context, m manager, end func(ctx context.Context, path string) error) error {
	open, err := m.checkpoints(ctx)
	if err != nil {
		return err
	}
	for _, c := range open {
		if err := end(ctx, c.Path); err != nil {
			return err
		}
	}
	return nil
}

// Keep writes p for the next boots and then ends the trial. decided is called between the two, when p is on the disk and
// can still be put back: it must note durably that the settings are kept, since from there on a crash is to be followed
// by Keep and before that by PutBack. When the deadline passed before, nothing is written (NET-LATE).
func (n *Network) Keep(ctx context.Context, p *Plan, decided func() error) error {
	if err := n.Extend(ctx, graceOfKeep); err != nil {
		return err
	}
	if err := n.Persist(p); err != nil {
		return err
	}
	if err := decided(); err != nil {
		return err
	}
	return n.Commit(ctx, p)
}

// Commit ends the trial: the settings stay. It is the second half of Keep and safe to repeat: after a crash, a restart of
// NetworkManager or a deadline that passed it brings p about again, without a checkpoint.
func (n *Network) Commit(ctx context.Context, p *Plan) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if err := endAll(ctx, n.manager, n.manager.destroy); err != nil {
		return fmt.Errorf("ending the trial of the network settings: %w", err)
	}
	p, err := n.refreshed(ctx, p)
	if err != nil {
		return err
	}
	if live, err := p.inForce(ctx, n); err != nil || live {
		return err
	}
	before, err := n.manager.profiles(ctx)
	if err != nil {
		return err
	}
	if err := n.library.apply(ctx, p.desired, 0); err != nil {
		return err
	}
	return n.trials().prefer(ctx, before)
}

// InForce tells whether p is what works now.
func (n *Network) InForce(ctx context.Context, p *Plan) (bool, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	p, err := n.refreshed(ctx, p)
	if err != nil {
		return false, err
	}
	return p.inForce(ctx, n)
}

func (p *Plan) inForce(ctx context.Context, n *Network) (bool, error) {
	now, err := readConfigured(ctx, n)
	if err != nil {
		return false, err
	}
	var want state
	if err := json.Unmarshal(p.desired, &want); err != nil {
		return false, fmt.Errorf("reading the plan of the network: %w", err)
	}
	return len(differences(&want, now)) == 0, nil
}

// Late is the code of the Problem that a trial is over, and its checkpoint gone.
const Late = "NET-LATE"

func tooLate() error {
	return &problem.Problem{
		Code: Late, Summary: message.T("The trial of the network settings is over: its time was up, or NetworkManager was restarted. The old settings are back."),
		Fix: message.T("Apply them again, and answer sooner if you were asked."),
	}
}
