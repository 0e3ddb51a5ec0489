// Package session is what a console, a command or any other client asks of an engine, in its process or over a socket: the calls, the
// actions, the documents and the errors. What it is shown is in package view, how the calls cross a socket in package wire. It
// imports no engine.
package session

import (
	"context"
	"errors"

	"touchdown/steps/event"
	"touchdown/steps/handout"
	"touchdown/steps/records"
	"touchdown/steps/view"
)

// Session is all that a client can do with an engine. The engine itself implements it, and so does the
// client of the socket; one test suite covers both.
//
// Every write carries the token that TakeControl gave. Without it, or with one that someone has taken
// over since, a write fails with ErrNoControl.
type Session interface {
	// Snapshot returns everything a console shows, consistent at one moment.
	Snapshot(ctx context.Context) (*view.Snapshot, error)
	// Set gives a field a value. A value that its check refuses is kept and shown with its problem, so that
	// nothing typed is lost; only the review refuses it. What the field cannot hold at all, such as a megabyte or a
	// duration that is none, fails with ErrInvalid.
	Set(ctx context.Context, token, path, value string) error
	// Load replaces the whole site config by values, by path, and notes their source. It is what `touchdown apply`
	// does with a file that it has read and checked.
	Load(ctx context.Context, token string, values map[string]string, source string) error
	// Do carries out an action: "start", "retry", "undo" and so on.
	Do(ctx context.Context, token string, action Action) error
	// TakeControl gives the right to write to the named console. When another one holds it, TakeControl fails with
	// ErrControlHeld unless force is set. A console that comes back under its own name needs no force.
	TakeControl(ctx context.Context, console string, force bool) (token string, err error)
	// ReleaseControl gives it back.
	ReleaseControl(ctx context.Context, token string) error
	// Present tells that a person uses the console of ctx (idle.At). Once nobody has for as long as the site config says, every
	// write of that console fails with idle.ErrLocked until Present is given the PIN: after a wrong one it fails with
	// idle.ErrWrong, and with idle.ErrSoon until the wait is over. Who asks without a console is never locked. While Snapshot.Starts
	// counts down, Present ends that, also when it fails: for good, or for a medium until it is put in again.
	Present(ctx context.Context, pin string) error
	// Events calls each for every event after the one numbered from, as they come, until ctx ends or each
	// returns an error. A console that names its token keeps it for as long as the call lasts.
	Events(ctx context.Context, token string, from uint64, each func([]event.Event) error) error
	// Log returns the last records of the engine's log, or of the node's journal, as lines for people, without secrets.
	Log(ctx context.Context, ask records.Ask) ([]string, error)
	// Shown keeps, for support, what a console showed and what was pressed there, as lines of text without secrets; the end of it, and only
	// where that costs nothing.
	Shown(ctx context.Context, text string) error
	// Export returns a document.
	Export(ctx context.Context, what Document) ([]byte, error)
	// Give returns what the people of the site get into their cluster with, to the console that has control and to nobody else: the
	// engine keeps it in memory alone, until the hand-over is accepted. It takes minutes where the API has to learn something.
	Give(ctx context.Context, token string, ask handout.Ask) (*handout.LogIn, error)
}

// The errors that a client can tell apart; they keep their identity over the socket.
var (
	ErrNoControl   = errors.New("this console does not have control")
	ErrControlHeld = errors.New("another console has control")
	ErrLocked      = errors.New("the node has landed and is locked")
	ErrState       = errors.New("not possible in this state")
	ErrNotFound    = errors.New("not found")
	ErrInvalid     = errors.New("not valid")
	// ErrNoEngine is wrapped by every error of a client that reached no engine.
	ErrNoEngine = errors.New("no engine answers")
)
