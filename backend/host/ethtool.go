package host

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// PortDriver is what the driver of a network port tells of itself.
type PortDriver struct{ Name, Firmware, Bus string }

// DriverOf asks for the driver of a port in the network of the calling thread. Virtual ports may have none.
func DriverOf(port string) (PortDriver, error) {
	var info *unix.EthtoolDrvinfo
	err := asked(func(fd int) (err error) {
		if info, err = unix.IoctlGetEthtoolDrvinfo(fd, port); err != nil {
			return fmt.Errorf("asking for the driver of %s: %w", port, err)
		}
		return nil
	})
	if err != nil {
		return PortDriver{}, err
	}
	return PortDriver{
		Name: unix.ByteSliceToString(info.Driver[:]), Firmware: unix.ByteSliceToString(info.Fw_version[:]), Bus: unix.ByteSliceToString(info.Bus_info[:]),
	}, nil
}

// SetPort gives the driver of a port one of ethtool's commands that take a number, such as unix.ETHTOOL_PHYS_ID with seconds. It
// returns when the driver is done.
func SetPort(port string, command, value uint32) error {
	request := struct{ command, value uint32 }{command, value}
	// The kernel's struct ifreq. Its address of the request is a pointer to Go too: the collector may move neither to where the
	// kernel does not look. The usual library keeps a number here, and its ioctls fail or write elsewhere when a stack grows.
	ifreq := struct {
		name [unix.IFNAMSIZ]byte
		data unsafe.Pointer
		_    [16]byte
	}{data: unsafe.Pointer(&request)}
	if copy(ifreq.name[:unix.IFNAMSIZ-1], port) < len(port) {
		return fmt.Errorf("%s is not a port: its name is too long", port)
	}
	return asked(func(fd int) error {
		if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.SIOCETHTOOL, uintptr(unsafe.Pointer(&ifreq))); errno != 0 {
			return fmt.Errorf("command %#x to port %s: %w", command, port, errno)
		}
		return nil
	})
}

// asked opens what ethtool's questions go through: any socket.
func asked(question func(fd int) error) error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("opening a socket: %w", err)
	}
	defer func() { _ = unix.Close(fd) }()
	return question(fd)
}
