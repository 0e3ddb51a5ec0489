package wire

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"touchdown/steps/event"
	"touchdown/steps/handout"
	"touchdown/steps/idle"
	"touchdown/steps/records"
	"touchdown/steps/session"
)

// server translates requests into calls of a Session.
type server struct {
	session session.Session
	stream  time.Duration // see streamTime
	bundles chan struct{} // holds one for each that is on its way
}

func handler(session session.Session, stream time.Duration) http.Handler {
	s := server{session, stream, make(chan struct{}, mostBundles)}
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+apiPrefix+"/snapshot", s.snapshot)
	mux.HandleFunc("PUT "+apiPrefix+"/site/{path}", s.set)
	mux.HandleFunc("PUT "+apiPrefix+"/site", s.load)
	mux.HandleFunc("POST "+apiPrefix+"/actions", s.action)
	mux.HandleFunc("POST "+apiPrefix+"/control", s.takeControl)
	mux.HandleFunc("POST "+apiPrefix+"/presence", s.present)
	mux.HandleFunc("DELETE "+apiPrefix+"/control", s.releaseControl)
	mux.HandleFunc("GET "+apiPrefix+"/events", s.events)
	mux.HandleFunc("GET "+apiPrefix+"/log", s.log)
	mux.HandleFunc("POST "+apiPrefix+"/shown", s.shown)
	mux.HandleFunc("GET "+apiPrefix+"/documents/{name}", s.document)
	mux.HandleFunc("POST "+apiPrefix+"/credentials", s.give)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mux.ServeHTTP(w, r.WithContext(idle.At(r.Context(), r.Header.Get(consoleHeader))))
	})
}

func (s server) snapshot(w http.ResponseWriter, r *http.Request) {
	snapshot, err := s.session.Snapshot(r.Context())
	answer(w, snapshot, err)
}

func (s server) set(w http.ResponseWriter, r *http.Request) {
	var body wireValue
	if read(w, r, &body) {
		answer(w, nil, s.session.Set(r.Context(), r.Header.Get(controlHeader), r.PathValue("path"), body.Value))
	}
}

func (s server) load(w http.ResponseWriter, r *http.Request) {
	var body wireValues
	if read(w, r, &body) {
		answer(w, nil, s.session.Load(r.Context(), r.Header.Get(controlHeader), body.Values, body.Source))
	}
}

func (s server) action(w http.ResponseWriter, r *http.Request) {
	var body session.Action
	if read(w, r, &body) {
		answer(w, nil, s.session.Do(r.Context(), r.Header.Get(controlHeader), body))
	}
}

func (s server) takeControl(w http.ResponseWriter, r *http.Request) {
	var body wireControl
	if read(w, r, &body) {
		token, err := s.session.TakeControl(r.Context(), body.Console, body.Force)
		answer(w, wireControl{Control: token}, err)
	}
}

func (s server) present(w http.ResponseWriter, r *http.Request) {
	var body wirePresence
	if read(w, r, &body) {
		answer(w, nil, s.session.Present(r.Context(), body.PIN))
	}
}

func (s server) releaseControl(w http.ResponseWriter, r *http.Request) {
	answer(w, nil, s.session.ReleaseControl(r.Context(), r.Header.Get(controlHeader)))
}

// events streams until the client leaves or the engine ends.
func (s server) events(w http.ResponseWriter, r *http.Request) {
	from, err := strconv.ParseUint(r.URL.Query().Get("from"), 10, 64)
	if err != nil && r.URL.Query().Has("from") {
		answer(w, nil, fmt.Errorf("%w: from is a number", session.ErrInvalid))
		return
	}
	w.Header().Set("Content-Type", "application/jsonl")
	out := http.NewResponseController(w)
	_ = out.Flush() // the client waits for the header
	encoder := json.NewEncoder(w)
	_ = s.session.Events(r.Context(), r.Header.Get(controlHeader), from, func(events []event.Event) error {
		_ = out.SetWriteDeadline(time.Now().Add(s.stream))
		for _, e := range events {
			if err := encoder.Encode(e); err != nil {
				return err
			}
		}
		if err := out.Flush(); err != nil {
			return err
		}
		return out.SetWriteDeadline(time.Time{}) // the end of a stream that was quiet for longer is written too
	}) // it ends with the client or the engine; there is nobody to tell
}

func (s server) log(w http.ResponseWriter, r *http.Request) {
	which := r.URL.Query()
	ask := records.Ask{Node: which.Get("node") == "true", Grave: which.Get("grave") == "true"}
	var err error
	if ask.Lines, err = strconv.Atoi(which.Get("lines")); err != nil {
		ask.Lines = 200
	}
	out, err := s.session.Log(r.Context(), ask)
	answer(w, wireLog{Lines: out}, err)
}

func (s server) document(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("name")
	if strings.HasPrefix(name, string(session.Bundle)) { // the largest by far, and the work of seconds
		select {
		case s.bundles <- struct{}{}:
			defer func() { <-s.bundles }()
		default:
			answer(w, nil, fmt.Errorf("%w: other support bundles are being made; try again", session.ErrState))
			return
		}
	}
	data, err := s.session.Export(r.Context(), session.Document(name))
	if err != nil {
		answer(w, nil, err)
		return
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(answerTime))
	_, _ = w.Write(data) // a client that left needs no answer
}

func (s server) shown(w http.ResponseWriter, r *http.Request) {
	var body wireShown
	if read(w, r, &body) {
		answer(w, nil, s.session.Shown(r.Context(), body.Text))
	}
}

func (s server) give(w http.ResponseWriter, r *http.Request) {
	var ask handout.Ask
	if read(w, r, &ask) {
		got, err := s.session.Give(r.Context(), r.Header.Get(controlHeader), ask)
		answer(w, got, err)
	}
}
