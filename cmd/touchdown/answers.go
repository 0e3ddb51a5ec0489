package main

import (
	"context"

	"touchdown/steps/session"
	"touchdown/steps/view"
)

// answers are what a headless run gives to the engine.
type answers struct {
	give  func(ctx context.Context, engine session.Session, token string) error
	fits  func(*view.Snapshot) error // why this node cannot take them; nil: any can
	stays func(*view.Review) error   // why the node must not change as they would change it; nil: it may
}

// fit is asked before the node is touched.
func (a answers) fit(s *view.Snapshot) error {
	if a.fits == nil {
		return nil
	}
	return a.fits(s)
}

// judge is asked before the work starts.
func (a answers) judge(r *view.Review) error {
	if a.stays == nil {
		return nil
	}
	return a.stays(r)
}
