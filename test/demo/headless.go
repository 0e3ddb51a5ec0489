package main

import (
	"context"
	"fmt"
	"time"

	"touchdown/test/bench/landing"
)

// headless is a landing without anybody at the console.
type headless struct {
	*landing.Landing
	config string
	tell   func(format string, args ...any)
	hit    chan error // how the fault that happens automatically went
}

// headless runs the site config on the node, and has the fault happen on the way.
func (d *demo) headless(ctx context.Context, l *landing.Landing, config string) error {
	if _, err := l.Await(ctx, "the node's answer", func(s *landing.Status) bool { return s.State == "collecting" }); err != nil {
		return err
	}
	h := &headless{Landing: l, config: config, tell: tell, hit: make(chan error, 1)}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() { h.hit <- d.strike(ctx, &scene{Landing: l, tell: tell, dark: func(string) {}}) }()
	if d.fault != nil && d.fault.land != nil {
		return d.fault.land(ctx, h)
	}
	_, code, err := l.Apply(ctx, config)
	if err != nil {
		return err
	}
	if err := h.landed(code); err != nil {
		return err
	}
	return h.struck(ctx)
}

// tell says something that is the demo's, not the node's.
func tell(format string, args ...any) { fmt.Printf("demo: "+format+"\n", args...) }

// landed judges the exit code of an apply.
func (*headless) landed(code int) error {
	if code != 0 {
		return fmt.Errorf("touchdown apply ended with exit code %d", code)
	}
	return nil
}

// struck waits until the fault that happens automatically has happened.
func (h *headless) struck(ctx context.Context) error {
	select {
	case err := <-h.hit:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// watch prints what happens on a node that nobody leads, until it has landed.
func (h *headless) watch(ctx context.Context) error {
	s, err := h.Await(ctx, "the engine's answer", func(*landing.Status) bool { return true })
	if err != nil {
		return err
	}
	h.tell("the engine is back: the node is %s; `touchdown events --follow` tells:", s.State)
	watching, enough := context.WithCancel(ctx)
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		_, _, _ = h.Touchdown(watching, "events", "--follow", "--from", fmt.Sprint(s.Seq))
	}()
	s, err = h.Await(ctx, "the end of the work", func(s *landing.Status) bool { return s.State == "done" || s.State == "failed" })
	time.Sleep(time.Second) // the last events are on their way
	enough()
	<-watched
	if err == nil && s.State == "failed" {
		err = fmt.Errorf("the work failed: %s %s", s.Problem.Code, s.Problem.Summary)
	}
	return err
}
