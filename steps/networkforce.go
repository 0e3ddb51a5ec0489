package steps

import (
	"context"

	"touchdown/backend"
	"touchdown/backend/check"
	"touchdown/backend/message"
	"touchdown/backend/network"
	"touchdown/backend/probe"
)

// InForce asks the network through the settings in force, as siteNetwork does after it applied them, and changes nothing.
func (s *NetworkEntry) InForce(ctx context.Context, node *backend.Node) []check.Check {
	if node.Host.Root() != "" { // what can be asked is the network of the machine that this runs on
		return []check.Check{{ID: "network-now", Title: message.T("Current network"), Status: check.Skip, Observed: message.T("not this machine's")}}
	}
	now, err := s.NodeNet.net.Read(ctx)
	if err != nil {
		return []check.Check{unseen(message.T("not checked: the settings could not be read from NetworkManager"), err)}
	}
	return s.inForce(ctx, node, now, probe.After)
}

func (s *NetworkEntry) inForce(ctx context.Context, node *backend.Node, now *network.Current,
	ask func(context.Context, probe.Target, func(check.Check)) (probe.Result, error),
) []check.Check {
	checks := []check.Check{networkNow(now)}
	target := probeTarget(s.Site, now.Settings, node)
	target.Interface = now.Carrier
	result, err := ask(ctx, target, func(check.Check) {})
	if err != nil {
		return append(checks, unseen(message.T("not checked: the network could not be asked"), err))
	}
	return append(checks, result.Checks...)
}

// unseen is a check of what could not be checked.
func unseen(why message.Text, err error) check.Check {
	return check.Check{
		ID: "network-probe", Title: message.T("The network answers"), Status: check.Skip, Observed: why,
		Fix: message.T("Run the check as root on the node, with NetworkManager running."), Evidence: []message.Text{message.Detail(err)},
	}
}
