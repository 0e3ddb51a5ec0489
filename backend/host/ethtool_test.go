package host_test

import (
	"errors"
	"os"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"touchdown/backend/host"
	"touchdown/test/wait"
)

// TestDriverOfOnAnyStack asks from stacks of many depths: an answer that the kernel writes to where a stack was before it grew is lost.
func TestDriverOfOnAnyStack(t *testing.T) {
	ports, err := os.ReadDir("/sys/class/net")
	if err != nil {
		wait.Unable(t, "%v", err)
	}
	var port string
	var want host.PortDriver
	for _, p := range ports {
		if d, err := host.DriverOf(p.Name()); err == nil && d.Name != "" {
			port, want = p.Name(), d
		}
	}
	if port == "" {
		wait.Unable(t, "no port here has a driver")
	}
	var asking sync.WaitGroup
	for n := range 8000 {
		asking.Go(func() { deep(t, n%40, port, want) })
		if n%200 == 0 {
			asking.Wait()
		}
	}
	asking.Wait()
}

func deep(t *testing.T, n int, port string, want host.PortDriver) byte {
	var frame [97]byte
	if n > 0 {
		frame[n] = deep(t, n-1, port, want)
		return frame[n%3]
	}
	if d, err := host.DriverOf(port); err != nil || d != want {
		t.Errorf("%v, %v", d, err)
	}
	return frame[0]
}

// TestSetPortFails: a port that is not there, one whose driver cannot do it, and a name that the kernel would cut to that of another port.
func TestSetPortFails(t *testing.T) {
	long := "enp1s0f0np0d1v22" // the kernel's names have 15 bytes
	for port, want := range map[string]string{"nowhere0": unix.ENODEV.Error(), "lo": unix.EOPNOTSUPP.Error(), long: "too long"} {
		if err := host.SetPort(port, unix.ETHTOOL_PHYS_ID, 1); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), port) {
			t.Errorf("%s: %v", port, err)
		}
	}
	if _, err := host.DriverOf("nowhere0"); !errors.Is(err, unix.ENODEV) {
		t.Errorf("%v", err)
	}
}
