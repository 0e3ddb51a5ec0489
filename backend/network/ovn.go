package network

import (
	"maps"
	"net/netip"
	"slices"
	"strings"

	"touchdown/backend/netconfig"
)

// Reserved is a network that the site's must not overlap.
type Reserved = netconfig.Reserved

// OVNDefaults are the networks that OVN-Kubernetes uses inside the node where its operator names no others.
var OVNDefaults = netconfig.OVNDefaults

// The ends of a network's name by which the two families are told apart.
const named4, named6 = " IPv4", " IPv6"

// Inside are the networks inside the node: OVNDefaults, with those in the place of the default ones that the cluster names. named has
// their prefixes by names such as "OVN join IPv4"; what cannot be read names none.
func Inside(named map[string]string) []Reserved {
	var own []Reserved
	for _, key := range slices.Sorted(maps.Keys(named)) {
		if p, err := netip.ParsePrefix(named[key]); err == nil {
			own = append(own, Reserved{Name: strings.TrimSuffix(strings.TrimSuffix(key, named4), named6), Prefix: p})
		}
	}
	instead := func(r Reserved) bool {
		return slices.ContainsFunc(own, func(o Reserved) bool { return o.Name == r.Name && o.Prefix.Addr().Is4() == r.Prefix.Addr().Is4() })
	}
	return append(slices.DeleteFunc(slices.Clone(OVNDefaults), instead), own...)
}

// Cluster are the networks of the cluster, those of its pods and of its services. What cannot be read is none.
func Cluster(pods, services []string) (all []Reserved) {
	for _, text := range pods {
		if p, err := netip.ParsePrefix(text); err == nil {
			all = append(all, Reserved{Name: netconfig.OfPods, Prefix: p})
		}
	}
	for _, text := range services {
		if p, err := netip.ParsePrefix(text); err == nil {
			all = append(all, Reserved{Name: netconfig.OfServices, Prefix: p})
		}
	}
	return all
}
