package engine

import (
	"bufio"
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
	"touchdown/steps/idle"
	"touchdown/steps/records"
)

const (
	// requestTime is how long a client may take to send a request: on a unix socket it comes at once, or never.
	requestTime = 10 * time.Second
	// answerTime is how long a client may take to read an answer. A support bundle is the largest.
	answerTime = 5 * time.Minute
	// idleTime is how long a connection stays open between two requests; clients open another one automatically.
	idleTime = 5 * time.Minute
	// maxHeader bounds the header of a request in bytes; the longest path and token are far below it.
	maxHeader = 64 << 10
)

// Serve answers clients on a unix socket at path, mode 0600, until ctx ends. The caller holds the state
// folder's lock, so a socket that is already there belongs to an engine that died and is replaced.
func Serve(ctx context.Context, session Session, path string) error {
	return serve(ctx, session, path, requestTime)
}

func serve(ctx context.Context, session Session, path string, limit time.Duration) error {
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
		Handler:           bounded(handler(session), limit),
		ReadHeaderTimeout: limit,
		IdleTimeout:       idleTime,
		MaxHeaderBytes:    maxHeader,
		BaseContext:       func(net.Listener) context.Context { return ctx },
	}
	stop := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer stop()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serving %s: %w", path, err)
	}
	return nil
}

// bounded gives a request its time. The time ends when the body has been read, so that an action, or a stream of events, may
// take as long as it needs; a request that should have no body and has one is refused, since nobody would read it.
func bounded(next http.Handler, limit time.Duration) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		control := http.NewResponseController(w)
		_ = control.SetReadDeadline(time.Now().Add(limit)) // a connection that cannot be bounded is a test's
		_ = control.SetWriteDeadline(time.Time{})
		if r.Method == http.MethodPut || r.Method == http.MethodPost {
			r.Body = &bodyReader{http.MaxBytesReader(w, r.Body, maxBody), control}
		} else if r.ContentLength != 0 {
			w.Header().Set("Connection", "close")
			answer(w, nil, fmt.Errorf("%w: this request has no body", ErrInvalid))
			return
		} else {
			_ = control.SetReadDeadline(time.Time{})
		}
		next.ServeHTTP(w, r)
	})
}

// bodyReader takes the time limit away once a body has been read to its end.
type bodyReader struct {
	io.ReadCloser
	control *http.ResponseController
}

func (b *bodyReader) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if errors.Is(err, io.EOF) {
		_ = b.control.SetReadDeadline(time.Time{})
	}
	return n, err
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
	mux.HandleFunc("POST "+apiPrefix+"/presence", s.present)
	mux.HandleFunc("DELETE "+apiPrefix+"/pen", s.releasePen)
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

func (s server) present(w http.ResponseWriter, r *http.Request) {
	var body wirePresence
	if read(w, r, &body) {
		answer(w, nil, s.session.Present(r.Context(), body.PIN))
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
	data, err := s.session.Export(r.Context(), Document(r.PathValue("name")))
	if err != nil {
		answer(w, nil, err)
		return
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(answerTime))
	_, _ = w.Write(data) // a client that left needs no answer
}

// read decodes a request's body, which is one JSON object, or answers why it cannot.
func read(w http.ResponseWriter, r *http.Request, into any) bool {
	if err := decode(r.Body, into); err != nil {
		answer(w, nil, fmt.Errorf("%w: the request's body: %w", ErrInvalid, err))
		return false
	}
	return true
}

func decode(body io.Reader, into any) error {
	in := bufio.NewReader(body)
	if first, err := in.Peek(1); err != nil || first[0] != '{' {
		return errors.Join(errors.New("it is not a JSON object"), err)
	}
	decoder := json.NewDecoder(in)
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		return err
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return errors.New("something follows the JSON object")
	}
	return nil
}

// answer encodes a result or an error, for a client that reads it within answerTime.
func answer(w http.ResponseWriter, result any, err error) {
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(answerTime))
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
