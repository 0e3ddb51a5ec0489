package delivery

import (
	"bytes"
	"context"
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

// TestBounds: the folder is bounded in number, bytes and age; what gives way is the oldest, and the log names it.
func TestBounds(t *testing.T) {
	n := newNode(t)
	for i := range maxMany + 3 {
		n.now = n.now.Add(time.Second)
		n.must(n.Post(item(i)))
		n.must(n.Post(item(i))) // is not a second one
	}
	all, err := n.list()
	n.must(err)
	if first := item(3); len(all) != maxMany || all[0].key != first.key() {
		t.Errorf("%d wait, the first of %s", len(all), all[0].made)
	}
	big := func(fill byte, size int) Item {
		return Item{Kind: Fault, Type: "application/json", Body: bytes.Repeat([]byte{fill}, size)}
	}
	for fill := range byte(3) {
		n.now = n.now.Add(time.Second)
		n.must(n.Post(big(fill, maxItem)))
		var size int64
		all, err = n.list()
		n.must(err)
		for _, w := range all {
			size += w.size
		}
		if newest := big(fill, maxItem); size > maxAll || all[len(all)-1].key != newest.key() {
			t.Errorf("after %d large ones %d wait with %d bytes", fill+1, len(all), size)
		}
	}
	if got := problem.From(n.Post(big(9, maxItem+1))).Code; got != "MTR-LRGE" {
		t.Errorf("code %q", got)
	}
	for i := range maxMany {
		n.now = n.now.Add(time.Second)
		n.must(n.Post(item(1000 + i)))
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

// TestTheOldestGivesWayAfterTheClockWasSetBack: what was posted before it was set back is older, whatever its time says.
func TestTheOldestGivesWayAfterTheClockWasSetBack(t *testing.T) {
	n := newNode(t)
	for i := range maxMany {
		if i == 5 {
			n.now = n.now.AddDate(-4, 0, 0)
			n.restart()
		}
		n.now = n.now.Add(time.Second)
		n.must(n.Post(item(i)))
	}
	n.must(n.Post(item(maxMany)))
	all, err := n.list()
	n.must(err)
	for i, w := range all {
		if want := item(i + 1); w.key != want.key() {
			t.Fatalf("number %d of those that wait was made at %s", i, w.made)
		}
	}
	if len(all) != maxMany {
		t.Errorf("%d wait", len(all))
	}
}

// TestDeliveriesOfTheFutureGetOldToo: behind one that was made before the clock was set back all are dated like it. They count from their
// first try.
func TestDeliveriesOfTheFutureGetOldToo(t *testing.T) {
	n := newNode(t)
	n.must(n.Aim(Target{URL: "http://monitor.example.com"}))
	n.connect = func(Target) (http.RoundTripper, error) { return unreachable{}, nil }
	today := n.now
	n.now = today.AddDate(16, 0, 0)
	n.must(n.Post(item(0)))
	n.now = today
	n.must(n.Post(item(1)))
	tryAll := func() {
		for range 2 {
			n.step(t.Context())
		}
	}
	for _, c := range []struct {
		age     time.Duration
		waiting int
	}{{0, 2}, {maxAge - time.Minute, 2}, {maxAge + time.Minute, 0}} {
		n.now = today.Add(c.age)
		if tryAll(); n.Status().Waiting != c.waiting {
			t.Errorf("after %s %d wait", c.age, n.Status().Waiting)
		}
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
	if got := problem.From(n.Post(item(2))).Code; got != "MTR-KEEP" {
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
