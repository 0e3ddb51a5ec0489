package health_test

import (
	"context"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"touchdown/backend/check"
	"touchdown/backend/health"
	"touchdown/backend/kube"
	"touchdown/test/wait"
)

// handClock moves only by hand. A Watcher waits at one place at a time.
type handClock struct {
	mu      sync.Mutex
	now     time.Time
	pending chan time.Time
	until   time.Time
	rested  int // how often the Watcher came to rest
}

func (c *handClock) time() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// after is what the Watcher waits with. What lets changes gather is over at once.
func (c *handClock) after(d time.Duration) <-chan time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	ch := make(chan time.Time, 1)
	if d <= health.Gathering {
		ch <- c.now
		return ch
	}
	c.pending, c.until = ch, c.now.Add(d)
	c.rested++
	return ch
}

// rests is how often the Watcher came to rest.
func (c *handClock) rests() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.rested
}

// move moves the clock to where the Watcher wakes up, and returns when it has come to rest again.
func (c *handClock) move(t testing.TB) {
	t.Helper()
	was := 0
	wait.Until(t, "the watcher to rest", func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.pending == nil {
			return false
		}
		was, c.now = c.rested, c.until
		c.pending <- c.now
		c.pending = nil
		return true
	})
	wait.Until(t, "the watcher to look", func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.rested > was && c.pending != nil
	})
}

// watched is a Watcher at work, and what it told.
type watched struct {
	mu    sync.Mutex
	lives []health.Live
}

func watching(t testing.TB, cluster *kube.Cluster, clock *handClock) *watched {
	t.Helper()
	w, stop := watchingAgain(t, cluster, clock, health.Live{})
	t.Cleanup(stop)
	return w
}

// watchingAgain goes on from what a Watcher told before.
func watchingAgain(t testing.TB, cluster *kube.Cluster, clock *handClock, told health.Live) (out *watched, end func()) {
	t.Helper()
	out = &watched{}
	w := health.NewWatcher(cluster, func(context.Context) health.Options { return clock.options() }, clock.after)
	w.Told = told
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		w.Run(ctx, func(l health.Live, _ []check.Check) {
			out.mu.Lock()
			defer out.mu.Unlock()
			out.lives = append(out.lives, l)
		})
	}()
	return out, func() { stop(); <-done }
}

func (w *watched) last() health.Live {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.lives) == 0 {
		return health.Live{}
	}
	return w.lives[len(w.lives)-1]
}

// status is what a check is in a Live; one that passed is not in it.
func status(l health.Live, id string) check.Status {
	for _, c := range l.Checks {
		if c.ID == id {
			return c.Status
		}
	}
	return check.Pass
}

func TestWatcherAtRest(t *testing.T) {
	p, cluster := newPlane(t)
	clock := &handClock{now: now}
	w := watching(t, cluster, clock)
	wait.Until(t, "the first verdict", func() bool { return len(w.last().Counts) > 0 })
	if l := w.last(); status(l, "operators") != check.Pass || status(l, "node") != check.Pass || l.Counts[check.Pass] < 10 {
		t.Errorf("%+v", l)
	}
	clock.move(t)
	before, began := p.count(""), clock.time()
	for clock.time().Sub(began) < 10*time.Minute {
		clock.move(t)
	}
	passed := clock.time().Sub(began)
	if n := p.count("") - before; n > int(passed.Seconds())*2/3 || n < 20 {
		t.Errorf("%d requests in %s", n, passed)
	}
	for resource := range followedKinds {
		if n := p.count("list " + resource); n != 1 {
			t.Errorf("%s was listed %d times", resource, n)
		}
	}
}

func TestWatcherTellsWhatChanged(t *testing.T) {
	p, cluster := newPlane(t)
	clock := &handClock{now: now}
	w := watching(t, cluster, clock)
	wait.Until(t, "the first verdict", func() bool { return len(w.last().Counts) > 0 })
	first := w.last()
	broken, well := operator("authentication", "True", "False", "True", "no route"), operator("authentication", "True", "False", "False", "")
	p.put(t, "clusteroperators", &broken)
	wait.Until(t, "the fault", func() bool { return status(w.last(), "operators") == check.Fail })
	if l := w.last(); l.Status != check.Fail || len(l.Turns) == 0 || l.Turns[len(l.Turns)-1].ID != "operators" || !strings.Contains(l.Turns[len(l.Turns)-1].Observed.String(), "no route") {
		t.Errorf("%+v", l)
	}
	p.put(t, "clusteroperators", &well)
	wait.Until(t, "the repair", func() bool { return status(w.last(), "operators") == check.Pass })
	l := w.last()
	if l.Status != first.Status || len(l.Turns) != 2 || l.Turns[1].Status != check.Pass {
		t.Errorf("%+v", l)
	}
}

// TestWatcherGoesOn: a new Watcher knows what the last one told. It tells what changed in between when it sees it, and claims no earlier
// time.
func TestWatcherGoesOn(t *testing.T) {
	p, cluster := newPlane(t)
	clock := &handClock{now: now}
	w, end := watchingAgain(t, cluster, clock, health.Live{})
	wait.Until(t, "the first verdict", func() bool { return len(w.last().Counts) > 0 })
	broken, well := operator("authentication", "True", "False", "True", "no route"), operator("authentication", "True", "False", "False", "")
	p.put(t, "clusteroperators", &broken)
	wait.Until(t, "the fault", func() bool { return status(w.last(), "operators") == check.Fail })
	end()
	told := w.last()
	clock = &handClock{now: now.Add(5 * time.Second)}
	w, end = watchingAgain(t, cluster, clock, told)
	wait.Until(t, "the same verdict", func() bool { return len(w.last().Counts) > 0 })
	if l := w.last(); len(l.Turns) != len(told.Turns) || !l.Well.Equal(told.Well) || !l.Since.Equal(clock.now) {
		t.Errorf("nothing changed, but it tells %+v after %+v", l.Turns, told.Turns)
	}
	end()
	p.put(t, "clusteroperators", &well)
	told = w.last()
	w, end = watchingAgain(t, cluster, &handClock{now: now.Add(10 * time.Second)}, told)
	defer end()
	wait.Until(t, "the repair", func() bool { return len(w.last().Counts) > 0 })
	l := w.last()
	if n := len(l.Turns); n != len(told.Turns)+1 || l.Turns[n-1].ID != "operators" || l.Turns[n-1].Status != check.Pass || !l.Turns[n-1].At.Equal(now.Add(10*time.Second)) {
		t.Errorf("it was repaired while nobody looked, but it tells %+v after %+v", l.Turns, told.Turns)
	}
}

// TestWatcherOutlivesTheAPI: an API that is away for hours is asked by one request at a time, less and less often; then all is as before.
func TestWatcherOutlivesTheAPI(t *testing.T) {
	t.Parallel()
	p, cluster := newPlane(t)
	clock := &handClock{now: now}
	w := watching(t, cluster, clock)
	wait.Until(t, "the first verdict", func() bool { return len(w.last().Counts) > 0 })
	first, answered := w.last(), clock.time()
	p.set(func() { p.away = true })
	p.cut()
	wait.Until(t, "the pause", func() bool { return !w.last().Pause.IsZero() })
	if l := w.last(); len(l.Checks) != len(first.Checks) || len(l.Turns) != 0 || status(l, "api") != check.Pass || !l.Away.IsZero() {
		t.Errorf("a restart of the API is a fault: %+v", l)
	}
	for clock.time().Sub(answered) < health.RestartTime {
		clock.move(t)
	}
	wait.Until(t, "the fault", func() bool { return !w.last().Away.IsZero() })
	if l := w.last(); l.Status != check.Fail || !l.Pause.IsZero() || l.Away.Before(answered) || len(l.Checks) != 1 {
		t.Errorf("%+v", l)
	}
	away, lists, before := w.last().Away, p.count("list pods")+p.count("watch pods"), p.count("")
	for clock.time().Sub(answered) < 3*time.Hour {
		clock.move(t)
	}
	if n := p.count("") - before; n > 3*3600/30*11/10+len(followedKinds) || p.count("list pods")+p.count("watch pods") > lists+1 {
		t.Errorf("%d requests", n)
	}
	if l := w.last(); !l.Away.Equal(away) {
		t.Errorf("it answered last at %s, now at %s", away, l.Away)
	}
	p.set(func() { p.away = false })
	clock.move(t)
	broken := operator("authentication", "True", "False", "True", "no route")
	p.put(t, "clusteroperators", &broken)
	wait.Until(t, "what changed meanwhile", func() bool { return w.last().Away.IsZero() && status(w.last(), "operators") == check.Fail })
	for _, turn := range w.last().Turns {
		if turn.ID != "api" && turn.ID != "operators" && turn.ID != "node" { // the node could not give a sign of life either
			t.Errorf("it turned, though only the API was away: %+v", turn)
		}
	}
}

// TestWatcherReadsAgain: what the API no longer remembers is read again.
func TestWatcherReadsAgain(t *testing.T) {
	t.Parallel()
	p, cluster := newPlane(t)
	w := watching(t, cluster, &handClock{now: now})
	wait.Until(t, "the first verdict", func() bool { return len(w.last().Counts) > 0 })
	wait.Until(t, "the watch", func() bool { return p.count("watch clusteroperators") == 1 })
	p.expire("clusteroperators")
	wait.Until(t, "the second list", func() bool { return p.count("list clusteroperators") >= 2 && p.count("watch clusteroperators") >= 2 })
	broken := operator("authentication", "True", "False", "True", "no route")
	p.put(t, "clusteroperators", &broken)
	wait.Until(t, "the fault", func() bool { return status(w.last(), "operators") == check.Fail })
}

// TestWatcherReadsItsKubeconfigAgain: the API refuses the old token; the file has the new one.
func TestWatcherReadsItsKubeconfigAgain(t *testing.T) {
	t.Parallel()
	p, cluster := newPlane(t)
	clock := &handClock{now: now}
	w := watching(t, cluster, clock)
	wait.Until(t, "the first verdict", func() bool { return len(w.last().Counts) > 0 })
	text, err := os.ReadFile(p.file)
	if err != nil {
		t.Fatal(err)
	}
	p.set(func() { p.token = "new" })
	p.cut()
	if err := os.WriteFile(p.file, []byte(strings.Replace(string(text), "user: {}", `user: {token: new}`, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	clock.move(t)
	wait.Until(t, "the watch", func() bool { return p.count("watch clusteroperators") >= 2 })
	broken := operator("authentication", "True", "False", "True", "no route")
	p.put(t, "clusteroperators", &broken)
	wait.Until(t, "the fault", func() bool { return status(w.last(), "operators") == check.Fail })
	if l := w.last(); status(l, "api") != check.Pass {
		t.Errorf("%+v", l)
	}
}
