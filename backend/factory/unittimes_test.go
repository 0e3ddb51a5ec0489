package factory_test

import (
	"path"
	"regexp"
	"strconv"
	"testing"

	"touchdown/backend/factory"
	"touchdown/backend/host"
)

// leastTimes are the seconds that the start of a unit needs on a machine whose processor and disk are busy.
var leastTimes = map[string]int{
	"touchdown-carrier.service":      120,         // it reads and writes a few files; NetworkManager waits for it
	"touchdown-uplink.service":       300,         // 30 looks of up to 5 s each, and an activation
	"touchdown-images.service":       600,         // what hundreds of layers cost that are renamed and synced
	"touchdown-images-check.service": 2 * 23 * 60, // a rehearsal: 3 minutes for CRI-O and 20 for its pods
}

// TestABusyMachineHasTime: what is killed at its timeout is missing for the whole boot, such as the end of a rehearsal, which keeps every
// registry blocked.
func TestABusyMachineHasTime(t *testing.T) {
	t.Parallel()
	all, err := factory.Manifests(host.DefaultOwn)
	if err != nil {
		t.Fatal(err)
	}
	timeout, seen := regexp.MustCompile(`(?m)^TimeoutStartSec=(\d+)$`), 0
	for _, m := range all {
		for _, f := range m.Files {
			least, judged := leastTimes[path.Base(f.Path)]
			if !judged {
				continue
			}
			seen++
			found := timeout.FindSubmatch(f.Data)
			if found == nil {
				t.Errorf("%s has no TimeoutStartSec", f.Path)
				continue
			}
			if has, err := strconv.Atoi(string(found[1])); err != nil || has < least {
				t.Errorf("%s has %d s for its start, and may need %d", f.Path, has, least)
			}
		}
	}
	if seen != len(leastTimes) {
		t.Errorf("%d of %d units found", seen, len(leastTimes))
	}
}
