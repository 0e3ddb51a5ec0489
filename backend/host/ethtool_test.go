package host_test

import (
	"os"
	"sync"
	"testing"

	"touchdown/backend/host"
)

// TestDriverOfOnAnyStack asks from stacks of many depths: an answer that the kernel writes to where a stack was before it grew is lost.
func TestDriverOfOnAnyStack(t *testing.T) {
	ports, err := os.ReadDir("/sys/class/net")
	if err != nil {
		t.Skipf("skipped: %v", err)
	}
	var port string
	var want host.PortDriver
	for _, p := range ports {
		if d, err := host.DriverOf(p.Name()); err == nil && d.Name != "" {
			port, want = p.Name(), d
		}
	}
	if port == "" {
		t.Skip("skipped: no port here has a driver")
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
