package probe

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"sync"

	"touchdown/backend/message"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
	"gvisor.dev/gvisor/pkg/tcpip/header"
)

// noVLAN asks for frames without a tag.
const noVLAN = 0

// frame is one Ethernet frame without its VLAN tag.
type frame struct {
	data     []byte // valid until the handler returns
	protocol uint16
}

// wire is a physical port as it is before the kernel's own network sees the frames: what a bridge or Open vSwitch takes
// from the port still comes by here, and nothing of the kernel's settings is needed or touched.
type wire struct {
	ports []port
	vlan  int
	mtu   int

	mu      sync.Mutex
	next    int
	readers map[int]func(frame)
	heard   map[int]int // VLAN ID -> frames; 0: no tag
	done    sync.WaitGroup
}

type port struct {
	name  string
	index int
	mac   net.HardwareAddr
	file  *os.File
}

// openWire listens on every one of links and sends on the first. Close it.
func openWire(links []netlink.Link, vlan int) (*wire, error) {
	w := &wire{vlan: vlan, mtu: links[0].Attrs().MTU, readers: map[int]func(frame){}, heard: map[int]int{}}
	for _, l := range links {
		p, err := openPort(l, vlan)
		if err != nil {
			w.close()
			return nil, fmt.Errorf("listening on %s: %w", l.Attrs().Name, err)
		}
		w.ports = append(w.ports, p)
	}
	for _, p := range w.ports {
		w.done.Go(func() { w.read(p) })
	}
	return w, nil
}

func openPort(l netlink.Link, vlan int) (port, error) {
	// Protocol 0: nothing is delivered before the filter is in place and bind names the protocol.
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return port{}, fmt.Errorf("opening a packet socket: %w", err)
	}
	p := port{name: l.Attrs().Name, index: l.Attrs().Index, mac: l.Attrs().HardwareAddr}
	if err := p.setup(fd, vlan); err != nil {
		_ = unix.Close(fd)
		return port{}, err
	}
	p.file = os.NewFile(uintptr(fd), p.name)
	return p, nil
}

func (p port) setup(fd, vlan int) error {
	// The kernel takes the VLAN tag out of the frame before it delivers it; it is told beside it.
	if err := unix.SetsockoptInt(fd, unix.SOL_PACKET, unix.PACKET_AUXDATA, 1); err != nil {
		return fmt.Errorf("asking for VLAN tags: %w", err)
	}
	if err := unix.SetsockoptInt(fd, unix.SOL_PACKET, unix.PACKET_IGNORE_OUTGOING, 1); err != nil {
		return fmt.Errorf("leaving out the machine's own frames: %w", err)
	}
	// A card drops multicast groups that nobody joined, and VLANs that nobody configured. Both memberships are
	// counted by the kernel, are not seen in the port's flags and end with the socket.
	kind := uint16(unix.PACKET_MR_ALLMULTI)
	if vlan != noVLAN {
		kind = unix.PACKET_MR_PROMISC
	}
	join := unix.PacketMreq{Ifindex: int32(p.index), Type: kind}
	if err := unix.SetsockoptPacketMreq(fd, unix.SOL_PACKET, unix.PACKET_ADD_MEMBERSHIP, &join); err != nil {
		return fmt.Errorf("listening to groups: %w", err)
	}
	if err := attachFilter(fd, nil); err != nil {
		return err
	}
	if err := unix.Bind(fd, &unix.SockaddrLinklayer{Protocol: wireOrder(unix.ETH_P_ALL), Ifindex: p.index}); err != nil {
		return fmt.Errorf("binding to the port: %w", err)
	}
	return nil
}

func wireOrder(v uint16) uint16 {
	var b [2]byte
	binary.BigEndian.PutUint16(b[:], v)
	return binary.NativeEndian.Uint16(b[:])
}

// mac is the address that frames are sent from: the port's own, because switches close ports that show a second one.
func (w *wire) mac() net.HardwareAddr { return w.ports[0].mac }

// close ends all readers.
func (w *wire) close() {
	for _, p := range w.ports {
		p.file.Close()
	}
	w.done.Wait()
}

// listen hands every frame to handle, one at a time, until stop is called.
func (w *wire) listen(handle func(frame)) (stop func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	id := w.next
	w.next++
	w.readers[id] = handle
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.readers, id)
	}
}

// vlansHeard lists the VLAN IDs under which anything was heard, for an engineer.
func (w *wire) vlansHeard() []message.Text {
	w.mu.Lock()
	defer w.mu.Unlock()
	var lines []message.Text
	for id, n := range w.heard {
		name := message.T("without a VLAN tag")
		if id != noVLAN {
			name = message.F("with VLAN tag %d", id)
		}
		lines = append(lines, message.F("heard %d frames %s", n, name))
	}
	message.Sort(lines)
	return lines
}

// send sends an untagged Ethernet frame, with the tag put in.
func (w *wire) send(data []byte) error {
	if w.vlan != noVLAN {
		const macs = 2 * header.EthernetAddressSize
		tag := binary.BigEndian.AppendUint16(nil, unix.ETH_P_8021Q)
		tag = binary.BigEndian.AppendUint16(tag, uint16(w.vlan))
		data = slices.Concat(data[:macs], tag, data[macs:])
	}
	if _, err := w.ports[0].file.Write(data); err != nil {
		return fmt.Errorf("sending on %s: %w", w.ports[0].name, err)
	}
	return nil
}

func (w *wire) read(p port) {
	raw, err := p.file.SyscallConn()
	if err != nil {
		return
	}
	// What the kernel merged (generic receive offload) comes as one frame of up to 64 KiB.
	data, aux := make([]byte, 1<<16+header.EthernetMinimumSize), make([]byte, 128)
	for {
		var n, auxLen int
		var got error
		err := raw.Read(func(fd uintptr) bool {
			n, auxLen, _, _, got = unix.Recvmsg(int(fd), data, aux, 0)
			return !errors.Is(got, unix.EAGAIN)
		})
		if err != nil || errors.Is(got, unix.EBADF) {
			return
		}
		// ENETDOWN when the port is switched off meanwhile: what waits for an answer runs into its deadline.
		if got == nil && n >= header.EthernetMinimumSize {
			w.deliver(data[:n], aux[:auxLen])
		}
	}
}

func (w *wire) deliver(data, aux []byte) {
	vlan := readVLAN(aux)
	f := frame{data: data, protocol: binary.BigEndian.Uint16(data[12:14])}
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.heard) < 64 || w.heard[vlan] > 0 {
		w.heard[vlan]++
	}
	if vlan != w.vlan {
		return
	}
	for _, handle := range w.readers {
		handle(f)
	}
}

// readVLAN reads the tag from struct tpacket_auxdata of linux/if_packet.h.
func readVLAN(aux []byte) int {
	messages, err := unix.ParseSocketControlMessage(aux)
	if err != nil {
		return noVLAN
	}
	for _, m := range messages {
		if m.Header.Level != unix.SOL_PACKET || m.Header.Type != unix.PACKET_AUXDATA || len(m.Data) < 20 {
			continue
		}
		if binary.NativeEndian.Uint32(m.Data)&unix.TP_STATUS_VLAN_VALID != 0 {
			// Tag 0 is priority alone: the frame belongs to no VLAN.
			return int(binary.NativeEndian.Uint16(m.Data[16:]) & 0xfff)
		}
	}
	return noVLAN
}
