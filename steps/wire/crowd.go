package wire

import (
	"container/list"
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"syscall"
)

// How much of the engine clients may take. A process that leaks its connections, or means harm, is held back alone: consoles are other
// processes, and go on. Chosen: a console has three connections, and a node a handful of consoles.
const (
	// mostOfOne is how many connections a process may have. One more ends its oldest that is idle, and is refused where none is.
	mostOfOne = 64
	// mostOfAll is how many there may be. One more ends the oldest of the process that has the most, which spares consoles while another
	// process has more; a console whose stream ends connects again.
	mostOfAll = 512
	// smallBody is what a request's body may have in bytes at any time: a value, or an action.
	smallBody = 64 << 10
	// mostOfBodies is what all larger bodies may have together, in bytes, while they are read and carried out.
	mostOfBodies = 4 * maxBody
	// mostBundles is how many support bundles may be on their way to clients at once.
	mostBundles = 4
)

// crowd is a listener that bounds how many connections there are. They are counted by what of tells of each: its process.
type crowd struct {
	net.Listener
	of func(net.Conn) int

	mu   sync.Mutex
	by   map[int]int
	open list.List // of *member, the oldest first
}

// member is a connection of a crowd.
type member struct {
	net.Conn
	crowd *crowd
	who   int
	place *list.Element // nil once it is counted out; the crowd's lock guards it
	idle  bool          // between two requests; the crowd's lock guards it
}

// Close implements net.Conn.
func (m *member) Close() error {
	m.crowd.mu.Lock()
	m.crowd.countOut(m)
	m.crowd.mu.Unlock()
	return m.Conn.Close()
}

// Accept implements net.Listener.
func (c *crowd) Accept() (net.Conn, error) {
	for {
		conn, err := c.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if m := c.join(conn); m != nil {
			return m, nil
		}
		_ = conn.Close() // its process has enough of them
	}
}

// join counts a connection in; nil where its process has as many as it may have.
func (c *crowd) join(conn net.Conn) *member {
	who := c.of(conn)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.by[who] >= mostOfOne {
		m := c.oldestIdle(who)
		if m == nil {
			return nil
		}
		c.end(m)
	}
	if c.open.Len() >= mostOfAll {
		c.end(c.victim())
	}
	m := &member{Conn: conn, crowd: c, who: who}
	m.place = c.open.PushBack(m)
	c.by[who]++
	return m
}

// end counts a connection out and closes it. The caller holds the lock.
func (c *crowd) end(m *member) {
	c.countOut(m)
	go m.Conn.Close() // which may wait for what is on its way
}

// state notes what the server tells of a connection.
func (c *crowd) state(conn net.Conn, now http.ConnState) {
	if m, ok := conn.(*member); ok {
		c.mu.Lock()
		m.idle = now == http.StateIdle
		c.mu.Unlock()
	}
}

// oldestIdle is the oldest connection of a process that carries no request; nil where each does. The caller holds the lock.
func (c *crowd) oldestIdle(who int) *member {
	for e := c.open.Front(); e != nil; e = e.Next() {
		if m, _ := e.Value.(*member); m.who == who && m.idle {
			return m
		}
	}
	return nil
}

// victim is the oldest connection of the process that has the most. The caller holds the lock.
func (c *crowd) victim() (found *member) {
	for e := c.open.Front(); e != nil; e = e.Next() {
		if m, _ := e.Value.(*member); found == nil || c.by[m.who] > c.by[found.who] {
			found = m
		}
	}
	return found
}

// countOut takes a connection out of what is counted, once. The caller holds the lock.
func (c *crowd) countOut(m *member) {
	if m.place == nil {
		return
	}
	c.open.Remove(m.place)
	m.place = nil
	if c.by[m.who]--; c.by[m.who] == 0 {
		delete(c.by, m.who)
	}
}

// process is the ID of the process at the other end of a unix socket; 0 where it cannot be told, as for one of another PID namespace
// (unix(7), SO_PEERCRED).
func process(conn net.Conn) (pid int) {
	c, ok := conn.(*net.UnixConn)
	if !ok {
		return 0
	}
	raw, err := c.SyscallConn()
	if err != nil {
		return 0
	}
	_ = raw.Control(func(fd uintptr) {
		if peer, err := syscall.GetsockoptUcred(int(fd), syscall.SOL_SOCKET, syscall.SO_PEERCRED); err == nil {
			pid = int(peer.Pid)
		}
	})
	return pid
}

// bodies counts the bytes of large bodies that are in memory.
type bodies struct{ held atomic.Int64 }

// counted is a body that counts what it holds beyond smallBody.
type counted struct {
	io.ReadCloser
	all  *bodies
	read int64
	held int64
}

var errBusy = errors.New("the engine is busy with other large requests; try again")

// Read implements io.Reader.
func (c *counted) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)
	c.read += int64(n)
	if more := c.read - smallBody - c.held; more > 0 {
		c.held += more
		if c.all.held.Add(more) > mostOfBodies {
			return 0, errBusy
		}
	}
	return n, err
}

// drop counts it out: its request is answered.
func (c *counted) drop() { c.all.held.Add(-c.held) }
