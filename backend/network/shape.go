package network

import (
	"errors"
	"fmt"
	"net/netip"
	"path"
	"regexp"
	"slices"
	"strings"
)

// shape says what a part of a site's document may hold. Lists hold parts of one shape. What is not named here is refused, since
// nmstate can also write scripts that run as root (dispatch), give one of the cluster's interfaces to a bridge and set Open
// vSwitch's database.
type shape struct {
	keys  map[string]*shape  // of a group; nil: any
	list  bool               // its texts stand in one line of a keyfile with semicolons between them
	only  []string           // the texts that there are; nil: any
	text  bool               // nothing but a text; what reads as a number has to be quoted
	check func(string) error // of a text
}

// free is a part that nmstate judges, and that cannot do harm.
var free = &shape{}

func groupOf(keys ...string) *shape {
	s := &shape{keys: map[string]*shape{}}
	for _, k := range keys {
		s.keys[k] = free
	}
	return s
}

func (s *shape) and(key string, of *shape) *shape {
	s.keys[key] = of
	return s
}

var (
	// aName is asked to be a text, since what this package does with names goes by the text.
	aName = &shape{text: true}
	// aSecret is asked to be a text here, since nmstate quotes what is none.
	aSecret    = &shape{text: true}
	semicolons = &shape{list: true}
	anAddress  = &shape{check: func(s string) error {
		if _, err := netip.ParseAddr(s); err != nil {
			return errors.New("is not an IP address")
		}
		return nil
	}}
	aSubnet = &shape{check: func(s string) error {
		if _, err := netip.ParseAddr(s); err == nil {
			return nil
		}
		if _, err := netip.ParsePrefix(s); err != nil {
			return errors.New("is not a subnet")
		}
		return nil
	}}
	aCertificate = &shape{check: func(s string) error {
		if !certificate.MatchString(s) || path.Clean(s) != s {
			return errors.New("is not a file below /etc/pki")
		}
		return nil
	}}
	certificate = regexp.MustCompile(`^/etc/pki/[A-Za-z0-9._/-]+$`)
)

var familyShape = groupOf("enabled", "dhcp", "dhcp-client-id", "dhcp-duid", "dhcp-send-hostname", "dhcp-custom-hostname", "autoconf",
	"addr-gen-mode", "auto-dns", "auto-gateway", "auto-routes", "auto-route-metric", "allow-extra-address").
	and("address", groupOf("prefix-length", "mptcp-flags", "preferred-life-time", "valid-life-time").and("ip", anAddress))

var interfaceShape = groupOf("profile-name", "description", "state", "identifier", "mac-address", "permanent-mac-address",
	"mtu", "min-mtu", "max-mtu", "wait-ip", "accept-all-mac-addresses", "driver", "lldp", "ethtool").
	and("name", aName).and("type", &shape{only: []string{"ethernet", "vlan", "bond"}}).
	and("ipv4", familyShape).and("ipv6", familyShape).
	and("ethernet", groupOf("auto-negotiation", "speed", "duplex")).
	and("vlan", groupOf("id", "protocol", "registration-protocol", "reorder-headers", "loose-binding", "ingress-qos-map", "egress-qos-map").
		and("base-iface", aName)).
	and("link-aggregation", groupOf("mode", "options", "port", "ports", "ports-config")).
	and("802.1x", groupOf("identity", "phase2-auth").and("password", aSecret).and("private-key-password", aSecret).and("eap-methods", semicolons).
		and("private-key", aCertificate).and("client-cert", aCertificate).and("ca-cert", aCertificate))

var documentShape = groupOf("description").
	and("interfaces", interfaceShape).
	and("routes", groupOf("running").and("config", groupOf("state", "metric", "table-id", "weight", "route-type",
		"cwnd", "initcwnd", "initrwnd", "mtu", "quickack", "advmss").
		and("next-hop-interface", aName).and("destination", aSubnet).and("next-hop-address", anAddress).and("source", anAddress))).
	and("route-rules", groupOf().and("config", groupOf("family", "priority", "route-table", "action", "suppress-prefix-length").
		and("ip-from", aSubnet).and("ip-to", aSubnet))).
	and("dns-resolver", groupOf("running").and("config", groupOf().and("server", anAddress).and("search", semicolons).and("options", semicolons)))

// notForSites are nmstate's keys that a site's document cannot have.
var notForSites = []string{
	"version", "hostname", "ovn", "ovs-db", "dispatch", "bridge", "macsec", "libreswan", "ipsec", "veth", "vrf", "vxlan", "mac-vlan",
	"mac-vtap", "ipvlan", "infiniband", "hsr", "xfrm", "loopback", "patch", "mptcp", "controller", "copy-mac-from", "sr-iov", "linux-bridge",
}

// isKnownKey reports whether a key can be repeated in an error: it is nmstate's. Others can be a value that was typed in the wrong
// place.
func isKnownKey(key string) bool {
	return slices.Contains(notForSites, key) || documentShape.names(key)
}

// names reports whether a part of this shape, at any depth, has a key of that name.
func (s *shape) names(key string) bool {
	if _, ok := s.keys[key]; ok {
		return true
	}
	for _, below := range s.keys {
		if below.names(key) {
			return true
		}
	}
	return false
}

// judge returns what is wrong with a part of a document. The error names the place, never a value.
func (s *shape) judge(place string, part any) error {
	switch v := part.(type) {
	case map[string]any:
		if s.text {
			return fmt.Errorf("%s is not a text", place)
		}
		for _, key := range sortedKeys(v) {
			if err := s.judgeKey(place, key, v[key]); err != nil {
				return err
			}
		}
	case []any:
		if s.text {
			return fmt.Errorf("%s is not a text", place)
		}
		for i, item := range v {
			if err := s.judge(fmt.Sprintf("%s[%d]", place, i), item); err != nil {
				return err
			}
		}
	case nil:
	default:
		return s.judgeScalar(place, v)
	}
	return nil
}

func (s *shape) judgeScalar(place string, part any) error {
	text, isText := part.(string)
	switch {
	case s.keys != nil:
		return fmt.Errorf("%s is one value where keys and values belong", or(place, "the document"))
	case isText:
		return s.judgeText(place, text)
	case s.text:
		return fmt.Errorf("%s is not a text; put it in quotes", place)
	case s.only != nil || s.check != nil:
		return fmt.Errorf("%s is not a text", place)
	}
	return nil
}

func (s *shape) judgeKey(place, key string, part any) error {
	inside := strings.TrimPrefix(place+"."+key, ".")
	below := free
	if s.keys != nil {
		below = s.keys[key]
	}
	switch {
	case below == nil && isKnownKey(key):
		return fmt.Errorf("%s cannot be set by a site's document; leave it out", inside)
	case below == nil:
		return fmt.Errorf("%s has a key that a site's document cannot have", or(place, "the document"))
	case !oneLine(key):
		return fmt.Errorf("%s has a line break or another control character in a key", or(place, "the document"))
	}
	return below.judge(inside, part)
}

func (s *shape) judgeText(place, text string) error {
	switch {
	case !oneLine(text):
		return fmt.Errorf("%s has a line break or another control character in it", place)
	case s.list && strings.Contains(text, ";"):
		return fmt.Errorf("%s has a semicolon in it", place)
	case s.only != nil && !slices.Contains(s.only, text):
		return fmt.Errorf("%s can be %s", place, strings.Join(s.only, ", "))
	case s.check != nil && text != "":
		if err := s.check(text); err != nil {
			return fmt.Errorf("%s is not what belongs there", place)
		}
	}
	return nil
}

func or(text, other string) string {
	if text == "" {
		return other
	}
	return text
}

func sortedKeys(m map[string]any) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	return sorted(keys)
}
