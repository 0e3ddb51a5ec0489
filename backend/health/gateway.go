package health

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"slices"

	"touchdown/backend/check"
	"touchdown/backend/message"
)

// gatewayConfig is the annotation in which OVN-Kubernetes tells what it made of br-ex (ovn-kubernetes,
// go-controller/pkg/util/node_annotations.go, 4.14 to 4.21).
const gatewayConfig = "k8s.ovn.org/l3-gateway-config"

// judgeGateway looks whether the pods' packets leave with an address that the site can answer: OVN-Kubernetes takes the first of
// br-ex, which may be the node's own. Pulls and routes work all the same, because they do not pass it.
func judgeGateway(s *State) check.Check {
	c := check.Check{
		ID: "pod-gateway", Title: message.T("Outbound traffic of the pods"), Expected: message.T("through the node's address at the site"),
		Source: message.F("OVN-Kubernetes, annotation %s", gatewayConfig),
	}
	if c, unread := unread(s, c, "nodes"); unread {
		return c
	}
	var faults []message.Text
	var seen message.Text
	for i := range s.Nodes {
		text, ok := s.Nodes[i].Annotations[gatewayConfig]
		if !ok {
			continue
		}
		observed, fault := gatewayFault(text)
		if seen = observed; fault != (message.Text{}) {
			faults = append(faults, fault)
		}
	}
	if seen == (message.Text{}) && len(faults) == 0 {
		c.Status, c.Observed = check.Skip, message.T("not checked: this cluster's pods are not connected by OVN-Kubernetes")
		return c
	}
	c.Fix = message.T("On the node run /usr/local/bin/touchdown-internal-address, which puts the site's address first; if that does not help, restart the pod ovnkube-node.")
	return found(c, check.Fail, faults, seen)
}

// gatewayFault reads the annotation. In shared mode the pods' packets leave with one of the addresses for one of the next hops.
func gatewayFault(text string) (observed, fault message.Text) {
	var config map[string]struct {
		Mode      string         `json:"mode"`
		Addresses []netip.Prefix `json:"ip-addresses"`
		Hops      []netip.Addr   `json:"next-hops"`
	}
	if err := json.Unmarshal([]byte(text), &config); err != nil {
		return message.Text{}, message.F("the annotation %s cannot be read", gatewayConfig)
	}
	gateway := config["default"]
	observed = message.F("%s to %s", fmt.Sprint(gateway.Addresses), fmt.Sprint(gateway.Hops))
	if gateway.Mode != "shared" { // in local mode the node's own routes choose the sender
		return message.F("%s, mode %s", observed, gateway.Mode), message.Text{}
	}
	for _, p := range gateway.Addresses {
		hops := slices.DeleteFunc(slices.Clone(gateway.Hops), func(h netip.Addr) bool { return h.Is4() != p.Addr().Is4() })
		near := func(h netip.Addr) bool { return p.Contains(h) && h != p.Addr() || h.IsLinkLocalUnicast() }
		if len(hops) > 0 && !slices.ContainsFunc(hops, near) { // a site without a router has no way out either way
			return observed, message.F("the pods' packets leave with %s, which is not in the network of %s: no answer comes back", p, fmt.Sprint(hops))
		}
	}
	return observed, message.Text{}
}
