package steps

import (
	"context"
	"fmt"
	"os"
	"strings"

	"touchdown/backend"
	"touchdown/backend/factory"
	"touchdown/backend/kube"
	"touchdown/backend/layout"
	"touchdown/backend/message"
)

// bakeCheck refuses a cluster that cannot be baked and says how long the node may be stored.
type bakeCheck struct{}

// ID names the step in the journal.
func (*bakeCheck) ID() string { return "bake-check" }

// Title says what the step does.
func (*bakeCheck) Title() message.Text { return message.T("Check the cluster") }

// Run looks only. Warnings do not stop the bake.
func (*bakeCheck) Run(ctx context.Context, node *backend.Node, report Report) error {
	checks, err := factory.Precheck(ctx, node.Host, node.Kube.WithProgress(report.Progress), node.Now())
	for _, c := range checks {
		report.Check(c)
	}
	return err
}

// bakeProgram puts Touchdown where its units start it from.
type bakeProgram struct {
	From string // the file of the running program
}

var _ Planner = (*bakeProgram)(nil)

// ID names the step in the journal.
func (*bakeProgram) ID() string { return "bake-program" }

// Title says what the step does.
func (*bakeProgram) Title() message.Text { return message.T("Install Touchdown") }

// Plan tells the file.
func (s *bakeProgram) Plan(_ context.Context, node *backend.Node) (Plan, error) {
	running, err := os.ReadFile(s.From)
	if err != nil {
		return Plan{}, fmt.Errorf("reading this program: %w", err)
	}
	if factory.Installed(node.Host, running) {
		return Plan{}, nil
	}
	return Plan{Changes: []Change{{What: message.Data(layout.Program), New: message.T("this program")}}}, nil
}

// Run replaces the file as a whole.
func (s *bakeProgram) Run(_ context.Context, node *backend.Node, report Report) error {
	running, err := os.ReadFile(s.From)
	if err != nil {
		return fmt.Errorf("reading this program: %w", err)
	}
	changed, err := factory.Install(node.Host, running)
	if changed && err == nil {
		report.Say(message.F("%s is installed.", layout.Program))
	}
	return err
}

// bakeUplink lets the profile of the physical port carry the node's own addresses: br-ex is built from it at every boot.
type bakeUplink struct{}

var (
	_ Planner = (*bakeUplink)(nil)
	_ Undoer  = (*bakeUplink)(nil)
)

// ID names the step in the journal.
func (*bakeUplink) ID() string { return "bake-uplink" }

// Title says what the step does.
func (*bakeUplink) Title() message.Text { return message.T("Give the uplink the node's own address") }

// Plan tells the profile.
func (*bakeUplink) Plan(ctx context.Context, node *backend.Node) (Plan, error) {
	cluster, u, err := uplinkOf(ctx, node, node.Kube)
	if err != nil || u.Ready() {
		return Plan{}, err
	}
	return Plan{Changes: []Change{{What: message.F("Profile of %s", u.Device), New: message.F("%s for good, beside the site's", cluster.Own.String())}}}, nil
}

// uplinkOf finds the uplink, and the cluster whose node it belongs to.
func uplinkOf(ctx context.Context, node *backend.Node, c *kube.Cluster) (factory.Cluster, factory.Uplink, error) {
	cluster, err := factory.Look(ctx, c)
	if err != nil {
		return cluster, factory.Uplink{}, err
	}
	u, err := factory.FindUplink(ctx, node.Host, cluster.Own)
	return cluster, u, err
}

// Run saves the profile and changes it.
func (*bakeUplink) Run(ctx context.Context, node *backend.Node, report Report) error {
	cluster, u, err := uplinkOf(ctx, node, node.Kube.WithProgress(report.Progress))
	if err != nil || u.Ready() {
		return err
	}
	err = u.Prepare(ctx, node.Host, func(file string, original []byte) error {
		if err := report.Save("file", []byte(file)); err != nil {
			return err
		}
		if original == nil {
			return nil
		}
		return report.Save("profile", original)
	})
	if err == nil {
		report.Say(message.F("The profile of %s carries %s.", u.Device, cluster.Own))
	}
	return err
}

// Undo puts the profile back.
func (*bakeUplink) Undo(ctx context.Context, node *backend.Node, report Report) error {
	file, ok, err := savedAt(report, "file")
	if !ok {
		return err
	}
	original, _, err := savedAt(report, "profile")
	if err != nil {
		return err
	}
	if err := factory.PutBackUplink(ctx, node.Host, string(file), original); err != nil {
		return err
	}
	report.Say(message.F("%s is as it was.", file))
	return nil
}

// bakeConfiguration writes the MachineConfigs and waits until the node has them. The node reboots once in between.
type bakeConfiguration struct{ rollsOut }

var (
	_ Planner   = (*bakeConfiguration)(nil)
	_ Recoverer = (*bakeConfiguration)(nil)
	_ Undoer    = (*bakeConfiguration)(nil)
)

// ID names the step in the journal.
func (*bakeConfiguration) ID() string { return "bake-configuration" }

// Title says what the step does.
func (*bakeConfiguration) Title() message.Text { return message.T("Configure the machine") }

// Plan tells the MachineConfigs that differ, and the reboot.
func (*bakeConfiguration) Plan(ctx context.Context, node *backend.Node) (Plan, error) {
	wanted, err := factory.Wanted(ctx, node.Kube)
	if err != nil {
		return Plan{}, err
	}
	names, err := factory.Differs(ctx, node.Kube, wanted)
	if err != nil || len(names) == 0 {
		return Plan{}, err
	}
	var p Plan
	for _, name := range names {
		p.Changes = append(p.Changes, Change{What: message.T("MachineConfig"), New: message.Data(name)})
	}
	p.Disturbances = []Disturbance{{What: message.T("reboot"), Cause: message.T("the node takes its new configuration"), Seconds: rebootSeconds}}
	p.Seconds = configSeconds + rebootSeconds
	return p, nil
}

// Run writes what differs and waits.
func (*bakeConfiguration) Run(ctx context.Context, node *backend.Node, report Report) error {
	c, o := node.Kube.WithProgress(report.Progress), newOriginals(report)
	wanted, err := factory.Wanted(ctx, c)
	if err != nil {
		return err
	}
	before, err := kube.Rendered(ctx, c, layout.Pool)
	if err != nil {
		return err
	}
	pause, err := poolPause(report)
	if err != nil {
		return err
	}
	if err := factory.Takes(ctx, c, pause, wanted); err != nil {
		return err
	}
	noReboot, err := factory.SetDisruptionPolicies(ctx, c, o.save)
	if err != nil {
		return fmt.Errorf("writing the node disruption policies: %w", err)
	}
	changed, err := factory.Configure(ctx, c, pause, wanted, o.save)
	if err != nil {
		return fmt.Errorf("writing the MachineConfigs: %w", err)
	}
	if !changed {
		before = ""
	} else {
		report.Say(message.F("%s written. The node takes them and reboots; the work goes on after that.", configNames(wanted)))
		if !noReboot {
			report.Say(message.T("This OpenShift has no node disruption policies: other time servers will need a reboot at the site."))
		}
	}
	return factory.WaitConfigured(ctx, c, wanted, before, putBackFiles(node, report))
}

func configNames(wanted []factory.Manifest) string {
	names := make([]string, len(wanted))
	for i, m := range wanted {
		names[i] = m.Name
	}
	return strings.Join(names, ", ")
}

// Undo removes the MachineConfigs and waits; the node reboots once.
func (*bakeConfiguration) Undo(ctx context.Context, node *backend.Node, report Report) error {
	c, o := node.Kube.WithProgress(report.Progress), newOriginals(report)
	before, err := kube.Rendered(ctx, c, layout.Pool)
	if err != nil {
		return err
	}
	pause, err := poolPause(report)
	if err != nil {
		return err
	}
	changed, err := factory.Remove(ctx, c, pause, func(kube.Ref, []byte) error { return nil })
	if err != nil {
		return fmt.Errorf("removing the MachineConfigs: %w", err)
	}
	if _, err := o.restore(ctx, c); err != nil {
		return err
	}
	if !changed {
		before = ""
	} else {
		report.Say(message.T("The MachineConfigs are removed. The node reboots; after that run the same command once more."))
	}
	return factory.WaitConfigured(ctx, c, nil, before, putBackFiles(node, report))
}
