package site

import (
	"strconv"

	"touchdown/backend/message"
)

// fromZTPSiteConfig takes over one node of a SiteConfig of the ZTP generator (ran.openshift.io/v1).
func fromZTPSiteConfig(im *importer, doc spot) {
	spec := doc.get("spec")
	im.take(spec.get("baseDomain"), "spec.baseDomain")
	im.take(spec.get("sshPublicKey"), "spec.sshKeys")
	im.pullSecret(spec.get("pullSecretRef"), doc.get("metadata.namespace").text())
	clusters := spec.get("clusters").items()
	nodes := make([]spot, len(clusters))
	for i, cluster := range clusters {
		nodes[i] = cluster.get("nodes")
	}
	node, one := im.pick("hostName", nodes...)
	if !one {
		return
	}
	for i, cluster := range clusters {
		if holds(nodes[i], node) {
			im.cluster(cluster)
		}
	}
	im.node(node)
}

// fromClusterInstance takes over one node of a ClusterInstance of the siteconfig operator.
func fromClusterInstance(im *importer, doc spot) {
	spec := doc.get("spec")
	im.take(spec.get("baseDomain"), "spec.baseDomain")
	im.take(spec.get("sshPublicKey"), "spec.sshKeys")
	im.pullSecret(spec.get("pullSecretRef"), doc.get("metadata.namespace").text())
	im.cluster(spec)
	if node, one := im.pick("hostName", spec.get("nodes")); one {
		im.node(node)
	}
}

// cluster takes what both kinds say about a cluster.
func (im *importer) cluster(s spot) {
	im.take(s.get("clusterName"), "spec.clusterName")
	im.list(s.get("additionalNTPSources"), "spec.additionalNTPSources")
	im.proxy(s.get("proxy"))
}

// node takes what both kinds say about a node.
func (im *importer) node(s spot) {
	im.hostname(s.get("hostName"))
	im.network(s.get("nodeNetwork.config"))
}

func holds(list, item spot) bool {
	for _, other := range list.items() {
		if other.node == item.node {
			return true
		}
	}
	return false
}

// pick returns the host that the site config is for: the only one, or the one that a person named. Without a name nobody knows which
// of several this node is; one is false then, and where there is none.
func (im *importer) pick(key string, lists ...spot) (host spot, one bool) {
	var hosts, fitting []spot
	var names []string
	for _, list := range lists {
		cluster := im.clusterOf(list)
		for i, item := range list.items() {
			name := orElse(item.get(key).text(), "#"+strconv.Itoa(i+1))
			hosts, names = append(hosts, item), append(names, shown(name))
			if want := im.choice.Node; want == name || want == cluster+"/"+name {
				fitting = append(fitting, item)
			}
		}
	}
	im.listed = len(hosts) > 0
	switch {
	case im.choice.Node != "" && len(fitting) == 1:
		return fitting[0], true
	case len(hosts) == 0:
		return spot{}, false
	case im.choice.Node == "" && len(hosts) == 1:
		return hosts[0], true
	}
	where := lists[0]
	where.node = hosts[0].node
	switch {
	case im.choice.Node == "":
		im.fail(where, fault(message.T("say which one this node is: --node NAME"), message.F("describes %d nodes: %s", len(hosts), listed(names))))
	case len(fitting) > 1:
		im.fail(where, fault(message.T("name the cluster too: --node CLUSTER/NAME"), message.F("describes %d nodes called %s", len(fitting), shown(im.choice.Node))))
	default:
		im.fail(where, fault(message.T("use one of these names for --node"), message.F("does not describe %s, only %s", shown(im.choice.Node), listed(names))))
	}
	return spot{}, false
}
