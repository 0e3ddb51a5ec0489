package site

import (
	"encoding/binary"
	"fmt"
	"net"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// Neighbour is what the switch says of itself by LLDP.
type Neighbour struct {
	Chassis     net.HardwareAddr
	System      string
	Port        string // port identifier; default: the name of the bridge's port
	Description string // of the port
	VLAN        uint16 // port VLAN ID, 0: not told
}

// LLDP is the switch's voice: a frame out of each of its ports, once a second.
type LLDP struct {
	lan *Namespace

	mu   sync.Mutex
	stop chan struct{}
	done sync.WaitGroup
}

// Announce has the switch say so on every port from now on.
func (l *LLDP) Announce(n Neighbour) error {
	l.Off()
	socket, err := in(l.lan, func() (int, error) { return unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, 0) })
	if err != nil {
		return fmt.Errorf("opening the switch's socket for LLDP: %w", err)
	}
	l.mu.Lock()
	stop := make(chan struct{})
	l.stop = stop
	l.mu.Unlock()
	l.done.Go(func() {
		defer unix.Close(socket)
		for tick := time.NewTicker(time.Second); ; {
			l.speak(socket, n)
			select {
			case <-tick.C:
			case <-stop:
				tick.Stop()
				return
			}
		}
	})
	return nil
}

// Off has the switch say nothing more.
func (l *LLDP) Off() {
	l.mu.Lock()
	if l.stop != nil {
		close(l.stop)
		l.stop = nil
	}
	l.mu.Unlock()
	l.done.Wait()
}

// speak sends a frame out of every port. Not through the bridge, which as a good switch forwards none of them.
func (l *LLDP) speak(socket int, n Neighbour) {
	bridge, err := l.lan.link.LinkByName(BridgeName)
	if err != nil {
		return
	}
	links, err := l.lan.link.LinkList()
	if err != nil {
		return
	}
	for _, link := range links {
		port := link.Attrs()
		if port.MasterIndex != bridge.Attrs().Index {
			continue
		}
		said := n
		if said.Port == "" {
			said.Port = port.Name
		}
		to := &unix.SockaddrLinklayer{Ifindex: port.Index}
		_ = unix.Sendto(socket, said.frame(port.HardwareAddr), 0, to) // a port may be down
	}
}

// The multicast address and EtherType of LLDP, and its parts (IEEE 802.1AB, 8.5; 802.1Q, D.2).
var lldpGroup = net.HardwareAddr{0x01, 0x80, 0xc2, 0x00, 0x00, 0x0e}

const (
	etherTypeLLDP    = 0x88cc
	tlvChassis       = 1
	tlvPort          = 2
	tlvTTL           = 3
	tlvDescription   = 4
	tlvSystem        = 5
	tlvOrganisation  = 127
	chassisIsMAC     = 4
	portIsInterface  = 5
	portVLANSubtype  = 1
	holdTime         = 120 // seconds
	organisation8021 = "\x00\x80\xc2"
)

func (n Neighbour) frame(from net.HardwareAddr) []byte {
	frame := append(append([]byte{}, lldpGroup...), from...)
	frame = binary.BigEndian.AppendUint16(frame, etherTypeLLDP)
	tlv := func(kind int, value []byte) {
		frame = binary.BigEndian.AppendUint16(frame, uint16(kind<<9|len(value)))
		frame = append(frame, value...)
	}
	tlv(tlvChassis, append([]byte{chassisIsMAC}, n.Chassis...))
	tlv(tlvPort, append([]byte{portIsInterface}, n.Port...))
	tlv(tlvTTL, binary.BigEndian.AppendUint16(nil, holdTime))
	if n.Description != "" {
		tlv(tlvDescription, []byte(n.Description))
	}
	if n.System != "" {
		tlv(tlvSystem, []byte(n.System))
	}
	if n.VLAN != 0 {
		tlv(tlvOrganisation, binary.BigEndian.AppendUint16([]byte(organisation8021+string(rune(portVLANSubtype))), n.VLAN))
	}
	tlv(0, nil)
	return frame
}
