package landing

import (
	"context"
	"fmt"
	"strings"

	"touchdown/backend/message"
	"touchdown/steps/session"
	"touchdown/steps/site"
	"touchdown/steps/view"
	"touchdown/steps/wire"
	"touchdown/test/bench"
)

// Session is the node's engine, reached as a console on the node reaches it. It is good until the node is switched off.
func (l *Landing) Session() (session.Session, error) {
	socket, err := l.Node.Path("/run/touchdown/engine.sock")
	if err != nil {
		return nil, err
	}
	return wire.Dial(socket), nil
}

// Cluster is the control of the node's stand-ins: what they did and what they are to do wrong. It answers while the cluster
// runs, and is good until the node is switched off.
func (l *Landing) Cluster() (*bench.Cluster, error) {
	socket, err := l.Node.Path("/var/lib/bench/controlplane/control.sock")
	if err != nil {
		return nil, err
	}
	return bench.Attach(socket), nil
}

// Do has the engine do something, as a console that takes control for it.
func (l *Landing) Do(ctx context.Context, actions ...session.Action) error {
	engine, err := l.Session()
	if err != nil {
		return err
	}
	token, err := engine.TakeControl(ctx, "the bench's console", true)
	if err != nil {
		return fmt.Errorf("taking control: %w", err)
	}
	for _, a := range actions {
		if err := engine.Do(ctx, token, a); err != nil {
			return fmt.Errorf("%s: %w", a.Verb, err)
		}
	}
	return engine.ReleaseControl(ctx, token)
}

// Hasten sets what nobody is asked at the console, as a stick would bring it: the default of two minutes without a failure is
// not a test of the console.
func (l *Landing) Hasten(ctx context.Context) error {
	engine, err := l.Session()
	if err != nil {
		return err
	}
	token, err := engine.TakeControl(ctx, "stick", true)
	if err != nil {
		return fmt.Errorf("taking control: %w", err)
	}
	if err := engine.Set(ctx, token, "spec.policy.stabilityWindow", "1s"); err != nil {
		return fmt.Errorf("setting the stability window: %w", err)
	}
	return engine.ReleaseControl(ctx, token)
}

// Begin starts the work with someone at the console, who is asked what there is to ask. It returns when the work has begun.
func (l *Landing) Begin(ctx context.Context, config string) error {
	cfg, err := site.Parse([]byte(config), "site.yaml", nil)
	if err != nil {
		return fmt.Errorf("reading the site config: %w", err)
	}
	values := map[string]string{}
	for _, path := range cfg.Paths() {
		values[path], _ = cfg.Get(path)
	}
	engine, err := l.Session()
	if err != nil {
		return err
	}
	token, err := engine.TakeControl(ctx, "the bench's console", true)
	if err != nil {
		return fmt.Errorf("taking control: %w", err)
	}
	if err := engine.Load(ctx, token, values, "the bench"); err != nil {
		return fmt.Errorf("loading the answers: %w", err)
	}
	do := func(a session.Action) error {
		if err := engine.Do(ctx, token, a); err != nil {
			return fmt.Errorf("%s %s: %w", a.Verb, a.Check, err)
		}
		return nil
	}
	if err := do(session.Action{Verb: session.Inspect}); err != nil {
		return err
	}
	for _, check := range Waived {
		if err := do(session.Action{Verb: session.Waive, Step: "hardware", Check: check, By: "the bench", Reason: "a build machine's hardware"}); err != nil {
			return err
		}
	}
	if err := do(session.Action{Verb: session.Review}); err != nil {
		return err
	}
	s, err := engine.Snapshot(ctx)
	if err != nil {
		return fmt.Errorf("reading the review: %w", err)
	}
	if s.Review == nil || len(s.Review.Problems) > 0 {
		return fmt.Errorf("the review stands against the start: %s", problems(s.Review))
	}
	if err := do(session.Action{Verb: session.Start, Fingerprint: s.Review.Fingerprint}); err != nil {
		return err
	}
	return engine.ReleaseControl(ctx, token)
}

func problems(r *view.Review) string {
	if r == nil {
		return "there is none"
	}
	return strings.Join(message.English(r.Problems), "; ")
}
