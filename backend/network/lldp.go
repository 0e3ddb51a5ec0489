package network

import (
	"encoding/binary"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"sync"
	"time"

	"github.com/mdlayher/packet"
	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// lldpType is the EtherType of LLDP, IEEE 802.1AB.
const lldpType = 0x88cc

// maxFrame is more than the largest frame without jumbo frames, in bytes: announcements fit into one.
const maxFrame = 1600

// announced is how long a neighbour is believed in: LLDP's usual time to live.
const announced = 120 * time.Second

// listenFor is how long a port is listened to after it was last asked for. Announcements come every 30 s.
const listenFor = 3 * time.Minute

// multicast is where switches send their announcements to.
var multicast = net.HardwareAddr{0x01, 0x80, 0xc2, 0x00, 0x00, 0x0e}

// listener hears LLDP on ports, each in its own goroutine that ends when nobody asks any more.
type listener struct {
	mu    sync.Mutex
	ports map[string]*ear
}

type ear struct {
	conn  *packet.Conn
	from  Neighbour
	at    time.Time // of the last announcement
	asked time.Time
	since time.Time // of listening with a carrier
}

// watch listens on ports that have a link. A port that cannot be listened to has no neighbours; that is not an error.
func (l *listener) watch(ports []Port) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ports == nil {
		l.ports = map[string]*ear{}
	}
	for _, p := range ports {
		if e := l.ports[p.Name]; e != nil {
			if e.asked = time.Now(); !p.Carrier { // the next cable may come from another switch
				e.from, e.at, e.since = Neighbour{}, time.Time{}, e.asked
			}
			continue
		}
		if !p.Carrier {
			continue
		}
		link, err := net.InterfaceByName(p.Name)
		if err != nil {
			continue
		}
		conn, err := hear(link)
		if err != nil {
			continue
		}
		e := &ear{conn: conn, asked: time.Now(), since: time.Now()}
		l.ports[p.Name] = e
		go l.listen(p.Name, e)
	}
}

// hear opens a socket for the announcements on a port. It takes all frames and filters them in the kernel: a socket for one
// EtherType hears nothing on a port of Open vSwitch or a bond, which takes the frames away before.
func hear(link *net.Interface) (*packet.Conn, error) {
	filter, err := bpf.Assemble([]bpf.Instruction{
		bpf.LoadAbsolute{Off: 12, Size: 2},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: lldpType, SkipFalse: 1},
		bpf.RetConstant{Val: maxFrame},
		bpf.RetConstant{Val: 0},
	})
	if err != nil {
		return nil, fmt.Errorf("assembling the filter for LLDP: %w", err)
	}
	conn, err := packet.Listen(link, packet.Raw, unix.ETH_P_ALL, &packet.Config{Filter: filter})
	if err != nil {
		return nil, fmt.Errorf("listening on %s: %w", link.Name, err)
	}
	if err := conn.JoinGroup(multicast); err != nil {
		_ = conn.Close()
		return nil, fmt.Errorf("listening on %s: %w", link.Name, err)
	}
	return conn, nil
}

// listen ends when the port goes away or is not asked for any more.
func (l *listener) listen(name string, e *ear) {
	defer func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.ports, name)
		_ = e.conn.Close()
	}()
	frame := make([]byte, maxFrame)
	for {
		_ = e.conn.SetReadDeadline(time.Now().Add(5 * time.Second))
		size, _, err := e.conn.ReadFrom(frame)
		timeout, ok := err.(net.Error) //nolint:errorlint // what a connection returns is one
		if err != nil && (!ok || !timeout.Timeout()) {
			return
		}
		l.mu.Lock()
		idle := time.Since(e.asked) > listenFor
		if n, ok := parseLLDP(frame[:size]); err == nil && ok {
			e.from, e.at = n, time.Now()
		}
		l.mu.Unlock()
		if idle {
			return
		}
	}
}

// heard is the neighbour that announced itself lately, and how long it has been listened to.
func (l *listener) heard(port string) (from Neighbour, listened time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := l.ports[port]
	if e == nil {
		return Neighbour{}, 0
	}
	if time.Since(e.at) < announced {
		from = e.from
	}
	return from, time.Since(e.since)
}

// maxVLAN is the last usable VLAN; 4095 is reserved (IEEE 802.1Q, table 9-2).
const maxVLAN = 4094

// Types of LLDP's values.
const (
	lldpPortID   = 2
	lldpPortText = 4
	lldpSystem   = 5
	lldpOrg      = 127
)

// parseLLDP reads an Ethernet frame with an announcement: a list of values, each with 7 bits of type and 9 of length.
func parseLLDP(frame []byte) (Neighbour, bool) {
	const header = 14
	if len(frame) < header || binary.BigEndian.Uint16(frame[12:]) != lldpType {
		return Neighbour{}, false
	}
	var n Neighbour
	var subtype byte
	text := ""
	for rest := frame[header:]; len(rest) >= 2; {
		head := binary.BigEndian.Uint16(rest)
		kind, size := head>>9, int(head&0x1ff)
		if kind == 0 || len(rest) < 2+size {
			break
		}
		value := rest[2 : 2+size]
		switch {
		case kind == lldpPortID && size > 1:
			subtype, n.Port = value[0], portID(value[0], value[1:])
		case kind == lldpPortText:
			text = printable(value)
		case kind == lldpSystem:
			n.System = printable(value)
		case kind == lldpOrg && size == 6 && value[0] == 0x00 && value[1] == 0x80 && value[2] == 0xc2 && value[3] == 1:
			if id := int(binary.BigEndian.Uint16(value[4:])); id <= maxVLAN { // IEEE 802.1: port VLAN ID
				n.VLAN = id
			}
		case kind == lldpOrg && size == 6 && value[0] == 0x00 && value[1] == 0x12 && value[2] == 0x0f && value[3] == 4:
			n.Frame = int(binary.BigEndian.Uint16(value[4:])) // IEEE 802.3: maximum frame size
		}
		rest = rest[2+size:]
	}
	switch {
	case n.Port == "" || text != "" && (subtype == portIsMAC || subtype == portIsAddress):
		n.Port, n.Description = text, n.Port // an address says less than the description
	case subtype != portIsName && text != n.Port:
		n.Description = text
	}
	return n, n.Port != "" || n.System != ""
}

// What the ID of a port is (IEEE 802.1AB-2016, table 8-3). A name may have a colon in it, as a port that is split has: "xe-0/0/0:2".
const (
	portIsMAC     = 3
	portIsAddress = 4
	portIsName    = 5 // of the interface
)

// portID: addresses are bytes, that of a network behind a byte that tells its kind (1 for IPv4, 2 for IPv6); the others are text.
func portID(subtype byte, value []byte) string {
	switch subtype {
	case portIsMAC:
		return net.HardwareAddr(value[:min(len(value), 6)]).String()
	case portIsAddress:
		if a, ok := netip.AddrFromSlice(value[1:]); ok {
			return a.String()
		}
		return ""
	}
	return printable(value)
}

// maxName is the longest name that an announcement may hold, in bytes (IEEE 802.1AB-2016, 8.5.3, 8.5.5 and 8.5.7), and the site config.
const maxName = 255

// printable keeps what a console can show: the text comes from the wire.
func printable(b []byte) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if r < 0x20 || r > 0x7e {
			return -1
		}
		return r
	}, string(b[:min(len(b), maxName)])))
}
