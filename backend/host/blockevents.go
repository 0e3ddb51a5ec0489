package host

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// uevents is the group to which the kernel sends its own messages about devices (linux/netlink.h, NETLINK_KOBJECT_UEVENT). The
// second group has what udev says.
const uevents = 1

// maxEvent is the largest message that the kernel sends, in bytes (UEVENT_BUFFER_SIZE), and some.
const maxEvent = 4 << 10

// BlockEvents returns a channel that has a value whenever a disk, a partition or a medium came or went since it was read, until
// ctx ends. The message is a knock and no more: whoever hears it looks. A message can be lost, so they look from time to time, too.
func BlockEvents(ctx context.Context) (<-chan struct{}, error) {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, unix.NETLINK_KOBJECT_UEVENT)
	if err != nil {
		return nil, fmt.Errorf("listening to the kernel's messages about devices: %w", err)
	}
	f := os.NewFile(uintptr(fd), "uevents")
	if err := unix.Bind(fd, &unix.SockaddrNetlink{Family: unix.AF_NETLINK, Groups: uevents}); err != nil {
		return nil, errors.Join(fmt.Errorf("listening to the kernel's messages about devices: %w", err), f.Close())
	}
	knocks := make(chan struct{}, 1)
	stop := context.AfterFunc(ctx, func() { _ = f.Close() })
	go func() {
		defer stop()
		defer f.Close()
		message := make([]byte, maxEvent)
		for {
			n, err := f.Read(message)
			if err != nil && !errors.Is(err, unix.ENOBUFS) { // with which the kernel tells that some were lost
				return
			}
			if err == nil && !aboutDisks(message[:n]) {
				continue
			}
			select {
			case knocks <- struct{}{}:
			default:
			}
		}
	}()
	return knocks, nil
}

// aboutDisks tells whether a message, lines that end with a zero, is about a block device.
func aboutDisks(message []byte) bool {
	return bytes.Contains(message, []byte("\x00SUBSYSTEM=block\x00"))
}
