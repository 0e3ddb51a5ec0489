// Package offer gives one file to whoever knows its address, over plain HTTP, for a short time and once.
//
// There is no TLS: nobody at the other end could verify a certificate that the node makes for itself. What is offered has no secrets,
// and whoever fetches it compares its SHA-256 with what the console shows.
package offer

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"sync"
	"syscall"
	"time"

	"touchdown/backend/message"
	"touchdown/backend/problem"
)

// port is where a node offers a file. No component of OpenShift listens on it (test/reality.md), and neither the NodePorts
// (30000-32767) nor the ports that the kernel gives to clients (32768-60999) reach it.
const port = 8765

// Limits of an offer. Chosen: a bundle of 8 MiB passes a line of 128 kbit/s in 9 minutes, and a person with a laptop needs one.
const (
	// Life is for how long a file is offered.
	Life = 10 * time.Minute
	// Longest is the longest that may be asked for.
	Longest = time.Hour
	// atOnce is how many connections are open together: a browser opens two or three.
	atOnce = 8
	// perClient is how many of them one address has, so that one that holds them leaves the others some.
	perClient = 3
	// mostFetches is how many tries are told of, the last ones.
	mostFetches = 8
)

// Why an offer ended.
const (
	Taken     = "taken"     // the file was fetched whole
	Late      = "time"      // its time was over
	Withdrawn = "withdrawn" // a person ended it, or the engine stopped
)

// View is an offer as people see it.
type View struct {
	URLs    []string  `json:"urls"` // one for each of the node's addresses
	Name    string    `json:"name"` // of the file
	Bytes   int64     `json:"bytes"`
	SHA256  string    `json:"sha256"`                // hexadecimal
	Left    float64   `json:"leftSeconds,omitempty"` // until it ends
	Fetches []Fetch   `json:"fetches,omitempty"`     // the oldest first
	Ended   string    `json:"ended,omitempty"`       // Taken, Late or Withdrawn; "" while it lasts
	At      time.Time `json:"at,omitzero"`           // when it ended
}

// Fetch is one try to fetch the file.
type Fetch struct {
	From  string    `json:"from"` // the address of who asked
	At    time.Time `json:"at"`
	Sent  int64     `json:"sent"`            // bytes so far
	Whole bool      `json:"whole,omitempty"` // all of it has arrived there
	Over  bool      `json:"over,omitempty"`
}

// Options is what an offer needs.
type Options struct {
	Name      string // of the file
	Data      []byte
	Addresses []netip.Addr // the node's, at which it listens, and at no others
	Port      uint16       // 0: Port
	Life      time.Duration
	Now       func() time.Time
	Log       *slog.Logger
	Changed   func() // is called after each change that people see
}

// Offer is a file that is offered.
type Offer struct {
	o      Options
	code   string
	server *http.Server
	ends   time.Time // by the clock that nobody sets
	work   sync.WaitGroup

	limits limits

	mu    sync.Mutex
	stop  *time.Timer
	view  View
	tries []*Fetch
	told  time.Time             // when the progress was told last
	conns map[net.Conn]struct{} // that carry the file
}

// codeLetters are what the unguessable part of the address is made of: letters and digits that nobody takes for others.
const codeLetters = "abcdefghjkmnpqrstuvwxyz23456789"

// newCode is 59 random bits in groups that a person can type. Whoever guesses has the life of an offer for it: a million tries a second
// find it with a probability of one in a billion.
func newCode() string {
	var code []byte
	for i := range 12 {
		if i > 0 && i%4 == 0 {
			code = append(code, '-')
		}
		n, err := rand.Int(rand.Reader, big.NewInt(int64(len(codeLetters))))
		if err != nil {
			panic(err) // the kernel has no random numbers
		}
		code = append(code, codeLetters[n.Int64()])
	}
	return string(code)
}

// NoAddress is the problem of a node that nobody can reach.
func NoAddress(err error) error {
	return &problem.Problem{
		Code: "BND-ADDR", Summary: message.T("This node has no address in a network, so nobody could fetch the support bundle."),
		Fix: message.T("Plug in the network cable and try again, write the bundle to a stick, or print its summary on a serial line."), Err: err,
	}
}

// Open begins to offer a file.
func Open(ctx context.Context, o Options) (*Offer, error) { return open(ctx, o, usual) }

func open(ctx context.Context, o Options, limits limits) (*Offer, error) {
	if len(o.Addresses) == 0 {
		return nil, NoAddress(nil)
	}
	if o.Port == 0 {
		o.Port = port
	}
	f := &Offer{o: o, code: newCode(), limits: limits, conns: map[net.Conn]struct{}{}, ends: time.Now().Add(o.Life)}
	f.view = View{Name: o.Name, Bytes: int64(len(o.Data)), SHA256: fmt.Sprintf("%x", sha256.Sum256(o.Data))}
	doors := &doors{of: map[netip.Addr]int{}}
	var (
		listeners []net.Listener
		last      error
	)
	for _, a := range o.Addresses {
		at := net.JoinHostPort(a.String(), strconv.Itoa(int(o.Port)))
		l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", at)
		switch {
		case err == nil:
			listeners = append(listeners, &bounded{l, doors})
			f.view.URLs = append(f.view.URLs, "http://"+l.Addr().String()+"/"+f.code)
		case errors.Is(err, syscall.EADDRINUSE):
			for _, l := range listeners {
				_ = l.Close()
			}
			return nil, cannotListen(at, err)
		default: // the address may have gone since it was asked for
			last = cannotListen(at, err)
			o.Log.Warn("the support bundle is not offered at one of the addresses", "at", at, "why", err.Error())
		}
	}
	if len(listeners) == 0 {
		return nil, last
	}
	f.server = newServer(f)
	f.mu.Lock() // its time may be over at once
	f.stop = time.AfterFunc(o.Life, func() { f.end(Late) })
	f.mu.Unlock()
	for _, l := range listeners {
		f.work.Go(func() { _ = f.server.Serve(l) }) // it ends with Close
	}
	return f, nil
}

func cannotListen(at string, err error) error {
	if errors.Is(err, syscall.EADDRINUSE) {
		return &problem.Problem{
			Code: "BND-BUSY", Summary: message.F("Another program of the node uses %s.", at),
			Fix: message.T("Try again in a minute, or write the support bundle to a stick."), Err: err,
		}
	}
	return NoAddress(err)
}

// View tells how it goes.
func (f *Offer) View() *View {
	f.mu.Lock()
	defer f.mu.Unlock()
	v := f.view
	v.URLs = append([]string{}, v.URLs...)
	for _, one := range f.tries {
		v.Fetches = append(v.Fetches, *one)
	}
	if v.Ended == "" {
		v.Left = max(time.Until(f.ends).Seconds(), 0)
	}
	return &v
}

// Close ends the offer, and returns when nothing of it listens or sends any more.
func (f *Offer) Close() {
	f.end(Withdrawn)
	f.work.Wait()
}

// end closes everything, once.
func (f *Offer) end(why string) {
	f.mu.Lock()
	if f.view.Ended != "" {
		f.mu.Unlock()
		return
	}
	f.view.Ended, f.view.At = why, f.o.Now().UTC()
	for c := range f.conns {
		_ = c.Close()
	}
	f.o.Data = nil
	f.stop.Stop()
	f.mu.Unlock()
	_ = f.server.Close()
	f.o.Log.Info("the support bundle is offered no more", "why", why)
	f.o.Changed()
}
