package steps

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"touchdown/backend"
	"touchdown/backend/check"
	"touchdown/backend/kube"
	"touchdown/backend/layout"
	"touchdown/backend/manifests"
	"touchdown/backend/message"
	"touchdown/steps/site"
)

// manifestsTried has the cluster judge the site's own objects before anything of it is changed. A cluster that the factory holds back is
// asked as soon as it has started.
type manifestsTried struct{ Site *site.Config }

// manifestsApplied brings them into the cluster, once it is well: a hub that takes over must not find it in the middle of its move. What an
// earlier landing brought and the site config no longer lists is removed then; a site config that lists none at all removes nothing.
type manifestsApplied struct {
	Site    *site.Config
	Brought func(file string) bool // whether an earlier landing brought any
}

var (
	_ Skipper = (*manifestsTried)(nil)
	_ Planner = (*manifestsTried)(nil)
	_ Reader  = (*manifestsTried)(nil)
)

// ID names the step in the journal.
func (*manifestsTried) ID() string { return "manifests-check" }

// Title says what the step does.
func (*manifestsTried) Title() message.Text { return message.T("Try the site's own objects") }

// Reads names the objects.
func (*manifestsTried) Reads() []string { return []string{"spec.manifests"} }

// Skip applies where the site brings none.
func (s *manifestsTried) Skip() message.Text { return noManifests(s.Site) }

// Plan changes nothing. It asks where the cluster runs, so that the review tells what it does not take.
func (s *manifestsTried) Plan(ctx context.Context, node *backend.Node) (Plan, error) {
	c := node.Kube.Within(formTimeout)
	if running, _ := c.Ready(ctx); !running {
		return Plan{}, nil
	}
	objects, err := objectsOf(s.Site)
	if err == nil {
		_, err = manifests.Try(ctx, c, objects)
	}
	return Plan{}, err
}

// Run asks the API to judge the objects, and changes nothing.
func (s *manifestsTried) Run(ctx context.Context, node *backend.Node, report Report) error {
	objects, err := objectsOf(s.Site)
	if err != nil {
		return err
	}
	unjudged, err := manifests.Try(ctx, node.Kube.WithProgress(report.Progress), objects)
	if err != nil {
		return err
	}
	k := check.Check{
		ID: "manifests", Title: message.T("The site's own objects"), Status: check.Pass, Observed: message.F("the cluster takes %d of %d", len(objects)-len(unjudged), len(objects)),
		Expected: message.T("the cluster takes all of them"), Source: message.T("server-side dry run"),
	}
	if len(unjudged) > 0 { // no warning: as good a landing as any ends with it, and the next step fails where the cluster does not take them
		k.Status = check.Skip
		k.Observed = message.F("the cluster takes %d of %d; it cannot judge yet: %s", len(objects)-len(unjudged), len(objects), listed(unjudged))
		k.Fix = message.T("Nothing to do: they need a kind or a namespace of the objects before them, or a webhook that takes no trial, and are judged when they are applied.")
	}
	report.Check(k)
	return nil
}

// listed names objects, the first few.
func listed(objects []manifests.Object) string {
	const most = 5
	var names []string
	for _, o := range objects[:min(len(objects), most)] {
		names = append(names, o.String())
	}
	if len(objects) > most {
		names = append(names, "...")
	}
	return strings.Join(names, ", ")
}

func noManifests(cfg *site.Config) message.Text {
	if cfg.Spec.Manifests == "" {
		return message.T("the site brings no objects")
	}
	return message.Text{}
}

func objectsOf(cfg *site.Config) ([]manifests.Object, error) {
	all, err := cfg.Spec.Objects()
	if err != nil {
		return nil, fmt.Errorf("reading spec.manifests: %w", err)
	}
	var objects []manifests.Object
	for _, m := range all {
		objects = append(objects, manifests.Object{APIVersion: m.APIVersion(), Kind: m.Kind(), Namespace: m.Namespace(), Name: m.Name(), Tree: m})
	}
	return objects, nil
}

var (
	_ Skipper = (*manifestsApplied)(nil)
	_ Planner = (*manifestsApplied)(nil)
	_ Undoer  = (*manifestsApplied)(nil)
	_ Reader  = (*manifestsApplied)(nil)
)

// ID names the step in the journal.
func (*manifestsApplied) ID() string { return "manifests" }

// Title says what the step does.
func (*manifestsApplied) Title() message.Text {
	return message.T("Bring the site's own objects into the cluster")
}

// Reads names the objects.
func (*manifestsApplied) Reads() []string { return (*manifestsTried)(nil).Reads() }

// Skip applies where the site brings none.
func (s *manifestsApplied) Skip() message.Text {
	why := noManifests(s.Site)
	if why != (message.Text{}) && s.Brought != nil && s.Brought(layout.SiteObjects) {
		return message.T("the site config lists no objects, and those of an earlier landing stay")
	}
	return why
}

// Plan names the objects, never what is in them.
func (s *manifestsApplied) Plan(ctx context.Context, node *backend.Node) (Plan, error) {
	objects, err := objectsOf(s.Site)
	if err != nil {
		return Plan{}, err
	}
	plan := Plan{Seconds: 10}
	for i, o := range objects {
		if i == mostPlanned {
			plan.Changes = append(plan.Changes, Change{What: message.T("Other objects"), New: message.F("%d, applied", len(objects)-i)})
			break
		}
		plan.Changes = append(plan.Changes, Change{What: message.Data(o.String()), New: message.T("applied")})
	}
	removed, err := removals(ctx, node, objects)
	plan.Changes = append(plan.Changes, removed...)
	return plan, err
}

// Run applies the objects. A power cut in the middle of it is nothing special: what was applied is applied again.
func (s *manifestsApplied) Run(ctx context.Context, node *backend.Node, report Report) error {
	objects, err := objectsOf(s.Site)
	if err != nil {
		return err
	}
	records, err := recordsOf(report)
	if err != nil {
		return err
	}
	in, err := inventoryOf(node, report)
	if err != nil {
		return err
	}
	keep := records.Keep
	records.Keep = func(r manifests.Record) error {
		if err := keep(r); err != nil {
			return err
		}
		return in.Note(r)
	}
	for _, r := range records.Kept { // power can have failed between the two
		if err := in.Note(r); err != nil {
			return err
		}
	}
	c := node.Kube.WithProgress(report.Progress)
	if err := manifests.Apply(ctx, c, objects, records); err != nil {
		return err
	}
	report.Say(message.F("The cluster has the site's own objects: %d.", len(objects)))
	return drop(ctx, c, in, objects, report)
}

// recordsOf are what was kept of objects before they were applied.
func recordsOf(report Report) (*manifests.Records, error) {
	kept := series{report, "object"}
	all, next, err := kept.all()
	if err != nil {
		return nil, err
	}
	r := &manifests.Records{}
	for _, text := range all {
		record, err := manifests.ParseRecord(text)
		if err != nil {
			return nil, err
		}
		r.Kept = append(r.Kept, record)
	}
	r.Keep = func(record manifests.Record) error {
		text, err := json.Marshal(record)
		if err == nil {
			err = report.Save(kept.key(next), text)
		}
		next++
		return err
	}
	return r, nil
}

// undoneFor is how long an undo waits for an API that is away. Chosen: the undo of the steps before has just used it.
const undoneFor = 5 * time.Minute

// Undo removes what was made, and takes back what was set in objects that were there.
func (*manifestsApplied) Undo(ctx context.Context, node *backend.Node, report Report) error {
	records, err := recordsOf(report)
	if err != nil {
		return err
	}
	c := node.Kube.WithProgress(report.Progress).Within(undoneFor)
	removed, _, err := removedIn(report).all()
	if err != nil {
		return err
	}
	missing, err := manifests.Return(ctx, c, removed)
	if len(missing) > 0 {
		report.Say(message.F("Not brought back, because something in the cluster still cleans up after their removal: %s.", refs(missing)))
	}
	if err != nil {
		return err
	}
	left, err := manifests.Undo(ctx, c, records.Kept)
	if len(left) > 0 {
		report.Say(message.F("Still in the cluster, until something there has cleaned up: %s.", refs(left)))
	}
	if err != nil {
		return err
	}
	return restoreInventory(node, report)
}

func refs(all []kube.Ref) string {
	var names []string
	for _, ref := range all {
		names = append(names, ref.String())
	}
	return strings.Join(names, ", ")
}
