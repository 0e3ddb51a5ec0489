package network

import (
	"maps"
	"net/netip"
	"slices"
	"strings"

	"touchdown/backend/message"
)

// The ends of a network's name by which the two families are told apart.
const named4, named6 = " IPv4", " IPv6"

// Inside are the networks inside the node: OVNDefaults, with those in the place of the default ones that the cluster names. named has
// their prefixes by names such as "OVN join IPv4"; what cannot be read names none.
func Inside(named map[string]string) []Reserved {
	var own []Reserved
	for _, key := range slices.Sorted(maps.Keys(named)) {
		if p, err := netip.ParsePrefix(named[key]); err == nil {
			own = append(own, Reserved{strings.TrimSuffix(strings.TrimSuffix(key, named4), named6), p})
		}
	}
	instead := func(r Reserved) bool {
		return slices.ContainsFunc(own, func(o Reserved) bool { return o.Name == r.Name && o.Prefix.Addr().Is4() == r.Prefix.Addr().Is4() })
	}
	return append(slices.DeleteFunc(slices.Clone(OVNDefaults), instead), own...)
}

// Networks of the node itself and of its cluster, as Reserved.Name has them.
const (
	ofPods        = "cluster network"
	ofServices    = "service network"
	nodesOwn      = "the node's own"
	nodesInternal = "the node's internal"
)

// Cluster are the networks of the cluster, those of its pods and of its services. What cannot be read is none.
func Cluster(pods, services []string) (all []Reserved) {
	for _, text := range pods {
		if p, err := netip.ParsePrefix(text); err == nil {
			all = append(all, Reserved{ofPods, p})
		}
	}
	for _, text := range services {
		if p, err := netip.ParsePrefix(text); err == nil {
			all = append(all, Reserved{ofServices, p})
		}
	}
	return all
}

// Whose is whose network it is, before the word "network". OVN's are called by their names in every language.
func (r Reserved) Whose() message.Text {
	switch r.Name {
	case nodesOwn:
		return message.T(nodesOwn)
	case nodesInternal:
		return message.T(nodesInternal)
	case ofPods:
		return message.T("the cluster's")
	case ofServices:
		return message.T("the services'")
	}
	return message.F("the %s", r.Name)
}
