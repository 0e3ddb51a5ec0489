package update

import (
	"strconv"
	"testing"
	"time"
)

// TestTheTimerOutlastsASlowTrial: a busy machine stops two engines, each of which systemd kills after 20 s, and waits for the first answer of
// each, by the command for 6 minutes at most (cmd/touchdown, update.go). A timer that elapses before ends an update that would have succeeded.
func TestTheTimerOutlastsASlowTrial(t *testing.T) {
	const least = 2 * (20*time.Second + 6*time.Minute)
	seconds, err := strconv.Atoi(endAfter)
	if has := time.Duration(seconds) * time.Second; err != nil || has < least {
		t.Errorf("the timer elapses after %s, and a trial may take %s", has, least)
	}
}
