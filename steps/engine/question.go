package engine

import (
	"context"
	"fmt"
	"slices"
	"time"

	"touchdown/backend/message"
	"touchdown/steps"
	"touchdown/steps/event"
	"touchdown/steps/session"
	"touchdown/steps/view"
)

// question is how the open question gets its answer: from a person, or from the policy when its time is over.
type question struct {
	answer   chan reply
	deadline *time.Timer
	until    time.Time // when the deadline passes
	latest   time.Time // when it passes however often a console comes and goes
	moved    time.Time // when the deadline passes by the node's clock, once it was moved
	held     bool      // someone stopped the countdown
	holds    time.Time // how long it may be stopped, all in all
}

// heldTime is how long a person may stop a countdown. Whoever stops it and walks away must not leave a node undecided for ever.
const heldTime = 30 * time.Minute

// reply is an answer and who gave it.
type reply struct{ value, by string }

// open puts a question and returns where its answer arrives. The policy answers at once, or at the deadline.
func (q *question) open(asked steps.Question, policy reply, atOnce bool) <-chan reply {
	*q = question{answer: make(chan reply, 1)}
	switch {
	case atOnce:
		q.answer <- policy
	case asked.Deadline > 0:
		answer, limit := q.answer, seconds(asked.Deadline)
		q.until, q.latest = time.Now().Add(limit), time.Now().Add(2*limit)
		q.deadline = time.AfterFunc(limit, func() { offer(answer, policy) })
	}
	return q.answer
}

// reply answers, unless someone was faster.
func (q *question) reply(a reply) error {
	if q.deadline != nil {
		q.deadline.Stop()
	}
	if !offer(q.answer, a) {
		return fmt.Errorf("%w: the question has been answered", session.ErrState)
	}
	return nil
}

// hold stops the countdown, for heldTime in all. It tells whether it did.
func (q *question) hold(clock time.Time) bool {
	if q.held || q.deadline == nil || !q.deadline.Stop() {
		return false
	}
	now := time.Now()
	if q.holds.IsZero() {
		q.holds = now.Add(heldTime)
	}
	q.held = true
	q.move(max(q.holds.Sub(now), q.until.Sub(now)), now, clock)
	return true
}

// move lets the deadline pass in left.
func (q *question) move(left time.Duration, now, clock time.Time) {
	q.deadline.Reset(left)
	q.until, q.moved = now.Add(left), clock.Add(left)
}

// restart gives the whole time again when the last console went away, so that a person whose line dropped can
// come back and answer. Twice the time is the most: a client that comes and goes must not hold the work. It tells whether it did.
func (q *question) restart(asked *view.Question, clock time.Time) bool {
	if asked == nil || asked.Until.IsZero() || q.deadline == nil {
		return false
	}
	now := time.Now() // what counts is the time that passes, whatever the clock is set to meanwhile
	left := min(seconds(asked.Deadline), q.latest.Sub(now))
	if q.held { // whoever stopped it went away
		left = min(seconds(asked.Deadline), q.until.Sub(now))
	} else if left <= q.until.Sub(now) {
		return false
	}
	if !q.deadline.Stop() {
		return false
	}
	q.held = false
	q.move(left, now, clock)
	return true
}

// view is the open question as a console sees it; nil when there is none.
func (q *question) view(asked *view.Question) *view.Question {
	if asked == nil {
		return nil
	}
	v := *asked
	if !q.moved.IsZero() {
		v.Until = q.moved
	}
	v.Held = q.held
	return &v
}

// offer answers unless someone was faster.
func offer(answer chan reply, a reply) bool {
	select {
	case answer <- a:
		return true
	default:
		return false
	}
}

// policy is what the site config answers, or else the question's default.
func (d *draft) policy(q steps.Question) (reply, bool) {
	value, given := d.site.Spec.Policy.Answers[q.ID]
	if given && slices.ContainsFunc(q.Choices, func(c steps.Choice) bool { return c.Value == value }) {
		return reply{value, "policy"}, true
	}
	return reply{q.Default, "default"}, false
}

// Ask implements steps.Report.
func (r *stepReport) Ask(ctx context.Context, q steps.Question) (string, error) {
	if len(q.Choices) < 2 || !slices.ContainsFunc(q.Choices, func(c steps.Choice) bool { return c.Value == q.Default }) {
		panic(fmt.Sprintf("question %q needs two choices and a default among them", q.ID))
	}
	r.dog.rest() // a person may take all the time that the question gives
	defer r.dog.wake()
	asked := r.e.now()
	defer func() { r.waited += r.e.now().Sub(asked) }()
	answer, err := r.ask(q)
	if err != nil {
		return "", err
	}
	select {
	case <-ctx.Done():
		return "", context.Cause(ctx)
	case a := <-answer:
		return a.value, r.e.emit(event.Event{Kind: event.Answered, Step: r.step, Text: message.Data(a.value), By: a.by})
	}
}

// ask puts the question and returns where its answer arrives.
func (r *stepReport) ask(q steps.Question) (<-chan reply, error) {
	r.e.mu.Lock()
	defer r.e.mu.Unlock()
	c := r.e.core
	if err := c.recorder.emit(event.Event{Kind: event.Asked, Step: r.step, Question: &q}); err != nil {
		return nil, err
	}
	policy, given := c.draft.policy(q)
	return c.question.open(q, policy, c.job.unattended || q.Deadline == 0 && c.control.watching == 0 && given), nil
}
