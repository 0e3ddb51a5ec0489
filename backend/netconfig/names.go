package netconfig

import (
	"regexp"
	"strings"

	"touchdown/backend/message"
)

// MaxLinkName is IFNAMSIZ of Linux (linux/if.h) without the NUL at its end: characters of an interface's name.
const MaxLinkName = 15

// ownNames are names that OpenShift's own network uses: a document of a site has no business with them.
var ownNames = regexp.MustCompile(`(?i)^(br-ex1?|br-int|br-local|ovs-system|genev_sys.*|ovn.*|patch-.*)$`)

// ClusterOwned tells whether OpenShift makes an interface of that name itself (OVN-Kubernetes and configure-ovs).
func ClusterOwned(name string) bool { return ownNames.MatchString(name) }

// scriptName is what a name of an interface consists of that goes through the node's own scripts (configure-ovs, dispatchers) as one
// word. The kernel keeps "all" and "default" for settings of all interfaces (Documentation/networking/ip-sysctl.rst).
var scriptName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._@-]*$`)

// names wants names of interfaces to be names that an interface can have, none of them the cluster's, and each interface to be
// described once: of two the last would count.
func (j *judge) names() {
	seen := map[string]bool{}
	for _, p := range j.ports {
		switch {
		case p.name == "":
			j.fail(p.at, message.T("write its name"), message.F("%s has no name", p.at.String()))
		case seen[p.name]:
			j.fail(p.at.and("name"), message.T("describe each interface once"), message.F("%s is for the same interface as one before it", p.at.String()))
		}
		seen[p.name] = true
		if text(p.of, "identifier") == byMAC && text(p.of, byMAC) == "" {
			j.fail(p.at.and("identifier"), message.T("add mac-address"), message.F("%s is identified by a MAC address, and has none", p.at.String()))
		}
	}
	j.doc.references(func(at place, name string) string {
		if p := j.find(name); p == nil || text(p.of, "identifier") != byMAC { // one by its MAC address gets the name that its port has on the node
			j.name(at, name)
		}
		return name
	})
}

func (j *judge) name(at place, name string) {
	ports := message.T("describe the physical ports; the cluster makes its bridge again at every boot")
	switch {
	case len(name) > MaxLinkName || strings.ContainsAny(name, "/: ") || name == "." || name == "..":
		j.fail(at, message.T("write a shorter name; that of a VLAN can be any"),
			message.F("%s has a name that no interface can have: at most %d characters, no slash, colon or space", at.String(), MaxLinkName))
	case !scriptName.MatchString(name) || name == "all" || name == "default":
		j.fail(at, message.T("use letters, digits, dot, dash and underscore"), message.F("%s has a name that scripts of the node would not read as one", at.String()))
	case name == "lo":
		j.fail(at, ports, message.F("%s is the loopback interface, which is the node's own", at.String()))
	case ClusterOwned(name):
		j.fail(at, ports, message.F("%s is an interface of OpenShift's own network", at.String()))
	}
}

// Rename puts what f returns for a name of an interface in its place, wherever the document has it.
func (d Document) Rename(f func(name string) string) {
	d.references(func(_ place, name string) string { return f(name) })
}

// references goes over all names of interfaces in the document, and puts what f returns in their place.
func (d Document) references(f func(at place, name string) string) {
	each := func(at place, in map[string]any, key string) {
		if name, ok := in[key].(string); ok {
			in[key] = f(at.and(key), name)
		}
	}
	for n, i := range d.numbered("interfaces") {
		at := place{"interfaces", n}
		vlan, _ := i["vlan"].(map[string]any)
		bond, _ := i["link-aggregation"].(map[string]any)
		each(at, i, "name")
		each(at.and("vlan"), vlan, "base-iface")
		for _, key := range []string{"port", "ports"} {
			ports, _ := bond[key].([]any)
			for p := range ports {
				if name, ok := ports[p].(string); ok {
					ports[p] = f(at.and("link-aggregation", key, p), name)
				}
			}
		}
		options, _ := bond["options"].(map[string]any)
		each(at.and("link-aggregation", "options"), options, "primary")
		for p, config := range Document(bond).numbered("ports-config") {
			each(at.and("link-aggregation", "ports-config", p), config, "name")
		}
	}
	for n, r := range d.numbered("routes", "config") {
		each(place{"routes", "config", n}, r, "next-hop-interface")
	}
}
