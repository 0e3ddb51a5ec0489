// Package engine runs a list of stages on one node: it owns the site config, the journal and the saved
// originals, and answers any number of clients (package session), in its own process or over a socket (package wire).
//
// Engine holds one lock. What it guards is core and its parts, which have no locks: draft (the answers, what was
// found for them, the review of them), inspector (looks at the machine before the work), control (which console may write),
// question (how the open one gets its answer), stock (what was lost of the records before), and recorder, by which alone job,
// the fold of the events, changes. Steps run without the lock, in run, and report by stepReport. Foreground is the same run for
// a command that needs no engine.
package engine

import (
	"context"
	"errors"
	"log/slog"
	"net/netip"
	"sync"
	"time"

	"touchdown/backend"
	"touchdown/backend/delivery"
	"touchdown/backend/layout"
	"touchdown/backend/media"
	"touchdown/backend/message"
	"touchdown/steps"
	"touchdown/steps/event"
	"touchdown/steps/idle"
	"touchdown/steps/session"
	"touchdown/steps/site"
	"touchdown/steps/transcript"
)

// byNobody in an event's By marks a job that nobody watches: the policy answers its questions at once.
const byNobody = "unattended"

// restartGap is added to the number of events when an engine starts, so that numbers keep rising although
// those that are not journalled are forgotten.
const restartGap = 1 << 16

// Options is what an engine needs.
type Options struct {
	Dir     string // see stateFolder
	Node    *backend.Node
	Version string
	LogFile string // what Log and the support bundle read; "" for none
	Mask    *Masker

	// List names the list: ListSite (also "") or ListFactory. Consoles choose their words by it.
	List string

	// Found is told the answers that an earlier engine left, before anyone can change them; nil: nobody asks.
	Found func(*site.Config)
	// Stages makes the list for a config. It is called again for each inspection, review and job, each with
	// its own copy of the config, so that a step never sees a value change under its hands.
	Stages func(*site.Config) []steps.Stage

	// Pace is how much longer than its plans this node is known to take; 0 is taken for 1.
	Pace float64

	// Media, when set, watches the machine's sockets for media with a site config; they are used before the node lands.
	Media *media.Watcher

	// Updates tells that the engine is a unit of this node, whose program a release on a stick may replace.
	Updates bool

	// Outbox, when set, holds what waits for the site's monitor; the engine sends it.
	Outbox *delivery.Outbox

	// Reached, when set, are the node's addresses in the site's network; a support bundle is offered there, on OfferPort (0: offer.Port).
	Reached   func(context.Context) ([]netip.Addr, error)
	OfferPort uint16

	// AfterEvent, when set, is called after each event of the journal is on the disk; the crash tests end the process there.
	AfterEvent func(event.Event)

	// DryRun is for an engine that only makes a review: it does not go on with a job, which Open refuses (session.ErrState), and leaves what
	// an interrupted step, an accepted hand-over or the PIN of a start left behind to the next engine.
	DryRun bool

	// AtRest, when set, is called when the machine was looked at and nobody fills in the form: what the look needed may be given back.
	AtRest func()

	// Notices, when set, gives sentences about the machine for every screen. It is asked with each snapshot, so it must be quick.
	Notices func() []message.Text
}

// notices are the sentences about the machine.
func (o *Options) notices() []message.Text {
	if o.Notices == nil {
		return nil
	}
	return o.Notices()
}

// Engine implements Session in its own process. It holds the lock, calls core beneath it, and runs what takes time without it:
// looks, plans, the work.
type Engine struct {
	o      *Options
	folder *stateFolder
	hub    *hub
	mask   *Masker

	recovered chan struct{} // closed when what an interrupted step left behind has been put right

	closing context.Context //nolint:containedctx // the engine's own life: ended by Close
	close   context.CancelFunc
	workers sync.WaitGroup

	oneRound chan struct{} // holds one value while a round of inspections runs; sent to before mu is taken
	oneGift  chan struct{} // the same while Give works
	attached chan struct{} // holds one value after a stream of events came or went

	packing sync.Mutex // held while a support bundle is made
	reading sync.Mutex // held while the node's journal is read
	summary made       // under packing; the last one for a serial line
	offers  offers     // the bundle on the network

	shown *transcript.Log // what the consoles showed

	idle *idle.Lock // has its own lock: checking a PIN is slow on purpose

	originals     originals     // the state folder, save in the foreground of a command
	progressPause time.Duration // least time between two progress events of a step

	mu   sync.Mutex
	core *core // under mu
}

var _ session.Session = (*Engine)(nil)

// Open takes the state folder, reads its journal and goes on where an earlier engine stopped. It fails with
// a Problem when another engine holds the folder, and with session.ErrState when a dry run finds a job under way.
func Open(o Options) (*Engine, error) {
	folder, err := openFolder(o.Dir)
	if err != nil {
		return nil, err
	}
	if o.DryRun {
		if err := mayLook(folder); err != nil {
			return nil, errors.Join(err, folder.close())
		}
	}
	e, err := open(o, folder)
	if err != nil {
		return nil, errors.Join(err, folder.close())
	}
	e.begin()
	return e, nil
}

func open(o Options, folder *stateFolder) (*Engine, error) {
	journal, events, damage, err := openJournal(folder.path(layout.JournalFile))
	if err != nil {
		return nil, err
	}
	e := newEngine(o, folder, journal, events)
	e.core.takeUp(events, damage)
	takeUpUpdate(e.core)
	return e, nil
}

// newEngine makes an engine that has done nothing yet.
func newEngine(o Options, folder *stateFolder, journal *journal, events []event.Event) *Engine {
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
		o: &o, folder: folder, hub: newHub(events), mask: o.Mask, oneRound: make(chan struct{}, 1), oneGift: make(chan struct{}, 1), recovered: make(chan struct{}), attached: make(chan struct{}, 1),
		originals: folder, progressPause: progressPause,
	}
	e.shown = transcript.Open(folder.dir, e.now)
	e.closing, e.close = context.WithCancel(context.Background())
	e.idle = newIdle(e)
	e.core = newCore(e, journal)
	return e
}

// begin starts what an engine does automatically: it goes on with a job that was at work, or looks around.
func (e *Engine) begin() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.workers.Go(e.watch)
	e.workers.Go((&lookout{e}).run)
	if e.o.DryRun { // it recovers nothing, sends nothing, and lands by no stick
		close(e.recovered)
	} else {
		e.workers.Go(e.recover)
		if out := e.o.Outbox; out != nil {
			e.workers.Go(func() { out.Run(e.closing, func() { delivered(e) }) })
		}
		if e.o.Media != nil {
			e.workers.Go((&lander{Engine: e, tried: map[string]try{}}).watchMedia)
		}
	}
	e.core.noticeLoss()
	e.core.noticeDisk()
	switch {
	case underWay(e.core.job.state):
		e.core.resume()
	default:
		e.core.recorder.changed() // for a client that read the job's last event and follows on: no other one would come
	}
}

// Close stops the work at once and frees the state folder. The job goes on when an engine opens it again.
func (e *Engine) Close() error {
	e.close()
	e.offers.close()
	e.workers.Wait()
	e.mu.Lock()
	defer e.mu.Unlock()
	return errors.Join(e.core.recorder.journal.file.Close(), e.folder.close())
}

func (e *Engine) now() time.Time { return e.o.Node.Now().UTC() }

// delivered tells the consoles that the deliveries are not what they were.
func delivered(e *Engine) {
	e.mask.also(e.o.Outbox.Target().Secrets()...) // those of the site config are wiped with the hand-over, these stay
	e.mu.Lock()
	defer e.mu.Unlock()
	e.core.recorder.changed()
}

// emit journals an event, folds it into the job and publishes it.
func (e *Engine) emit(one event.Event) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.core.recorder.emit(one)
}
