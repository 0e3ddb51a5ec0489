// Package matrix lists all sites by what each of them has, lacks or has wrong, with the site config that a technician would
// write there and what Touchdown is to make of it. The tests of several packages go through it, each with its own part.
package matrix

import (
	"fmt"
	"strings"
)

// Has is how a site stands with one of its services.
type Has int

// A wrong service is one that the site config names and that is not there; a wrong DHCP server does not answer.
const (
	Present Has = iota
	Absent
	Wrong
)

// Site is one combination.
type Site struct {
	Family                            string // "IPv4", "IPv6" or "dual stack"
	DNS, NTP, Gateway, DHCP, Registry Has
}

// The addresses of the sites, IPv4 and IPv6. At Nobody there is no machine.
var (
	Node     = [2]string{"198.51.100.10", "2001:db8:51::10"}
	Gateway  = [2]string{"198.51.100.1", "2001:db8:51::1"}
	DNS      = [2]string{"198.51.100.53", "2001:db8:51::53"}
	NTP      = [2]string{"198.51.100.123", "2001:db8:51::123"}
	Registry = [2]string{"198.51.100.77", "2001:db8:51::77"}
	Nobody   = [2]string{"198.51.100.99", "2001:db8:51::99"}
	Prefix   = [2]int{24, 64}
)

// Domain is the cluster's name at each of the sites.
const Domain = "store0051.retail.example.com"

// All are 3 to the power of 5 combinations for each of three families.
func All() (all []Site) {
	for _, family := range []string{"IPv4", "IPv6", "dual stack"} {
		for n := range 243 {
			s := Site{Family: family}
			for _, part := range []*Has{&s.DNS, &s.NTP, &s.Gateway, &s.DHCP, &s.Registry} {
				*part = Has(n % 3)
				n /= 3
			}
			all = append(all, s)
		}
	}
	return all
}

// Third is a third of all, in which each two of the six parts meet in all nine ways: for tests that are run with every change.
func Third() (some []Site) {
	for n, s := range All() {
		sum := 0
		for ; n > 0; n /= 3 {
			sum += n % 3
		}
		if sum%3 == 0 {
			some = append(some, s)
		}
	}
	return some
}

// String names the site.
func (s Site) String() string {
	words := [3]string{"", "no ", "wrong "}
	return fmt.Sprintf("%s: %sDNS, %sNTP, %sgateway, %sDHCP, %sregistry", s.Family, words[s.DNS], words[s.NTP], words[s.Gateway], words[s.DHCP], words[s.Registry])
}

// Families are the indices of the addresses that the site has: 0 is IPv4, 1 is IPv6.
func (s Site) Families() []int {
	return map[string][]int{"IPv4": {0}, "IPv6": {1}, "dual stack": {0, 1}}[s.Family]
}

// Static tells whether a person types the addresses, because no DHCP server and no router gives them.
func (s Site) Static() bool { return s.DHCP == Absent }

// named is an address as the site config or the lease names it: of the service, of nobody, or none.
func (s Site) named(has Has, right, wrong [2]string) (list []string) {
	for _, f := range s.Families() {
		switch has {
		case Present:
			list = append(list, right[f])
		case Wrong:
			list = append(list, wrong[f])
		}
	}
	return list
}

// Servers are the DNS servers that are named, by the site config or the lease.
func (s Site) Servers() []string { return s.named(s.DNS, DNS, Nobody) }

// Sources are the time servers that the site config names.
func (s Site) Sources() []string { return s.named(s.NTP, NTP, Nobody) }

// Router is the gateway of one family that is named, by the site config or the lease; "" is none.
func (s Site) Router(family int) string {
	return [3]string{Gateway[family], "", Nobody[family]}[s.Gateway]
}

// RegistryName leads to the registry at sites whose only addresses are those of IPv6: OpenShift takes none as a mirror
// (openshift/api config/v1 types_image_digest_mirror_set.go, the pattern of ImageMirror). WrongName leads to nobody.
const (
	RegistryName = "registry.retail.example.com"
	WrongName    = "nobody.retail.example.com"
)

// Mirror is the registry that the site config names; "" is none.
func (s Site) Mirror() string {
	if s.Family == "IPv6" {
		return [3]string{RegistryName, "", WrongName}[s.Registry]
	}
	return [3]string{Registry[0], "", Nobody[0]}[s.Registry]
}

// Config is the document.
func (s Site) Config() string {
	var out strings.Builder
	line := func(format string, a ...any) { fmt.Fprintf(&out, format+"\n", a...) }
	line("apiVersion: touchdown.dev/v1alpha1\nkind: SiteConfig\nmetadata: {name: store-0051}\nspec:")
	line("  clusterName: store0051\n  baseDomain: retail.example.com\n  network:\n    interface: enp1s0")
	for f, name := range []string{"ipv4", "ipv6"} {
		line("    %s: {%s}", name, s.method(f))
	}
	if servers := s.Servers(); s.Static() && len(servers) > 0 {
		line("    dnsServers: [%q]", strings.Join(servers, `", "`))
	}
	if sources := s.Sources(); len(sources) > 0 {
		line("  additionalNTPSources: [%q]", strings.Join(sources, `", "`))
	}
	if s.Registry != Absent {
		line("  imageDigestMirrors:\n  - {source: quay.io/openshift-release-dev, mirrors: [%q]}", s.Mirror()+"/ocp")
	}
	return strings.ReplaceAll(out.String(), `\"`, `"`)
}

func (s Site) method(family int) string {
	there := false
	for _, f := range s.Families() {
		there = there || f == family
	}
	switch {
	case !there:
		return "method: disabled"
	case !s.Static():
		return [2]string{"method: dhcp", "method: autoconf"}[family]
	}
	text := fmt.Sprintf("method: static, address: %q, prefixLength: %d", Node[family], Prefix[family])
	if router := s.Router(family); router != "" {
		text += fmt.Sprintf(", gateway: %q", router)
	}
	return text
}

// Outcome is what becomes of a landing at a site.
type Outcome string

// The outcomes.
const (
	Lands   Outcome = "lands"                // what is absent is said to be so, and not needed
	Warned  Outcome = "lands, with warnings" // the review tells of what is wrong and can be put right later
	Refused Outcome = "refused"              // before anything is written, with the reason
)

// Outcome tells what is right for the site: it lands unless something that the node's own network needs is wrong.
func (s Site) Outcome() Outcome {
	switch {
	case s.DHCP == Wrong || s.Gateway == Wrong || s.DNS == Wrong:
		return Refused
	case s.NTP == Wrong || s.Registry == Wrong:
		return Warned
	case s.Family == "IPv6" && s.Registry == Present && s.DNS == Absent: // a name, and nobody to look it up
		return Warned
	}
	return Lands
}
