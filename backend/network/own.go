package network

import (
	"net/netip"
	"slices"

	"touchdown/backend/host"
	"touchdown/backend/netconfig"
)

// sites are the entries of an interface that the site gave. An own address with a network is the site's where there is no other:
// otherwise it is left from the installation, or a document repeats it.
func sites(own host.Own, entries []address) []address {
	var others, same []address
	for _, a := range entries {
		switch p := a.prefix(); {
		case !p.IsValid() || p.Addr().IsLinkLocalUnicast() || own.Has(p):
		case slices.Contains(own, p.Addr()):
			same = append(same, a)
		default:
			others = append(others, a)
		}
	}
	if len(others) > 0 {
		return others
	}
	return same
}

// addressed tells whether an entry of a keyfile is one of the node's own addresses.
func addressed(own host.Own, value string) bool {
	p, err := netip.ParsePrefix(value)
	return err == nil && own.Has(p)
}

// ownReserved are the networks that no site may use: the addresses alone.
func ownReserved(own host.Own) []Reserved {
	var all []Reserved
	for _, a := range own {
		all = append(all, Reserved{Name: netconfig.NodesInternal, Prefix: netip.PrefixFrom(a, a.BitLen())})
	}
	return all
}
