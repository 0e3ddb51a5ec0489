package health

import (
	"slices"

	operatorv1 "github.com/openshift/api/operator/v1"

	"touchdown/backend/check"
	"touchdown/backend/message"
)

type routerWant struct {
	kind string
	want operatorv1.ConditionStatus
}

// routerWants are the conditions of an IngressController and what they shall be. DNSReady is left out: the cluster keeps no DNS
// records where its owner does, and then says False.
var routerWants = []routerWant{{"Available", operatorv1.ConditionTrue}, {"Degraded", operatorv1.ConditionFalse}, {"CanaryChecksSucceeding", operatorv1.ConditionTrue}}

func judgeRouters(s *State) check.Check {
	c := check.Check{
		ID: "routers", Title: message.T("Routers (IngressControllers)"), Expected: message.T("available, not degraded, their canary answers"),
		Source: message.T("IngressController conditions Available, Degraded, CanaryChecksSucceeding"),
		Fix:    message.T("Wait a few minutes: the router restarts after a change of its certificate; if it stays, its message says what it misses."),
	}
	if c, no := unreadWide(s, c, "routers"); no {
		return c
	}
	var f faults
	for i := range s.Wide.Routers {
		r := &s.Wide.Routers[i]
		for _, w := range routerWants {
			if why := w.fault(r); why != (message.Text{}) {
				f.add(r.Name == "default" && w.kind == "Available", message.F("%s: %s", r.Name, why))
			}
		}
	}
	return f.judgeOf(c, len(s.Wide.Routers), message.T("all well"))
}

// fault says which of the conditions is not as wanted; "" where it is, or is not known yet.
func (w routerWant) fault(r *operatorv1.IngressController) message.Text {
	at := slices.IndexFunc(r.Status.Conditions, func(c operatorv1.OperatorCondition) bool { return c.Type == w.kind })
	if at < 0 {
		return message.Text{}
	}
	cond := &r.Status.Conditions[at]
	if cond.Status == w.want || cond.Status == operatorv1.ConditionUnknown {
		return message.Text{}
	}
	return with(message.F("%s is %s", cond.Type, string(cond.Status)), firstLine(cond.Message))
}
