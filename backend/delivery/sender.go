package delivery

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"math/rand/v2"
	"net/url"
	"time"

	"touchdown/backend/host"
	"touchdown/backend/message"
)

// The pauses between tries. Chosen: a monitor that was restarted has the report within a minute, one that is away for days costs a
// request an hour.
const (
	firstPause = 10 * time.Second
	mostPause  = time.Hour
	refusedFor = 24 * time.Hour // what was refused: someone may have corrected the monitor, and nobody comes to the node to restart it
)

// try is what is known of a waiting delivery since the engine started.
type try struct {
	failed  int
	first   time.Time
	due     time.Time
	refused bool
	why     message.Text
}

// Status is how the deliveries are.
type Status struct {
	Monitor   string       // its host; "" when none is set
	Waiting   int          // deliveries that the monitor does not have yet
	Refused   int          // of these; they are tried again after a day, with other settings of the monitor, or after a restart
	Delivered time.Time    // when the monitor took the last one; zero: none
	Next      time.Time    // when the next try is due; zero: none is known
	Why       message.Text // what the last try came to, where something waits
}

// Status tells how the deliveries are, as of the last change.
func (o *Outbox) Status() Status { return *o.status.Load() }

// Line says the status in a sentence; "" where no monitor is set.
func (s Status) Line() message.Text {
	switch {
	case s.Monitor == "":
		return message.Text{}
	case s.Refused > 0:
		return message.F("Monitor %s refuses what this node sends: %s.", s.Monitor, s.Why)
	case s.Waiting > 0 && s.Why.String() != "":
		return message.F("Monitor %s: waiting, %d; %s; next try %s.", s.Monitor, s.Waiting, s.Why, clock(s.Next))
	case s.Waiting > 0:
		return message.F("Monitor %s: waiting, %d.", s.Monitor, s.Waiting)
	case !s.Delivered.IsZero():
		return message.F("Monitor %s: delivered %s.", s.Monitor, clock(s.Delivered))
	}
	return message.F("Monitor %s: nothing to deliver.", s.Monitor)
}

func clock(t time.Time) string { return t.UTC().Format("2006-01-02 15:04 UTC") }

// step makes one try, if one is due, and returns how long until the next one is.
func (o *Outbox) step(ctx context.Context) time.Duration {
	o.mu.Lock()
	w, pause := o.next()
	o.mu.Unlock()
	if w == nil {
		return pause
	}
	t, out := o.send(ctx, *w)
	if ctx.Err() != nil && !out.done {
		return mostPause
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if out.done || t == o.Target() { // else it says nothing about the monitor that was set meanwhile
		o.record(*w, out)
	}
	o.count()
	_, pause = o.next()
	return pause
}

// next is the delivery that is due, nil when none is: then the pause until one will be.
func (o *Outbox) next() (*waiting, time.Duration) {
	pause := mostPause
	defer o.count()
	t, err := o.target()
	if err != nil {
		o.log.Warn("no deliveries to the monitor", "error", err)
	}
	if t.URL == "" {
		return nil, pause
	}
	all, err := o.list()
	if err != nil {
		o.log.Warn("the deliveries to the monitor cannot be listed", "error", err)
	}
	var first *waiting // what is due for the longest time: while each try takes longer than a pause, all get their turn
	for _, w := range all {
		known := o.tries[w.name]
		if known == nil {
			return &w, 0
		}
		if wait := known.due.Sub(o.now()); wait < pause {
			first, pause = &w, wait
		}
	}
	if pause > 0 {
		return nil, pause
	}
	return first, 0
}

// send makes one try, and returns with which settings.
func (o *Outbox) send(ctx context.Context, w waiting) (Target, outcome) {
	t, err := o.target()
	if err != nil {
		return t, outcome{why: message.T("its settings cannot be read")}
	}
	i, err := o.read(w)
	switch {
	case errors.Is(err, errDamaged), errors.Is(err, fs.ErrNotExist):
		return t, outcome{lost: err}
	case err != nil:
		return t, outcome{why: message.T("the disk of this node cannot be read")}
	}
	return t, o.post(ctx, t, i, w.key)
}

// record keeps what came of a try.
func (o *Outbox) record(w waiting, out outcome) {
	known := o.tries[w.name]
	if known == nil {
		known = &try{first: o.now()}
		o.tries[w.name] = known
	}
	switch {
	case out.done:
		if err := o.folder.Remove(w.name); err != nil { // it is sent again, and the monitor knows it by its key
			o.log.Warn("a delivered document cannot be removed", "key", w.key, "error", err)
			known.due = o.now().Add(mostPause)
			return
		}
		delete(o.tries, w.name)
		o.log.Info("delivered to the monitor", "kind", w.kind(), "key", w.key)
		o.remember()
	case out.lost != nil:
		known.due = o.now().Add(mostPause)
		if err := o.drop(w, out.lost.Error()); err != nil {
			o.log.Warn("a damaged delivery cannot be removed", "key", w.key, "error", err)
			return
		}
	case out.refused:
		known.refused, known.why, known.due = true, out.why, o.now().Add(refusedFor)
		o.log.Warn("the monitor refuses a delivery; it is sent again after a day, once the monitor's settings change, or after a restart", "kind", w.kind(), "key", w.key, "why", out.why.String())
	default:
		o.later(w, known, out)
	}
}

// later plans the next try of a delivery, or gives up one that is too old.
func (o *Outbox) later(w waiting, known *try, out outcome) {
	known.failed++
	known.refused, known.why = false, out.why
	now, made := o.now(), w.made
	if made.After(now) { // the clock was set back since, or it waits behind one of which that is true (behind)
		made = known.first
	}
	if now.Sub(made) > maxAge && now.Sub(known.first) > minTried {
		if err := o.drop(w, "it is too old"); err == nil {
			return
		}
	}
	pause := min(firstPause<<min(known.failed-1, 10), mostPause)
	pause -= time.Duration(rand.Int64N(int64(pause) / 4)) // a thousand nodes do not come back at the same moment
	known.due = o.now().Add(max(pause, min(out.after, mostPause)))
	if known.failed == 1 {
		o.log.Warn("a delivery to the monitor failed; it is tried again", "kind", w.kind(), "key", w.key, "why", out.why.String())
	}
}

// last is what outlives a restart of what was delivered.
type last struct {
	Delivered time.Time `json:"delivered"`
}

func (o *Outbox) remember() {
	if o.Target() == (Target{}) { // it was forgotten during the try
		return
	}
	text, _ := json.Marshal(last{o.now().UTC().Truncate(time.Second)}) // a time
	if err := o.folder.WriteFiles(host.File{Path: lastFile, Data: text, Perm: 0o600}); err != nil {
		o.log.Warn("the time of a delivery cannot be kept", "error", err)
	}
}

// count brings the status up to date.
func (o *Outbox) count() {
	var s Status
	t, err := o.target()
	if u, failed := url.Parse(t.URL); failed == nil {
		s.Monitor = u.Host
	}
	if err != nil {
		s.Monitor = "?"
	}
	if data, err := o.file(lastFile, 4<<10); err == nil {
		var l last
		_ = json.Unmarshal(data, &l)
		s.Delivered = l.Delivered
	}
	all, _ := o.list()
	s.Waiting = len(all)
	for _, w := range all {
		known := o.tries[w.name]
		switch {
		case known == nil:
		case known.refused:
			s.Refused++
			s.Why = known.why
		case s.Refused == 0:
			s.Why = known.why
			if s.Next.IsZero() || known.due.Before(s.Next) {
				s.Next = known.due
			}
		}
	}
	o.status.Store(&s)
}
