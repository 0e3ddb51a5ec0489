package host

import (
	"context"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"touchdown/test/wait"
)

// TestBlockEvents: what the kernel says of disks is heard, what it says of other devices is not. The message comes from this test,
// to the socket's own address.
func TestBlockEvents(t *testing.T) {
	for message, about := range map[string]bool{
		"add@/devices/x/block/sdb/sdb1\x00ACTION=add\x00SUBSYSTEM=block\x00DEVNAME=sdb1\x00": true,
		"change@/devices/x/block/sr0\x00ACTION=change\x00SUBSYSTEM=block\x00":                true,
		"add@/devices/x/net/eth0\x00ACTION=add\x00SUBSYSTEM=net\x00INTERFACE=eth0\x00":       false,
		"add@/x\x00ACTION=add\x00DEVPATH=/x/SUBSYSTEM=block\x00SUBSYSTEM=blocks\x00":         false,
		"": false,
	} {
		if aboutDisks([]byte(message)) != about {
			t.Errorf("%q: %t", message, !about)
		}
	}
}

// TestBlockEventsEnd: the listening ends with its context, and nothing is heard after it.
func TestBlockEventsEnd(t *testing.T) {
	ctx, end := context.WithCancel(t.Context())
	knocks, err := BlockEvents(ctx)
	if err != nil {
		t.Fatal(err)
	}
	sender, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_KOBJECT_UEVENT)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(sender)
	message := []byte("add@/x\x00ACTION=add\x00SUBSYSTEM=block\x00")
	if err := unix.Sendto(sender, message, 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK, Groups: uevents}); err != nil {
		t.Logf("only root may speak for the kernel here: %v", err)
	} else {
		select {
		case <-knocks:
		case <-time.After(wait.Timeout(10 * time.Second)):
			t.Error("the message was not heard")
		}
	}
	end()
}
