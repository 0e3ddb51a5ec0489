package images

import (
	"slices"
	"strings"

	"touchdown/backend/check"
	"touchdown/backend/images/store"
	"touchdown/backend/message"
)

// Seeded is what a seeding came to.
type Seeded struct {
	Generation int  // in force now
	Changed    bool // it is another one than before
	ToMove     int  // images that wait for the move

	wanted  *Wanted
	missing []Image          // wanted and not found anywhere, with what was tried in failed
	failed  map[string]error // why, by reference
	leftOut []store.Dropped  // CRI-O's own store has them half only, and the seeded one not at all
}

// BootMissing counts the images that the node needs to boot and that could not be had.
func (s Seeded) BootMissing() (n int) {
	for _, i := range s.missing {
		if i.BootCritical {
			n++
		}
	}
	return n
}

// Checks are what came of the seeding in the form that screens and reports show.
func (s Seeded) Checks() []check.Check {
	all := []check.Check{s.lacks()}
	if len(s.leftOut) > 0 {
		all = append(all, s.half())
	}
	return append(all, asking(s.wanted))
}

// unreadFix is what to do about sources of images that were not read.
var unreadFix = message.T("Retry when the cluster's API and CRI-O answer. `touchdown images list` tells what could not be read, and why.")

// unknownFix is what to do about what no other look would understand.
var unknownFix = message.T("Look whether what could not be read starts containers, and pull the images of those before the node is shipped (crictl pull, or podman pull); then seed again.")

// lacks tells what is wanted and could not be had.
func (s Seeded) lacks() check.Check {
	c := check.Check{
		ID: "images-missing", Title: message.T("Images the node needs"), Status: check.Pass, Observed: message.T("all are here"),
		Expected: message.T("all are here"), Source: message.T("pods, workloads, operators, static pods and services of this node"),
	}
	for _, i := range s.missing {
		for _, name := range i.Missing {
			c.Evidence = append(c.Evidence, message.F("%s (%s): %s", name, needer(i), message.Detail(s.failed[name])))
		}
	}
	var gaps []string
	for _, u := range s.wanted.Gaps() {
		gaps = append(gaps, u.Source)
		c.Evidence = append(c.Evidence, message.F("Not read: %s: %s", u.Source, u.Reason))
	}
	if len(gaps) > 0 {
		slices.Sort(gaps)
		c.Status, c.Observed, c.Fix = check.Warn, message.F("all known images are here; not read: %s", strings.Join(slices.Compact(gaps), ", ")), unknownFix
		if len(s.wanted.Away()) > 0 {
			c.Fix = unreadFix
		}
	}
	if n := len(s.missing); n > 0 {
		c.Status, c.Observed = check.Warn, message.F("%d missing", n)
		c.Fix = message.T("Make the registry reachable and retry; without it these workloads will not start.")
		if critical := s.BootMissing(); critical > 0 {
			c.Status, c.Observed = check.Fail, message.F("%d missing, %d of them needed to boot", n, critical)
		}
	}
	return c
}

// half tells of images that CRI-O lists and has half only: what a pull that was cut off leaves.
func (s Seeded) half() check.Check {
	c := check.Check{
		ID: "images-half", Title: message.T("Undamaged images"), Status: check.Warn, Observed: message.N(len(s.leftOut), "%d is not, and was left out", "%d are not, and were left out"),
		Expected: message.T("all are"), Source: message.T("the lists of CRI-O's own store"), Fix: message.T("Remove and pull them again (crictl rmi, crictl pull), then retry."),
	}
	for _, gone := range s.leftOut {
		name := gone.Image
		if len(gone.Names) > 0 {
			name = gone.Names[0]
		}
		c.Evidence = append(c.Evidence, message.F("%s: %s", name, gone.Why))
	}
	return c
}

func needer(i Image) message.Text {
	if len(i.Needers) == 0 {
		return message.T("nobody")
	}
	return i.Needers[0].Named()
}

// asking tells of containers that ask the registry at each start: no store cures that.
func asking(list *Wanted) check.Check {
	c := check.Check{
		ID: "images-always", Title: message.T("Containers start without asking a registry"), Status: check.Pass, Observed: message.T("all do"),
		Expected: message.T("all do"), Source: message.T("imagePullPolicy of the workloads"),
	}
	for _, i := range list.Images {
		if i.PullAlways && !i.Spare() {
			c.Evidence = append(c.Evidence, message.F("%s (%s)", i.Names[0], needer(i)))
		}
	}
	if n := len(c.Evidence); n > 0 {
		c.Status, c.Observed = check.Warn, message.N(n, "%d asks at each start", "%d ask at each start")
		c.Fix = message.T("Set imagePullPolicy: IfNotPresent in these workloads, or name the image by digest.")
	}
	return c
}
