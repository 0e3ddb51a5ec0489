package wire

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"touchdown/steps/event"
	"touchdown/steps/records"
	"touchdown/steps/session"
	"touchdown/test/wait"
)

// flooded is an engine that answers at once, with as much as an engine has at most.
type flooded struct{ session.Session }

func (flooded) Log(context.Context, records.Ask) ([]string, error) {
	return []string{strings.Repeat("x", 1<<20)}, nil
}

func (flooded) Set(context.Context, string, string, string) error { return nil }

func (flooded) Load(context.Context, string, map[string]string, string) error { return nil }

func (flooded) Events(ctx context.Context, _ string, _ uint64, each func([]event.Event) error) error {
	for n := uint64(1); ; n++ {
		if err := errors.Join(ctx.Err(), each([]event.Event{{Seq: n, Step: strings.Repeat("x", 4<<10)}})); err != nil {
			return err
		}
	}
}

// evil are the beginnings of requests of clients that mean harm. None of them reads its answer.
var evil = []string{
	"",
	"GET /v1/snapshot HTTP/1.1\r\nHo",
	"GET /v1/events HTTP/1.1\r\nHost: e\r\n\r\n",
	"GET /v1/log HTTP/1.1\r\nHost: e\r\n\r\n",
	"GET /v1/log HTTP/1.1\r\nX: " + strings.Repeat("x", 1<<20),
	"PUT /v1/site HTTP/1.1\r\nHost: e\r\nContent-Length: 4000000\r\n\r\n{\"values\":{\"a\":\"" + strings.Repeat("x", 3<<20),
}

// guests tells apart who connects, as the process does outside of a test: a console gives its end of the socket a name, others have "@" for one.
func guests(conn net.Conn) int {
	if strings.HasPrefix(conn.RemoteAddr().String(), "@touchdown-") {
		return 1
	}
	return 2
}

// console is a client that guests knows.
func console(t *testing.T, path string) *http.Client {
	n := 0
	dialer := func(ctx context.Context, _, _ string) (net.Conn, error) {
		n++
		local := &net.UnixAddr{Net: "unix", Name: fmt.Sprintf("@touchdown-%s-%d", filepath.Base(t.TempDir()), n)}
		local.Name += fmt.Sprint(time.Now().UnixNano())
		return (&net.Dialer{LocalAddr: local}).DialContext(ctx, "unix", path)
	}
	return &http.Client{Transport: &http.Transport{DialContext: dialer}, Timeout: wait.Timeout(10 * time.Second)}
}

// flood opens connections, each with one of the evil beginnings, and leaves them open until the test ends.
func flood(t *testing.T, path string, many int) {
	t.Helper()
	var all sync.WaitGroup
	for i := range many {
		var c net.Conn
		wait.Soon(t, 10*time.Second, "room in the queue of the socket", func() (err error) {
			if c, err = net.Dial("unix", path); err != nil && !errors.Is(err, syscall.EAGAIN) {
				return wait.Final(err)
			}
			return err
		})
		t.Cleanup(func() { c.Close() })
		request := evil[i%len(evil)]
		_ = c.SetWriteDeadline(time.Now().Add(wait.Timeout(5 * time.Second)))
		if len(request) < 1<<10 {
			_, _ = io.WriteString(c, request)
			continue
		}
		all.Go(func() { _, _ = io.WriteString(c, request) })
	}
	all.Wait()
}

func inUse() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc + m.StackInuse
}

// TestFlood: one process opens ten thousand connections, with requests that never end and answers that it never reads. The engine's memory
// stays bounded, and a console, which connects in the middle of it, is answered.
func TestFlood(t *testing.T) {
	many := 10000
	if testing.Short() {
		many = 2000
	}
	var files syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files); err != nil || files.Cur < 12000 {
		wait.Unable(t, "a process may have only %d files", files.Cur)
	}
	path := filepath.Join(t.TempDir(), "s")
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- serve(ctx, flooded{}, path, limits{request: wait.Timeout(time.Minute), stream: streamTime, process: guests})
	}()
	t.Cleanup(func() { stop(); <-ended })
	client := console(t, path)
	ask := func(when string) {
		t.Helper()
		began := time.Now()
		wait.Soon(t, time.Minute, "an answer "+when, func() error {
			request, err := http.NewRequestWithContext(t.Context(), http.MethodPut, "http://engine/v1/site/spec.clusterName", strings.NewReader(`{"value":"shop"}`))
			if err != nil {
				return wait.Final(err)
			}
			answer, err := client.Do(request)
			if err != nil {
				if !errors.Is(err, syscall.ENOENT) && !errors.Is(err, syscall.ECONNREFUSED) { // the server begins
					err = wait.Final(err)
				}
				return err
			}
			if answer.StatusCode != http.StatusOK {
				t.Errorf("%s: %s", when, answer.Status)
			}
			return answer.Body.Close()
		})
		t.Logf("%s: answered in %s", when, time.Since(began).Round(time.Millisecond))
	}
	ask("before")
	before, threads := inUse(), runtime.NumGoroutine()
	flood(t, path, many)
	ask("in the flood")
	client.CloseIdleConnections()
	ask("in the flood, by another connection")
	more, most := int64(inUse())-int64(before), int64(10*mostOfBodies)
	t.Logf("%d connections: %d MiB and %d goroutines more", many, more>>20, runtime.NumGoroutine()-threads)
	if more > most {
		t.Errorf("the flood takes %d MiB, more than %d", more>>20, most>>20)
	}
	if now := runtime.NumGoroutine() - threads; now > 6*mostOfOne {
		t.Errorf("the flood has %d goroutines", now)
	}
}

// TestAWatcherThatNeverReads is let go, and does not hold what it would be told.
func TestAWatcherThatNeverReads(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	ctx, stop := context.WithCancel(t.Context())
	left, ended := make(chan error, 1), make(chan error, 1)
	engine := &told{events: func(ctx context.Context, each func([]event.Event) error) error {
		err := flooded{}.Events(ctx, "", 0, each)
		left <- err
		return err
	}}
	go func() { ended <- serve(ctx, engine, path, limits{requestTime, 100 * time.Millisecond, process}) }()
	t.Cleanup(func() { stop(); <-ended })
	var c net.Conn
	wait.Soon(t, 10*time.Second, "the server", func() (err error) {
		c, err = net.Dial("unix", path)
		return err
	})
	defer c.Close()
	_, _ = io.WriteString(c, "GET /v1/events HTTP/1.1\r\nHost: e\r\n\r\n")
	select {
	case <-left:
	case <-time.After(wait.Timeout(10 * time.Second)):
		t.Error("its stream is held for good")
	}
}

// TestCrowd: connections are counted by process, the oldest makes room when there are too many of all, and one that ends is not counted.
func TestCrowd(t *testing.T) {
	who := 0
	c := &crowd{of: func(net.Conn) int { return who }, by: map[int]int{}}
	var all []*member
	var far []net.Conn
	in := func(as int) *member {
		who = as
		near, other := net.Pipe()
		far = append(far, other)
		m := c.join(near)
		if m != nil {
			all = append(all, m)
		}
		return m
	}
	for range mostOfOne {
		in(1)
	}
	if in(1) != nil || in(2) == nil {
		t.Error("a process has more than it may, or another one has none")
	}
	all[0].Close()
	all[0].Close()
	if in(1) == nil || in(1) != nil {
		t.Error("one that ended is counted, or twice")
	}
	second := far[1]
	for n := 3; len(all) < mostOfAll+2; n++ {
		in(n)
	}
	_ = second.SetReadDeadline(time.Now().Add(wait.Timeout(5 * time.Second)))
	if _, err := second.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("the oldest is still there: %v", err)
	}
}

// TestLargeBodies: those of small requests are never refused for the large ones of others.
func TestLargeBodies(t *testing.T) {
	var all bodies
	large := func(size int) (*counted, error) {
		c := &counted{ReadCloser: io.NopCloser(strings.NewReader(strings.Repeat("x", size))), all: &all}
		_, err := io.ReadAll(c)
		return c, err
	}
	var held []*counted
	for range mostOfBodies / maxBody {
		c, err := large(maxBody)
		if err != nil {
			t.Fatal(err)
		}
		held = append(held, c)
	}
	if c, err := large(maxBody); !errors.Is(err, errBusy) {
		t.Errorf("one more: %v", err)
	} else {
		c.drop()
	}
	if _, err := large(smallBody); err != nil {
		t.Errorf("a small one: %v", err)
	}
	held[0].drop()
	if _, err := large(maxBody); err != nil {
		t.Errorf("with room again: %v", err)
	}
}

// TestBundlesAtOnce: the makers of support bundles do not take the engine from the others.
func TestBundlesAtOnce(t *testing.T) {
	begun, end := make(chan struct{}, 100), make(chan struct{})
	engine := &exporting{do: func(what session.Document) {
		if what == session.Bundle {
			begun <- struct{}{}
			<-end
		}
	}}
	client := Dial(served(t, engine, requestTime))
	answered := make(chan error, mostBundles)
	for range mostBundles {
		go func() { _, err := client.Export(t.Context(), session.Bundle); answered <- err }()
		<-begun
	}
	if _, err := client.Export(t.Context(), session.Bundle); !errors.Is(err, session.ErrState) {
		t.Errorf("one more: %v", err)
	}
	if _, err := client.Export(t.Context(), session.ReportText); err != nil {
		t.Errorf("a report: %v", err)
	}
	close(end)
	for range mostBundles {
		if err := <-answered; err != nil {
			t.Error(err)
		}
	}
	if _, err := client.Export(t.Context(), session.Bundle); err != nil {
		t.Errorf("with room again: %v", err)
	}
}

// exporting is an engine whose documents are made by do.
type exporting struct {
	session.Session
	do func(session.Document)
}

func (e *exporting) Export(_ context.Context, what session.Document) ([]byte, error) {
	e.do(what)
	return json.Marshal("a document")
}
