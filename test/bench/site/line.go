package site

import (
	"net"
	"sync"
	"time"
)

// Line is what lies between the node and the registry.
type Line struct {
	RTT           time.Duration // what every question waits for its answer
	PerConnection int64         // bytes a second
	Total         int64         // bytes a second of all connections
}

// WAN is the line that the product's goals are measured on.
func WAN() Line { return Line{RTT: 30 * time.Millisecond, PerConnection: 20e6, Total: 100e6} }

// line is a Line with its traffic.
type line struct {
	Line
	all pace
}

// Lay puts a line between the registry and whoever connects from now on. The zero Line is as fast as it goes.
func (r *Registry) Lay(l Line) {
	r.set(func() {
		r.line = nil
		if l != (Line{}) {
			r.line = &line{Line: l, all: pace{rate: l.Total}}
		}
	})
}

// longLine accepts connections at the far end of the registry's line.
type longLine struct {
	net.Listener
	registry *Registry
}

func (l *longLine) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	l.registry.mu.Lock()
	defer l.registry.mu.Unlock()
	if l.registry.line == nil {
		return conn, nil
	}
	// The handshake of TCP is one question more.
	return &farConn{Conn: conn, line: l.registry.line, own: pace{rate: l.registry.line.PerConnection}, asked: true, opening: 1}, nil
}

// farConn is a connection over the line. Only what the registry says is slow: clients say little.
type farConn struct {
	net.Conn
	line *line
	own  pace

	mu      sync.Mutex
	asked   bool // something was read since the last answer began
	opening int  // round trips that the first answer waits for besides its own
}

func (c *farConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if n > 0 {
		c.mu.Lock()
		c.asked = true
		c.mu.Unlock()
	}
	return n, err
}

func (c *farConn) Write(p []byte) (int, error) {
	c.mu.Lock()
	trips := 0
	if c.asked {
		trips, c.asked, c.opening = 1+c.opening, false, 0
	}
	c.mu.Unlock()
	time.Sleep(time.Duration(trips) * c.line.RTT)
	done := 0
	for done < len(p) {
		part := p[done:min(len(p), done+32<<10)]
		time.Sleep(max(c.own.reserve(len(part)), c.line.all.reserve(len(part))))
		n, err := c.Conn.Write(part)
		done += n
		if err != nil {
			return done, err
		}
	}
	return done, nil
}

// pace is how fast bytes may go.
type pace struct {
	rate int64 // bytes a second; 0: any

	mu   sync.Mutex
	free time.Time // when all that was reserved has gone
}

// reserve tells how long to wait until n more bytes may go. Up to 10 ms of what was not used before may be caught up.
func (p *pace) reserve(n int) time.Duration {
	if p.rate == 0 {
		return 0
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	if early := now.Add(-10 * time.Millisecond); p.free.Before(early) {
		p.free = early
	}
	wait := p.free.Sub(now)
	p.free = p.free.Add(time.Duration(int64(n) * int64(time.Second) / p.rate))
	return wait
}
