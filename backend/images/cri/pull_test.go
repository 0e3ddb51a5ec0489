package cri_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"touchdown/backend/host/hosttest"
	"touchdown/backend/images/auth"
	"touchdown/backend/images/cri"
	"touchdown/backend/images/cri/critest"
	"touchdown/backend/images/ref"
	"touchdown/backend/problem"
	"touchdown/test/wait"
)

func soon(time.Duration) bool { return true }

func want(name string, boot bool, sizes ...int64) cri.Want {
	w := cri.Want{Name: name, Boot: boot}
	for i, s := range sizes {
		w.Blobs = append(w.Blobs, ref.Blob{Digest: fmt.Sprintf("%s-%d", name, i), Size: s})
	}
	return w
}

func TestBootCriticalFirstThenLargest(t *testing.T) {
	s := critest.Start(t)
	outcomes, err := cri.Pull{Client: s.Client(t), Workers: 1}.Run(t.Context(), []cri.Want{
		want("r.example/small", false, 1), want("r.example/unknown", false), want("r.example/large", false, 5, 6),
		want("r.example/boot-small", true, 2), want("r.example/boot-large", true, 3),
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(s.Pulled(), " "); got != "r.example/boot-large r.example/boot-small r.example/large r.example/small r.example/unknown" {
		t.Errorf("pulled in the order %s", got)
	}
	if len(outcomes) != 5 || outcomes[0].Name != "r.example/small" || outcomes[0].Tries != 1 || outcomes[0].As != "r.example/small" {
		t.Errorf("outcomes: %+v", outcomes)
	}
}

func TestWorkersAreBounded(t *testing.T) {
	const workers = 6
	s := critest.Start(t)
	var begun atomic.Int64
	together, soon := make(chan struct{}), wait.Within(t, time.Second)
	s.OnPull = func(context.Context, string, int) error {
		if begun.Add(1) == workers {
			close(together)
		}
		select {
		case <-together:
		case <-soon.Done(): // fewer work
		}
		time.Sleep(20 * time.Millisecond) // in which a worker too many would begin
		return nil
	}
	var wants []cri.Want
	for i := range 30 {
		wants = append(wants, want(fmt.Sprintf("r.example/i%d", i), false, 1))
	}
	if _, err := (cri.Pull{Client: s.Client(t), Workers: workers}).Run(t.Context(), wants); err != nil {
		t.Fatal(err)
	}
	if s.Most() != workers {
		t.Errorf("%d pulls at once, want 6", s.Most())
	}
	if n := len(s.Pulled()); n != 30 {
		t.Errorf("%d pulled", n)
	}
}

// Each way to fail: how often it is tried, and what a person reads. The texts are CRI-O 1.34's.
func TestRetryClasses(t *testing.T) {
	const mirror = "copying system image from manifest list: (Mirrors also failed: [m.example/a@sha256:0: reading manifest sha256:0 in m.example/a: %s]): quay.io/a@sha256:0: pinging container registry quay.io: %s"
	for _, c := range []struct {
		said  string
		class cri.Class
		code  string
		tries int
	}{
		{"reading manifest v1 in r.example/a: manifest unknown", cri.Gone, "PUL-MANF", 1},
		{"reading manifest v1 in r.example/a: name unknown: repository name not known to registry", cri.Gone, "PUL-MANF", 1},
		{"unable to retrieve auth token: invalid username/password: unauthorized: bad", cri.Denied, "PUL-AUTH", 1},
		{"reading manifest: requested access to the resource is denied", cri.Denied, "PUL-AUTH", 1},
		{"pinging container registry r.example: Get \"https://r.example/v2/\": dial tcp: lookup r.example on 192.0.2.53:53: no such host", cri.NoName, "PUL-NAME", 2},
		{"pinging container registry r.example: tls: failed to verify certificate: x509: certificate signed by unknown authority", cri.BadCert, "PUL-CERT", 1},
		{"writing blob: storing blob to file \"/var/tmp/x\": write /var/tmp/x: no space left on device", cri.NoSpace, "DSK-FULL", 1},
		{"copying: Manifest does not match provided manifest digest sha256:00", cri.Lied, "PUL-DGST", 2},
		{"Digest did not match, expected sha256:00, got sha256:11", cri.Lied, "PUL-DGST", 2},
		{"SignatureValidationFailed: Source image rejected: A signature was required, but no signature exists", cri.Unsigned, "PUL-SGN", 1},
		{"choosing image instance: no image found in image index for architecture \"amd64\", variant \"\", OS \"linux\"", cri.Foreign, "PUL-ARCH", 1},
		{"too many requests to registry", cri.Busy, "PUL-BUSY", 2},
		{"RegistryUnavailable: pinging container registry r.example: dial tcp 192.0.2.1:443: connect: connection refused", cri.Away, "PUL-AWAY", 5},
		{"reading blob sha256:1: unexpected EOF", cri.Broken, "PUL-BRK", 5},
		{"received unexpected HTTP status: 503 Service Unavailable", cri.Broken, "PUL-BRK", 5},
		{"writing blob: storing blob to file \"/var/tmp/x/1\": gzip: invalid checksum", cri.Lied, "PUL-DGST", 2},
		{"pinging container registry r.example: dial tcp: lookup r.example on [::1]:53: read udp [::1]:58779->[::1]:53: read: connection refused", cri.NoDNS, "PUL-DNS", 5},
		{"writing blob: storing blob to file \"/var/tmp/x/1\": happened during read: unexpected EOF (after reconnecting, server did not process a Range: header, status 200)", cri.Broken, "PUL-BRK", 5},
		{"something that nobody has seen", cri.Other, "PUL-ERR", 5},
		{fmt.Sprintf(mirror, "manifest unknown", "dial tcp: lookup quay.io: no such host"), cri.Gone, "PUL-MANF", 1},
		{fmt.Sprintf(mirror, "manifest unknown", "dial tcp 192.0.2.9:443: i/o timeout"), cri.Gone, "PUL-MANF", 1},
		{fmt.Sprintf(mirror, "connect: connection refused", "dial tcp: lookup quay.io: no such host"), cri.Away, "PUL-AWAY", 5},
		{fmt.Sprintf(mirror, "manifest unknown]\n[n.example/a: connect: connection refused", "unauthorized"), cri.Away, "PUL-AWAY", 5},
		{fmt.Sprintf(mirror, "lookup m.example: no such host", "unauthorized: access"), cri.Denied, "PUL-AUTH", 1},
	} {
		s := critest.Start(t)
		s.OnPull = func(context.Context, string, int) error { return errors.New(c.said) }
		out, err := cri.Pull{Client: s.Client(t), Pause: soon}.Run(t.Context(), []cri.Want{want("r.example/a", true, 1)})
		p := problem.From(err)
		if len(out) != 1 || out[0].Class != c.class || out[0].Tries != c.tries || s.Tries("r.example/a") != c.tries || p.Code != c.code {
			t.Errorf("%q: class %s, %d tries, code %s; want %s, %d, %s", c.said, out[0].Class, out[0].Tries, p.Code, c.class, c.tries, c.code)
		}
		if !strings.Contains(p.Summary.String(), "r.example/a") || p.Fix.String() == "" {
			t.Errorf("%s is told as %q, %q", c.class, p.Summary, p.Fix)
		}
	}
}

func TestSecondTryAndItsPauses(t *testing.T) {
	s := critest.Start(t)
	s.OnPull = func(_ context.Context, _ string, try int) error {
		if try < 5 {
			return errors.New("connection reset by peer")
		}
		return nil
	}
	var pauses []time.Duration
	out, err := cri.Pull{Client: s.Client(t), Pause: func(d time.Duration) bool { pauses = append(pauses, d); return true }}.
		Run(t.Context(), []cri.Want{want("r.example/a", false)})
	if err != nil || out[0].Tries != 5 || out[0].Class != "" || out[0].Took <= 0 {
		t.Errorf("%+v, %v", out, err)
	}
	if !slices.Equal(pauses, []time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second}) {
		t.Errorf("pauses %v", pauses)
	}
}

// A full disk ends the run: nothing more is begun, and what was not tried is named.
func TestFullDiskEndsAll(t *testing.T) {
	s := critest.Start(t)
	s.OnPull = func(_ context.Context, name string, _ int) error {
		if name == "r.example/b" {
			return errors.New("write: no space left on device")
		}
		return nil
	}
	out, err := cri.Pull{Client: s.Client(t), Workers: 1, Pause: soon}.Run(t.Context(), []cri.Want{
		want("r.example/a", true), want("r.example/b", false, 9), want("r.example/c", false, 8), want("r.example/d", false, 7),
	})
	if problem.From(err).Code != "DSK-FULL" || !strings.Contains(err.Error(), "3 of 4") {
		t.Errorf("error: %v", err)
	}
	if out[0].Err != nil || out[2].Class != cri.NotTried || out[3].Class != cri.NotTried || s.Tries("r.example/c") != 0 {
		t.Errorf("outcomes: %+v", out)
	}
}

// When registries were away through all tries, the rest does not wait as long again for each image.
func TestDeadRegistryIsNotWaitedForTwice(t *testing.T) {
	s := critest.Start(t)
	s.OnPull = func(context.Context, string, int) error { return errors.New("connection refused") }
	var wants []cri.Want
	for i := range 10 {
		wants = append(wants, want(fmt.Sprintf("r.example/i%d", i), false))
	}
	wants = append(wants, want("other.example/a", false))
	out, err := cri.Pull{Client: s.Client(t), Workers: 1, Pause: soon}.Run(t.Context(), wants)
	tries := 0
	for _, o := range out {
		tries += o.Tries
	}
	if err == nil || tries != 5+9+5 {
		t.Errorf("%d tries, %v", tries, err)
	}
}

func TestCancelEndsPulls(t *testing.T) {
	s := critest.Start(t)
	var ended atomic.Int32
	started := make(chan bool, 9)
	s.OnPull = func(ctx context.Context, name string, _ int) error {
		if name == "r.example/quick" {
			return nil
		}
		started <- true
		<-ctx.Done()
		ended.Add(1)
		return ctx.Err()
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() { <-started; <-started; cancel(errors.New("a person said so")) }()
	out, err := cri.Pull{Client: s.Client(t), Workers: 2}.Run(ctx, []cri.Want{
		want("r.example/quick", true), want("r.example/a", false), want("r.example/b", false), want("r.example/c", false),
	})
	if err == nil || !strings.Contains(err.Error(), "a person said so") {
		t.Errorf("error: %v", err)
	}
	if len(out) != 1 || out[0].Name != "r.example/quick" {
		t.Errorf("what was ended is told as failed: %+v", out)
	}
	wait.Until(t, "CRI-O to end both pulls", func() bool { return ended.Load() == 2 })
}

// A registry that goes silent in the middle is tried again when nothing arrives any more, and not as long as something does.
func TestSilentRegistryIsTriedAgain(t *testing.T) {
	for moves, tries := range map[int64]int{0: 2, 2 << 20: 1} {
		s := critest.Start(t)
		s.OnPull = func(ctx context.Context, _ string, try int) error {
			if try > 1 {
				return nil
			}
			var end <-chan time.Time // never: it is silent
			if moves > 0 {
				end = time.After(1500 * time.Millisecond) // much longer than Stall
			}
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-end:
				return nil
			}
		}
		var used atomic.Int64
		out, err := cri.Pull{
			Client: s.Client(t), Pause: soon, Stall: 500 * time.Millisecond, Used: func() (int64, error) { return used.Add(moves), nil },
		}.Run(t.Context(), []cri.Want{want("r.example/a", false)})
		if err != nil || out[0].Tries != tries {
			t.Errorf("growing by %d: %+v, %v", moves, out, err)
		}
	}
	s := critest.Start(t)
	s.OnPull = func(ctx context.Context, _ string, _ int) error { <-ctx.Done(); return ctx.Err() }
	out, err := cri.Pull{Client: s.Client(t), Pause: soon, Stall: 50 * time.Millisecond, Used: func() (int64, error) { return 1, nil }}.
		Run(t.Context(), []cri.Want{want("r.example/a", false)})
	if out[0].Class != cri.Broken || out[0].Tries != 5 || !strings.Contains(err.Error(), "nothing arrived any more") {
		t.Errorf("%+v, %v", out, err)
	}
}

// The journal that cannot be written ends the run.
func TestJournalIsAsked(t *testing.T) {
	s := critest.Start(t)
	var mu sync.Mutex
	var noted []string
	_, err := cri.Pull{Client: s.Client(t), Workers: 1, Done: func(o cri.Outcome) error {
		mu.Lock()
		defer mu.Unlock()
		if noted = append(noted, o.Name); len(noted) == 2 {
			return errors.New("journal is gone")
		}
		return nil
	}}.Run(t.Context(), []cri.Want{want("r.example/a", false, 3), want("r.example/b", false, 2), want("r.example/c", false, 1)})
	if err == nil || !strings.Contains(err.Error(), "journal is gone") || !slices.Equal(noted, []string{"r.example/a", "r.example/b"}) {
		t.Errorf("%v after %v", err, noted)
	}
	if s.Tries("r.example/c") != 0 {
		t.Error("it went on without a journal")
	}
}

// Bytes only go up, shared layers count once, and at the end all is there.
func TestProgressAddsUp(t *testing.T) {
	s := critest.Start(t)
	live := make(chan struct{}) // closed when something was told before the first image was there
	s.OnPull = func(ctx context.Context, _ string, _ int) error {
		select {
		case <-live:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	shared := ref.Blob{Digest: "base", Size: 1000}
	var wants []cri.Want
	for i := range 4 {
		w := want(fmt.Sprintf("r.example/i%d", i), false, 500)
		w.Blobs = append(w.Blobs, shared)
		wants = append(wants, w)
	}
	var told []cri.Pulled
	var once sync.Once
	var used atomic.Int64
	used.Store(1 << 40)
	_, err := cri.Pull{
		Client: s.Client(t), Workers: 2,
		Used: func() (int64, error) { return used.Add(300), nil },
		Tell: func(p cri.Pulled) {
			told = append(told, p)
			if p.Done == 0 && p.Bytes > 0 {
				once.Do(func() { close(live) })
			}
		},
	}.Run(wait.Within(t, 10*time.Second), wants)
	if err != nil || len(told) < 3 {
		t.Fatalf("%v, told %d times", err, len(told))
	}
	for i, p := range told {
		if p.Total != 4*500+1000 || p.Bytes > p.Total || len(p.Now) > 2 || i > 0 && p.Bytes < told[i-1].Bytes {
			t.Errorf("progress %d: %+v", i, p)
		}
	}
	if last := told[len(told)-1]; last.Bytes != last.Total || last.Done != 4 || last.Left != 0 || len(last.Now) != 0 {
		t.Errorf("the end: %+v", last)
	}
}

// Credentials go to CRI-O for the registry that they are for, and are in no error, whatever a registry writes back.
func TestLoginsStaySecret(t *testing.T) {
	m := hosttest.New(t)
	const password = "hunter2-very-secret"
	pair := base64.StdEncoding.EncodeToString([]byte("me:" + password))
	m.File(auth.File, `{"auths":{"r.example":{"auth":"`+pair+`"}}}`)
	logins, err := auth.Read(m.Machine)
	if err != nil {
		t.Fatal(err)
	}
	s := critest.Start(t)
	s.OnPull = func(_ context.Context, name string, _ int) error {
		return fmt.Errorf("unauthorized: %s sent Authorization: Basic %s, that is %s", name, pair, password)
	}
	out, err := cri.Pull{Client: s.Client(t), Logins: logins}.Run(t.Context(), []cri.Want{want("r.example/a", false), want("other.example/a", false)})
	if a := s.Auth("r.example/a"); a.GetUsername() != "me" || a.GetPassword() != password {
		t.Error("the credentials did not reach CRI-O")
	}
	if s.Auth("other.example/a") != nil {
		t.Error("credentials went to another registry")
	}
	for _, shown := range []string{err.Error(), fmt.Sprintf("%+v", out), fmt.Sprintf("%v %#v", logins, problem.From(out[0].Err))} {
		if strings.Contains(shown, password) || strings.Contains(shown, pair) {
			t.Errorf("credentials are shown: %s", shown)
		}
	}
}

func TestWhatIsNoNameIsNotPulled(t *testing.T) {
	s := critest.Start(t)
	out, err := cri.Pull{Client: s.Client(t)}.Run(t.Context(), []cri.Want{want("--privileged", false)})
	if out[0].Class != cri.BadName || problem.From(err).Code != "PUL-REF" || s.Tries("--privileged") != 0 {
		t.Errorf("%+v, %v", out, err)
	}
	if out, err := (cri.Pull{Client: s.Client(t)}).Run(t.Context(), nil); err != nil || len(out) != 0 {
		t.Errorf("nothing to do: %v, %v", out, err)
	}
}
