// Package engine runs a list of stages on one node: it owns the site config, the journal and the saved
// originals, and serves any number of consoles, in its own process or over a unix socket.
package engine

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"sync"
	"time"

	"touchdown/backend"
	"touchdown/backend/problem"
	"touchdown/steps"
	"touchdown/steps/site"
)

// unattended in an event's By marks a job that nobody watches: the policy answers its questions at once.
const unattended = "unattended"

// handedOver in the Text of the job's done event says that the hand-over was accepted and undo has ended.
const handedOver = "handed over"

// restartGap is added to the number of events when an engine starts, so that numbers keep rising although
// those that are not journalled are forgotten.
const restartGap = 1 << 16

// Options is what an engine needs.
type Options struct {
	Dir     string // the state folder, see store
	Node    *backend.Node
	Version string
	LogFile string // what Log and the support bundle read; "" for none
	Mask    *Masker

	// List names the list: ListSite (also "") or ListFactory. Consoles choose their words by it.
	List string

	// Stages makes the list for a config. It is called again for each inspection, review and job, each with a
	// copy of the config of its own, so that a step never sees a value change under its hands.
	Stages func(*site.Config) []steps.Stage

	// AfterEvent, when set, is called after each event of the journal is on the disk; the crash tests end the process there.
	AfterEvent func(steps.Event)

	// Notices, when set, gives sentences about the machine for every screen. It is asked with each snapshot, so it must be quick.
	Notices func() []string
}

// notices are the sentences about the machine.
func (o *Options) notices() []string {
	if o.Notices == nil {
		return nil
	}
	return o.Notices()
}

// Engine implements Session in its own process.
type Engine struct {
	o     Options
	store *store
	hub   *hub
	mask  *Masker

	hostname string
	serial   string

	recovered chan struct{} // closed when what an interrupted step left behind has been put right

	closing context.Context //nolint:containedctx // the engine's own life: ended by Close
	close   context.CancelFunc
	workers sync.WaitGroup

	oneRound chan struct{} // holds one value while a round of inspections runs; sent to before mu is taken

	mu        sync.Mutex
	journal   *journal
	seq       uint64
	draft     *draft
	job       *job
	looking   map[string]*look  // by step, while its Inspect runs
	looked    map[string]string // by step, the fingerprint of the answers that its last look was about
	inspected bool              // the first round has ended
	look      chan struct{}     // asks the watcher for a round
	control   control
	answer    chan reply
	deadline  *time.Timer
	until     time.Time               // when the deadline passes
	latest    time.Time               // when it passes however often a console comes and goes
	stopWork  context.CancelCauseFunc // ends the step at work
	stopAct   context.CancelFunc      // ends what was begun by the last Act
	unlocked  bool
	resumed   time.Time
	notices   map[string]string
	lost      []string        // what was lost of the records before this engine started
	known     *steps.JobState // what they tell all the same, until that is recorded
	asks      bool            // a person decides how the job goes on
	records   bool            // the loss belongs into the journal: there is a job that it concerns
}

var _ Session = (*Engine)(nil)

// Open takes the state folder, reads its journal and goes on where an earlier engine stopped. It fails with
// a Problem when another engine holds the folder.
func Open(o Options) (*Engine, error) {
	store, err := openStore(o.Dir)
	if err != nil {
		return nil, err
	}
	e, err := open(o, store)
	if err != nil {
		return nil, errors.Join(err, store.close())
	}
	e.begin()
	return e, nil
}

func open(o Options, store *store) (*Engine, error) {
	journal, events, damage, err := openJournal(store.path("journal.jsonl"))
	if err != nil {
		return nil, err
	}
	if o.Mask == nil {
		o.Mask = &Masker{}
	}
	if o.Node.Now == nil {
		o.Node.Now = time.Now
	}
	if o.Node.Log == nil {
		o.Node.Log = slog.New(slog.DiscardHandler)
	}
	e := &Engine{
		o: o, store: store, journal: journal, hub: newHub(events), mask: o.Mask, job: newJob(),
		oneRound: make(chan struct{}, 1), looking: map[string]*look{}, looked: map[string]string{}, notices: map[string]string{},
		look: make(chan struct{}, 1), recovered: make(chan struct{}), stopAct: func() {},
	}
	e.hostname, _ = o.Node.Host.Hostname() // shown only; a node without one shows ""
	e.serial = o.Node.Host.Serial()
	e.control.now = e.now
	e.draft = &draft{store: store, mask: o.Mask, list: o.Stages, offers: map[string][]steps.Choice{}}
	e.closing, e.close = context.WithCancel(context.Background())
	for _, event := range events {
		e.job.apply(event)
		e.seq = event.Seq
	}
	if e.job.handedOver { // a power cut may have come between the event and the wiping
		if err := errors.Join(store.wipeSaved(), store.wipeSecrets()); err != nil {
			o.Node.Log.Error("wiping after the hand-over", "error", err)
			e.notices["wipe"] = "Saved originals and secrets could not be wiped after the hand-over; look into " + store.dir + "."
		}
	}
	e.loadSite()
	e.takeStock(journal, damage)
	if e.seq > 0 {
		e.seq += restartGap
	}
	journal.read = reading{}
	return e, nil
}

// loadSite takes up the draft. What cannot be read of it is told, never silently dropped.
func (e *Engine) loadSite() {
	cfg, lost, err := e.store.loadDraft()
	if err != nil {
		e.o.Node.Log.Error("draft not readable", "error", err)
		how := isUnreadable
		if aside, err := putAside(e.store.path("site.yaml"), ".unreadable"); err == nil {
			how += ", and is kept as " + filepath.Base(aside)
			delete(e.store.sums.files, "site.yaml")
		}
		e.store.lose("site.yaml", how)
		cfg = site.New()
		lost = e.store.loadSecrets(cfg)
	}
	for _, name := range lost {
		name = filepath.Join("secrets", name)
		e.store.lose(name, isUnreadable)
		e.store.remove(name)
	}
	e.draft.open(cfg)
}

// begin starts what an engine does by itself: it goes on with a job that was at work, or looks around.
func (e *Engine) begin() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.workers.Go(e.recover)
	e.workers.Go(e.watch)
	e.tellLossLocked()
	e.tellDiskLocked()
	switch {
	case underWay(e.job.state):
		e.resumed = e.now()
		e.resumeLocked()
	default:
		e.changedLocked() // for a client that read the job's last event and follows on: no other one would come
	}
}

// tellDiskLocked shows a notice while nothing can be saved. The caller holds e.mu.
func (e *Engine) tellDiskLocked() {
	const notice = "save"
	was := e.notices[notice]
	delete(e.notices, notice)
	if err := e.store.writable(); err != nil {
		e.notices[notice] = "Answers and progress cannot be saved: " + err.Error() + ". Look at the disk that holds " + e.store.dir + "."
	}
	if e.notices[notice] != was {
		e.changedLocked()
	}
}

// resumeLocked goes on with the job after the engine was stopped or the power cut.
func (e *Engine) resumeLocked() {
	if e.job.state != UndoingAll && e.acceptedLocked() != nil {
		event := steps.Event{Kind: steps.Failed, Step: e.job.current, Problem: trouble(&problem.Problem{
			Code: "CFG-DFF", Summary: "The answers on the disk are not those that were accepted before the restart.",
			Fix: "Go back to the answers, look them through, and start again.",
		})}
		if e.emitLocked(event) != nil { // told all the same; the next engine finds the same
			e.job.apply(event)
		}
		return
	}
	e.workLocked(e.job.state == UndoingAll)
}

// Close stops the work at once and frees the state folder. The job goes on when an engine opens it again.
func (e *Engine) Close() error {
	e.close()
	e.workers.Wait()
	e.mu.Lock()
	defer e.mu.Unlock()
	return errors.Join(e.journal.file.Close(), e.store.close())
}

func (e *Engine) now() time.Time { return e.o.Node.Now().UTC() }

// emit journals an event, takes it into the state and publishes it.
func (e *Engine) emit(event steps.Event) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.emitLocked(event)
}

func (e *Engine) emitLocked(event steps.Event) error {
	e.mask.event(&event)
	event.Seq, event.Time = e.seq+1, e.now()
	durable := event.Lifecycle() && e.journalled(event)
	if durable {
		if err := e.journal.append(event); err != nil {
			e.notices["disk"] = problem.From(err).Summary
			return err
		}
		delete(e.notices, "disk")
	}
	e.seq = event.Seq
	e.job.apply(event)
	if durable && e.known == nil && len(e.store.losses) == 0 {
		e.store.sums.journalled(mark{e.seq, e.knownLocked()}, event.Step == "" || event.Kind == steps.Failed)
	}
	e.hub.publish(event)
	if e.o.AfterEvent != nil && durable {
		e.o.AfterEvent(event)
	}
	return nil
}

// journalled tells whether an event belongs to the job. What an inspection sees is seen again by the next
// one, so it stays out; a waiver is a person's decision and goes in, and so does what becomes of the waived check.
func (e *Engine) journalled(event steps.Event) bool {
	switch event.Kind {
	case steps.Checked, steps.Cleared, steps.Said:
	default:
		return true
	}
	if e.job.state == Working || e.job.state == InQuestion {
		return true
	}
	c := event.Check
	return c != nil && (c.Waiver != nil || e.job.step(event.Step).waivers[c.ID] != nil)
}

// changedLocked tells the consoles that something outside the work changed.
func (e *Engine) changedLocked() {
	_ = e.emitLocked(steps.Event{Kind: steps.Changed}) // never journalled, so it cannot fail
}
