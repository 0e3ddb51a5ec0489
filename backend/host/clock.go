package host

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// MoveClock sets the machine's clock ahead, or back when ahead is negative, and the battery clock after it, so that the next
// boot begins with the right time; 0 sets the battery clock alone. A time server's daemon has to be restarted after it: what it measured is worth nothing now.
func (m *Machine) MoveClock(ctx context.Context, ahead time.Duration) error {
	if ahead != 0 {
		if err := m.clock(ahead); err != nil {
			return fmt.Errorf("setting the clock: %w", err)
		}
	}
	if !m.Exists("/dev/rtc0") { // a virtual machine may have none
		return nil
	}
	if _, err := m.Run(ctx, "hwclock", "--systohc", "--utc"); err != nil {
		return fmt.Errorf("setting the battery clock: %w", err)
	}
	return nil
}

// moveClock reads and sets close together: what lies between is lost.
func moveClock(ahead time.Duration) error {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_REALTIME, &now); err != nil {
		return fmt.Errorf("reading the time: %w", err)
	}
	next := unix.NsecToTimespec(now.Nano() + ahead.Nanoseconds())
	if err := unix.ClockSettime(unix.CLOCK_REALTIME, &next); err != nil {
		return fmt.Errorf("setting the time: %w", err)
	}
	return nil
}

// BatteryClock returns the time of the clock that runs while the machine is off; false when there is none to read.
func (m *Machine) BatteryClock() (time.Time, bool) {
	text, err := m.line("/sys/class/rtc/rtc0/since_epoch")
	if err != nil {
		return time.Time{}, false
	}
	seconds, err := strconv.ParseInt(text, 10, 64)
	return time.Unix(seconds, 0).UTC(), err == nil
}
