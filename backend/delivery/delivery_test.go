package delivery

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"touchdown/backend/host"
	"touchdown/backend/layout"
	"touchdown/backend/problem"
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

// monitor takes what is delivered, or fails in some way of its own.
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

// seen is what servers saw of their requests.
type seen struct {
	mu  sync.Mutex
	all []string
}

func (s *seen) add(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = append(s.all, text)
}

func (s *seen) texts() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.all)
}

// TestEachArrivesOnce: whatever half the tries come to, and however often the power is cut, the monitor has each delivery, whole and
// under one key, and none is sent again once its acceptance was seen.
func TestEachArrivesOnce(t *testing.T) {
	many := 1000
	if testing.Short() {
		many = 80
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

// TestBounds: the folder is bounded in number, bytes and age; what gives way is the oldest, and the log names it.
func TestBounds(t *testing.T) {
	n := newNode(t)
	for i := range maxMany + 3 {
		n.now = n.now.Add(time.Second)
		n.must(n.Post(item(i)))
		n.must(n.Post(item(i))) // is no second one
	}
	all, err := n.list()
	n.must(err)
	if first := item(3); len(all) != maxMany || all[0].key != first.key() {
		t.Errorf("%d wait, the first of %s", len(all), all[0].made)
	}
	big := func(fill byte, size int) Item {
		return Item{Kind: Bundle, Type: "application/gzip", Body: bytes.Repeat([]byte{fill}, size)}
	}
	for fill := range byte(3) {
		n.now = n.now.Add(time.Second)
		n.must(n.Post(big(fill, MaxItem)))
	}
	if all, _ = n.list(); len(all) != maxMany || all[maxMany-2].kind() != Report {
		t.Errorf("%d wait, the last but one a %s", len(all), all[maxMany-2].kind())
	}
	report := big(1, MaxItem)
	report.Kind = Report
	n.must(n.Post(report)) // beside the bundle some bytes too many
	if all, _ = n.list(); len(all) != maxMany || all[maxMany-1].size < MaxItem || all[0].kind() != Report {
		t.Errorf("%d wait, the last of %d bytes", len(all), all[len(all)-1].size)
	}
	if got := problem.From(n.Post(big(9, MaxItem+1))).Code; got != "MON-BIG" {
		t.Errorf("code %q", got)
	}
	// Nobody answers; the clock leaps to 2056, and goes on for a day.
	n.must(n.Aim(Target{URL: "http://monitor.example.com"}))
	n.connect = func(Target) (http.RoundTripper, error) { return unreachable{}, nil }
	n.now = n.now.AddDate(30, 0, 0)
	for range maxMany {
		n.step(t.Context())
	}
	if n.Status().Waiting != maxMany {
		t.Error("a leap of the clock gave a delivery up")
	}
	n.now = n.now.Add(minTried + time.Minute)
	n.step(t.Context())
	if n.Status().Waiting != maxMany-1 || !strings.Contains(n.log.String(), "too old") {
		t.Errorf("%+v", n.Status())
	}
}

type unreachable struct{}

func (unreachable) RoundTrip(*http.Request) (*http.Response, error) { return nil, syscall.ENETUNREACH }

// TestNewSettingsMeanwhile: what an earlier monitor says while another one is being set counts for the earlier one alone.
func TestNewSettingsMeanwhile(t *testing.T) {
	n, right := newNode(t), &seen{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/right" {
			right.add(r.URL.Path)
			return
		}
		if err := n.Aim(Target{URL: "http://" + r.Host + "/right"}); err != nil {
			t.Error(err)
		}
		w.WriteHeader(http.StatusForbidden)
	}))
	defer server.Close()
	n.must(n.Aim(Target{URL: server.URL + "/wrong"}))
	n.must(n.Post(item(1)))
	n.until(2)
	if got := right.texts(); len(got) != 1 || n.Status().Refused != 0 {
		t.Errorf("%q, %+v", got, n.Status())
	}
}

// TestForgottenMeanwhile: an acceptance that comes after the monitor was forgotten leaves nothing in the folder.
func TestForgottenMeanwhile(t *testing.T) {
	n := newNode(t)
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		if err := n.Forget(); err != nil {
			t.Error(err)
		}
	}))
	defer server.Close()
	n.must(n.Aim(Target{URL: server.URL}))
	n.must(n.Post(item(1)))
	n.step(t.Context())
	if left, err := filepath.Glob(filepath.Join(n.root, layout.Outbox, "*")); err != nil || len(left) > 0 || n.Status() != (Status{}) {
		t.Errorf("%q, %v, %+v", left, err, n.Status())
	}
}

// TestDamageOnAReadOnlyDisk: what can be neither read nor removed is no reason to go round and round.
func TestDamageOnAReadOnlyDisk(t *testing.T) {
	n := newNode(t)
	n.must(n.Aim(Target{URL: "http://127.0.0.1:1"}))
	n.must(n.Post(item(1)))
	all, err := n.list()
	n.must(err)
	n.record(all[0], outcome{lost: errDamaged})
	n.must(n.Post(item(1)))
	if all, err = n.list(); err != nil || len(all) != 1 {
		t.Fatalf("%v, %v", all, err)
	}
	n.folder = host.Open(host.Options{Root: filepath.Join(n.root, "elsewhere", "\x00")}).Folder(layout.Outbox) // removes nothing
	n.record(all[0], outcome{lost: errDamaged})
	if known := n.tries[all[0].name]; known == nil || known.due.Sub(n.now) != mostPause {
		t.Errorf("the next try: %+v", known)
	}
}

// TestEachGetsItsTurn: while each try takes longer than the pause behind it, what was never tried goes before what is due again.
func TestEachGetsItsTurn(t *testing.T) {
	n := newNode(t)
	n.must(n.Aim(Target{URL: "http://monitor.example.com"}))
	for i := range 5 {
		n.must(n.Post(item(i)))
		n.now = n.now.Add(time.Second)
	}
	tried := &seen{}
	n.connect = func(Target) (http.RoundTripper, error) { return slow{n, tried}, nil }
	for range 5 {
		n.step(t.Context())
	}
	slices.Sort(tried.all)
	if got := slices.Compact(tried.all); len(got) != 5 {
		t.Errorf("5 tries, of %d deliveries", len(got))
	}
}

// slow is a network on which each try takes as long as it may, and comes to nothing.
type slow struct {
	n     *node
	tried *seen
}

func (s slow) RoundTrip(r *http.Request) (*http.Response, error) {
	s.tried.add(r.Header.Get("Idempotency-Key"))
	s.n.now = s.n.now.Add(perTry)
	return nil, context.DeadlineExceeded
}

// TestLeftByAPowerCut: a temporary file, which may hold the token, goes when the sender starts, and with the monitor.
func TestLeftByAPowerCut(t *testing.T) {
	n := newNode(t)
	n.must(n.Aim(Target{URL: "https://monitor.example.com", Token: token}))
	left := filepath.Join(n.root, layout.Outbox, "."+targetFile+".ABC")
	for name, ends := range map[string]func(){
		"start":  func() { n.must(n.sweep()) },
		"forget": func() { n.must(n.Forget()) },
	} {
		n.must(os.MkdirAll(filepath.Dir(left), 0o700))
		n.must(os.WriteFile(left, []byte(token), 0o600))
		ends()
		if _, err := os.Lstat(left); err == nil {
			t.Errorf("%s: the file is still there", name)
		}
	}
}

// TestDisk: a full disk is told to whoever posts, damage costs the damaged delivery alone, and nothing in the folder makes anyone wait.
func TestDisk(t *testing.T) {
	n, m := newNode(t), &seen{}
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { m.add(r.Header.Get("Idempotency-Key")) }))
	defer server.Close()
	n.must(n.Aim(Target{URL: server.URL}))
	n.must(n.Post(item(1)))
	n.full = true
	if got := problem.From(n.Post(item(2))).Code; got != "MON-KEEP" {
		t.Errorf("code %q", got)
	}
	dir := filepath.Join(n.root, layout.Outbox)
	all, err := n.list()
	n.must(err)
	n.must(os.WriteFile(filepath.Join(dir, all[0].name), []byte(`{"kind":"report"}`+"\nsomething else"), 0o600))
	n.must(os.WriteFile(filepath.Join(dir, "00000000000000000009-report-abc.post"), nil, 0o600))
	n.must(os.WriteFile(filepath.Join(dir, "a stranger's file.post"), nil, 0o600))
	n.must(syscall.Mkfifo(filepath.Join(dir, "00000000000000000008-report-abc.post"), 0o600))
	n.full = false
	n.must(n.Post(item(3)))
	n.until(5)
	if third := item(3); !slices.Equal(m.texts(), []string{`"` + third.key() + `"`}) {
		t.Errorf("delivered: %q", m.texts())
	}
	n.must(os.Remove(filepath.Join(dir, targetFile)))
	n.must(syscall.Mkfifo(filepath.Join(dir, targetFile), 0o600))
	n.step(t.Context())
	n.must(n.Forget())
	if s := n.Status(); s != (Status{}) {
		t.Errorf("%+v", s)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*.json")); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}
