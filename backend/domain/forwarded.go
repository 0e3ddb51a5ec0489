package domain

import (
	"context"
	"fmt"
	"net"
	"strings"

	machine "touchdown/backend/host"
	"touchdown/backend/kube"
	"touchdown/backend/message"
	"touchdown/backend/problem"
)

// resolved wants the cluster's pods to find the new hosts. CoreDNS asks the node's own name server, which knows them, unless dnses/default
// sends all names, or those of a zone, to other servers (openshift/cluster-dns-operator pkg/operator/controller/controller_dns_configmap.go,
// 4.14 to 4.21). Where these do not know the login's host its operator is unavailable, and the roll-out would wait for nothing. Only the
// network of the site can tell, so this is asked right before the names are written and not in the review.
func (n Names) resolved(ctx context.Context, c *kube.Cluster, hosts Served) error {
	object, err := c.Get(ctx, kube.Ref{Group: "operator.openshift.io", Version: "v1", Resource: "dnses", Name: "default"})
	if err != nil {
		return err
	}
	for _, part := range components {
		to := hosts[part.name]
		if !to.Moves() {
			continue
		}
		asked, failed := "", error(nil)
		for _, server := range upstreams(object, to.Name) {
			if server == "" {
				asked = "" // the node's
				break
			}
			addrs, err := machine.Resolve(ctx, server, to.Name)
			if len(addrs) > 0 {
				asked = ""
				break
			}
			asked, failed = server, err
		}
		if asked != "" {
			return &problem.Problem{
				Code:    "DNS-FWD",
				Summary: message.F("The cluster's pods would not find %s: its DNS operator sends that name to %s, which gives no address.", to.Name, asked),
				Fix: message.F("Nothing refers to the new names yet. Let that server lead *.%s to this node; or the cluster's owner changes spec.servers or "+
					"spec.upstreamResolvers: oc edit dns.operator default. Then retry, or start without a new name.", Apps(n.Domain)),
				Err: failed,
			}
		}
	}
	return nil
}

// upstreams are the servers, host:port, that CoreDNS asks for a name: those of the longest zone that covers it, else those for all; "" is
// the node's. Servers that are asked by TLS are left out, as another port and name belong to them.
func upstreams(operator map[string]any, name string) (servers []string) {
	spec, _ := operator["spec"].(map[string]any)
	var best map[string]any
	longest := -1
	zones, _ := spec["servers"].([]any)
	for _, raw := range zones {
		server, _ := raw.(map[string]any)
		names, _ := server["zones"].([]any)
		for _, z := range names {
			text, _ := z.(string)
			zone := strings.Trim(text, ".")
			if (zone == "" || name == zone || below(name, zone)) && len(zone) > longest {
				longest = len(zone)
				best, _ = server["forwardPlugin"].(map[string]any)
			}
		}
	}
	if best == nil {
		best, _ = spec["upstreamResolvers"].(map[string]any)
	}
	if textIn(best, "transportConfig", "transport") == "TLS" {
		return nil
	}
	all, _ := best["upstreams"].([]any)
	for _, raw := range all {
		address, port := "", int64(0)
		switch u := raw.(type) {
		case string:
			address = u
		case map[string]any:
			address, _ = u["address"].(string)
			port, _ = u["port"].(int64)
			if u["type"] != "Network" {
				address = ""
			}
		}
		if _, _, err := net.SplitHostPort(address); err != nil && address != "" {
			if port == 0 {
				port = 53
			}
			address = net.JoinHostPort(strings.Trim(address, "[]"), fmt.Sprint(port))
		}
		servers = append(servers, address)
	}
	return servers
}
