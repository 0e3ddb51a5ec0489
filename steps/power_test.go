package steps_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"touchdown/backend"
	"touchdown/backend/host"
	"touchdown/backend/host/hosttest"
	"touchdown/backend/kube"
	"touchdown/test/bench"
	"touchdown/test/wait"
)

// supply is the power of a node that works on a real API: it fails at one moment, before or after anything that lasts, which are the
// writes to the API, what a step saves and notes, and the node's files. From then on nothing of the node does anything.
type supply struct {
	mu     sync.Mutex
	left   int // moments until it fails; negative: never
	passed int
	cut    context.CancelFunc
	off    bool
}

// last is a moment at which the power can fail. It tells whether it has.
func (s *supply) last() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.passed++
	if !s.off && s.left == 0 {
		s.off = true
		s.cut()
	}
	s.left--
	if s.off {
		return errPower
	}
	return nil
}

// start turns the power on, for so many moments, and returns what ends with it and the number of moments that have passed.
func (s *supply) start(t *testing.T, moments int) context.Context {
	ctx, cut := context.WithCancel(t.Context())
	t.Cleanup(cut)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.left, s.passed, s.off, s.cut = moments, 0, false, cut
	return ctx
}

// failed tells whether the power has failed since it was turned on.
func (s *supply) failed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.off
}

// powered is a report that keeps nothing without power.
type powered struct {
	*clusterReport
	power *supply
}

func (p *powered) lasting(do func() error) error {
	if err := p.power.last(); err != nil {
		return err
	}
	return errors.Join(do(), p.power.last())
}

func (p *powered) Save(key string, original []byte) error {
	return p.lasting(func() error { return p.clusterReport.Save(key, original) })
}

func (p *powered) Note(key string, value []byte) error {
	return p.lasting(func() error { return p.clusterReport.Note(key, value) })
}

// poweredNode is a node whose ways to last depend on the supply: a real API behind a line that is dead without it, and a folder.
func poweredNode(t *testing.T, b *bench.Cluster, disk *hosttest.Fake, s *supply) *backend.Node {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", b.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	upstream, err := url.Parse(config.Host)
	if err != nil {
		t.Fatal(err)
	}
	forward := httputil.NewSingleHostReverseProxy(upstream)
	forward.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelInfo)
	if forward.Transport, err = rest.TransportFor(config); err != nil {
		t.Fatal(err)
	}
	line := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		write := r.Method != http.MethodGet && r.URL.Query().Get("dryRun") == ""
		if s.failed() || write && s.last() != nil {
			panic(http.ErrAbortHandler)
		}
		answer := httptest.NewRecorder()
		if !write {
			forward.ServeHTTP(w, r)
			return
		}
		forward.ServeHTTP(answer, r)
		if s.last() != nil {
			panic(http.ErrAbortHandler) // it is done, and nobody hears of it
		}
		for key, values := range answer.Header() {
			w.Header()[key] = values
		}
		w.WriteHeader(answer.Code)
		_, _ = w.Write(answer.Body.Bytes())
	}))
	line.Config.ErrorLog = forward.ErrorLog
	t.Cleanup(line.Close)
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	text := "apiVersion: v1\nkind: Config\ncurrent-context: a\nclusters: [{name: a, cluster: {server: '" + line.URL + "'}}]\ncontexts: [{name: a, context: {cluster: a, user: a}}]\nusers: [{name: a, user: {}}]\n"
	if err := os.WriteFile(kubeconfig, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := kube.Open(kubeconfig, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	c.Pace = kube.Pace{Limit: wait.Timeout(time.Minute), Pause: 50 * time.Millisecond, Poll: 50 * time.Millisecond}
	n := node(disk, c)
	n.Host = host.Open(host.Options{Root: disk.Root(), Log: slog.New(slog.DiscardHandler), Write: func(_ string, write func([]byte) error, data []byte) error {
		if err := s.last(); err != nil {
			return err
		}
		return write(data)
	}})
	return n
}
