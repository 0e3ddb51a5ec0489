package wire

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
	"syscall"
	"time"

	"touchdown/backend/message"
	"touchdown/backend/problem"
	"touchdown/steps/session"
)

const (
	// requestTime is how long a client may take to send a request: on a unix socket it comes at once, or never.
	requestTime = 10 * time.Second
	// answerTime is how long a client may take to read an answer. A support bundle is the largest.
	answerTime = 5 * time.Minute
	// streamTime is how long a client that listens may take to read the events that came: one that never reads is let go, and a console
	// that was stopped that long connects again. A line of 9600 baud takes no longer, since a console draws what it has read.
	streamTime = 2 * time.Minute
	// idleTime is how long a connection stays open between two requests; clients open another one automatically.
	idleTime = 5 * time.Minute
	// maxHeader bounds the header of a request in bytes; the longest path and token are far below it.
	maxHeader = 64 << 10
)

// Free tells whether an engine may serve at path: nothing is there, or the socket of one that died. Whoever answers there is another engine
// of this node, maybe with another state folder (ENG-BUSY); what is not a socket is someone's file.
func Free(ctx context.Context, path string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("looking for an old socket: %w", err)
	case info.Mode().Type() != os.ModeSocket:
		return fmt.Errorf("%s is not a socket; name another path", path)
	}
	connection, err := (&net.Dialer{}).DialContext(ctx, "unix", path)
	switch {
	case err == nil:
		_ = connection.Close()
	case errors.Is(err, syscall.ECONNREFUSED), errors.Is(err, os.ErrNotExist):
		return nil
	}
	return &problem.Problem{
		Code: "ENG-BUSY", Summary: message.T("Another engine is already at work on this node."),
		Fix: message.T("Attach to it with `touchdown console`."), Err: errors.Join(fmt.Errorf("%s is in use", path), err),
	}
}

// Serve answers clients on a unix socket at path, mode 0600, until ctx ends. The socket of an engine that died is replaced, and nothing else.
func Serve(ctx context.Context, session session.Session, path string) error {
	return serve(ctx, session, path, limits{request: requestTime, stream: streamTime, process: process})
}

// limits are those that a test shortens.
type limits struct {
	request, stream time.Duration
	process         func(net.Conn) int
}

func serve(ctx context.Context, session session.Session, path string, limit limits) error {
	if err := socketFolder(path); err != nil {
		return err
	}
	if err := Free(ctx, path); err != nil {
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
	all := &crowd{Listener: listener, of: limit.process, by: map[int]int{}}
	server := &http.Server{
		Handler:           bounded(handler(session, limit.stream), limit.request),
		ConnState:         all.state,
		ReadHeaderTimeout: limit.request,
		IdleTimeout:       idleTime,
		MaxHeaderBytes:    maxHeader,
		BaseContext:       func(net.Listener) context.Context { return ctx },
	}
	stop := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer stop()
	if err := server.Serve(all); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serving %s: %w", path, err)
	}
	return nil
}

// bounded gives a request its time. The time ends when the body has been read, so that an action, or a stream of events, may
// take as long as it needs; a request that should have no body and has one is refused, since nobody would read it.
func bounded(next http.Handler, limit time.Duration) http.Handler {
	large := &bodies{}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		control := http.NewResponseController(w)
		_ = control.SetReadDeadline(time.Now().Add(limit)) // a connection that cannot be bounded is a test's
		_ = control.SetWriteDeadline(time.Time{})
		if r.Method == http.MethodPut || r.Method == http.MethodPost {
			body := &counted{ReadCloser: http.MaxBytesReader(w, r.Body, maxBody), all: large}
			defer body.drop()
			r.Body = &bodyReader{body, control}
		} else if r.ContentLength != 0 {
			w.Header().Set("Connection", "close")
			answer(w, nil, fmt.Errorf("%w: this request has no body", session.ErrInvalid))
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

// read decodes a request's body, which is one JSON object, or answers why it cannot.
func read(w http.ResponseWriter, r *http.Request, into any) bool {
	if err := decode(r.Body, into); err != nil {
		answer(w, nil, fmt.Errorf("%w: the request's body: %w", session.ErrInvalid, err))
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
	body := []byte("{}")
	if err == nil && result != nil {
		body, err = json.Marshal(result)
	}
	if err != nil {
		problem, status := toWire(err)
		w.WriteHeader(status)
		body, _ = json.Marshal(problem) // texts and a time
	}
	_, _ = w.Write(append(body, '\n')) // a client that left needs no answer
}
