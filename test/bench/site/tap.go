package site

import (
	"errors"
	"fmt"
	"os"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// Tap runs a cable from the LAN's switch to a program: one read of the file is a frame from the LAN, one write a frame to
// it. Closing the file takes the cable away.
func (s *Site) Tap() (*os.File, error) {
	s.mu.Lock()
	s.ports++
	port := portName(s.ports)
	s.mu.Unlock()
	var file *os.File
	err := s.lan.Do(func() error {
		fd, err := unix.Open("/dev/net/tun", unix.O_RDWR|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
		if err != nil {
			return fmt.Errorf("opening the driver: %w", err)
		}
		request, err := unix.NewIfreq(port)
		if err != nil {
			return errors.Join(err, unix.Close(fd))
		}
		request.SetUint16(unix.IFF_TAP | unix.IFF_NO_PI)
		if err := unix.IoctlIfreq(fd, unix.TUNSETIFF, request); err != nil {
			return errors.Join(fmt.Errorf("making %s: %w", port, err), unix.Close(fd))
		}
		file = os.NewFile(uintptr(fd), port)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("running a cable to a program: %w", err)
	}
	if err := errors.Join(s.lan.up(port), s.lan.toBridge(port)); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// MTU sets the largest packet (bytes) of the LAN: of its switch and of the site's own machines.
func (s *Site) MTU(bytes int) error {
	ports, err := s.lan.link.LinkList()
	if err != nil {
		return fmt.Errorf("listing the ports of the switch: %w", err)
	}
	var errs []error
	for _, port := range ports { // the switch itself follows the smallest of its ports
		if port.Attrs().MasterIndex != 0 {
			errs = append(errs, s.lan.mtu(port, bytes))
		}
	}
	for _, n := range []*Namespace{s.gateway, s.servers, s.client} {
		link, err := n.link.LinkByName(serverName)
		if err != nil {
			return fmt.Errorf("looking for %s: %w", serverName, err)
		}
		errs = append(errs, n.mtu(link, bytes))
	}
	return errors.Join(errs...)
}

func (n *Namespace) mtu(link netlink.Link, bytes int) error {
	if err := n.link.LinkSetMTU(link, bytes); err != nil {
		return fmt.Errorf("setting the MTU of %s: %w", link.Attrs().Name, err)
	}
	return nil
}
