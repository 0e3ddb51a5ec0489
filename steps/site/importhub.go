package site

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"touchdown/backend/message"

	"gopkg.in/yaml.v3"
)

// fromZTPSiteConfig takes over one node of a SiteConfig of the ZTP generator (ran.openshift.io/v1).
func fromZTPSiteConfig(im *importer, doc spot) {
	spec := doc.get("spec")
	im.take(spec.get("baseDomain"), "spec.baseDomain")
	im.take(spec.get("sshPublicKey"), "spec.sshKeys")
	im.pullSecret(spec.get("pullSecretRef"), doc.get("metadata.namespace").text())
	clusters := spec.get("clusters").items()
	lists := make([]nodeList, len(clusters))
	for i, cluster := range clusters {
		lists[i] = nodeList{cluster.get("nodes"), cluster.get("clusterName").text()}
	}
	node, at := im.pick("hostName", lists...)
	if len(clusters) == 1 { // it may have no nodes yet
		at = 0
	}
	if at >= 0 {
		im.cluster(clusters[at])
		im.node(node)
	}
}

// fromClusterInstance takes over one node of a ClusterInstance of the siteconfig operator.
func fromClusterInstance(im *importer, doc spot) {
	spec := doc.get("spec")
	im.take(spec.get("baseDomain"), "spec.baseDomain")
	im.take(spec.get("sshPublicKey"), "spec.sshKeys")
	im.pullSecret(spec.get("pullSecretRef"), doc.get("metadata.namespace").text())
	im.cluster(spec)
	if node, at := im.pick("hostName", nodeList{spec.get("nodes"), spec.get("clusterName").text()}); at >= 0 {
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
	im.network(s.get("nodeNetwork.config"), s.get("nodeNetwork.interfaces"))
	takeLabels(im, s.get("nodeLabels"))
}

// takeLabels takes the labels of a node, but for those that a site must not set. A label with nothing behind it has no value there.
func takeLabels(im *importer, s spot) {
	if s.blank() {
		return
	}
	if f := plainNode(s.node, yaml.MappingNode); f != nil {
		im.fail(s, f)
		return
	}
	var lines []string
	for i := 0; i+1 < len(s.node.Content); i += 2 {
		name, value := s.node.Content[i], spot{s.node.Content[i+1], s.below(s.node.Content[i].Value)}
		if why, owned := labelOwner(name.Value); owned {
			im.leave(value, fmt.Sprintf("%s is not for a site to set: %s", shown(name.Value), why))
			continue
		}
		f := cmp.Or(plainKey(name), plainNode(value.node, yaml.ScalarNode), label(name.Value, value.text()))
		if f != nil {
			im.fail(value, f)
			return
		}
		im.use(value)
		lines = append(lines, name.Value+"="+value.text())
	}
	if len(lines) > 0 {
		im.put(s, nodeLabelsPath, strings.Join(lines, "\n"))
	}
}

// nodeList is a list of nodes, with the name of their cluster where it has one.
type nodeList struct {
	spot
	cluster string
}

// host is pick for documents that have values of the cluster as well as a list of hosts. Where the list has several hosts and no name
// chooses one, it is left out and the other values are imported. With forNetworks the import fails instead if a host has a network: a site
// config without it would land by DHCP.
func (im *importer) host(key string, hosts spot, forNetworks bool) spot {
	all := hosts.items()
	network := func(host spot) bool { return !host.get("networkConfig").blank() }
	if len(all) > 1 && im.choice.Node == "" && (!forNetworks || !slices.ContainsFunc(all, network)) {
		im.leave(hosts, fmt.Sprintf("it describes %d nodes; --node NAME takes one", len(all)))
		return spot{}
	}
	host, _ := im.pick(key, nodeList{spot: hosts})
	return host
}

// pick returns the node that the site config is for, and in which list it is: the only one, or the one that a person named. Without a
// name none of several can be chosen; the list is -1 then, and where there is none. #N is a name for each node, as two
// may have the same one.
func (im *importer) pick(key string, lists ...nodeList) (node spot, at int) {
	var nodes, fitting []spot
	var names, numbers []string
	at = -1
	for i, list := range lists {
		cluster := list.cluster
		if cluster != "" {
			cluster += "/"
		}
		for n, item := range list.items() {
			number := "#" + strconv.Itoa(n+1)
			name := orElse(item.get(key).text(), number)
			nodes, names = append(nodes, item), append(names, shown(name))
			if want := strings.TrimPrefix(im.choice.Node, cluster); im.choice.Node == "" || im.choice.Node == name || want == name || want == number {
				fitting, numbers, at = append(fitting, item), append(numbers, shown(cluster+number)), i
			}
		}
	}
	im.listed = len(nodes) > 0
	switch {
	case len(fitting) == 1:
		return fitting[0], at
	case len(nodes) == 0:
		return spot{}, -1
	}
	where := lists[0].spot
	where.node = nodes[0].node
	switch {
	case im.choice.Node == "":
		im.fail(where, fault(message.T("say which one this node is: --node NAME"), message.F("describes %d nodes: %s", len(nodes), listed(names))))
	case len(fitting) > 1:
		im.fail(where, fault(message.F("use one of these for --node: %s", listed(numbers)), message.F("describes %d nodes called %s", len(fitting), shown(im.choice.Node))))
	default:
		im.fail(where, fault(message.T("use one of these names for --node"), message.F("does not describe %s, only %s", shown(im.choice.Node), listed(names))))
	}
	return spot{}, -1
}
