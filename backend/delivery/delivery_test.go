package delivery

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"touchdown/backend/host"
	"touchdown/backend/layout"
)

// node is a machine with an outbox and a clock that the test moves. Nothing runs beside the test.
type node struct {
	*Outbox
	t    *testing.T
	root string
	log  bytes.Buffer
	now  time.Time
	full bool // the disk takes nothing more
}

func newNode(t *testing.T) *node {
	n := &node{t: t, root: t.TempDir(), now: time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)}
	n.restart()
	return n
}

// restart forgets all that is not on the disk.
func (n *node) restart() {
	disk := func(_ string, write func([]byte) error, b []byte) error {
		if n.full {
			return syscall.ENOSPC
		}
		return write(b)
	}
	n.Outbox = Open(Options{
		Host: host.Open(host.Options{Root: n.root, Write: disk}), Folder: layout.Outbox, Version: "1.0",
		Log: slog.New(slog.NewTextHandler(&n.log, nil)), Now: func() time.Time { return n.now },
	})
}

func (n *node) must(err error) {
	n.t.Helper()
	if err != nil {
		n.t.Fatal(err)
	}
}

// until makes tries, and moves the clock over the pauses, until nothing waits that is tried again.
func (n *node) until(most int) {
	n.t.Helper()
	for range most {
		pause := n.step(n.t.Context())
		if s := n.Status(); s.Waiting == s.Refused {
			return
		}
		n.now = n.now.Add(pause)
	}
	n.t.Fatalf("after %d tries: %+v", most, n.Status())
}

func item(i int) Item {
	return Item{Kind: Report, Type: "application/json", Body: fmt.Appendf(nil, `{"report":%d}`, i)}
}

// monitor takes what is delivered, or fails in its own way.
type monitor struct {
	*httptest.Server
	mu     sync.Mutex
	random *rand.Rand // under mu
	got    map[string]string
	again  int
}

// newMonitor makes one that fails half the time.
func newMonitor(t *testing.T, seed uint64) *monitor {
	m := &monitor{random: rand.New(rand.NewPCG(seed, 1)), got: map[string]string{}}
	m.Server = quiet(httptest.NewUnstartedServer(m))
	m.Start()
	t.Cleanup(m.Close)
	return m
}

func (m *monitor) roll(n int) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.random.IntN(n)
}

func (m *monitor) accept(r *http.Request, body []byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	key := r.Header.Get("Idempotency-Key")
	if old, ok := m.got[key]; ok {
		m.again++
		if old != string(body) {
			m.got[key] = "two bodies"
		}
		return
	}
	m.got[key] = string(body)
}

// ServeHTTP takes a delivery, answers with an error, or cuts the line before or after it took one.
func (m *monitor) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	way := m.roll(8)
	if way == 1 { // the body is cut
		_, _ = io.CopyN(io.Discard, r.Body, 3)
		panic(http.ErrAbortHandler)
	}
	body, err := io.ReadAll(r.Body)
	switch {
	case err != nil:
		panic(http.ErrAbortHandler)
	case way == 0:
		http.Error(w, "later", http.StatusInternalServerError)
		return
	case way == 2:
		w.Header().Set("Retry-After", "120")
		w.WriteHeader(http.StatusTooManyRequests)
		return
	}
	m.accept(r, body)
	if way == 3 { // the answer is lost
		panic(http.ErrAbortHandler)
	}
	w.WriteHeader(http.StatusAccepted)
}

// unsteady is a network on the way to a monitor: sometimes nobody answers, or too late.
type unsteady struct {
	*monitor
	way http.RoundTripper
}

func (u unsteady) RoundTrip(r *http.Request) (*http.Response, error) {
	switch u.roll(12) {
	case 0:
		return nil, syscall.ECONNREFUSED
	case 1:
		return nil, context.DeadlineExceeded
	case 2: // it got there, and the answer came too late
		answer, err := u.way.RoundTrip(r)
		if err == nil {
			answer.Body.Close()
		}
		return nil, context.DeadlineExceeded
	}
	return u.way.RoundTrip(r)
}

var deliveries = flag.Int("delivery.many", 1000, "deliveries to a monitor that fails half of the time")

// TestEachArrivesOnce: whatever half the tries come to, and however often the power is cut, the monitor has each delivery, whole and
// under one key, and none is sent again once its acceptance was seen.
func TestEachArrivesOnce(t *testing.T) {
	many := *deliveries
	if testing.Short() {
		many = min(many, 80)
	}
	m, n := newMonitor(t, 1), newNode(t)
	open := func() {
		n.restart()
		n.connect = func(target Target) (http.RoundTripper, error) {
			way, err := dial(target)
			return unsteady{m, way}, err
		}
	}
	open()
	n.must(n.Aim(Target{URL: m.URL}))
	for i := range many {
		n.must(n.Post(item(i)))
		n.now = n.now.Add(time.Second)
		if i%7 == 0 {
			n.step(t.Context())
			open() // the power was cut
		}
		if i%20 == 19 || i == many-1 {
			n.until(10_000)
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.got) != many {
		t.Errorf("%d of %d arrived", len(m.got), many)
	}
	for i := range many {
		if it := item(i); m.got[`"`+it.key()+`"`] != string(it.Body) {
			t.Errorf("%s arrived as %q", it.Body, m.got[`"`+it.key()+`"`])
		}
	}
	if m.again == 0 {
		t.Error("no answer was lost: the test shows less than it says")
	}
	if s := n.Status(); s.Waiting != 0 || s.Delivered.IsZero() {
		t.Errorf("%+v", s)
	}
}

// TestAnswers: what each answer of a monitor leads to.
func TestAnswers(t *testing.T) {
	for status, want := range map[int]string{
		200: "delivered", 201: "delivered", 204: "delivered", 302: "waits", 307: "waits", 400: "refused", 401: "refused", 403: "refused", 404: "refused",
		408: "waits", 409: "waits", 413: "refused", 415: "refused", 422: "refused", 423: "waits", 425: "waits", 429: "waits", 407: "waits", 500: "waits", 503: "waits", 599: "waits",
	} {
		n, asked := newNode(t), &seen{}
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			asked.add(r.URL.Path)
			w.Header().Set("Location", "/other")
			w.WriteHeader(status)
		}))
		n.must(n.Aim(Target{URL: server.URL + "/take"}))
		n.must(n.Post(item(1)))
		pause := n.step(t.Context())
		s := n.Status()
		got := "waits"
		switch {
		case s.Waiting == 0:
			got = "delivered"
		case s.Refused == 1:
			got = "refused"
		}
		if got != want || !slices.Equal(asked.texts(), []string{"/take"}) {
			t.Errorf("%d: %s, not %s; asked for %q", status, got, want, asked.texts())
		}
		if want == "waits" && (pause <= 0 || pause > firstPause) {
			t.Errorf("%d: the next try comes after %s", status, pause)
		}
		if want != "delivered" && !strings.Contains(s.Line().String(), fmt.Sprint(status)) {
			t.Errorf("%d: %q does not say why", status, s.Line())
		}
		if warned := strings.Contains(n.log.String(), "WARN"); warned != (want != "delivered") {
			t.Errorf("%d: log %q", status, n.log.String())
		}
		server.Close()
	}
}

// TestRefusedIsSentAgain: after a day, with other settings, and after a restart, but not before.
func TestRefusedIsSentAgain(t *testing.T) {
	n, asked := newNode(t), &seen{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.add(r.URL.Path)
		if r.URL.Path != "/open" {
			w.WriteHeader(http.StatusForbidden)
		}
	}))
	defer server.Close()
	n.must(n.Aim(Target{URL: server.URL}))
	n.must(n.Post(item(1)))
	for range 3 {
		n.step(t.Context())
		n.now = n.now.Add(mostPause)
	}
	if got := asked.texts(); len(got) != 1 {
		t.Errorf("requests of what was refused: %q", got)
	}
	n.now = n.now.Add(refusedFor)
	for range 2 {
		n.step(t.Context())
	}
	if got := asked.texts(); len(got) != 2 {
		t.Errorf("requests, a day later: %q", got)
	}
	n.must(n.Aim(Target{URL: server.URL + "/right"}))
	n.step(t.Context())
	n.restart()
	n.step(t.Context())
	if got := asked.texts(); len(got) != 4 {
		t.Errorf("requests: %q", got)
	}
	n.must(n.Aim(Target{URL: server.URL + "/open"}))
	n.until(1)
	if line := n.Status().Line().String(); !strings.Contains(line, "delivered 2026-11-25 15:00 UTC") {
		t.Errorf("%q", line)
	}
	n.must(n.Aim(Target{URL: server.URL + "/open", Token: "another"}))
	if n.Status().Delivered.IsZero() {
		t.Error("another token: what the monitor has got is forgotten")
	}
	n.must(n.Aim(Target{URL: server.URL + "/elsewhere"}))
	if s := n.Status(); !s.Delivered.IsZero() {
		t.Errorf("a monitor that got nothing: %q", s.Line())
	}
}
