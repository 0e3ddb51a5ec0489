package offer

import (
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// limits bound what a client can hold.
type limits struct {
	request time.Duration // for a client to send its request, and for a connection without one
	stall   time.Duration // for a chunk
	arrive  time.Duration // for the last bytes to be acknowledged
	leave   time.Duration // for a client that has everything to close its connection
}

// usual are the limits of a real offer: a request is one packet, and a chunk in 30 s is 9 kbit/s.
var usual = limits{request: 5 * time.Second, stall: 30 * time.Second, arrive: 15 * time.Second, leave: 2 * time.Second}

const (
	// mostHeader bounds a request in bytes; net/http adds 4 KiB. A browser sends less than 2 KiB.
	mostHeader = 4 << 10
	// chunk is what is sent at once, in bytes.
	chunk = 32 << 10
	// tellPause is how often progress is told.
	tellPause = time.Second
)

func newServer(f *Offer) *http.Server {
	s := &http.Server{
		Handler: f, ReadTimeout: f.limits.request, ReadHeaderTimeout: f.limits.request, WriteTimeout: f.limits.request, IdleTimeout: f.limits.request,
		MaxHeaderBytes: mostHeader, ErrorLog: log.New(io.Discard, "", 0), // whoever is on the network could fill the log
	}
	s.SetKeepAlivesEnabled(false)
	return s
}

// ServeHTTP gives the file to whoever asks for exactly it. All else has one answer, from which nobody learns anything.
func (f *Offer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	asked := strings.ToLower(r.URL.EscapedPath()) // the QR code has capitals
	if r.Method != http.MethodGet || r.URL.RawQuery != "" || subtle.ConstantTimeCompare([]byte(asked), []byte("/"+f.code)) != 1 {
		http.Error(w, "not here", http.StatusNotFound)
		return
	}
	conn, _, err := http.NewResponseController(w).Hijack() // what has arrived at the other end is known of the connection alone
	if err != nil {
		return
	}
	f.give(conn)
}

// give sends the file.
func (f *Offer) give(conn net.Conn) {
	defer conn.Close()
	from, _ := netip.ParseAddrPort(conn.RemoteAddr().String())
	f.mu.Lock()
	data := f.o.Data
	if f.view.Ended != "" {
		f.mu.Unlock()
		return
	}
	f.work.Add(1) // beneath the lock: Close waits only after the offer has ended
	f.conns[conn] = struct{}{}
	fetch := &Fetch{From: from.Addr().Unmap().String(), At: f.o.Now().UTC()}
	f.tries = append(f.tries[max(0, len(f.tries)+1-mostFetches):], fetch)
	f.mu.Unlock()
	defer f.work.Done()

	err := f.send(conn, fetch, data)
	f.mu.Lock()
	fetch.Over, fetch.Whole = true, err == nil
	delete(f.conns, conn)
	f.mu.Unlock()
	f.o.Log.Info("the support bundle was fetched", "from", fetch.From, "bytes", fetch.Sent, "whole", fetch.Whole)
	f.o.Changed()
	if err != nil {
		return
	}
	if half, ok := conn.(interface{ CloseWrite() error }); ok {
		_ = half.CloseWrite()
	}
	_ = conn.SetReadDeadline(time.Now().Add(f.limits.leave))
	_, _ = io.Copy(io.Discard, io.LimitReader(conn, mostHeader)) // closed before the client, it might lose the end
	go f.end(Taken)                                              // not here: Close waits for this
}

// send writes head and file, and waits until all of it has arrived.
func (f *Offer) send(conn net.Conn, fetch *Fetch, data []byte) error {
	_ = conn.SetDeadline(time.Now().Add(f.limits.stall))
	head := "HTTP/1.1 200 OK\r\nContent-Type: application/gzip\r\nContent-Length: %d\r\nContent-Disposition: attachment; filename=%q\r\n" +
		"X-Content-Type-Options: nosniff\r\nCache-Control: no-store\r\nConnection: close\r\n\r\n"
	if _, err := fmt.Fprintf(conn, head, len(data), f.o.Name); err != nil {
		return fmt.Errorf("sending the head of the answer: %w", err)
	}
	for len(data) > 0 {
		_ = conn.SetDeadline(time.Now().Add(f.limits.stall))
		n, err := conn.Write(data[:min(chunk, len(data))])
		data = data[n:]
		if f.sent(fetch, n) {
			f.o.Changed()
		}
		if err != nil {
			return err
		}
	}
	return f.arrived(conn)
}

// sent notes progress, and reports whether it is time to tell it.
func (f *Offer) sent(fetch *Fetch, n int) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	fetch.Sent += int64(n)
	now := time.Now()
	if now.Sub(f.told) < tellPause {
		return false
	}
	f.told = now
	return true
}

// errNotArrived is about a file whose end nobody acknowledged.
var errNotArrived = errors.New("the end of the file was not acknowledged")

// arrived waits until the other machine has acknowledged all that was sent.
func (f *Offer) arrived(conn net.Conn) error {
	raw, ok := conn.(interface{ unsent() (int, error) })
	if !ok {
		return errNotArrived
	}
	for until := time.Now().Add(f.limits.arrive); time.Now().Before(until); time.Sleep(20 * time.Millisecond) {
		left, err := raw.unsent()
		if err != nil {
			return err
		}
		if left == 0 {
			return nil
		}
	}
	return errNotArrived
}

// doors counts the connections of all listeners.
type doors struct {
	mu  sync.Mutex
	all int
	of  map[netip.Addr]int
}

// bounded accepts as many connections as doors allows, and closes the others at once.
type bounded struct {
	net.Listener
	doors *doors
}

// Accept implements net.Listener.
func (b *bounded) Accept() (net.Conn, error) {
	for {
		conn, err := b.Listener.Accept()
		if err != nil {
			return nil, err //nolint:wrapcheck // net/http looks at it
		}
		tcp, ok := conn.(*net.TCPConn)
		from, failed := netip.ParseAddrPort(conn.RemoteAddr().String())
		if ok && failed == nil && b.doors.enter(client(from.Addr())) {
			return &counted{TCPConn: tcp, leave: sync.OnceFunc(func() { b.doors.left(client(from.Addr())) })}, nil
		}
		_ = conn.Close()
	}
}

// client is what counts as one client: an address, or the network of an IPv6 address, of which a machine takes as many as it likes.
func client(a netip.Addr) netip.Addr {
	a = a.Unmap().WithZone("")
	if a.Is6() {
		return netip.PrefixFrom(a, 64).Masked().Addr()
	}
	return a
}

func (d *doors) enter(from netip.Addr) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.all >= atOnce || d.of[from] >= perClient {
		return false
	}
	d.all++
	d.of[from]++
	return true
}

func (d *doors) left(from netip.Addr) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.all--
	if d.of[from]--; d.of[from] == 0 {
		delete(d.of, from)
	}
}

// counted is a connection that gives its place back.
type counted struct {
	*net.TCPConn
	leave func()
}

// Close implements net.Conn.
func (c *counted) Close() error {
	c.leave()
	return c.TCPConn.Close() //nolint:wrapcheck // net/http looks at it
}

// unsent is how many bytes the other machine has not acknowledged.
func (c *counted) unsent() (left int, err error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return 0, fmt.Errorf("looking at the connection: %w", err)
	}
	if failed := raw.Control(func(fd uintptr) { left, err = unix.IoctlGetInt(int(fd), unix.SIOCOUTQ) }); failed != nil {
		return 0, fmt.Errorf("looking at the connection: %w", failed)
	}
	if err != nil {
		return 0, fmt.Errorf("looking at the connection: %w", err)
	}
	return left, nil
}
