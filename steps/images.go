package steps

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"touchdown/backend"
	"touchdown/backend/check"
	"touchdown/backend/images"
	"touchdown/backend/layout/rhcos"
	"touchdown/backend/message"
	"touchdown/backend/nodeconfig"
	"touchdown/backend/problem"
	"touchdown/backend/progress"
	"touchdown/steps/site"
)

// Images makes the node's image store complete: what it runs is there without a registry, protected, and known to CRI-O.
type Images struct {
	rollsOut
	Site     *site.Config
	Version  string              // of Touchdown, for the store's manifest
	Move     bool                // let the next boot move the images instead of copying them; the caller reboots the node then
	Timeouts nodeconfig.Timeouts // zero: nodeconfig.Usual
}

var (
	_ Inspector = (*Images)(nil)
	_ Skipper   = (*Images)(nil)
	_ Planner   = (*Images)(nil)
	_ Undoer    = (*Images)(nil)
	_ Abandoner = (*Images)(nil)
	_ Recoverer = (*Images)(nil)
	_ Reader    = (*Images)(nil)
)

// ID names the step in the journal.
func (*Images) ID() string { return "images" }

// Title says what the step does.
func (*Images) Title() message.Text { return message.T("Seed the image store") }

// Reads names what decides whether anything is done.
func (*Images) Reads() []string { return []string{"spec.policy.seedImages", "spec.policy.allowReboot"} }

// Skip applies where the site does not want it.
func (s *Images) Skip() message.Text {
	if !s.Site.Spec.Policy.SeedImages {
		return message.T("the site config leaves the image store unchanged (spec.policy.seedImages)")
	}
	return message.Text{}
}

// Inspect tells what the look after the last boot found: CRI-O may not even run now.
func (s *Images) Inspect(_ context.Context, node *backend.Node, report Report) error {
	if s.Skip().String() != "" {
		return nil
	}
	status, err := images.LoadStatus(node.Host)
	if errors.Is(err, fs.ErrNotExist) || err == nil && status.Generation == 0 {
		report.Check(check.Check{
			ID: "images-store", Title: message.T("Image store"), Status: check.Skip,
			Observed: message.T("none yet; it is seeded with what the node runs"), Source: message.T("what was seeded (manifest of the store)"),
		})
		return nil
	}
	if err != nil {
		return err
	}
	for _, c := range status.Checks() {
		if c.Status == check.Fail { // Run repairs what can be; nobody has to take responsibility before
			c.Status = check.Warn
		}
		report.Check(c)
	}
	return nil
}

// Plan tells the store, and what its first use disturbs.
func (s *Images) Plan(_ context.Context, node *backend.Node) (Plan, error) {
	status, err := images.LoadStatus(node.Host)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Plan{}, err
	}
	if status.Well() {
		return Plan{}, nil // it is verified, and grows only by what the node lacks
	}
	old := message.T("none")
	if status.Generation > 0 {
		old = message.N(status.Images, "%d image", "%d images")
	}
	plan := Plan{Changes: []Change{{What: message.T("Image store"), Old: old, New: message.T("all images the node runs")}}, Seconds: storeSeconds}
	if !status.Named {
		plan.Disturbances = []Disturbance{{
			What: message.T("container runtime restarts"), Cause: message.T("CRI-O reads the list of its stores only when it starts; containers go on"), Seconds: 10,
		}}
	}
	return plan, nil
}

// Run seeds, lets CRI-O know the store, and looks at the result.
func (s *Images) Run(ctx context.Context, node *backend.Node, report Report) error {
	if !node.Host.Exists("/etc/crio") {
		report.Check(check.Check{ID: "images-store", Title: message.T("Image store"), Status: check.Skip, Observed: message.T("this machine has no CRI-O")})
		return nil
	}
	if err := afterRehearsal(ctx, node, report); err != nil {
		return err
	}
	here, err := images.Open(node.Host, node.Kube.WithProgress(report.Progress), node.Now)
	if err != nil {
		return fmt.Errorf("reaching CRI-O: %w", err)
	}
	defer here.Close()
	if err := s.seed(ctx, node, here, report); err != nil {
		return err
	}
	if err := s.activate(ctx, node, report); err != nil {
		if ctx.Err() == nil { // else it may be the reboot that moves
			err = errors.Join(err, images.ForgetMove(node.Host))
		}
		return err
	}
	if s.Move && images.MoveAsked(node.Host) {
		return nil // there is nothing in force to be looked at yet
	}
	return look(ctx, here, report)
}

// savedConfig is the name under which CRI-O's previous configuration is saved.
const savedConfig = "crio"

func (s *Images) seed(ctx context.Context, node *backend.Node, here *images.Node, report Report) error {
	list, err := wantedImages(ctx, node, here, images.Listing{}, report)
	if err != nil {
		return err
	}
	if before, err := images.LoadStatus(node.Host); err == nil || errors.Is(err, fs.ErrNotExist) {
		if err := report.Save("generation", []byte(strconv.Itoa(before.Generation))); err != nil {
			return err
		}
	}
	config, err := images.SavedConfig(node.Host)
	if err != nil {
		return err
	}
	if err := report.Save(savedConfig, config); err != nil {
		return err
	}
	seeded, err := here.Seed(ctx, images.Seeding{Version: s.Version, List: list, Move: s.Move, Say: report.Say, Tell: report.Progress})
	if err != nil {
		return err
	}
	for _, c := range seeded.Checks() {
		report.Check(c)
	}
	if seeded.ToMove == 0 || seeded.BootMissing() > 0 { // no reboot for a node that would not come up
		return nil
	}
	if err := images.KeepPrimary(node.Host); err != nil {
		return err
	}
	if err := images.AskMove(node.Host); err != nil {
		return err
	}
	report.Say(message.F("The next boot moves %d images into the store.", seeded.ToMove))
	return nil
}

// activate lets CRI-O know the store, which was verified before: by a MachineConfig, because the file is the operator's.
func (s *Images) activate(ctx context.Context, node *backend.Node, report Report) error {
	c, o := node.Kube.WithProgress(report.Progress), newOriginals(report)
	if err := images.KeepPrimary(node.Host); err != nil {
		return err
	}
	conf, err := node.Host.ReadFile(rhcos.Storage)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	changes, err := nodeconfig.Changes(ctx, c, nodeconfig.Want{ImageStore: images.Store, Storage: string(conf)})
	if err != nil {
		return fmt.Errorf("comparing with the cluster: %w", err)
	}
	reboots, err := nodeconfig.Reboots(ctx, c, changes)
	if err != nil {
		return fmt.Errorf("looking for what needs a reboot: %w", err)
	}
	if len(reboots) > 0 && !s.Site.Spec.Policy.AllowReboot {
		return &problem.Problem{
			Code: "CTR-RBT", Summary: message.T("The node would reboot to let CRI-O know the image store, which the site config does not allow."),
			Fix: message.T("Set spec.policy.allowReboot to true, or skip this step: the store is seeded and will be used later."),
		}
	}
	if len(nodeconfig.Pending(changes)) > 0 {
		report.Say(message.T("CRI-O is told of the image store."))
	}
	if err := runBatch(ctx, node, o, s.Timeouts, changes); err != nil {
		return fmt.Errorf("changing the node's configuration: %w", err)
	}
	return nameStore(ctx, node, report)
}

func look(ctx context.Context, here *images.Node, report Report) error {
	report.Progress(progress.Progress{Waiting: message.T("CRI-O to list its images")})
	if err := here.Await(ctx); err != nil {
		return fmt.Errorf("waiting for CRI-O: %w", err)
	}
	status, err := here.Look(ctx, images.Look{Repair: true, Fetch: true, Tell: report.Progress})
	if err != nil {
		return err
	}
	for _, c := range status.Checks() {
		report.Check(c)
	}
	return nil
}

// Undo lets CRI-O forget the store and its images' pins, and puts the images that were in force before back into force. The layers stay on the
// disk: they are what the node runs, and cost nothing.
func (s *Images) Undo(ctx context.Context, node *backend.Node, report Report) error {
	if err := undoBatch(ctx, node, report, s.Timeouts); err != nil {
		return err
	}
	config, ok, err := savedAt(report, savedConfig)
	if err != nil {
		return err
	}
	if ok {
		if err := images.RestoreConfig(ctx, node.Host, config); err != nil {
			return err
		}
	}
	before, seeded, err := savedAt(report, "generation")
	if !seeded {
		return err
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(before)))
	if err != nil {
		return fmt.Errorf("reading what was in force before: %w", err)
	}
	return images.Return(ctx, node.Host, n)
}

// Half tells of a batch that did not end.
func (*Images) Half(report Report) (message.Text, error) { return poolHalf(report) }

// Abandon puts the batch back, which ends the pause.
func (s *Images) Abandon(ctx context.Context, node *backend.Node, report Report) error {
	return s.Undo(ctx, node, report)
}
