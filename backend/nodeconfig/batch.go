package nodeconfig

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	machinev1 "github.com/openshift/api/machineconfiguration/v1"

	"touchdown/backend/kube"
	"touchdown/backend/layout"
	"touchdown/backend/message"
	"touchdown/backend/problem"
)

// Timeouts bound the waits for the batch.
type Timeouts struct {
	Render time.Duration // until the operator has made one configuration of all that was written; so long a degraded node may be old news
	Rest   time.Duration // how long a rendering stays the newest until no other follows, where its content is not known before
	Roll   time.Duration // until the node has it, a reboot included
}

// Usual is what a single node needs. The operator waits 5 s after each write before it renders (renderDelay of its render
// controller); a change that passes through another of its controllers takes two such turns. After a power cut it first waits until its
// leader election lease from before the cut has expired, up to 402 s on a single node: 270 s and its next try (LeaderElectionSNOConfig of
// openshift/library-go, which the operator's cmd/common/helpers.go uses; JitterFactor of k8s.io/client-go). The roll-out is bounded by a reboot of server hardware, 10 minutes, twice.
func Usual() Timeouts {
	return Timeouts{Render: 8 * time.Minute, Rest: 12 * time.Second, Roll: 20 * time.Minute}
}

// Batch writes changes while the pool is paused, so that the node takes all at once, and waits for the end.
//
// Each way out of here ends the pause: an error does, and after a power cut the next Run or Undo does. What needs the pool is refused
// where the cluster's owner has paused it.
type Batch struct {
	Cluster  *kube.Cluster
	Save     kube.Save
	Pause    kube.Pause
	Timeouts Timeouts
	Drifted  func(ctx context.Context, current string) // see kube.RollOut
	Cut      bool                                      // an earlier Run or Undo of this batch did not come to the end of its pause
}

// Run brings all changes to the node; none of them pending is fine. It is safe to repeat, after a reboot of the node too.
func (b Batch) Run(ctx context.Context, changes []Change) error {
	pending := Pending(changes)
	paused, held, err := b.Pause.State(ctx, b.Cluster)
	switch {
	case err != nil:
		return err
	case held:
		return b.without(ctx, changes, pending)
	case Renders(pending):
		if err := b.Pause.Takes(ctx, b.Cluster); err != nil {
			return err // a pause of ours stays: the retry goes on in it
		}
	}
	if len(pending) > 0 && !paused && Renders(pending) {
		if err := b.Pause.Begin(ctx, b.Cluster); err != nil {
			return err
		}
		paused = true
	}
	err = b.write(ctx, pending)
	if err == nil {
		err = b.rendered(ctx, changes)
	}
	if paused || b.Pause.Ours { // a pause of ours that someone else has ended is noted to be over, too
		err = errors.Join(err, b.Pause.End(ctx, b.Cluster))
	}
	if err != nil {
		return err
	}
	return b.waitApplied(ctx, changes)
}

// Undo puts back what restore does, in one go too. before is the rendered configuration from before the batch: its name is made
// of its content, so it comes again when nobody else changed anything since; "" when the batch rendered nothing.
func (b Batch) Undo(ctx context.Context, before string, restore func(context.Context) (changed bool, err error)) error {
	paused, held, err := b.Pause.State(ctx, b.Cluster)
	switch {
	case err != nil:
		return err
	case held:
		return b.Pause.Held()
	case !paused:
		if err := b.Pause.Begin(ctx, b.Cluster); err != nil {
			return err
		}
	}
	from, err := kube.Rendered(ctx, b.Cluster, layout.Pool)
	changed := false
	if err == nil {
		changed, err = restore(ctx)
	}
	limit := b.Timeouts.Render
	if b.Cut { // all may be put back, and not rendered: after a boot the operator starts late, and waits for its old lease to end
		limit = max(limit, b.Timeouts.Roll)
	}
	if err == nil && (changed || b.Cut) && before != "" {
		err = b.again(ctx, from, before, limit)
	}
	if err := errors.Join(err, b.Pause.End(ctx, b.Cluster)); err != nil {
		return err
	}
	return b.waitApplied(ctx, nil)
}

// Renders tells whether any of the changes needs a new configuration of the node's pool.
func Renders(changes []Change) bool {
	for _, ch := range changes {
		if ch.Renders {
			return true
		}
	}
	return false
}

func (b Batch) write(ctx context.Context, pending []Change) error {
	for _, ch := range pending {
		if _, err := ch.Write(ctx, b.Cluster, b.Save); err != nil {
			return fmt.Errorf("changing %s: %w", strings.ToLower(ch.What.String()), err)
		}
	}
	return nil
}

// rendered waits, while the pool is paused, until its next configuration has all changes. What the operator makes of its own
// objects may look otherwise in another release, so only a MachineConfig of ours has to be there when the time is up.
func (b Batch) rendered(ctx context.Context, changes []Change) error {
	w := kube.Wait{
		What: message.T("the new configuration of the node"), Limit: b.Timeouts.Render, Usual: 30 * time.Second, Code: "NCF-RNDR",
		Fix: message.T("Look at the machine-config operator; retry to go on, or undo."),
	}
	start := time.Now()
	return b.Cluster.Until(ctx, w, func(ctx context.Context) (kube.Progress, bool, error) {
		p, _, err := b.Cluster.Pool(ctx, layout.Pool)
		if err != nil {
			return kube.Progress{}, false, err
		}
		if err := renderFailed(p); err != nil {
			return kube.Progress{}, false, err
		}
		missing, ours, err := b.missing(ctx, p.Spec.Configuration.Name, changes)
		late := time.Since(start) >= b.Timeouts.Render
		return kube.Progress{Waiting: message.F("the operator to render %s", missing)}, missing == "" || late && !ours, err
	})
}

// missing names what a rendered configuration lacks, and whether it is ours.
func (b Batch) missing(ctx context.Context, config string, changes []Change) (what string, ours bool, err error) {
	object, err := b.Cluster.Get(ctx, kube.MachineConfig(config))
	if err != nil {
		return "", false, err
	}
	have := parseConfig(below(object, "spec"))
	for _, ch := range changes {
		if ch.In == nil || ch.In(have) {
			continue
		}
		what, ours = strings.ToLower(ch.What.String()), ours || ch.Ours
	}
	return what, ours, nil
}

// again waits until the configuration from before is the next one. Someone else's change may keep it from coming; then it is
// another one after from, after which no more follows, or none within the limit.
func (b Batch) again(ctx context.Context, from, before string, limit time.Duration) error {
	start, newest, since := time.Now(), from, time.Now()
	w := kube.Wait{What: message.T("the old configuration of the node"), Limit: limit + time.Minute}
	return b.Cluster.Until(ctx, w, func(ctx context.Context) (kube.Progress, bool, error) {
		p, _, err := b.Cluster.Pool(ctx, layout.Pool)
		if err != nil {
			return kube.Progress{}, false, err
		}
		if name := p.Spec.Configuration.Name; name != newest {
			newest, since = name, time.Now()
		}
		done := newest == before || newest != from && time.Since(since) >= b.Timeouts.Rest || time.Since(start) >= limit
		return kube.Progress{Waiting: message.T("the operator to render the old configuration")}, done, renderFailed(p)
	})
}

// waitApplied waits until the node has the pool's configuration and this has the changes.
func (b Batch) waitApplied(ctx context.Context, changes []Change) error {
	c := b.Cluster.Within(max(b.Timeouts.Roll, b.Cluster.Pace.Limit)) // the node may reboot for it
	return kube.RollOut{
		Wait: kube.Wait{
			What: message.T("the node's new configuration"), Limit: b.Timeouts.Roll, Usual: 3 * time.Minute, Code: "NCF-LATE",
			Fix: message.T("Look at the machine-config operator; retry to go on waiting, or undo."),
		},
		Pool: layout.Pool,
		Degraded: &problem.Problem{
			Code:    "NCF-DGRD",
			Summary: message.T("The node could not take its new configuration."),
			Fix:     message.T("Undo, or look at the machine-config operator."),
		},
		Stands: b.Timeouts.Render, Drifted: b.Drifted,
		Lacks: func(ctx context.Context, p *machinev1.MachineConfigPool) (message.Text, error) {
			missing, ours, err := b.missing(ctx, p.Status.Configuration.Name, changes)
			if !ours {
				return message.Text{}, err
			}
			return message.F("the node to have %s", missing), err
		},
	}.Await(ctx, c)
}

// renderFailed tells why the operator cannot make a configuration of what was written.
func renderFailed(p *machinev1.MachineConfigPool) error {
	if why := kube.PoolUnrendered(p); why != "" {
		return &problem.Problem{
			Code:    "NCF-BAD",
			Summary: message.T("The machine-config operator cannot make a configuration of what was written."),
			Fix:     message.T("Undo, correct the values and try again."),
			Err:     errors.New(why),
		}
	}
	return nil
}
