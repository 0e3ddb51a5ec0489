package tui

import (
	"cmp"
	"errors"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"touchdown/backend/message"
	"touchdown/backend/problem"
	"touchdown/steps"
	"touchdown/steps/idle"
	"touchdown/steps/session"
	"touchdown/steps/view"
)

// client is what the engine told this console last, and whether this console has control.
type client struct {
	link  *link
	clock func() time.Time
	name  string // of this console

	snap  *view.Snapshot // nil before the first
	got   time.Time      // when it came, by the clock of this console
	seen  uint64         // number of the newest answer
	gone  error          // why the engine does not answer
	beat  int            // counts answers, for the heartbeat
	held  bool           // this console has control
	flash string         // one sentence above the keys, until the next key
	other string         // the last flash that says that another console has control
	by    string         // who waived a check here last

	unrecorded string // the last flash that has what a person typed or chose
}

// absorb takes over a snapshot, unless a newer one is known already.
func (c *client) absorb(s snapshot) tea.Cmd {
	if s.n < c.seen || s.n == 0 {
		return nil
	}
	c.seen = s.n
	if c.gone = s.err; s.err != nil {
		return nil
	}
	c.snap, c.got = s.snap, c.clock()
	c.beat++
	if s.snap.Control.Holder == "" && c.flash == c.other {
		c.flash = "" // the header says that nobody has it
	}
	switch holder := s.snap.Control.Holder; {
	case !c.held || holder == c.name:
	case holder == "" && c.locked(): // not until someone typed the PIN
	case holder == "":
		return c.link.take(false) // the engine was started again; nobody else wanted it
	default:
		c.held = false
		c.other = t("control.lost", holder)
		c.flash = c.other
	}
	return nil
}

// free reports whether this console may have control for the asking.
func (c *client) free() bool {
	return c.snap != nil && c.gone == nil && !c.held && (c.snap.Control.Holder == "" || c.snap.Control.Holder == c.name)
}

// controlState says who has control.
func (c *client) controlState() string {
	switch holder := c.snap.Control.Holder; {
	case c.held:
		return t("control.yours")
	case holder == "", holder == c.name: // its own, from before it was started again
		return t("control.free")
	default:
		return t("control.other", holder)
	}
}

// explain says what a failed request means to a person.
func (c *client) explain(err error) string {
	switch {
	case errors.Is(err, session.ErrNoControl), errors.Is(err, session.ErrControlHeld):
		c.held = false
		if c.snap != nil && c.snap.Control.Holder != "" && c.snap.Control.Holder != c.name {
			c.other = t("control.held", c.snap.Control.Holder)
			return c.other
		}
		return t("control.none")
	case errors.Is(err, session.ErrNoEngine):
		return t("engine.gone")
	case errors.Is(err, idle.ErrLocked):
		return t("lock.closed")
	}
	return plain(err)
}

// advice is an error for a person: what is wrong, and what to do.
func (c *client) advice(err error) string {
	if p, ok := errors.AsType[*problem.Problem](err); ok {
		return alert + labelled(c, p.Summary) + " " + labelled(c, p.Fix)
	}
	return alert + c.explain(err)
}

// plain is an error without the words that only programs need.
func plain(err error) string {
	s := err.Error()
	for _, known := range []error{session.ErrInvalid, session.ErrState, session.ErrNotFound, session.ErrLocked} {
		s = strings.TrimPrefix(s, known.Error()+": ")
	}
	return s
}

// freshFor is how old an answer of the engine may be whose time is taken for now.
const freshFor = 5 * time.Second

// answered is when the engine answered last, by its clock, or now when that was a while ago. What is drawn by it changes together with the
// heartbeat: on a slow line one picture costs less than two.
func (c *client) answered() time.Time {
	if now := c.now(); c.snap == nil || c.gone != nil || now.Sub(c.snap.Now) > freshFor {
		return now
	}
	return c.snap.Now.UTC()
}

// now is the engine's clock.
func (c *client) now() time.Time {
	if c.snap == nil {
		return c.clock().UTC()
	}
	return c.snap.Now.Add(c.clock().Sub(c.got)).UTC()
}

// state is the job's, "" before the first snapshot.
func (c *client) state() view.State {
	if c.snap == nil {
		return ""
	}
	return c.snap.State
}

// moving reports whether the screen changes automatically.
func (c *client) moving() bool {
	switch c.state() {
	case view.Working, view.InQuestion, view.UndoingAll:
		return true
	}
	return c.gone != nil || c.snap != nil && c.snap.Update.Runs()
}

// heart turns with each answer of the engine, and stands still when none comes.
func (c *client) heart() string {
	if c.gone != nil {
		return t("work.silent")
	}
	return string(beats[c.beat%len(beats)])
}

func (c *client) allFields() []view.Field {
	var fields []view.Field
	for _, stage := range c.snap.Stages {
		for _, step := range stage.Steps {
			fields = append(fields, step.Fields...)
		}
	}
	return fields
}

// pathOfAnswer is how a sentence names an answer of the site config, which nobody at a console has seen.
var pathOfAnswer = regexp.MustCompile(`\bspec(\.[A-Za-z0-9]+)+`)

// labelled shows a sentence about answers, with the labels of the fields that have a page.
func labelled(c *client, text message.Text) string {
	return pathOfAnswer.ReplaceAllStringFunc(show(text), func(path string) string {
		for _, v := range c.allFields() {
			if v.Path == path {
				return t("form.named", v.Label)
			}
		}
		return path
	})
}

func allLabelled(c *client, texts []message.Text) []string {
	all := make([]string, len(texts))
	for i, text := range texts {
		all[i] = labelled(c, text)
	}
	return all
}

// stage returns the stage with the ID and its index, or -1.
func (c *client) stage(id string) (view.Stage, int) {
	if c.snap != nil {
		for i, s := range c.snap.Stages {
			if s.ID == id {
				return s, i
			}
		}
	}
	return view.Stage{}, -1
}

// current returns the step at work and the index of its stage, or -1.
func (c *client) current() (view.Step, int) {
	if c.snap != nil {
		for i, stage := range c.snap.Stages {
			for _, step := range stage.Steps {
				if step.ID == c.snap.Current && step.ID != "" {
					return step, i
				}
			}
		}
	}
	return view.Step{}, -1
}

// fingerprint is that of the review, or "".
func (c *client) fingerprint() string {
	if c.snap.Review == nil {
		return ""
	}
	return c.snap.Review.Fingerprint
}

// lostRecords tells whether the engine stopped because its own records were damaged.
func lostRecords(s *view.Snapshot) bool {
	return s != nil && s.Problem != nil && s.Problem.Code == view.RecordsLost
}

// canAct reports whether the machine can do something for the value of a field.
func (c *client) canAct(v view.Field, value string) bool {
	return v.Act != nil && c.held && slices.ContainsFunc(v.Choices, func(choice steps.Choice) bool { return choice.Value == value })
}

// say is a text in the words of the list that is worked through: on the bench line a node does not land.
func (c *client) say(key string, args ...any) string {
	if c.snap.List == view.ListFactory {
		key += ".factory"
	}
	return t(key, args...)
}

// words are what a person may type to show that this is the right machine.
func (c *client) words() []string {
	var words []string
	host, _, _ := strings.Cut(c.snap.Hostname, ".")
	if host != "" && host != "localhost" {
		words = append(words, host)
	}
	for _, f := range c.allFields() {
		if strings.HasSuffix(f.Path, ".clusterName") && f.Value != "" && f.Value != host {
			words = append(words, f.Value)
		}
	}
	if len(words) == 0 {
		words = []string{t("word.none")}
	}
	return words
}

// word names the words that may be typed.
func (c *client) word() string { return strings.Join(c.words(), t("word.or")) }

// hostWord is what a person types to unlock the node: its host name. A node without one must not be unlocked by typing nothing.
func (c *client) hostWord() string { return cmp.Or(c.snap.Hostname, t("word.none")) }

// locked reports whether nobody used this console for too long.
func (c *client) locked() bool {
	return c.snap != nil && c.snap.Idle != nil && c.open() <= 0
}

// open is how long this console stays open if nobody uses it, where a PIN is set.
func (c *client) open() time.Duration {
	return seconds(c.snap.Idle.Left) - c.clock().Sub(c.got)
}

// ofPIN is what the engine said of a PIN, in words; "" when it was the right one.
func (c *client) ofPIN(err error) string {
	wait := 1
	if c.snap != nil && c.snap.Idle != nil {
		wait = max(int(math.Ceil(c.snap.Idle.Wait)), 1)
	}
	switch {
	case err == nil:
		return ""
	case errors.Is(err, idle.ErrWrong):
		return t("lock.wrong", wait)
	case errors.Is(err, idle.ErrSoon):
		return t("lock.soon", wait)
	}
	return c.explain(err)
}
