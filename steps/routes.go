package steps

import (
	"context"
	"fmt"

	"touchdown/backend"
	"touchdown/backend/check"
	"touchdown/backend/domain"
	"touchdown/backend/kube"
	"touchdown/backend/message"
	"touchdown/steps/site"
)

// appRoutes gives the routes whose hosts the cluster chose a host of the new domain. Routes with a host or a subdomain that
// an administrator chose are listed, never changed.
type appRoutes struct{ Site *site.Config }

var (
	_ Inspector = (*appRoutes)(nil)
	_ Skipper   = (*appRoutes)(nil)
	_ Planner   = (*appRoutes)(nil)
	_ Undoer    = (*appRoutes)(nil)
	_ Abandoner = (*appRoutes)(nil)
	_ Reader    = (*appRoutes)(nil)
)

// ID names the step in the journal.
func (*appRoutes) ID() string { return "routes" }

// Title says what the step does.
func (*appRoutes) Title() message.Text { return message.T("Give applications their new addresses") }

// Reads names what the new hosts are made of.
func (*appRoutes) Reads() []string { return []string{"spec.clusterName", "spec.baseDomain"} }

// Skip applies where no new name was asked for.
func (s *appRoutes) Skip() message.Text { return noNames(s.Site) }

// Inspect lists the applications that will keep their address.
func (s *appRoutes) Inspect(ctx context.Context, node *backend.Node, report Report) error {
	if s.Site.Domain() == "" {
		return nil
	}
	ch := check.Check{ID: "routes-kept", Title: message.T("Applications with their own address"), Status: check.Pass}
	routes, err := s.list(ctx, node.Kube.Within(formTimeout))
	if err != nil {
		ch.Status, ch.Observed = check.Skip, message.T("the cluster does not run yet")
		ch.Evidence = []message.Text{message.Detail(err)}
		report.Check(ch)
		return nil
	}
	for _, r := range routes {
		if r.Kind == domain.Custom || r.Kind == domain.Bound {
			ch.Evidence = append(ch.Evidence, message.Data(r.String()))
		}
	}
	ch.Observed = message.N(len(ch.Evidence), "%d keeps the address that it has", "%d keep the address that they have")
	if len(ch.Evidence) > 0 {
		ch.Status, ch.Fix = check.Warn, message.T("Tell their owners; the site's DNS has to know these addresses.")
	}
	report.Check(ch)
	return nil
}

// Plan tells each address that changes.
func (s *appRoutes) Plan(ctx context.Context, node *backend.Node) (Plan, error) {
	routes, err := s.list(ctx, node.Kube.Within(formTimeout))
	if err != nil {
		return Plan{Changes: []Change{{What: message.T("Addresses of applications"), New: message.T("those that the cluster chose move to the new domain")}}}, nil // it does not run yet
	}
	var plan Plan
	for _, r := range routes {
		if r.Kind == domain.Owned || r.Kind == domain.Generated {
			plan.Changes = append(plan.Changes, Change{
				What: message.F("Address of %s/%s", r.Namespace, r.Name), Old: message.Data(r.Host), New: message.F("one under %s", domain.Apps(s.Site.Domain())),
			})
		}
	}
	if len(plan.Changes) > 0 {
		plan.Disturbances = []Disturbance{{
			What: message.T("applications out of reach"), Cause: message.T("their routes are made again"), Seconds: 10,
		}}
	}
	return plan, nil
}

// Run resets the routes. It runs after the roll-outs: before, a new route could still get an old host.
func (s *appRoutes) Run(ctx context.Context, node *backend.Node, report Report) error {
	c, o := node.Kube.WithProgress(report.Progress), newOriginals(report)
	routes, err := s.list(ctx, c)
	if err != nil {
		return err
	}
	saved, _, err := o.all()
	if err != nil {
		return err
	}
	reset, err := domain.Reset(ctx, c, routes, saved, func(ref kube.Ref, original []byte) error {
		if err := o.save(ref, original); err != nil {
			return err
		}
		return report.Note(resetNote, []byte(resetBegun))
	})
	if err != nil {
		return fmt.Errorf("resetting the routes: %w", err)
	}
	if err := endReset(report); err != nil {
		return err
	}
	if len(reset) == 0 {
		return nil
	}
	now, err := domain.Read(ctx, c)
	if err != nil {
		return fmt.Errorf("reading what the cluster is called: %w", err)
	}
	kept, err := domain.Hosts(ctx, c, now, s.Site.Domain(), reset)
	if err != nil {
		return fmt.Errorf("resetting the routes: %w", err)
	}
	report.Say(message.F("%d applications have an address under %s.", len(reset)-len(kept), domain.Apps(s.Site.Domain())))
	for _, r := range kept {
		report.Say(message.F("The operator of %s gave it its old address again.", r))
	}
	return nil
}

// Undo gives each route its old spec back.
func (s *appRoutes) Undo(ctx context.Context, node *backend.Node, report Report) error {
	if _, err := newOriginals(report).restore(ctx, node.Kube.WithProgress(report.Progress)); err != nil {
		return err
	}
	return endReset(report)
}

// resetNote says whether routes may be deleted that are not made again yet.
const resetNote, resetBegun, resetEnded = "reset", "begun", "ended"

func endReset(report Report) error {
	if noted, there, err := notedAt(report, resetNote); !there || string(noted) == resetEnded {
		return err
	}
	return report.Note(resetNote, []byte(resetEnded))
}

// Half tells of routes that were deleted to be made again.
func (*appRoutes) Half(report Report) (message.Text, error) {
	if noted, _, err := notedAt(report, resetNote); err != nil || string(noted) != resetBegun {
		return message.Text{}, err
	}
	return message.T("routes of applications were deleted and may not have been made again"), nil
}

// Abandon makes those again that are missing. The others stay: some have their new address by now.
func (s *appRoutes) Abandon(ctx context.Context, node *backend.Node, report Report) error {
	saved, _, err := newOriginals(report).all()
	if err != nil {
		return err
	}
	if _, err := domain.Reset(ctx, node.Kube.WithProgress(report.Progress), nil, saved, nil); err != nil {
		return fmt.Errorf("making the missing routes again: %w", err)
	}
	return endReset(report)
}

func (s *appRoutes) list(ctx context.Context, c *kube.Cluster) ([]domain.Route, error) {
	now, err := domain.Read(ctx, c)
	if err != nil {
		return nil, fmt.Errorf("reading what the cluster is called: %w", err)
	}
	routes, err := domain.Routes(ctx, c, now, s.Site.Domain())
	if err != nil {
		return nil, fmt.Errorf("reading the routes: %w", err)
	}
	return routes, nil
}
