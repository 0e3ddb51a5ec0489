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

var interfaceShape = groupOf("name", "profile-name", "description", "state", "identifier", "mac-address", "permanent-mac-address",
	"mtu", "min-mtu", "max-mtu", "wait-ip", "accept-all-mac-addresses", "driver", "lldp", "ethtool").
	and("type", &shape{only: []string{"ethernet", "vlan", "bond"}}).
	and("ipv4", familyShape).and("ipv6", familyShape).
	and("ethernet", groupOf("auto-negotiation", "speed", "duplex")).
	and("vlan", groupOf("base-iface", "id", "protocol", "registration-protocol", "reorder-headers", "loose-binding", "ingress-qos-map", "egress-qos-map")).
	and("link-aggregation", groupOf("mode", "options", "port", "ports", "ports-config")).
	and("802.1x", groupOf("identity", "private-key-password", "password", "phase2-auth").and("eap-methods", semicolons).
		and("private-key", aCertificate).and("client-cert", aCertificate).and("ca-cert", aCertificate))

var documentShape = groupOf("description").
	and("interfaces", interfaceShape).
	and("routes", groupOf("running").and("config", groupOf("state", "next-hop-interface", "metric", "table-id", "weight", "route-type",
		"cwnd", "initcwnd", "initrwnd", "mtu", "quickack", "advmss").
		and("destination", aSubnet).and("next-hop-address", anAddress).and("source", anAddress))).
	and("route-rules", groupOf().and("config", groupOf("family", "priority", "route-table", "action", "suppress-prefix-length").
		and("ip-from", aSubnet).and("ip-to", aSubnet))).
	and("dns-resolver", groupOf("running").and("config", groupOf().and("server", anAddress).and("search", semicolons).and("options", semicolons)))

// plainKey is a key that can be repeated in an error. Others can be a value that was typed in the wrong place.
var plainKey = regexp.MustCompile(`^[a-z][a-z0-9-]{0,31}$`)

// judge returns what is wrong with a part of a document. The error names the place, never a value.
func (s *shape) judge(place string, part any) error {
	switch v := part.(type) {
	case map[string]any:
		for _, key := range sortedKeys(v) {
			if err := s.judgeKey(place, key, v[key]); err != nil {
				return err
			}
		}
	case []any:
		for i, item := range v {
			if err := s.judge(fmt.Sprintf("%s[%d]", place, i), item); err != nil {
				return err
			}
		}
	case string:
		return s.judgeText(place, v)
	case nil:
	default:
		if s.only != nil || s.check != nil {
			return fmt.Errorf("%s is not a text", place)
		}
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
	case below == nil && (plainKey.MatchString(key) && !strings.Contains(place, "802.1x")):
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
