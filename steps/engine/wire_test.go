package engine

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"touchdown/steps"
	"touchdown/test/wait"
)

// served starts an engine behind its socket.
func served(t *testing.T, limit time.Duration) (*rig, string) {
	t.Helper()
	r := newRig(t, newWorld())
	path := filepath.Join(t.TempDir(), "s")
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- serve(ctx, r.Engine, path, limit) }()
	t.Cleanup(func() { stop(); <-ended })
	for {
		if c, err := net.Dial("unix", path); err == nil {
			c.Close()
			return r, path
		}
		time.Sleep(time.Millisecond)
	}
}

// raw sends bytes and returns the status of the answer and whether the server ended the connection within the time.
func raw(t *testing.T, path, request string, wait time.Duration) (status int, ended bool) {
	t.Helper()
	c, err := net.Dial("unix", path)
	must(t, err)
	defer c.Close()
	must(t, c.SetDeadline(time.Now().Add(wait)))
	_, _ = io.WriteString(c, request)
	in := bufio.NewReader(c)
	if answer, err := http.ReadResponse(in, nil); err == nil {
		status = answer.StatusCode
		_, _ = io.Copy(io.Discard, answer.Body)
	}
	_, err = in.ReadByte()
	return status, !errors.Is(err, os.ErrDeadlineExceeded)
}

// TestHalfARequest: a client that stops in the middle of a request is let go, whatever the request.
func TestHalfARequest(t *testing.T) {
	_, path := served(t, 100*time.Millisecond)
	wait := wait.Timeout(5 * time.Second)
	for what, request := range map[string]string{
		"half a header":         "GET /v1/snapshot HTTP/1.1\r\nHo",
		"half a body":           "PUT /v1/site HTTP/1.1\r\nHost: e\r\nContent-Length: 4000\r\n\r\n{\"values\":{",
		"half a chunk":          "POST /v1/pen HTTP/1.1\r\nHost: e\r\nTransfer-Encoding: chunked\r\n\r\nff\r\n{",
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
	r, path := served(t, requestTime)
	pen := take(t, r)
	for body, want := range map[string]int{
		`{"value":"a"}`: 200, "{\"value\":\"b\"}\n": 200,
		`{"value":"a"} garbage`: 422, `{"value":"a"}{"value":"c"}`: 422, `{"value":"a"}]`: 422,
		``: 422, `null`: 422, `[]`: 422, `"a"`: 422, `{"value":1}`: 422, `{"value":"a","x":1}`: 422,
		`{"value":"` + strings.Repeat("x", maxBody) + `"}`: 422,
	} {
		request := fmt.Sprintf("PUT /v1/site/spec.clusterName HTTP/1.1\r\nHost: e\r\nConnection: close\r\nTouchdown-Pen: %s\r\nContent-Length: %d\r\n\r\n%s", pen, len(body), body)
		if got, _ := raw(t, path, request, wait.Timeout(10*time.Second)); got != want {
			t.Errorf("%.40s is answered with %d, want %d", body, got, want)
		}
	}
	if name := r.answer("spec.clusterName"); name != "a" && name != "b" {
		t.Errorf("the name is %.40q", name)
	}
}

// outlives tries with longer and longer limits for a request, while a busy machine takes longer than one to bring the request
// itself. What the server cuts off later is cut off at every limit.
func outlives(t *testing.T, what func(t *testing.T, r *rig, path string, limit time.Duration) error) {
	t.Helper()
	for limit := 50 * time.Millisecond; ; limit *= 4 {
		r, path := served(t, limit)
		err := what(t, r, path, limit)
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
	outlives(t, func(t *testing.T, r *rig, path string, limit time.Duration) error {
		until(t, r, "the form", inState(Collecting))
		pen := take(t, r)
		r.mu.Lock()
		time.AfterFunc(10*limit, r.mu.Unlock)
		return Dial(path).Do(t.Context(), pen, Action{Verb: Inspect})
	})
}

// TestStreamOutlivesTheTimeouts: a console that only listens for longer than any request may take still hears.
func TestStreamOutlivesTheTimeouts(t *testing.T) {
	outlives(t, func(t *testing.T, r *rig, path string, limit time.Duration) error {
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		heard, ended := make(chan steps.Event), make(chan error, 1)
		go func() {
			ended <- Dial(path).Events(ctx, "", 0, func(events []steps.Event) error {
				for _, e := range events {
					select {
					case heard <- e:
					case <-ctx.Done():
					}
				}
				return nil
			})
		}()
		late, before := time.After(10*limit), uint64(math.MaxUint64)
		for {
			select {
			case <-late:
				if before < math.MaxUint64 {
					return errors.New("the stream is dead")
				}
				late = time.After(wait.Timeout(5 * time.Second))
				s, err := r.Snapshot(ctx)
				must(t, err)
				before = s.Seq
				take(t, r)
			case e := <-heard:
				if e.Seq > before {
					return nil
				}
			case err := <-ended:
				return err
			}
		}
	})
}
