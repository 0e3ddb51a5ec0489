package media

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"touchdown/backend/envelope"
	"touchdown/backend/host"
	"touchdown/backend/message"
	"touchdown/backend/problem"
)

const (
	// lookEvery is how often the list of disks is read where no message of the kernel came. Chosen: a stick is to be at work in 5 s.
	lookEvery = 3 * time.Second
	// quiet is how long nothing may come after a message until the disks are looked at: a stick sends several while it is taken up.
	quiet = 300 * time.Millisecond
)

// Medium is a volume with a site config, judged for this node.
type Medium struct {
	Device  string           // "sdb1"
	Label   string           // of the volume; "" when it has none
	Signer  string           // id of the key that signed it; "" when it is refused
	Refused *problem.Problem // why the node does not use it; nil for one that it may use

	baked    bool               // it is not a volume: the factory put it into the node
	disk     string             // that it is, or is a part of: "sdb"
	twin     bool               // another disk has the same
	path     string             // of its device
	kind     string             // of its file system
	signed   []byte             // as it was read
	id       string             // of its document; "" when nobody whom the node trusts signed it
	document *envelope.Document // nil when it is refused
}

// Name tells which volume it is: "SITECONFIG (sdb1)".
func (f *Medium) Name() string {
	if f.Label == "" {
		return f.Device
	}
	return f.Label + " (" + f.Device + ")"
}

// ID is that of its document; "" when nobody whom the node trusts signed it.
func (f *Medium) ID() string { return f.id }

// Unattended tells whether it asks to start with nobody there (steps/unattended).
func (f *Medium) Unattended() bool { return f.document != nil && f.document.Unattended }

// Baked tells whether it is not a volume: the factory put it into the node.
func (f *Medium) Baked() bool { return f.baked }

// unreadable are the problems of a volume whose content cannot be known.
var unreadable = []string{"MED-UNRD", "MED-HALT", "MED-BAD", "MED-READ", "MED-DEAD"}

// Unread tells whether it could not be read, so that a site config may be on it or not.
func (f *Medium) Unread() bool {
	return f.signed == nil && f.Refused != nil && slices.Contains(unreadable, f.Refused.Code)
}

// Sealed tells what its site config opens with.
func (f *Medium) Sealed() envelope.Sealing { return f.document.Sealed }

// Watcher knows the media that are in the machine's sockets. Its methods may be called from several goroutines.
type Watcher struct {
	Every   time.Duration // how often the list of disks is read at least
	Limits  Limits        // of one look
	Release []string      // names of the files that make a release of Touchdown; nil: none is looked for
	Beside  []string      // names of files that may lie beside these, and are listed with them
	known   Known

	leaving atomic.Bool // a Leave has not ended

	mu    sync.Mutex
	seen  []string // what the devices were when they were read
	last  Want     // of the last look
	blind bool     // the last look failed: what was found may be something else by now
	found []*Medium
	bring []Volume                // those with a release
	why   map[string]message.Text // by the document's id
}

// Want is what of the media is of use.
type Want struct {
	Sites    bool // site configs
	Releases bool // releases of Touchdown
}

// NewWatcher returns one that has not looked yet.
func NewWatcher(m *host.Machine) *Watcher {
	return &Watcher{Every: lookEvery, Limits: looks, known: Of(m), why: map[string]message.Text{}}
}

// Found lists the media that the last look found, by their devices.
func (w *Watcher) Found() []*Medium {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.found)
}

// Releases lists the volumes that have all files of a release, as the last look found them, with these files and those beside them alone. Nobody has judged them.
func (w *Watcher) Releases() []Volume {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.bring)
}

// Looked tells what the last look was for: what is in the sockets of another kind is not known.
func Looked(w *Watcher) Want {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.last
}

// Usable are those that the node may use.
func (w *Watcher) Usable() []*Medium {
	return slices.DeleteFunc(w.Found(), func(f *Medium) bool { return f.Refused != nil })
}

// Watch looks whenever a disk came or went, as long as wanted says that something of media is of use, and calls each from time to time,
// until ctx ends: what kept a medium from being used may be over although the media are the same.
func (w *Watcher) Watch(ctx context.Context, wanted func() Want, each func()) {
	var knocks <-chan struct{}
	if w.known.machine.Root() == "" {
		knocks, _ = host.BlockEvents(ctx) // without them it looks as often
	}
	again := true
	for {
		if now := wanted(); now == (Want{}) {
			forget(w)
		} else if err := w.look(ctx, now, again); err == nil {
			again = false
		}
		each()
		select {
		case <-ctx.Done():
			return
		case <-time.After(w.Every):
		case <-knocks:
			again = true
			untilQuiet(ctx, knocks)
		}
	}
}

// untilQuiet waits until no messages come any more, and no longer than the look that is due anyway.
func untilQuiet(ctx context.Context, knocks <-chan struct{}) {
	end := time.After(lookEvery)
	for {
		select {
		case <-ctx.Done():
			return
		case <-end:
			return
		case <-time.After(quiet):
			return
		case <-knocks:
		}
	}
}

// Tell notes why an unattended medium starts nothing, for Why, and returns whether that is new; no text takes it back.
func (w *Watcher) Tell(f *Medium, why message.Text) (changed bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	was := w.why[f.ID()]
	w.why[f.ID()] = why
	return was != why
}

// Why is what was told of a medium last.
func (w *Watcher) Why(f *Medium) message.Text {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.why[f.ID()]
}

// LookAgain reads everything again, and fails unless what it saw is what is in the sockets when it is over.
func (w *Watcher) LookAgain(ctx context.Context) error {
	if err := w.look(ctx, Want{Sites: true}, true); err != nil {
		return err
	}
	all, err := devices(w.known.machine)
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if !slices.EqualFunc(all, w.seen, func(d device, is string) bool { return d.is == is }) {
		return errors.New("something was put in or pulled out while the media were read")
	}
	return nil
}

// Blind tells whether the last look failed.
func (w *Watcher) Blind() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.blind
}

func forget(w *Watcher) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seen, w.found, w.bring, w.last = nil, nil, nil, Want{}
}
