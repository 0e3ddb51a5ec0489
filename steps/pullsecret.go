package steps

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"touchdown/backend"
	"touchdown/backend/kube"
	"touchdown/backend/layout"
	"touchdown/backend/layout/rhcos"
	"touchdown/backend/message"
	"touchdown/backend/nodeconfig"
	"touchdown/backend/registry"
	"touchdown/steps/site"
)

// rollTime is how long the node may take for its new configuration.
const rollTime = 20 * time.Minute

// sitePullSecret gives the cluster the credentials of the site's image registries.
type sitePullSecret struct {
	rollsOut
	Site *site.Config
}

var (
	_ Recoverer = (*sitePullSecret)(nil)
	_ Skipper   = (*sitePullSecret)(nil)
	_ Planner   = (*sitePullSecret)(nil)
	_ Undoer    = (*sitePullSecret)(nil)
	_ Reader    = (*sitePullSecret)(nil)
)

// ID names the step in the journal.
func (*sitePullSecret) ID() string { return "pull-secret" }

// Title says what the step does.
func (*sitePullSecret) Title() message.Text { return message.T("Add the site's registry credentials") }

// Reads names the credentials.
func (*sitePullSecret) Reads() []string { return []string{"spec.pullSecret"} }

// Skip applies where the site brings no credentials.
func (s *sitePullSecret) Skip() message.Text {
	if s.Site.Spec.PullSecret == "" {
		return message.T("the factory's credentials stay")
	}
	return message.Text{}
}

// Plan tells which registries get new credentials. The cluster's nodes neither drain nor reboot for it.
func (s *sitePullSecret) Plan(ctx context.Context, node *backend.Node) (Plan, error) {
	given, err := registry.Hosts(s.secret())
	if err != nil {
		return Plan{}, fmt.Errorf("reading the pull secret: %w", err)
	}
	have, err := registry.Current(ctx, node.Kube.Within(formTimeout))
	if err != nil { // it does not run yet; a node without credentials on its disk only means that the old list is not known
		have, _ = registry.OnDisk(node.Host)
	}
	change := Change{What: message.T("Registry credentials"), Old: message.Data(strings.Join(have, ", ")), New: message.F("set for %s", strings.Join(given, ", "))}
	if slices.ContainsFunc(have, func(h string) bool { return !slices.Contains(given, h) }) {
		change.New = message.F("%s; the others stay", change.New)
	}
	return Plan{Changes: []Change{change}, Seconds: pullSeconds}, nil
}

// Run merges the credentials into the cluster's and waits until the node has them on disk.
func (s *sitePullSecret) Run(ctx context.Context, node *backend.Node, report Report) error {
	c, o := node.Kube.WithProgress(report.Progress), newOriginals(report)
	if err := poolTakes(ctx, c, report); err != nil {
		return s.without(ctx, node, c, err)
	}
	if err := endPause(ctx, c, report); err != nil {
		return err
	}
	changed, err := registry.Apply(ctx, c, s.secret(), func(ref kube.Ref, original []byte) error {
		before, err := kube.Rendered(ctx, c, layout.Pool)
		if err != nil {
			return fmt.Errorf("reading the node's configuration: %w", err)
		}
		if err := o.mark("rendered", before); err != nil {
			return err
		}
		return o.save(ref, original)
	})
	if err != nil {
		return fmt.Errorf("changing the pull secret: %w", err)
	}
	if changed {
		report.Say(message.T("The cluster has the site's registry credentials."))
	}
	before, err := o.marked("rendered")
	if err != nil {
		return err
	}
	if err := registry.WaitOnNode(ctx, c, node.Host, registry.RollOut{Before: before, Limit: rollTime, Stands: nodeconfig.Usual().Render, Drifted: putBackFiles(node, report)}); err != nil {
		return fmt.Errorf("waiting for the node: %w", err)
	}
	return nil
}

// without is for a node that takes no new configuration, for the reason why: nothing is written. It is fine where the credentials are there
// already.
func (s *sitePullSecret) without(ctx context.Context, node *backend.Node, c *kube.Cluster, why error) error {
	pending, err := registry.Pending(ctx, c, s.secret())
	if err != nil {
		return fmt.Errorf("comparing with the cluster: %w", err)
	}
	onDisk, err := node.Host.ReadFile(rhcos.PullSecret)
	if pending || err != nil || !registry.Has(onDisk, s.secret()) {
		return why
	}
	return nil
}

// Undo puts the factory's credentials back, to the byte.
func (s *sitePullSecret) Undo(ctx context.Context, node *backend.Node, report Report) error {
	c, o := node.Kube.WithProgress(report.Progress), newOriginals(report)
	if all, _, err := o.all(); len(all) == 0 {
		return err
	}
	if err := poolHeld(ctx, c, report); err != nil {
		return err
	}
	if err := endPause(ctx, c, report); err != nil {
		return err
	}
	before, err := kube.Rendered(ctx, c, layout.Pool)
	if err != nil {
		return fmt.Errorf("reading the node's configuration: %w", err)
	}
	gone, err := taken(ctx, c, report)
	if err != nil {
		return fmt.Errorf("keeping the credentials that go: %w", err)
	}
	changed, err := o.restore(ctx, c)
	if err != nil {
		return err
	}
	if len(changed) == 0 {
		before = ""
	}
	if err := registry.WaitOnNode(ctx, c, node.Host, registry.RollOut{Before: before, Gone: gone, Limit: rollTime, Stands: nodeconfig.Usual().Render, Drifted: putBackFiles(node, report)}); err != nil {
		return fmt.Errorf("waiting for the node: %w", err)
	}
	return nil
}

// taken keeps the cluster's credentials from before each try of the undo, and returns all: those that the factory's have not must leave the
// node's disk. The answers do not tell which these are: they may have been edited since.
func taken(ctx context.Context, c *kube.Cluster, report Report) ([][]byte, error) {
	now, err := registry.Credentials(ctx, c)
	if err != nil {
		return nil, err
	}
	s := series{report, "taken"}
	all, next, err := s.all()
	if err != nil || slices.ContainsFunc(all, func(b []byte) bool { return bytes.Equal(b, now) }) {
		return all, err
	}
	return append(all, now), report.Save(s.key(next), now)
}

func (s *sitePullSecret) secret() []byte { return []byte(string(s.Site.Spec.PullSecret)) }
