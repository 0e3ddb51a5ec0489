package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"syscall"
	"time"

	"touchdown/steps"
)

// Serve answers clients on a unix socket at path, mode 0600, until ctx ends. The caller holds the state
// folder's lock, so a socket that is already there belongs to an engine that died and is replaced.
func Serve(ctx context.Context, session Session, path string) error {
	if err := socketFolder(path); err != nil {
		return err
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("removing an old socket: %w", err)
	}
	// Between bind and chmod the socket would be open to others where its folder is.
	old := syscall.Umask(0o177)
	listener, err := (&net.ListenConfig{}).Listen(ctx, "unix", path)
	syscall.Umask(old)
	if err != nil {
		return fmt.Errorf("listening on %s: %w", path, err)
	}
	server := &http.Server{
		Handler:           handler(session),
		ReadHeaderTimeout: 10 * time.Second,
		BaseContext:       func(net.Listener) context.Context { return ctx },
	}
	stop := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer stop()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serving %s: %w", path, err)
	}
	return nil
}

// server translates requests into calls of a Session.
type server struct{ session Session }

func handler(session Session) http.Handler {
	s := server{session}
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+apiPrefix+"/snapshot", s.snapshot)
	mux.HandleFunc("PUT "+apiPrefix+"/site/{path}", s.set)
	mux.HandleFunc("PUT "+apiPrefix+"/site", s.load)
	mux.HandleFunc("POST "+apiPrefix+"/actions", s.action)
	mux.HandleFunc("POST "+apiPrefix+"/pen", s.takePen)
	mux.HandleFunc("DELETE "+apiPrefix+"/pen", s.releasePen)
	mux.HandleFunc("GET "+apiPrefix+"/events", s.events)
	mux.HandleFunc("GET "+apiPrefix+"/log", s.log)
	mux.HandleFunc("GET "+apiPrefix+"/documents/{name}", s.document)
	return mux
}

func (s server) snapshot(w http.ResponseWriter, r *http.Request) {
	snapshot, err := s.session.Snapshot(r.Context())
	answer(w, snapshot, err)
}

func (s server) set(w http.ResponseWriter, r *http.Request) {
	var body wireValue
	if read(w, r, &body) {
		answer(w, nil, s.session.Set(r.Context(), r.Header.Get(penHeader), r.PathValue("path"), body.Value))
	}
}

func (s server) load(w http.ResponseWriter, r *http.Request) {
	var body wireValues
	if read(w, r, &body) {
		answer(w, nil, s.session.Load(r.Context(), r.Header.Get(penHeader), body.Values, body.Source))
	}
}

func (s server) action(w http.ResponseWriter, r *http.Request) {
	var body Action
	if read(w, r, &body) {
		answer(w, nil, s.session.Do(r.Context(), r.Header.Get(penHeader), body))
	}
}

func (s server) takePen(w http.ResponseWriter, r *http.Request) {
	var body wirePen
	if read(w, r, &body) {
		pen, err := s.session.TakePen(r.Context(), body.Console, body.Force)
		answer(w, wirePen{Pen: pen}, err)
	}
}

func (s server) releasePen(w http.ResponseWriter, r *http.Request) {
	answer(w, nil, s.session.ReleasePen(r.Context(), r.Header.Get(penHeader)))
}

// events streams until the client leaves or the engine ends.
func (s server) events(w http.ResponseWriter, r *http.Request) {
	from, err := strconv.ParseUint(r.URL.Query().Get("from"), 10, 64)
	if err != nil && r.URL.Query().Has("from") {
		answer(w, nil, fmt.Errorf("%w: from is a number", ErrInvalid))
		return
	}
	w.Header().Set("Content-Type", "application/jsonl")
	out := http.NewResponseController(w)
	_ = out.Flush() // the client waits for the header
	encoder := json.NewEncoder(w)
	_ = s.session.Events(r.Context(), r.Header.Get(penHeader), from, func(events []steps.Event) error {
		for _, e := range events {
			if err := encoder.Encode(e); err != nil {
				return err
			}
		}
		return out.Flush()
	}) // it ends with the client or the engine; there is nobody to tell
}

func (s server) log(w http.ResponseWriter, r *http.Request) {
	lines, err := strconv.Atoi(r.URL.Query().Get("lines"))
	if err != nil {
		lines = 200
	}
	out, err := s.session.Log(r.Context(), lines)
	answer(w, wireLog{Lines: out}, err)
}

func (s server) document(w http.ResponseWriter, r *http.Request) {
	data, err := s.session.Export(r.Context(), Document(r.PathValue("name")))
	if err != nil {
		answer(w, nil, err)
		return
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	_, _ = w.Write(data) // a client that left needs no answer
}

// read decodes a request's body, or answers why it cannot.
func read(w http.ResponseWriter, r *http.Request, into any) bool {
	decoder := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		answer(w, nil, fmt.Errorf("%w: the request's body: %w", ErrInvalid, err))
		return false
	}
	return true
}

// answer encodes a result or an error.
func answer(w http.ResponseWriter, result any, err error) {
	w.Header().Set("Content-Type", "application/json")
	if err != nil {
		body, status := toWire(err)
		w.WriteHeader(status)
		result = body
	}
	if result == nil {
		_, _ = io.WriteString(w, "{}\n")
		return
	}
	_ = json.NewEncoder(w).Encode(result) // a client that left needs no answer
}
