package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"touchdown/backend"
	"touchdown/backend/check"
	"touchdown/backend/host"
	"touchdown/backend/images"
	"touchdown/backend/message"
	"touchdown/backend/progress"
	"touchdown/backend/report"
	"touchdown/steps"
	"touchdown/steps/site"
)

// checking are the flags of `check`, and what is checked.
type checking struct {
	common  *common
	subject string
	file    string // the site config
	watch   bool
	every   time.Duration

	hardware hardwareFlags
}

// leastEvery bounds how often --watch looks: a look at the cluster reads every pod.
const leastEvery = 5 * time.Second

func checkCommand(c *common) *cobra.Command {
	var children []*cobra.Command
	for _, s := range []struct{ subject, short, long, example string }{
		{
			"hardware", "Check whether this machine is what OpenShift needs",
			"Hardware judges processors, memory, disks, ports, firmware and clock, and what changed since the factory, as the wizard's\nhardware check does. It needs no engine and no cluster. -f FILE names the site\nconfig: the cables are then looked at, too, and whether the consoles lock.",
			"touchdown check hardware -o junit > hardware.xml",
		}, {
			"network", "Check whether the network answers",
			"Network asks gateway, name servers, time servers and registry through the settings in force, or with -f whether those of\na site config would work, as the wizard does before it applies them. It sends probes and changes no setting.",
			"touchdown check network -f site.yaml",
		}, {
			"cluster", "Check whether the cluster is healthy",
			"Cluster looks once at everything that the wizard's health check waits for. -f FILE names the site config that the node\nwas landed with: its names are then looked at, too. With --watch\nit follows the cluster and prints what changes.",
			"touchdown check cluster --watch",
		}, {
			"images", "Check the image store",
			"Images tells what the last look at the image store found, and whether the rehearsal passed. `touchdown images verify`\nlooks again.",
			"touchdown check images -o json",
		},
	} {
		k := &checking{common: c, subject: s.subject}
		cmd := &cobra.Command{
			Use: s.subject, Short: s.short, Args: cobra.NoArgs, Example: "  " + s.example,
			Long: s.long + "\n\nIt changes nothing. It ends with 0 when nothing failed (a warning is not a failure), else with 1.",
			RunE: func(cmd *cobra.Command, _ []string) error { return k.run(cmd) },
		}
		k.flags(cmd)
		children = append(children, cmd)
	}
	return group(&cobra.Command{
		Use: "check", Short: "Check hardware, network, cluster or images, and change nothing",
		Long: `Check looks at one subject with the same checks as the wizard's steps, and changes nothing.

-o json prints one object, and behind it the error line where a check failed: schema (` + checkSchema + `), subject, node, at, status (the worst), counts by
status, and checks with id, title, status (pass, warn, fail, skip, waived), observed, expected, source, fix and evidence. -o junit
prints the same as JUnit XML, in the form of the hand-over report.`,
		Example: "  touchdown check cluster\n  touchdown check hardware -o junit > hardware.xml",
	}, children...)
}

func (k *checking) flags(cmd *cobra.Command) {
	k.common.outputFlag(cmd, "text", "json", "junit")
	cmd.Flags().BoolVarP(&k.watch, "watch", "w", false, "look again and again, and print what changed, until interrupted")
	cmd.Flags().DurationVar(&k.every, "every", 10*time.Second, "with --watch: the time between two looks, 5s or more; the cluster tells its changes itself")
	if k.subject != "images" {
		cmd.Flags().StringVarP(&k.file, "file", "f", "", "the site config (- reads standard input); without it the node is judged alone")
	}
	if k.subject == "hardware" {
		k.hardware.add(cmd)
	}
	if k.subject == "cluster" {
		k.common.engine.add(cmd)
	}
}

func (k *checking) run(cmd *cobra.Command) error {
	show, err := k.printer(cmd)
	if err != nil {
		return err
	}
	cfg, err := k.config(cmd)
	if err != nil {
		return err
	}
	node, err := k.node()
	if err != nil {
		return err
	}
	if err := k.hardware.load(k.watch); err != nil {
		return err
	}
	if k.watch && k.subject == "cluster" {
		return k.follow(cmd.Context(), node, &steps.Health{Site: cfg, NodeNet: steps.NewNodeNetwork(node)}, show)
	}
	look := k.looker(node, cfg)
	done, err := k.once(cmd.Context(), node, look, show)
	for k.watch && err == nil {
		select {
		case <-cmd.Context().Done():
			return done.verdict(k.asJSON())
		case <-time.After(k.every):
		}
		var next *checked
		if next, err = k.once(cmd.Context(), node, look, show); err == nil {
			done = next
		}
	}
	if k.watch && cmd.Context().Err() != nil && done != nil { // a look that Ctrl-C cut short says nothing
		return done.verdict(k.asJSON())
	}
	if err != nil {
		return err
	}
	return done.verdict(k.asJSON())
}

func (k *checking) asJSON() bool { return k.common.output == "json" }

// once looks and prints.
func (k *checking) once(ctx context.Context, node *backend.Node, look looker, show func(*checked) error) (*checked, error) {
	began := node.Now()
	checks, err := look(ctx)
	if err = errors.Join(err, ctx.Err()); err != nil {
		return nil, err
	}
	c := k.checked(node, began, checks)
	return c, show(c)
}

// node is this machine; only the cluster's checks need a way into the cluster.
func (k *checking) node() (*backend.Node, error) {
	if k.subject == "cluster" {
		return k.common.benchNode()
	}
	log := slog.New(slog.DiscardHandler)
	return &backend.Node{Host: host.Open(host.Options{Root: k.common.hooks.root, NoPower: true, Log: log}), Now: time.Now, Log: log}, nil
}

// looker looks once. What it cannot look at is a check that says so.
type looker func(context.Context) ([]check.Check, error)

// config is the site config; without one it says nothing.
func (k *checking) config(cmd *cobra.Command) (*site.Config, error) {
	if k.file == "" {
		return &site.Config{}, nil
	}
	return readSite(cmd, k.file)
}

func (k *checking) looker(node *backend.Node, cfg *site.Config) looker {
	switch k.subject {
	case "hardware":
		return k.hardware.looker(node, cfg)
	case "network":
		entry := &steps.NetworkEntry{Site: cfg, NodeNet: steps.NewNodeNetwork(node)}
		if cfg.Spec.Network.IsZero() && cfg.Spec.NetworkConfig == "" {
			return func(ctx context.Context) ([]check.Check, error) { return entry.InForce(ctx, node), nil }
		}
		return inspecting(entry, node)
	case "cluster":
		step := &steps.Health{Site: cfg, NodeNet: steps.NewNodeNetwork(node)}
		return func(ctx context.Context) ([]check.Check, error) { return step.Look(ctx, node), nil }
	}
	return func(context.Context) ([]check.Check, error) {
		status, err := imagesStatus(node.Host)
		return imageChecks(node.Host, status), err
	}
}

// inspecting looks as a step of the wizard does.
func inspecting(step steps.Inspector, node *backend.Node) looker {
	return func(ctx context.Context) ([]check.Check, error) {
		var seen inspected
		err := step.Inspect(ctx, node, &seen)
		return seen.checks, err
	}
}

// inspected collects the checks of a step; what it offers for the answers of a form is not wanted here.
type inspected struct {
	steps.Report // an Inspect does not ask, save or note
	checks       []check.Check
}

func (i *inspected) Check(c check.Check)            { i.checks = append(i.checks, c) }
func (i *inspected) Say(message.Text)               {}
func (i *inspected) Progress(progress.Progress)     {}
func (i *inspected) Suggest(string, string, string) {}
func (i *inspected) Offer(string, []steps.Choice)   {}

// imagesStatus is what the last look at the image store found; nothing where there was none.
func imagesStatus(m *host.Machine) (images.Status, error) {
	status, err := images.LoadStatus(m)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return status, err
}

// imageChecks is what is known of the image store, with the rehearsal and the move of images into it.
func imageChecks(m *host.Machine, status images.Status) []check.Check {
	checks := status.Checks()
	if r, err := images.LoadRehearsal(m); err == nil && r.Over() {
		checks = append(checks, r.Check())
	}
	if d, err := images.LoadMoved(m); err == nil {
		checks = append(checks, d.Check())
	}
	return checks
}

// errNotPassed ends a command whose checks were printed.
var errNotPassed = errors.New("a check failed")

// checkSchema names the form of -o json. It changes when a reader would have to.
const checkSchema = "touchdown.dev/check/v1alpha1"

// checked is what -o json prints.
type checked struct {
	Schema  string               `json:"schema"`
	Subject string               `json:"subject"` // hardware, network, cluster or images
	Node    string               `json:"node"`
	At      time.Time            `json:"at"`
	Seconds float64              `json:"seconds"` // that the look took
	Status  check.Status         `json:"status"`  // the worst
	Counts  map[check.Status]int `json:"counts"`
	Checks  []check.Check        `json:"checks"`
}

func (c *checked) count() {
	c.Status, c.Counts = check.Worst(c.Checks), map[check.Status]int{}
	for i := range c.Checks {
		c.Counts[c.Checks[i].Status]++
	}
}

// verdict is the exit code: a warning, and what could not be checked, is not a failure. The checks told it to people; in JSON it is the last
// line.
func (c *checked) verdict(asJSON bool) error {
	if c.Counts[check.Fail] == 0 {
		return nil
	}
	var failed []string
	for i := range c.Checks {
		if c.Checks[i].Status == check.Fail {
			failed = append(failed, c.Checks[i].ID)
		}
	}
	return &exitError{code: exitFailed, quiet: !asJSON, err: fmt.Errorf("%w: %s", errNotPassed, strings.Join(failed, ", "))}
}

// junit is the same in the form of the hand-over report.
func (c *checked) junit() ([]byte, error) {
	d := report.Document{
		Kind: "check", Made: c.At, Node: report.Node{Hostname: c.Node}, Steps: []report.Step{{ID: c.Subject, Seconds: c.Seconds}},
	}
	for _, k := range c.Checks {
		d.Checks = append(d.Checks, report.Check{Step: c.Subject, Check: k})
	}
	return d.JUnit()
}

// summary is the last line of the text.
func (c *checked) summary() string {
	var counts []string
	for _, s := range []check.Status{check.Pass, check.Warn, check.Fail, check.Skip, check.Waived} {
		if n := c.Counts[s]; n > 0 {
			counts = append(counts, fmt.Sprintf("%d %s", n, s))
		}
	}
	return fmt.Sprintf("%s: %s (%s)", c.Subject, c.Status, strings.Join(counts, ", "))
}
