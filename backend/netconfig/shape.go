package netconfig

import (
	"maps"
	"net/netip"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"touchdown/backend/message"
)

// shape says what a part of a site's document may hold. Lists hold parts of one shape. What is not named here is refused, since
// nmstate can also write scripts that run as root (dispatch), give one of the cluster's interfaces to a bridge and set Open
// vSwitch's database.
type shape struct {
	keys   map[string]*shape // of a group; nil: any
	list   bool              // its texts stand in one line of a keyfile with semicolons between them
	only   []string          // the texts that there are; nil: any
	text   bool              // nothing but a text; what reads as a number has to be quoted
	number bool              // a whole number, not below 0
	flag   bool              // true or false
	check  func(string) bool // of a text
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
	// aNumber and aFlag are asked to be what they are where rules go by them.
	aNumber   = &shape{number: true}
	aFlag     = &shape{flag: true}
	anAddress = &shape{check: func(s string) bool {
		_, err := netip.ParseAddr(s)
		return err == nil
	}}
	aSubnet = &shape{check: func(s string) bool {
		_, err := netip.ParsePrefix(s)
		return err == nil || anAddress.check(s)
	}}
	aCertificate = &shape{check: func(s string) bool { return certificate.MatchString(s) && path.Clean(s) == s }}
	certificate  = regexp.MustCompile(`^/etc/pki/[A-Za-z0-9._/-]+$`)
)

var familyShape = groupOf("dhcp-client-id", "dhcp-duid", "dhcp-send-hostname", "dhcp-custom-hostname",
	"addr-gen-mode", "allow-extra-address").
	and("enabled", aFlag).and("dhcp", aFlag).and("autoconf", aFlag).and("auto-dns", aFlag).and("auto-gateway", aFlag).and("auto-routes", aFlag).and("auto-route-metric", aNumber).
	and("address", groupOf("mptcp-flags", "preferred-life-time", "valid-life-time").and("ip", anAddress).and("prefix-length", aNumber))

var interfaceShape = groupOf("profile-name", "description", "mac-address", "permanent-mac-address",
	"min-mtu", "max-mtu", "wait-ip", "accept-all-mac-addresses", "driver", "lldp", "ethtool").
	and("name", aName).and("type", &shape{only: Types}).and("mtu", aNumber).
	and("state", &shape{only: []string{up, "down", absent, "ignore"}}).and("identifier", &shape{only: []string{"name", byMAC}}).
	and("ipv4", familyShape).and("ipv6", familyShape).
	and("ethernet", groupOf("speed", "duplex").and("auto-negotiation", aFlag)).
	and("vlan", groupOf("protocol", "registration-protocol", "reorder-headers", "loose-binding", "ingress-qos-map", "egress-qos-map").
		and("base-iface", aName).and("id", aNumber)).
	and("link-aggregation", groupOf("mode", "options", "ports-config").and("port", aName).and("ports", aName)).
	and("802.1x", groupOf("identity", "phase2-auth").and("password", aSecret).and("private-key-password", aSecret).and("eap-methods", semicolons).
		and("private-key", aCertificate).and("client-cert", aCertificate).and("ca-cert", aCertificate))

var documentShape = groupOf("description").
	and("interfaces", interfaceShape).
	and("routes", groupOf("running").and("config", groupOf("state", "weight", "route-type",
		"cwnd", "initcwnd", "initrwnd", "mtu", "quickack", "advmss").and("metric", aNumber).and("table-id", aNumber).
		and("next-hop-interface", aName).and("destination", aSubnet).and("next-hop-address", anAddress).and("source", anAddress))).
	and("route-rules", groupOf().and("config", groupOf("family", "priority", "route-table", "action", "suppress-prefix-length").
		and("ip-from", aSubnet).and("ip-to", aSubnet))).
	and("dns-resolver", groupOf("running").and("config", groupOf().and("server", anAddress).and("search", semicolons).and("options", semicolons)))

// Types are the kinds of interface that a site's document may describe.
var Types = []string{"ethernet", "vlan", "bond"}

// notForSites are nmstate's keys that a site's document cannot have.
var notForSites = []string{
	"version", "hostname", "ovn", "ovs-db", "dispatch", "bridge", "macsec", "libreswan", "ipsec", "veth", "vrf", "vxlan", "mac-vlan",
	"mac-vtap", "ipvlan", "infiniband", "hsr", "xfrm", "loopback", "patch", "mptcp", "controller", "copy-mac-from", "sr-iov", "linux-bridge",
}

// IsKnownKey reports whether a key can be repeated in an error: it is nmstate's. Others can be a value that was typed in the wrong
// place.
func IsKnownKey(key string) bool {
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

// judge tells what is wrong with a part of a document. It names the place, never a value.
func (s *shape) judge(j *judge, at place, part any) {
	switch v := part.(type) {
	case map[string]any:
		if s.text || s.number || s.flag {
			s.another(j, at)
			return
		}
		for _, key := range slices.Sorted(maps.Keys(v)) {
			s.judgeKey(j, at, key, v[key])
		}
	case []any:
		if s.number || s.flag {
			s.another(j, at)
			return
		}
		for i, item := range v {
			s.judge(j, at.and(i), item)
		}
	case nil:
	default:
		s.judgeScalar(j, at, v)
	}
}

// unquote returns a part with the numbers and truth values in it that stand in quotes, as nmstate reads them (deserializer.rs).
func (s *shape) unquote(part any) any {
	switch v := part.(type) {
	case map[string]any:
		for key, value := range v {
			if below := s.keys[key]; below != nil {
				v[key] = below.unquote(value)
			}
		}
	case []any:
		for i, item := range v {
			v[i] = s.unquote(item)
		}
	case string:
		if n, err := strconv.ParseUint(v, 10, 32); s.number && err == nil {
			return float64(n)
		}
		if flag, known := truths[strings.ToLower(v)]; s.flag && known {
			return flag
		}
	}
	return part
}

// truths are the texts that nmstate takes for truth values.
var truths = map[string]bool{"1": true, "true": true, "yes": true, "on": true, "y": true, "0": false, "false": false, "no": false, "off": false, "n": false}

// another refuses a part of another kind.
func (s *shape) another(j *judge, at place) {
	switch {
	case s.number:
		j.fail(at, message.T("write a number without quotes"), message.F("%s is not a whole number", at.String()))
	case s.flag:
		j.fail(at, message.T("write true or false without quotes"), message.F("%s is neither true nor false", at.String()))
	default:
		j.fail(at, message.T("write one text, in quotes"), message.F("%s is not a text", at.String()))
	}
}

func (s *shape) judgeScalar(j *judge, at place, part any) {
	text, isText := part.(string)
	_, isFlag := part.(bool)
	switch {
	case s.keys != nil && len(at) == 0:
		j.fail(at, message.T("write keys and values below it, indented"), message.T("is one value where keys and values belong"))
	case s.keys != nil:
		j.fail(at, message.T("write keys and values below it, indented"), message.F("%s is one value where keys and values belong", at.String()))
	case s.flag:
		if !isFlag {
			s.another(j, at)
		}
	case s.number:
		if n, is := part.(float64); !is || n < 0 || n != float64(int64(n)) {
			s.another(j, at)
		}
	case isText:
		s.judgeText(j, at, text)
	case s.text || s.only != nil || s.check != nil:
		s.another(j, at)
	}
}

func (s *shape) judgeKey(j *judge, at place, key string, part any) {
	inside := at.and(key)
	below := free
	if s.keys != nil {
		below = s.keys[key]
	}
	switch {
	case below == nil && IsKnownKey(key):
		j.fail(inside, message.T("leave it out; a site describes its ports, bonds and VLANs, their addresses, routes and rules, and its name servers"),
			message.F("%s cannot be set by a site's document", inside.String()))
	case below == nil && len(at) == 0:
		j.fail(inside, message.T("leave it out"), message.T("has a key that a site's document cannot have"))
	case below == nil:
		j.fail(inside, message.T("leave it out"), message.F("%s has a key that a site's document cannot have", at.String()))
	case !OneLine(key):
		j.fail(inside, message.T("write it in one line"), message.F("%s has a line break or another control character in a key", at.String()))
	default:
		below.judge(j, inside, part)
	}
}

func (s *shape) judgeText(j *judge, at place, text string) {
	switch {
	case !OneLine(text):
		j.fail(at, message.T("write it in one line"), message.F("%s has a line break or another control character in it", at.String()))
	case s.list && strings.Contains(text, ";"):
		j.fail(at, message.T("write each as its own item of the list"), message.F("%s has a semicolon in it", at.String()))
	case s.only != nil && !slices.Contains(s.only, text):
		j.fail(at, message.F("write one of %s", strings.Join(s.only, ", ")), message.F("%s is not what belongs there", at.String()))
	case s.check != nil && text != "" && !s.check(text):
		j.fail(at, s.example(), message.F("%s is not what belongs there", at.String()))
	}
}

// example is how a text that is checked would be right.
func (s *shape) example() message.Text {
	switch s {
	case anAddress:
		return message.T("write it like 198.51.100.10 or 2001:db8:51::10")
	case aSubnet:
		return message.T("write it like 198.51.100.0/24")
	}
	return message.T("write the path of a file below /etc/pki")
}

// OneLine tells whether a text is one line of characters that people can see.
func OneLine(text string) bool {
	return utf8.ValidString(text) && !strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) })
}
