// Package delivery brings what a node has to say to the monitor of its site: reports and hardware faults. What is
// posted waits in a folder of the node until the monitor has taken it, through power cuts and reboots; nobody waits for that.
package delivery

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"touchdown/backend/host"
)

// Kinds of what is delivered.
const (
	Report = "report"         // a hand-over or factory report, signed where the node can sign
	Fault  = "hardware-fault" // the checks of the hardware that failed
)

// Item is one delivery.
type Item struct {
	Kind string `json:"kind"`
	Type string `json:"type"` // media type of the body
	Body []byte `json:"-"`
}

// key names the content: the same thing posted twice is one delivery, for us and for the monitor.
func (i Item) key() string {
	sum := sha256.New()
	sum.Write([]byte(i.Kind + "\n"))
	sum.Write(i.Body)
	return hex.EncodeToString(sum.Sum(nil))
}

// Outbox is the folder with what waits, and the sender that empties it. Its methods may be called by any goroutine; only Run
// waits for the network.
type Outbox struct {
	folder host.Folder
	dir    string // where the folder lies for this process
	log    *slog.Logger
	now    func() time.Time
	agent  string // how Touchdown names itself to the monitor

	wake    chan struct{}                           // holds one value when there is something new to send
	connect func(Target) (http.RoundTripper, error) // how a monitor is reached
	status  atomic.Pointer[Status]

	mu    sync.Mutex      // held while the folder is changed, never during a try
	tries map[string]*try // under mu; by name, what is not in it is due
}

// Options are what an outbox needs.
type Options struct {
	Host    *host.Machine
	Folder  string // of the machine
	Version string // of Touchdown
	Log     *slog.Logger
	Now     func() time.Time
}

// Open returns the outbox of a machine. It reads nothing yet.
func Open(o Options) *Outbox {
	out := &Outbox{
		folder: o.Host.Folder(o.Folder), dir: o.Host.Path(o.Folder), log: o.Log, now: o.Now, agent: "touchdown/" + o.Version,
		wake: make(chan struct{}, 1), connect: dial, tries: map[string]*try{},
	}
	out.status.Store(&Status{})
	return out
}

// Run sends what waits until ctx ends, and tells when the status has changed. Every failure is tried again: there is nothing that it
// could return.
func (o *Outbox) Run(ctx context.Context, changed func()) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	told := Status{}
	if err := o.sweep(); err != nil {
		o.log.Warn("what a power cut left of deliveries cannot be removed", "error", err)
	}
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		case <-o.wake:
		}
		pause := o.step(ctx)
		if s := o.Status(); s != told && ctx.Err() == nil {
			told = s
			changed()
		}
		timer.Reset(pause)
	}
}

// stir lets Run look at once.
func (o *Outbox) stir() {
	select {
	case o.wake <- struct{}{}:
	default:
	}
}
