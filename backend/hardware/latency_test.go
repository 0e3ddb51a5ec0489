package hardware

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"

	"touchdown/backend/check"
	"touchdown/backend/host"
	"touchdown/backend/host/hosttest"
	"touchdown/test/wait"
)

// slow is a disk with a clock: each Sync takes what it is told.
type slow struct {
	at    time.Time
	takes func(n int) time.Duration
	n     int
	fails error
}

func (s *slow) Write(b []byte) (int, error) { return len(b), s.fails }

func (s *slow) Sync() error {
	s.at = s.at.Add(s.takes(s.n))
	s.n++
	return nil
}

func (*slow) Close() error { return nil }

func (s *slow) now() time.Time { return s.at }

// TestDiskLatencyIsJudged: one write in a hundred may be slow, and a disk that is slow throughout ends the test in time.
func TestDiskLatencyIsJudged(t *testing.T) {
	every := func(of int, late time.Duration) func(int) time.Duration {
		return func(n int) time.Duration {
			if n%of == 0 {
				return late
			}
			return time.Millisecond
		}
	}
	for name, c := range map[string]struct {
		takes  func(int) time.Duration
		want   check.Status
		says   string
		writes int
	}{
		"fast":                {every(1, 500*time.Microsecond), check.Pass, "within 0.5 ms, the slowest 0.5 ms", latencyWrites},
		"one in 200 is slow":  {every(200, 90*time.Millisecond), check.Pass, "within 1.0 ms, the slowest 90.0 ms", latencyWrites},
		"one in 50 is slow":   {every(50, 11*time.Millisecond), check.Fail, "within 11.0 ms", 50*(latencyWrites/100) + 1},
		"just in time":        {every(1, latencyLimit-time.Microsecond), check.Pass, "within 10.0 ms", 3001},
		"at the limit":        {every(1, latencyLimit), check.Fail, "within 10.0 ms", latencyWrites/100 + 1},
		"hangs after a write": {every(1, time.Minute), check.Fail, "99 % of 1 writes within 60000.0 ms", 1},
	} {
		disk, told := &slow{takes: c.takes}, 0
		l, err := measure(t.Context(), disk, disk.now, func(done, _ int) { told = done })
		if err != nil {
			t.Fatal(err)
		}
		got := l.judge(check.Check{}, "/var/lib")
		if got.Status != c.want || !strings.Contains(got.Observed.String(), c.says) || l.writes != c.writes || told != (c.writes-1)/100*100+1 {
			t.Errorf("%s: %s, %s, %d writes, %d told", name, got.Status, got.Observed, l.writes, told)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	disk := &slow{takes: every(1, time.Millisecond)}
	if _, err := measure(ctx, disk, disk.now, func(int, int) { cancel() }); !errors.Is(err, context.Canceled) || disk.n != 1 {
		t.Errorf("stopped after %d writes: %v", disk.n, err)
	}
	if _, err := measure(t.Context(), &slow{fails: os.ErrPermission}, time.Now, nil); !errors.Is(err, os.ErrPermission) {
		t.Errorf("a disk that takes nothing: %v", err)
	}
}

// hung is a disk whose writes after some never end.
type hung struct {
	slow
	after  int
	ends   chan struct{}
	closed chan struct{}
}

func (h *hung) Sync() error {
	if h.after--; h.after < 0 {
		<-h.ends
	}
	return nil
}

func (h *hung) Close() error { close(h.closed); return nil }

// TestHungDisk: a disk that hangs has failed and holds nobody up, neither the test nor who stops it. It is closed when it answers.
func TestHungDisk(t *testing.T) {
	for _, after := range []int{0, 250} {
		for _, stopped := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				disk := &hung{after: after, ends: make(chan struct{}), closed: make(chan struct{})}
				ctx, stop := context.WithCancel(t.Context())
				defer stop()
				if stopped {
					time.AfterFunc(time.Second, stop)
				}
				began := time.Now()
				l, err := measure(ctx, disk, time.Now, func(int, int) {})
				waited := time.Since(began)
				close(disk.ends)
				<-disk.closed
				switch c := l.judge(check.Check{}, "/var/lib"); {
				case stopped:
					if !errors.Is(err, context.Canceled) || waited != time.Second {
						t.Errorf("stopped after %s: %v", waited, err)
					}
				case err != nil || c.Status != check.Fail || l.writes != after+1 || waited != latencyHang:
					t.Errorf("%s: %+v, %v", waited, c, err)
				}
			})
		}
	}
}

// TestDiskLatencyLeavesNothing stops the test on a real disk at its first step: no file is left, and none was seen.
func TestDiskLatencyLeavesNothing(t *testing.T) {
	m := hosttest.New(t)
	if c := DiskLatency(t.Context(), m.Machine, nil); c.Status != check.Skip {
		t.Errorf("no /var/lib: %+v", c)
	}
	m.File("/var/lib/etcd/member", "")
	if free, err := m.Free("/var/lib/etcd"); err == nil && free < latencyRoom+latencyBlock*latencyWrites {
		wait.Unable(t, "the folder for temporary files has only %s free", gib(free))
	}
	if file, err := host.Scratch(m.Machine, "/var/lib/etcd"); errors.Is(err, unix.EOPNOTSUPP) {
		wait.Unable(t, "the file system of the folder for temporary files has no files without a name")
	} else if err == nil {
		_ = file.Close()
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	c := DiskLatency(ctx, m.Machine, func(int, int) {
		names, err := os.ReadDir(m.Path("/var/lib/etcd"))
		if err != nil || len(names) != 1 {
			t.Errorf("during the test: %v, %v", names, err)
		}
		cancel()
	})
	names, err := os.ReadDir(m.Path("/var/lib/etcd"))
	if c.Status != check.Skip || !strings.Contains(c.Observed.String(), "stopped") || err != nil || len(names) != 1 {
		t.Errorf("%+v; left behind: %v, %v", c, names, err)
	}
}
