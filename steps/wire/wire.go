// Package wire carries the calls of a session.Session over a unix socket: Serve on the side of the engine, a Client on the other.
package wire

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"

	"touchdown/backend/message"
	"touchdown/backend/problem"
	"touchdown/steps/event"
	"touchdown/steps/idle"
	"touchdown/steps/session"
	"touchdown/steps/site"
)

// The wire is plain HTTP on a unix socket, bodies in JSON, events as JSON lines. Version 1:
//
//	GET    /v1/snapshot                Snapshot
//	PUT    /v1/site/PATH               {"value": "..."}; sets one field
//	PUT    /v1/site                    {"values": {PATH: VALUE}, "source": "file x.yaml"}; replaces all
//	POST   /v1/actions                 Action; answered when it is carried out, or under way where it is work
//	POST   /v1/control                     {"console": "tty1", "force": false} -> {"token": TOKEN}
//	POST   /v1/presence                {"pin": "..."}; a person uses the console; the PIN is needed where it is locked
//	DELETE /v1/control                     gives it back
//	GET    /v1/events?from=N           events after number N, a JSON object a line, until the client leaves
//	GET    /v1/log?lines=N             {"lines": [...]}
//	POST   /v1/shown                   {"text": "..."}; what a console showed, for support
//	POST   /v1/credentials             {"password": true, "kubeconfig": true} -> the login, once the node has landed
//	GET    /v1/documents/NAME          report.txt, report.json, report.signed.json, hosts.txt, answers, bundle, bundle.offered, bundle.withdrawn, inventory
//
// Writes carry the token in the header Touchdown-Control, and so does an event stream that keeps it. A person's console names itself in
// each request, in the header Touchdown-Console: it locks when nobody uses it and a PIN is set. An error is
// {"error": TEXT, "kind": KIND, "problem": {...}, "says": TEXT, "messages": {...}} with a status of 4xx or 5xx; says is what a person
// reads beside the field whose value was refused, messages are the messages of the texts (package message).
const (
	controlHeader = "Touchdown-Control"
	consoleHeader = "Touchdown-Console"
	apiPrefix     = "/v1"
)

// maxBody bounds a request: a site config with every certificate is far below it.
const maxBody = 4 << 20

type wireValue struct {
	Value string `json:"value"`
}

type wireValues struct {
	Values map[string]string `json:"values"`
	Source string            `json:"source"`
}

type wireControl struct {
	Console string `json:"console,omitempty"`
	Force   bool   `json:"force,omitempty"`
	Control string `json:"token,omitempty"`
}

type wirePresence struct {
	PIN string `json:"pin,omitempty"`
}

type wireLog struct {
	Lines []string `json:"lines"`
}

type wireShown struct {
	Text string `json:"text"`
}

type wireError struct {
	Error   string         `json:"error"`
	Kind    string         `json:"kind,omitempty"`
	Problem *event.Trouble `json:"problem,omitempty"`
	Says    message.Text   `json:"says,omitzero"`

	Messages message.Messages `json:"messages,omitempty"`
}

// kinds are the errors that keep their identity over the wire, with their HTTP status.
var kinds = []struct {
	name   string
	err    error
	status int
}{
	{"no-control", session.ErrNoControl, http.StatusForbidden},
	{"control-held", session.ErrControlHeld, http.StatusConflict},
	{"locked", session.ErrLocked, http.StatusLocked},
	{"state", session.ErrState, http.StatusConflict},
	{"not-found", session.ErrNotFound, http.StatusNotFound},
	{"invalid", session.ErrInvalid, http.StatusUnprocessableEntity},
	{"idle", idle.ErrLocked, http.StatusLocked},
	{"pin-wrong", idle.ErrWrong, http.StatusForbidden},
	{"pin-soon", idle.ErrSoon, http.StatusTooManyRequests},
}

// toWire encodes an error.
func toWire(err error) (wireError, int) {
	w := wireError{Error: err.Error()}
	if _, ok := errors.AsType[*problem.Problem](err); ok {
		w.Problem = event.TroubleOf(err)
	}
	if e, ok := errors.AsType[*site.Error](err); ok {
		w.Says = e.Says()
	}
	w.Messages = message.Of(&w)
	for _, k := range kinds {
		if errors.Is(err, k.err) {
			w.Kind = k.name
			return w, k.status
		}
	}
	return w, http.StatusInternalServerError
}

// fromWire decodes an error. Its text is the engine's; its identity is one of kinds, or a Problem.
func fromWire(status int, body []byte) error {
	var w wireError
	if json.Unmarshal(body, &w) != nil || w.Error == "" {
		return fmt.Errorf("the engine answered %s", http.StatusText(status))
	}
	message.Restore(&w, w.Messages)
	if p := w.Problem; p != nil {
		remote := &problem.Problem{Code: p.Code, Summary: p.Summary, Fix: p.Fix}
		if p.Detail != (message.Text{}) {
			remote.Err = message.Failed(p.Detail)
		}
		for _, k := range kinds {
			if k.name == w.Kind {
				remote.Err = &remoteError{text: p.Detail.String(), kind: k.err}
			}
		}
		return remote
	}
	for _, k := range kinds {
		if k.name == w.Kind {
			return &remoteError{text: w.Error, kind: k.err, says: w.Says}
		}
	}
	return errors.New(w.Error)
}

// remoteError is an engine's error with its own text and its identity.
type remoteError struct {
	text string
	kind error
	says message.Text
}

func (e *remoteError) Error() string { return e.text }
func (e *remoteError) Unwrap() error { return e.kind }

// Says is that of a site.Error.
func (e *remoteError) Says() message.Text { return e.says }

// socketFolder makes the folder of the socket, which only root may enter.
func socketFolder(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("creating the socket's folder: %w", err)
	}
	return nil
}
