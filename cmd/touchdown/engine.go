package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"runtime/debug"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"touchdown/backend"
	"touchdown/backend/clock"
	"touchdown/backend/delivery"
	"touchdown/backend/factory"
	"touchdown/backend/hardware/burnin"
	"touchdown/backend/host"
	"touchdown/backend/images"
	"touchdown/backend/kube"
	"touchdown/backend/layout"
	"touchdown/backend/layout/rhcos"
	"touchdown/backend/media"
	"touchdown/backend/message"
	"touchdown/backend/problem"
	"touchdown/backend/update"
	"touchdown/steps"
	"touchdown/steps/engine"
	"touchdown/steps/session"
	"touchdown/steps/site"
	"touchdown/steps/view"
	"touchdown/steps/wire"
)

const (
	// memoryLimit makes the garbage collector work harder before the engine takes memory that workloads need.
	memoryLimit = 32 << 20
	// gcPercent is how much garbage there may be before it is collected, in percent of what is in use. An engine mostly waits, and has
	// processor time for it.
	gcPercent = 50
	// maxLog is the size in bytes at which the log begins again; one earlier log is kept.
	maxLog = 16 << 20
)

// engineFlags say which node an engine owns.
type engineFlags struct {
	state      string
	kubeconfig string
	noPower    bool
	media      bool // site media are used: the engine is a node's own
	dryRun     bool // it makes a review and changes nothing: it goes on with no job, wipe or return
	factory    bool // it has the factory's list also where the node is not on the bench line, to review it
}

func (f *engineFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.state, "state", env("TOUCHDOWN_STATE", layout.State), "state folder: journal, answers, saved originals")
	cmd.Flags().StringVar(&f.kubeconfig, "kubeconfig", env("KUBECONFIG", defaultKubeconfig), "how to reach the node's cluster")
	cmd.Flags().BoolVar(&f.noPower, "no-power", false, "never reboot or power off the machine, whatever a step or a person asks for")
}

// factoryState is the state folder of the work on the bench line.
func (f *engineFlags) factoryState() string { return filepath.Join(f.state, layout.FactoryFolder) }

// localFlags adds what hosts an engine inside a client.
func (c *connection) localFlags(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&c.local, "local", false, "host the engine in this process instead of using the node's: for a laptop or a test")
	c.engine.add(cmd)
}

func engineCommand(c *connection) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "engine",
		Short: "Own the node and serve the consoles",
		Long: `The engine owns the node: it holds the lock, the answers and the journal, runs the steps and serves the
consoles on a unix socket that only root may use. There is one engine on a node; a second one refuses to start.
It goes on with unfinished work when it starts.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.engine.serve(cmd.Context(), c.socket, c.hooks)
		},
	}
	c.engine.add(cmd)
	return cmd
}

// serve runs an engine until ctx ends.
func (f *engineFlags) serve(ctx context.Context, socket string, h hooks) error {
	f.media = true
	// Before anything is opened: an engine goes on with unfinished work when it starts.
	if err := wire.Free(ctx, socket); err != nil {
		if _, busy := errors.AsType[*problem.Problem](err); busy || ctx.Err() != nil {
			return err
		}
		return usage(fmt.Errorf("--socket: %w", err))
	}
	e, closeEngine, err := f.open(ctx, h)
	if err != nil && errors.Is(err, ctx.Err()) { // stopped before it began
		return nil
	}
	if err != nil {
		return err
	}
	letGo()
	return errors.Join(wire.Serve(ctx, e, socket), closeEngine())
}

// open starts an engine on the machine that the flags name.
func (f *engineFlags) open(ctx context.Context, h hooks) (*engine.Engine, func() error, error) {
	debug.SetMemoryLimit(memoryLimit)
	debug.SetGCPercent(gcPercent)
	mask := &engine.Masker{}
	logFile := filepath.Join(f.state, "engine.log")
	out, log, err := f.prepare(ctx, h, logFile, mask)
	if err != nil {
		return nil, nil, err
	}
	cluster, err := f.cluster(log)
	if err != nil {
		return nil, nil, errors.Join(err, out.Close())
	}
	if h.cluster != nil {
		h.cluster(cluster)
	}
	node := &backend.Node{
		Host: host.Open(host.Options{Root: h.root, NoPower: f.noPower, Log: log}),
		Kube: cluster, Now: time.Now, Log: log,
	}
	program, err := os.Executable()
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("finding this program: %w", err), out.Close())
	}
	dir, name, list := f.state, view.ListSite, steps.Site
	if f.factory || factory.OnLine(node.Host) {
		dir, name, list = f.factoryState(), view.ListFactory, steps.Factory
	}
	nodeNet, typed, pace := steps.NewNodeNetwork(node), clock.NewWatch(node.Now), 1.
	var watcher *media.Watcher
	var outbox *delivery.Outbox
	if name == view.ListSite {
		outbox = delivery.Open(delivery.Options{Host: node.Host, Folder: layout.Outbox, Version: version, Log: log, Now: node.Now})
		watcher = f.watcher(node.Host)
		pace = (&steps.FactoryReport{Dir: f.factoryState()}).Pace()
	}
	e, err := engine.Open(engine.Options{
		Dir: dir, List: name, Node: node, Version: version, Pace: pace, LogFile: logFile, Mask: mask, AfterEvent: h.afterEvent, AtRest: debug.FreeOSMemory,
		DryRun: f.dryRun, Media: watcher, Updates: watcher != nil && len(watcher.Release) > 0, Outbox: outbox,
		Notices: func() []message.Text { return notices(node) }, Reached: nodeNet.Reached,
		Found: func(cfg *site.Config) { typed.Found(cfg.Spec.Time.UTC) },
		Stages: func(cfg *site.Config) []steps.Stage {
			return h.list(list, cfg, steps.Wiring{
				Version: version, Program: program, Dir: dir, NodeNet: nodeNet, Typed: typed, Media: watcher, Outbox: outbox,
				Line:    node.Host,
				Brought: node.Host.Exists,
				BurnIn:  func() time.Duration { return burnin.Asked(node.Host, factory.Stay(node.Host)) },
			})
		},
	})
	if err != nil {
		return nil, nil, errors.Join(err, out.Close())
	}
	return e, func() error { return errors.Join(e.Close(), out.Close()) }, nil
}

// prepare makes the state folder fit for an engine, and opens its log.
func (f *engineFlags) prepare(ctx context.Context, h hooks, logFile string, mask *engine.Masker) (*os.File, *slog.Logger, error) {
	if err := f.mayLook(); err != nil {
		return nil, nil, err
	}
	if err := os.MkdirAll(f.state, 0o700); err != nil {
		return nil, nil, fmt.Errorf("creating the state folder: %w", err)
	}
	machine := host.Open(host.Options{Root: h.root, NoPower: true})
	unfinished := f.finishWipe(ctx)
	if unfinished != nil && ctx.Err() != nil {
		return nil, nil, unfinished
	}
	if unfinished == nil {
		unfinished = f.finishReturn(machine) // it moves the log
	}
	out, err := openLog(logFile)
	if err != nil {
		return nil, nil, err
	}
	log := newLog(out, mask)
	if unfinished != nil { // the engine starts all the same
		log.Error("going on with a wipe, or with the node's return to the factory", "error", unfinished)
	}
	if program, err := os.Executable(); err == nil && f.media {
		afterTrial(machine, program, log)
	}
	return out, log, nil
}

// afterTrial tells of an update that did not come to its end, where this is not the engine of its trial, and takes away what it left. The
// name alone is compared: /usr/local is a link on a node.
func afterTrial(machine *host.Machine, program string, log *slog.Logger) {
	if filepath.Base(program) == filepath.Base(layout.CandidateProgram) || !machine.Exists(layout.CandidateProgram) {
		return
	}
	log.Warn("an update was cut off, or its engine did not answer", "version", version, "removed", layout.CandidateProgram, "error", machine.Remove(layout.CandidateProgram))
}

// cluster is the way into the node's cluster.
func (f *engineFlags) cluster(log *slog.Logger) (*kube.Cluster, error) {
	cluster, err := kube.Open(f.kubeconfig, log)
	if err != nil && f.kubeconfig == defaultKubeconfig { // a power cut may have emptied the file: the console opens all the same
		log.Error("no way into the cluster", "error", err)
		return kube.Shut(f.kubeconfig, log), nil
	}
	return cluster, notThere(err)
}

// notices are sentences for every screen.
func notices(node *backend.Node) []message.Text {
	told := images.Notices(node.Host)
	if detour := node.Kube.Detour(); detour != (message.Text{}) {
		told = append([]message.Text{detour}, told...)
	}
	return told
}

// watcher looks for site media where the engine is a node's own.
func (f *engineFlags) watcher(machine *host.Machine) *media.Watcher {
	if !f.media {
		return nil
	}
	w := media.NewWatcher(machine)
	if machine.Exists(layout.Program) && machine.Exists(rhcos.Units+"/"+layout.EngineUnit) { // what touchdown update can exchange
		w.Release, w.Beside = update.Files(), []string{update.OrderFile}
	}
	return w
}

// openLog opens the log for appending; a long one is set aside first, where the disk lets it be.
func openLog(path string) (*os.File, error) {
	if info, err := os.Stat(path); err == nil && info.Size() > maxLog {
		_ = os.Rename(path, path+".1")
	}
	f, err := openFile(path)
	if err == nil {
		return f, nil
	}
	_ = os.Rename(path, path+".unreadable") // something in its place that is not a file
	if f, err = openFile(path); err == nil {
		return f, nil
	}
	// On a disk that is full or read-only the node needs its console all the more.
	if f, err = os.OpenFile(os.DevNull, os.O_WRONLY, 0); err != nil {
		return nil, fmt.Errorf("opening the log: %w", err)
	}
	return f, nil
}

// openFile opens a file for appending. It waits for no pipe and follows no link.
func openFile(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0o600)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		f.Close()
		return nil, fmt.Errorf("%s is not a file", path)
	}
	return f, nil
}

// newLog writes JSON lines without the secrets that were entered.
func newLog(out io.Writer, mask *engine.Masker) *slog.Logger {
	return slog.New(slog.NewJSONHandler(maskedWriter{out, mask}, &slog.HandlerOptions{Level: slog.LevelInfo}))
}

// maskedWriter masks each record on its way out. A record is one Write.
type maskedWriter struct {
	out  io.Writer
	mask *engine.Masker
}

func (w maskedWriter) Write(record []byte) (int, error) {
	if _, err := io.WriteString(w.out, w.mask.Mask(string(record))); err != nil {
		return 0, err
	}
	return len(record), nil
}

// session returns the engine's client, or with --local an engine of this process.
func (c *connection) session(ctx context.Context) (session.Session, func() error, error) {
	if !c.local {
		return c.client(), func() error { return nil }, nil
	}
	return c.engine.open(ctx, c.hooks)
}
