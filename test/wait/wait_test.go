package wait

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// trial stands in for a test that may fail.
type trial struct {
	testing.TB
	failed  bool
	said    strings.Builder
	cleanup []func()
}

func (r *trial) Helper()          {}
func (r *trial) Name() string     { return r.TB.Name() + "/trial" }
func (r *trial) Failed() bool     { return r.failed }
func (r *trial) Cleanup(f func()) { r.cleanup = append(r.cleanup, f) }
func (r *trial) Fatal(args ...any) {
	r.failed = true
	fmt.Fprintln(&r.said, args...)
	runtime.Goexit()
}
func (r *trial) Logf(format string, args ...any) { fmt.Fprintf(&r.said, format+"\n", args...) }

// try runs a test in fake time and returns what it said.
func try(t *testing.T, test func(testing.TB)) (r *trial) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r = &trial{TB: t}
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			defer func() {
				for len(r.cleanup) > 0 {
					last := len(r.cleanup) - 1
					f := r.cleanup[last]
					r.cleanup = r.cleanup[:last]
					f()
				}
			}()
			test(r)
		}()
		<-ended
		time.Sleep(2 * time.Hour) // the explanation that took too long ends too
	})
	return r
}

func TestUntilEndsWithTheAnswer(t *testing.T) {
	asked := 0
	r := try(t, func(t testing.TB) {
		begun := time.Now()
		Explain(t, "the node", func() string { return "nobody asks" })
		Until(t, "now", func() bool { return true })
		if took := time.Since(begun); took != 0 {
			fmt.Fprintf(&t.(*trial).said, "took %s", took)
		}
		Until(t, "the third time", func() error {
			if asked++; asked < 3 {
				return errors.New("too early")
			}
			return nil
		})
	})
	if r.failed || r.said.String() != "" || asked != 3 {
		t.Errorf("failed %v after %d questions: %s", r.failed, asked, &r.said)
	}
}

func TestUntilFailsWithAnExplanation(t *testing.T) {
	asked, told := 0, 0
	r := try(t, func(t testing.TB) {
		Explain(t, "the node", func() string { told++; return "kubelet is failed" })
		Explain(t, "the screen", func() string { return strings.Repeat("x", 1<<20) })
		Explain(t, "the disk", func() string { time.Sleep(time.Hour); return "" })
		Until(t, "the pods", func(ctx context.Context) error {
			asked++
			if _, bounded := ctx.Deadline(); !bounded {
				return errors.New("asked without a bound")
			}
			return fmt.Errorf("no answer %d", asked)
		})
	})
	said := r.said.String()
	for _, want := range []string{
		"waiting for the pods: not within 10m0s; last: no answer " + fmt.Sprint(asked),
		"the disk: no explanation within 30s", "the node:\nkubelet is failed", " processors, load ",
	} {
		if !strings.Contains(said, want) {
			t.Errorf("it does not say %q:\n%.3000s", want, said)
		}
	}
	if !r.failed || told != 1 || strings.Count(said, "processors, load") != 1 || len(said) > 2*largestExplanation {
		t.Errorf("failed %v, told %d times, %d bytes", r.failed, told, len(said))
	}
}

func TestUntilGivesUpOnAFinalError(t *testing.T) {
	r := try(t, func(t testing.TB) {
		Until(t, "the end", func() error { return fmt.Errorf("asking: %w", Final(errors.New("the job failed"))) })
	})
	if !r.failed || !strings.HasPrefix(r.said.String(), "waiting for the end: asking: the job failed\n") {
		t.Errorf("failed %v: %s", r.failed, &r.said)
	}
}

func TestWaitEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		enough := errors.New("enough")
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Minute, enough)
		defer cancel()
		begun := time.Now()
		err := For(ctx, "nothing", func() bool { return false })
		if took := time.Since(begun); !errors.Is(err, enough) || took != time.Minute {
			t.Errorf("%v after %s", err, took)
		}
	})
}

func TestWaitInABubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		Soon(t, time.Second, "half a minute", func() bool { return time.Since(begun) >= 30*time.Second })
	})
}

func TestMachineNamesItsBusiestProcess(t *testing.T) {
	stop := make(chan struct{})
	defer close(stop)
	go func() {
		for done := false; !done; {
			select {
			case <-stop:
				done = true
			default:
			}
		}
	}()
	Until(t, "this process among the busiest", func() error {
		if text := Machine(); !strings.Contains(text, filepath.Base(os.Args[0])) {
			return errors.New(text)
		}
		return nil
	})
}

// ended stands in for a test that Unable ends.
type ended struct{ said string }

func (e *ended) Helper() {}
func (e *ended) Fatalf(format string, args ...any) {
	e.said = "failed: " + fmt.Sprintf(format, args...)
	runtime.Goexit()
}

func (e *ended) Skipf(format string, args ...any) {
	e.said = fmt.Sprintf(format, args...)
	runtime.Goexit()
}

func TestUnableFailsInCI(t *testing.T) {
	for ci, want := range map[string]string{"true": "failed: CI has to be able to run this test: no-such-program is not installed", "": "skipped: no-such-program is not installed"} {
		t.Setenv("CI", ci)
		var e ended
		over := make(chan struct{})
		go func() {
			defer close(over)
			Program(&e, "no-such-program")
		}()
		<-over
		if e.said != want {
			t.Errorf("CI=%s: %q, want %q", ci, e.said, want)
		}
	}
	if path := Program(t, "sh"); !filepath.IsAbs(path) {
		t.Errorf("sh is %q", path)
	}
}
