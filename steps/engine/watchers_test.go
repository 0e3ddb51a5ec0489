package engine

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"touchdown/backend/message"
	"touchdown/steps/event"
	"touchdown/steps/view"
	"touchdown/test/wait"
)

// TestDeadlinePassesWhileClientsComeAndGo: a watcher that connects again and again must not hold the work.
func TestDeadlinePassesWhileClientsComeAndGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, newWorld())
		defer r.Close()
		asking(r, 60)
		token := take(t, r)
		r.start(t, r, token, false)
		until(t, r, "the question", inState(view.InQuestion))
		began := time.Now()
		for time.Since(began) < 10*time.Minute && r.w.get("answer") == "" {
			ctx, leave := context.WithTimeout(t.Context(), time.Second)
			_ = r.Events(ctx, "", 0, func([]event.Event) error { return nil })
			leave()
			time.Sleep(10 * time.Second)
		}
		if took := time.Since(began); took > 3*time.Minute {
			t.Errorf("a question of one minute was open for %s", took)
		}
	})
}

// TestNoticesAreAskedOutsideTheLock: what tells notices reads files, and a disk may take its time; nobody waits for that but
// whoever asked for the snapshot.
func TestNoticesAreAskedOutsideTheLock(t *testing.T) {
	r := newRig(t, newWorld())
	must(t, r.Close())
	slow, asked := make(chan struct{}), make(chan struct{}, 100)
	o := r.options()
	o.Notices = func() []message.Text {
		asked <- struct{}{}
		<-slow
		return []message.Text{message.T("the disk is slow")}
	}
	e, err := Open(o)
	must(t, err)
	defer e.Close()
	told := make(chan *view.Snapshot, 1)
	go func() {
		s, _ := e.Snapshot(context.Background())
		told <- s
	}()
	<-asked
	done := make(chan error, 1)
	go func() { _, err := e.TakeControl(context.Background(), "tty1", false); done <- err }()
	select {
	case err := <-done:
		must(t, err)
	case <-time.After(wait.Timeout(5 * time.Second)):
		t.Error("a console waits for the notices of another one's snapshot")
	}
	close(slow)
	if s := <-told; len(s.Notices) != 1 {
		t.Errorf("notices %q", s.Notices)
	}
}
