package health

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"touchdown/backend/check"
	"touchdown/backend/kube"
	"touchdown/backend/layout"
	"touchdown/backend/message"
)

// freshness is how old the node's last sign of life may be: a Ready from before a power cut is worth nothing.
const freshness = 100 * time.Second

func judgeNode(s *State) check.Check {
	c := check.Check{
		ID: "node", Title: message.T("Node works (Ready)"), Expected: message.T("Ready, last sign of life at most 100 s ago"),
		Source: message.T("OpenShift CI's gate for single nodes: Ready and lastHeartbeatTime <= 100 s"),
		Fix:    message.T("Wait a few minutes after a start; if it stays, look at kubelet's log in the support bundle."),
	}
	if c, no := unread(s, c, "nodes"); no {
		return c
	}
	if len(s.Nodes) == 0 {
		c.Status, c.Observed = check.Fail, message.T("the cluster knows no node")
		return c
	}
	var faults []message.Text
	var known []string
	for i := range s.Nodes {
		n := &s.Nodes[i]
		known = append(known, n.Name)
		ready := nodeCondition(n, corev1.NodeReady)
		if ready == nil {
			faults = append(faults, message.F("%s does not say whether it is ready", n.Name))
			continue
		}
		if ready.Status != corev1.ConditionTrue {
			faults = append(faults, with(message.F("%s is not ready", n.Name), firstLine(ready.Message)))
			continue
		}
		age := s.age(ready.LastHeartbeatTime.Time)
		if lease, ok := s.Leases[n.Name]; ok {
			age = min(age, s.age(lease))
		}
		switch {
		case age == forever:
			faults = append(faults, message.F("%s gave its last sign of life before the clock was set back", n.Name))
		case age > freshness:
			faults = append(faults, message.F("%s gave its last sign of life %s ago", n.Name, age.Round(time.Second)))
		}
	}
	return found(c, check.Fail, faults, message.F("%s ready", shortList(names(known))))
}

func nodeCondition(n *corev1.Node, kind corev1.NodeConditionType) *corev1.NodeCondition {
	for i := range n.Status.Conditions {
		if n.Status.Conditions[i].Type == kind {
			return &n.Status.Conditions[i]
		}
	}
	return nil
}

func judgePressure(s *State) check.Check {
	c := check.Check{
		ID: "node-pressure", Title: message.T("Node has room (memory, disk, processes, network)"), Expected: message.T("no shortage"),
		Source: message.T("Node conditions MemoryPressure, DiskPressure, PIDPressure, NetworkUnavailable"),
		Fix:    message.T("Free up the resource that is low; with a full disk the node removes pods and images."),
	}
	if c, no := unread(s, c, "nodes"); no {
		return c
	}
	if len(s.Nodes) == 0 {
		return absent(c)
	}
	var faults []message.Text
	for i := range s.Nodes {
		for _, short := range []struct {
			kind corev1.NodeConditionType
			says message.Text
		}{
			{corev1.NodeMemoryPressure, message.T("is short of memory")},
			{corev1.NodeDiskPressure, message.T("is short of disk space")},
			{corev1.NodePIDPressure, message.T("runs too many processes")},
			{corev1.NodeNetworkUnavailable, message.T("has no pod network")},
		} {
			if cond := nodeCondition(&s.Nodes[i], short.kind); cond != nil && cond.Status == corev1.ConditionTrue {
				faults = append(faults, message.F("%s %s", s.Nodes[i].Name, short.says))
			}
		}
	}
	sorted(faults)
	return found(c, check.Fail, faults, message.T("no shortage"))
}

func judgeSchedulable(s *State) check.Check {
	c := check.Check{
		ID: "node-schedulable", Title: message.T("Node takes applications (schedulable)"), Expected: message.T("not cordoned"), Source: message.T("Node spec.unschedulable"),
		// The daemon of the Machine Config Operator neither cordons nor drains the only node (pkg/daemon/drain.go, drainRequired).
		Fix: message.T("Find out who cordoned the node: OpenShift never cordons a single node. Then run: oc adm uncordon NODE"),
	}
	if c, no := unread(s, c, "nodes"); no {
		return c
	}
	if len(s.Nodes) == 0 {
		return absent(c)
	}
	var faults []message.Text
	for i := range s.Nodes {
		if s.Nodes[i].Spec.Unschedulable {
			faults = append(faults, message.F("%s takes no new pods (cordoned)", s.Nodes[i].Name))
		}
	}
	return found(c, check.Fail, faults, message.T("yes"))
}

func judgePools(s *State, o Options) check.Check {
	c := check.Check{
		ID: "pools", Title: message.T("Node configuration (MachineConfigPools)"), Expected: message.T("updated, not updating, not degraded"),
		Source: message.T("MachineConfigPool conditions and counts; the node's machineconfiguration annotations"),
		Fix:    message.T("Wait: a new configuration may reboot the node; a degraded pool says which file or unit it stumbles over."),
	}
	if c, no := unread(s, c, "pools"); no {
		return c
	}
	if len(s.Pools) == 0 {
		return absent(c)
	}
	var f faults
	var pools []string
	paused := false
	for i := range s.Pools {
		p := &s.Pools[i]
		pools = append(pools, p.Name)
		var nodes []corev1.Node
		if p.Status.MachineCount > 0 {
			nodes = s.Nodes
		}
		why := kube.PoolPending(p, nodes, "")
		degraded := kube.PoolDegraded(p)
		switch {
		case degraded != "":
			f.add(true, message.F("%s: degraded: %s", p.Name, degraded))
		case p.Spec.Paused && p.Name == layout.Pool && o.Paused:
			c.Fix = message.T("Retry: the work goes on in the pause and ends it. Or undo.")
			f.add(true, message.F("%s: paused by this landing, which has not ended it", p.Name))
		case p.Spec.Paused: // by someone else, as far as is known
			paused = true
			f.add(false, message.F("%s: %s", p.Name, why))
		case why.String() != "":
			f.add(!o.poolRolls(s, p), message.F("%s: %s", p.Name, why))
		}
	}
	if len(f.grave) == 0 && paused {
		c.Fix = message.T("Tell the cluster's owner: while it is paused, the node takes no new configuration and no update of the cluster.")
	}
	return f.judge(c, message.F("%s up to date", shortList(names(pools))))
}
