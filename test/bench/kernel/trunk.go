package kernel

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"

	"golang.org/x/sys/unix"

	"touchdown/test/bench/site"
)

// Untagged is the key of the network whose frames bear no VLAN tag.
const Untagged = 0

// trunk is the switch's port at the end of one cable of the guest: it leads each VLAN to the site that it belongs to. The
// kernel of the build machine knows no VLANs, so the tags are put on and taken off here.
type trunk struct {
	vlans map[int]*os.File // taps of the sites' LANs

	mu    sync.Mutex
	guest net.Conn // of the boot that runs; nil: off
}

// Of a frame (IEEE 802.1Q): two addresses of 6 bytes, then the tag of 4 bytes, of which 12 bits are the VLAN.
const (
	tagAt     = 12
	tagLength = 4
	tagType   = 0x8100
	tagVLAN   = 0x0fff
	largest   = 1 << 16
)

func newTrunk(networks map[int]*site.Site) (*trunk, error) {
	t := &trunk{vlans: map[int]*os.File{}}
	for vlan, s := range networks {
		tap, err := s.Tap()
		if err != nil {
			return nil, errors.Join(err, t.close())
		}
		t.vlans[vlan] = tap
		go t.down(vlan, tap)
	}
	return t, nil
}

// plug makes a new cable and returns the end that belongs into the guest.
func (t *trunk) plug() (*os.File, error) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("making a cable: %w", err)
	}
	here := os.NewFile(uintptr(pair[0]), "switch")
	defer here.Close()
	conn, err := net.FileConn(here)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("making a cable: %w", err), unix.Close(pair[1]))
	}
	t.mu.Lock()
	old := t.guest
	t.guest = conn
	t.mu.Unlock()
	if old != nil {
		_ = old.Close()
	}
	go t.up(conn)
	return os.NewFile(uintptr(pair[1]), "guest"), nil
}

// up leads frames of the guest to the LANs; those of a VLAN that is not here go nowhere.
func (t *trunk) up(guest net.Conn) {
	buffer := make([]byte, largest)
	for {
		n, err := guest.Read(buffer)
		if err != nil {
			return
		}
		frame, vlan := untag(buffer[:n])
		if tap := t.vlans[vlan]; tap != nil {
			_, _ = tap.Write(frame) // a full queue drops, as a switch does
		}
	}
}

// down leads frames of a LAN to the guest.
func (t *trunk) down(vlan int, tap *os.File) {
	buffer := make([]byte, largest)
	for {
		n, err := tap.Read(buffer[tagLength:])
		if err != nil {
			return
		}
		frame := buffer[tagLength : tagLength+n]
		if vlan != Untagged {
			frame = tag(buffer[:tagLength+n], vlan)
		}
		t.mu.Lock()
		if t.guest != nil {
			_, _ = t.guest.Write(frame)
		}
		t.mu.Unlock()
	}
}

// tag puts a tag into a frame before which there is room for it.
func tag(room []byte, vlan int) []byte {
	if len(room) < tagAt+tagLength {
		return nil
	}
	copy(room, room[tagLength:tagLength+tagAt])
	binary.BigEndian.PutUint16(room[tagAt:], tagType)
	binary.BigEndian.PutUint16(room[tagAt+2:], uint16(vlan))
	return room
}

// untag takes the tag out of a frame and tells its VLAN. A frame tagged with VLAN 0 has only a priority.
func untag(frame []byte) (bare []byte, vlan int) {
	if len(frame) < tagAt+tagLength || binary.BigEndian.Uint16(frame[tagAt:]) != tagType {
		return frame, Untagged
	}
	vlan = int(binary.BigEndian.Uint16(frame[tagAt+2:]) & tagVLAN)
	copy(frame[tagLength:], frame[:tagAt])
	return frame[tagLength:], vlan
}

func (t *trunk) close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	var errs []error
	for _, tap := range t.vlans {
		errs = append(errs, tap.Close())
	}
	if t.guest != nil {
		errs = append(errs, t.guest.Close())
	}
	return errors.Join(errs...)
}
