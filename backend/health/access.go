package health

import (
	"touchdown/backend/check"
	"touchdown/backend/message"
)

// judgeAccess tells whether Touchdown had to use the cluster's recovery. The cluster works all the same, and renews the
// kubeconfig once its operators run; a person with a kubeconfig of the same age is locked out until then.
func judgeAccess(s *State) check.Check {
	c := check.Check{
		ID: "access", Title: message.T("Access with the node's own kubeconfig"), Expected: message.T("the cluster accepts its client certificate"),
		Source: message.T("requests to the API with localhost.kubeconfig"),
		Fix:    message.T("Leave the node running: the kube-apiserver operator renews the kubeconfig. If this stays for an hour, call support."),
	}
	if c, no := unread(s, c, ""); no {
		return c
	}
	if s.Detour.String() != "" {
		c.Status, c.Observed = check.Warn, s.Detour
		return c
	}
	c.Status, c.Observed, c.Fix = check.Pass, message.T("accepted"), message.Text{}
	return c
}
