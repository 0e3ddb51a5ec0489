package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"touchdown/backend/host"
	"touchdown/backend/message"
	"touchdown/backend/problem"
	"touchdown/steps/dated"
	"touchdown/steps/event"
	"touchdown/steps/session"
	"touchdown/steps/site"
	"touchdown/steps/view"
)

// applyFlags are what `touchdown apply` is told.
type applyFlags struct {
	*common
	file      string
	dryRun    bool
	force     bool
	waive     []string
	withdraw  []string
	told      bool // the checks of withdraw were judged before: one that is no longer there has no waiver
	by        string
	afterLoss bool
	node      string // the name that unlocks a landed node; "": it stays locked
}

func applyCommand(c *common) *cobra.Command {
	f := &applyFlags{common: c}
	cmd := &cobra.Command{
		Use:   "apply -f FILE",
		Short: "Do what the wizard does, without anybody at a screen",
		Long: `Apply gives the engine the answers in FILE, has them reviewed, starts the work and follows it to its end.
The same checks and the same steps run as at a console; questions are answered by spec.policy.answers, or else
by their defaults. It can be interrupted: the engine goes on, and "touchdown events --follow" shows how.`,
		Example: `  touchdown site new > site.yaml      # then fill it in
  touchdown apply -f site.yaml --dry-run
  touchdown apply -f site.yaml -o json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	cmd.Flags().StringVarP(&f.file, "file", "f", "", "the site config (required); - reads standard input")
	cmd.Flags().BoolVar(&f.dryRun, "dry-run", false, "stop after the review; nothing is changed but the answers and waivers that the engine has")
	cmd.Flags().BoolVar(&f.force, "force", false, "take control from another console")
	cmd.Flags().StringArrayVar(&f.waive, "waive", nil, "CHECK=REASON: take responsibility for a check that does not pass; needs --by")
	cmd.Flags().StringVar(&f.by, "by", "", "who waives")
	f.withdrawFlag(cmd, "")
	f.unlockFlag(cmd)
	cmd.Flags().BoolVar(&f.afterLoss, "after-loss", false, "start over although records of an earlier job were damaged or lost")
	c.outputFlag(cmd)
	c.localFlags(cmd)
	return cmd
}

func (f *applyFlags) run(cmd *cobra.Command) error {
	if f.file == "" {
		return usage(errors.New("apply needs -f FILE; `touchdown site new` prints one to fill in"))
	}
	if f.dryRun && f.node != "" {
		return usage(errors.New("--node unlocks a node that has landed, and a dry run leaves it locked; give one of --dry-run and --node"))
	}
	machine := host.Open(host.Options{Root: f.hooks.root, NoPower: true})
	cfg, err := loadSiteOn(cmd, f.file, func(cfg *site.Config) time.Time { return dated.By(machine, time.Now(), cfg) })
	if err != nil {
		return err
	}
	return f.apply(cmd, cfg, "file "+f.file)
}

// apply has an engine do what a config says, and follows the work to its end. source is where the answers come from.
func (f *applyFlags) apply(cmd *cobra.Command, cfg *site.Config, source string) error {
	values := map[string]string{}
	for _, path := range cfg.Paths() {
		values[path], _ = cfg.Get(path)
	}
	return f.work(cmd, answers{give: func(ctx context.Context, engine session.Session, token string) error {
		return engine.Load(ctx, token, values, source)
	}})
}

// work has an engine do what the answers say, and follows the work to its end.
func (f *applyFlags) work(cmd *cobra.Command, given answers) error {
	asJSON, err := f.json()
	if err != nil {
		return err
	}
	if err := f.checkWaivers(); err != nil {
		return err
	}
	f.engine.dryRun = f.dryRun
	engine, closeSession, err := f.session(cmd.Context())
	if err != nil {
		return err
	}
	if err := f.wake(cmd.Context(), complaints(cmd), engine); errors.Is(err, session.ErrNoEngine) {
		return errors.Join(noEngine(err), closeSession())
	}
	a := &applying{flags: f, answers: given, cmd: cmd, session: engine, json: asJSON}
	return errors.Join(explainClient(a.inControl(cmd.Context(), a.apply)), closeSession())
}

// apply hands over the answers, starts the work and follows it.
func (a *applying) apply(ctx context.Context) error {
	review, from, err := a.review(ctx)
	if err != nil || a.flags.dryRun {
		return err
	}
	start := session.Action{Verb: session.Start, Fingerprint: review.Fingerprint, Unattended: true}
	if err := a.session.Do(ctx, a.token, start); err != nil {
		return err
	}
	if err := a.follow(ctx, from); err != nil {
		return err
	}
	return a.end(ctx)
}

// review gives the answers to the engine and prints what it would do. It returns the number of the last event.
func (a *applying) review(ctx context.Context) (*view.Review, uint64, error) {
	snapshot, err := a.session.Snapshot(ctx)
	if err != nil {
		return nil, 0, err
	}
	if p := snapshot.Problem; p != nil && p.Code == view.RecordsLost && !a.flags.afterLoss {
		return nil, 0, &problem.Problem{
			Code: p.Code, Summary: p.Summary, Err: errors.New(p.Detail.String()),
			Fix: message.T("Look at the node (touchdown status). Continue at a console, start over with `touchdown apply --after-loss`, or put everything back with `touchdown undo`."),
		}
	}
	if a.flags.dryRun {
		if err := wouldTake(snapshot); err != nil {
			return nil, 0, err
		}
	}
	if err := a.may(snapshot); err != nil {
		return nil, 0, err
	}
	if err := a.unlock(ctx, snapshot); err != nil {
		return nil, 0, err
	}
	switch snapshot.State {
	case view.Inspecting, view.Collecting:
	default:
		if err := a.session.Do(ctx, a.token, session.Action{Verb: session.Edit}); err != nil {
			return nil, 0, err
		}
	}
	if err := a.answers.give(ctx, a.session, a.token); err != nil {
		return nil, 0, err
	}
	if err := a.session.Do(ctx, a.token, session.Action{Verb: session.Inspect}); err != nil {
		return nil, 0, err
	}
	if snapshot, err = a.session.Snapshot(ctx); err != nil {
		return nil, 0, err
	}
	if err := a.waivers(ctx, snapshot); err != nil {
		return nil, 0, err
	}
	if err := a.session.Do(ctx, a.token, session.Action{Verb: session.Review}); err != nil {
		return nil, 0, err
	}
	if snapshot, err = a.session.Snapshot(ctx); err != nil {
		return nil, 0, err
	}
	if snapshot.Review == nil {
		return nil, 0, fmt.Errorf("%w: an answer was changed at another console; run the command again", session.ErrState)
	}
	return snapshot.Review, snapshot.Seq, a.printReview(snapshot.Review)
}

// printReview prints the plan; what stands against the start is the error.
func (a *applying) printReview(r *view.Review) error {
	inJSON := a.json && a.flags.dryRun
	if inJSON {
		if err := printJSON(a.cmd, r); err != nil {
			return err
		}
	}
	if !a.json {
		renderReview(printed(a.cmd), r)
	}
	if len(r.Problems) > 0 {
		return &exitError{code: exitFailed, inJSON: inJSON, err: fmt.Errorf("not started:\n  %s", strings.Join(withIDs(r, r.Problems), "\n  "))}
	}
	return nil
}

// follow prints events until the job has an end.
func (a *applying) follow(ctx context.Context, from uint64) error {
	each := printing(a.cmd, a.json)
	err := followed(ctx, a.cmd, a.session, a.token, from, func(events []event.Event) error {
		for _, e := range events {
			if err := each(e); err != nil {
				return err
			}
			from = e.Seq
		}
		return a.ended(ctx, from)
	})
	if err == nil && ctx.Err() != nil {
		return a.interrupted()
	}
	return err
}

// interrupted says what becomes of the work that is no longer followed.
func (a *applying) interrupted() error {
	if a.flags.local {
		return errors.New("interrupted; the work goes on when the command runs again")
	}
	return errors.New("interrupted; the engine goes on with the work, and `touchdown events --follow` shows how")
}

// ended returns errEnough once nothing more will happen automatically and all that happened has been read.
func (a *applying) ended(ctx context.Context, read uint64) error {
	snapshot, err := a.session.Snapshot(ctx)
	if err != nil {
		return err
	}
	switch snapshot.State {
	case view.Working, view.InQuestion, view.UndoingAll:
		return nil
	}
	if snapshot.Seq > read {
		return nil
	}
	return errEnough
}

// end prints the report, or returns what went wrong with its exit code.
func (a *applying) end(ctx context.Context) error {
	snapshot, err := a.session.Snapshot(ctx)
	if err != nil {
		return err
	}
	switch {
	case snapshot.State == view.IsDone && !a.json:
		return exportFrom(ctx, a.cmd, a.session, session.ReportText)
	case snapshot.State == view.IsDone:
		return nil
	}
	return a.failed(snapshot)
}

// failed is the error of work that has not come to its end. The events told it to people; in JSON it is the last line.
func (a *applying) failed(snapshot *view.Snapshot) error {
	e := &exitError{code: exitFailed, quiet: !a.json, err: fmt.Errorf("the work ended as %s", snapshot.State)}
	p := snapshot.Problem
	if p == nil {
		return e
	}
	if p.Code == view.RebootRefused {
		e.code = exitReboot
	}
	e.err = trouble(p)
	return e
}

// trouble is an engine's problem as an error.
func trouble(p *event.Trouble) error {
	is := &problem.Problem{Code: p.Code, Summary: p.Summary, Fix: p.Fix}
	if detail := p.Detail.String(); detail != "" {
		is.Err = errors.New(detail)
	}
	return is
}
