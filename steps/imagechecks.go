package steps

import (
	"touchdown/backend/message"

	"touchdown/backend/check"
	"touchdown/backend/images"
	"touchdown/backend/images/wanted"
)

// missing tells what is wanted and could not be had.
func missing(s images.Seeded) check.Check {
	c := check.Check{
		ID: "images-missing", Title: message.T("Images the node needs"), Status: check.Pass, Observed: message.T("all are here"),
		Expected: message.T("all are here"), Source: message.T("pods, workloads, operators, static pods and services of this node"),
	}
	critical := 0
	for _, i := range s.Missing {
		for _, name := range i.Missing {
			c.Evidence = append(c.Evidence, message.F("%s (%s): %s", name, needer(i), message.Detail(s.Failed[name])))
		}
		if i.BootCritical {
			critical++
		}
	}
	if n := len(s.Missing); n > 0 {
		c.Status, c.Observed = check.Warn, message.F("%d missing", n)
		c.Fix = message.T("Make the registry reachable and retry; without it these workloads will not start.")
		if critical > 0 {
			c.Status, c.Observed = check.Fail, message.F("%d missing, %d of them needed to boot", n, critical)
		}
	}
	return c
}

func needer(i wanted.Image) message.Text {
	if len(i.Needers) == 0 {
		return message.T("nobody")
	}
	return i.Needers[0].Named()
}

// asking tells of containers that ask the registry at each start: no store cures that.
func asking(list *wanted.Result) check.Check {
	c := check.Check{
		ID: "images-always", Title: message.T("Containers start without asking a registry"), Status: check.Pass, Observed: message.T("all do"),
		Expected: message.T("all do"), Source: message.T("imagePullPolicy of the workloads"),
	}
	for _, i := range list.Images {
		if i.PullAlways && i.Need != wanted.Spare {
			c.Evidence = append(c.Evidence, message.F("%s (%s)", i.Names[0], needer(i)))
		}
	}
	if n := len(c.Evidence); n > 0 {
		c.Status, c.Observed = check.Warn, message.N(n, "%d asks at each start", "%d ask at each start")
		c.Fix = message.T("Set imagePullPolicy: IfNotPresent in these workloads, or name the image by digest.")
	}
	return c
}
