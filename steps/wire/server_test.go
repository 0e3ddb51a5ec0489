package wire

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"touchdown/backend/problem"
	"touchdown/steps/event"
	"touchdown/steps/session"
	"touchdown/test/wait"
)

// told is an engine that answers what a test has it answer. What a test does not set panics.
type told struct {
	session.Session
	set    func(path, value string) error
	do     func() error
	events func(ctx context.Context, each func([]event.Event) error) error
}

func (t *told) Set(_ context.Context, _, path, value string) error { return t.set(path, value) }

func (t *told) Do(context.Context, string, session.Action) error { return t.do() }

func (t *told) Events(ctx context.Context, _ string, _ uint64, each func([]event.Event) error) error {
	return t.events(ctx, each)
}

// TestAnAnswerThatCannotBeWritten is an error: a console that got nothing at all would not know why.
func TestAnAnswerThatCannotBeWritten(t *testing.T) {
	for name, c := range map[string]struct {
		result any
		err    error
		status int
		body   string
	}{
		"nothing":            {nil, nil, http.StatusOK, "{}\n"},
		"a result":           {map[string]int{"n": 1}, nil, http.StatusOK, `{"n":1}` + "\n"},
		"an infinite number": {math.Inf(1), nil, http.StatusInternalServerError, "unsupported value"},
		"an error":           {nil, session.ErrInvalid, http.StatusUnprocessableEntity, session.ErrInvalid.Error()},
	} {
		w := httptest.NewRecorder()
		answer(w, c.result, c.err)
		if w.Code != c.status || !strings.Contains(w.Body.String(), c.body) {
			t.Errorf("%s: %d %s", name, w.Code, w.Body)
		}
	}
}

// served starts a server in front of an engine.
func served(t *testing.T, engine session.Session, limit time.Duration) string {
	t.Helper()
	return servedWith(t, engine, limits{limit, streamTime, process})
}

func servedWith(t *testing.T, engine session.Session, limit limits) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "s")
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- serve(ctx, engine, path, limit) }()
	t.Cleanup(func() { stop(); <-ended })
	wait.Soon(t, 10*time.Second, "the server", func() error {
		c, err := net.Dial("unix", path)
		if err == nil {
			err = c.Close()
		}
		return err
	})
	return path
}

// raw sends bytes and returns the status of the answer and whether the server ended the connection within the time.
func raw(t *testing.T, path, request string, wait time.Duration) (status int, ended bool) {
	t.Helper()
	c, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.SetDeadline(time.Now().Add(wait)); err != nil {
		t.Fatal(err)
	}
	_, _ = io.WriteString(c, request)
	in := bufio.NewReader(c)
	if answer, err := http.ReadResponse(in, nil); err == nil {
		status = answer.StatusCode
		_, _ = io.Copy(io.Discard, answer.Body)
	}
	_, err = in.ReadByte()
	return status, !errors.Is(err, os.ErrDeadlineExceeded)
}

// TestServeKeepsWhatIsThere: an engine does not take the socket of one that answers, and does not delete a file at that path.
func TestServeKeepsWhatIsThere(t *testing.T) {
	path := served(t, &told{}, requestTime)
	if err := Serve(t.Context(), &told{}, path); problem.From(err).Code != "ENG-BUSY" {
		t.Errorf("where an engine answers: %v", err)
	}
	if status, _ := raw(t, path, "GET /v1/nothing HTTP/1.1\r\nHost: e\r\nConnection: close\r\n\r\n", wait.Timeout(5*time.Second)); status != http.StatusNotFound {
		t.Errorf("the first engine answers with %d", status)
	}
	dir := t.TempDir()
	for name, make := range map[string]func(string) error{
		"file":   func(name string) error { return os.WriteFile(name, nil, 0o600) },
		"folder": func(name string) error { return os.Mkdir(name, 0o700) },
		"link":   func(name string) error { return os.Symlink(path, name) },
	} {
		name = filepath.Join(dir, name)
		if err := make(name); err != nil {
			t.Fatal(err)
		}
		before, err := os.Lstat(name)
		if err != nil {
			t.Fatal(err)
		}
		err = Serve(t.Context(), &told{}, name)
		if after, gone := os.Lstat(name); err == nil || !strings.Contains(err.Error(), "is not a socket") || gone != nil || !os.SameFile(before, after) {
			t.Errorf("%s: %v, %v", name, err, gone)
		}
	}
	dead := filepath.Join(dir, "dead")
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: dead, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	listener.SetUnlinkOnClose(false)
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	if err := Free(t.Context(), dead); err != nil {
		t.Errorf("the socket of an engine that died: %v", err)
	}
}

// TestHalfARequest: a client that stops in the middle of a request is let go, whatever the request.
func TestHalfARequest(t *testing.T) {
	path := served(t, &told{}, 100*time.Millisecond)
	wait := wait.Timeout(5 * time.Second)
	for what, request := range map[string]string{
		"half a header":         "GET /v1/snapshot HTTP/1.1\r\nHo",
		"half a body":           "PUT /v1/site HTTP/1.1\r\nHost: e\r\nContent-Length: 4000\r\n\r\n{\"values\":{",
		"half a chunk":          "POST /v1/control HTTP/1.1\r\nHost: e\r\nTransfer-Encoding: chunked\r\n\r\nff\r\n{",
		"a body nobody asked":   "GET /v1/snapshot HTTP/1.1\r\nHost: e\r\nContent-Length: 4000\r\n\r\n{",
		"a body for no one":     "POST /v1/nothing HTTP/1.1\r\nHost: e\r\nContent-Length: 4000\r\n\r\n{",
		"a body for the stream": "GET /v1/events HTTP/1.1\r\nHost: e\r\nContent-Length: 4000\r\n\r\n{",
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			if status, ended := raw(t, path, request, wait); !ended {
				t.Errorf("still held after %s; status %d", wait, status)
			}
		})
	}
}

// TestBodyIsOneObject: what follows the first value of a body may be another request's.
func TestBodyIsOneObject(t *testing.T) {
	last := ""
	path := served(t, &told{set: func(path, value string) error { last = path + "=" + value; return nil }}, requestTime)
	for body, want := range map[string]int{
		`{"value":"a"}`: 200, "{\"value\":\"b\"}\n": 200,
		`{"value":"a"} garbage`: 422, `{"value":"a"}{"value":"c"}`: 422, `{"value":"a"}]`: 422,
		``: 422, `null`: 422, `[]`: 422, `"a"`: 422, `{"value":1}`: 422, `{"value":"a","x":1}`: 422,
		`{"value":"` + strings.Repeat("x", maxBody) + `"}`: 422,
	} {
		request := fmt.Sprintf("PUT /v1/site/spec.clusterName HTTP/1.1\r\nHost: e\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
		last = ""
		got, _ := raw(t, path, request, wait.Timeout(10*time.Second))
		if got != want || (last != "") != (want == http.StatusOK) {
			t.Errorf("%.40s is answered with %d, want %d; the engine is given %.40q", body, got, want, last)
		}
	}
}

// outlives tries with longer and longer limits for a request, while a busy machine takes longer than one to bring the request
// itself. What the server cuts off later is cut off at every limit.
func outlives(t *testing.T, what func(t *testing.T, engine *told, limit time.Duration, client *Client) error) {
	t.Helper()
	for limit := 50 * time.Millisecond; ; limit *= 4 {
		engine := &told{}
		err := what(t, engine, limit, Dial(served(t, engine, limit)))
		if err == nil {
			return
		}
		if t.Log(err); limit > time.Second {
			t.Fatal("it is cut off at every limit")
		}
	}
}

// TestActionOutlivesTheTimeouts: an action that takes longer than a request may is answered all the same.
func TestActionOutlivesTheTimeouts(t *testing.T) {
	outlives(t, func(t *testing.T, engine *told, limit time.Duration, client *Client) error {
		engine.do = func() error { <-time.After(10 * limit); return nil }
		return client.Do(t.Context(), "", session.Action{Verb: session.Inspect})
	})
}

// TestStreamOutlivesTheTimeouts: a console that only listens for longer than any request may take still hears.
func TestStreamOutlivesTheTimeouts(t *testing.T) {
	heard := errors.New("heard")
	outlives(t, func(t *testing.T, engine *told, limit time.Duration, client *Client) error {
		engine.events = func(ctx context.Context, each func([]event.Event) error) error {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(10 * limit):
				return each([]event.Event{{Seq: 1}})
			}
		}
		err := client.Events(t.Context(), "", 0, func([]event.Event) error { return heard })
		if errors.Is(err, heard) {
			return nil
		}
		return err
	})
}
