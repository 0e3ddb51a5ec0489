package site

import (
	"encoding/binary"
	"fmt"
	"net"
	"net/netip"
	"time"
)

// NTPMode is how an NTP server answers.
type NTPMode int

// The answers of an NTP server. Silence and slowness are the service's own switches.
const (
	Synchronised   NTPMode = iota
	Unsynchronised         // leap indicator 3 and stratum 16: it does not know the time itself
	KissOfDeath            // stratum 0 with the code DENY: do not ask again
)

// NTP is one or several NTP servers with one clock.
type NTP struct {
	knob
	mode   NTPMode
	offset time.Duration
	conns  []net.PacketConn
}

// Set makes it answer so from now on.
func (n *NTP) Set(m NTPMode) { n.set(func() { n.mode = m }) }

// Offset makes its clock go that much ahead of this machine's.
func (n *NTP) Offset(d time.Duration) { n.set(func() { n.offset = d }) }

// AddNTP plugs another NTP server into the LAN, with its own clock and faults.
func (s *Site) AddNTP(a netip.Addr) (*NTP, *Host, error) {
	h, err := s.AddHost(a)
	if err != nil {
		return nil, nil, err
	}
	n := &NTP{}
	if err := n.listen(h.Namespace, a); err != nil {
		h.Remove()
		return nil, nil, err
	}
	h.onRemove = n.close
	return n, h, nil
}

func (n *NTP) listen(in *Namespace, addresses ...netip.Addr) error {
	for _, a := range addresses {
		conn, err := in.ListenPacket("udp", netip.AddrPortFrom(a, 123).String())
		if err != nil {
			return fmt.Errorf("starting NTP: %w", err)
		}
		n.conns = append(n.conns, conn)
		go n.serve(conn)
	}
	return nil
}

func (n *NTP) close() {
	for _, conn := range n.conns {
		conn.Close()
	}
	n.conns = nil
}

func (n *NTP) serve(conn net.PacketConn) {
	for {
		question := make([]byte, 512)
		size, from, err := conn.ReadFrom(question)
		if err != nil {
			return
		}
		arrived := time.Now()
		if size < packetSize || question[0]&7 != modeClient {
			continue
		}
		go func() {
			if n.answers() {
				_, _ = conn.WriteTo(n.answer(question, arrived), from)
			}
		}()
	}
}

// The fields of an NTP packet (RFC 5905, 7.3).
const (
	packetSize = 48
	modeClient = 3
	modeServer = 4
)

func (n *NTP) answer(question []byte, arrived time.Time) []byte {
	n.mu.Lock()
	mode, offset := n.mode, n.offset
	n.mu.Unlock()
	a := make([]byte, packetSize)
	a[0] = question[0]&0x38 | modeServer // the client's version
	a[1] = 2
	a[2], a[3] = question[2], 0xEC // poll as asked; precision 2^-20 s
	copy(a[12:], "GPS\x00")
	switch mode {
	case Unsynchronised:
		a[0] |= 3 << 6
		a[1] = 16
		copy(a[12:], "INIT")
	case KissOfDeath:
		a[0] |= 3 << 6
		a[1] = 0
		copy(a[12:], "DENY")
	}
	stamp(a[16:], arrived.Add(offset-time.Minute)) // its clock was set a minute ago
	copy(a[24:32], question[40:48])
	stamp(a[32:], arrived.Add(offset))
	stamp(a[40:], time.Now().Add(offset))
	return a
}

// stamp writes an NTP timestamp: seconds since 1900 and a binary fraction.
func stamp(to []byte, t time.Time) {
	const since1900 = 2208988800
	binary.BigEndian.PutUint32(to, uint32(t.Unix()+since1900))
	binary.BigEndian.PutUint32(to[4:], uint32(uint64(t.Nanosecond())<<32/1e9))
}
