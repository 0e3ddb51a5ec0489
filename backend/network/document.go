package network

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// document is an nmstate document as its author wrote it, once it was found to hold nothing but what a site may set.
type document map[string]any

// readDocument parses a site's document and judges it, and calls its ports by their names: macs has the names of the physical
// ports. Its errors name the place and what is wrong there, never a value.
func readDocument(text []byte, macs map[string]string) (document, *state, error) {
	d, err := parseDocument(text)
	if err != nil {
		return nil, nil, err
	}
	if err := documentShape.judge("", map[string]any(d)); err != nil {
		return nil, nil, err
	}
	if err := d.resolve(macs); err != nil {
		return nil, nil, err
	}
	if err := d.links(); err != nil {
		return nil, nil, err
	}
	view, err := d.view()
	if err != nil {
		return nil, nil, err
	}
	return d, view, view.stacked()
}

// atLine finds the line number in an error of the YAML library, whose other words can quote the document, a line number in it too.
var atLine = regexp.MustCompile(`^(?:error converting YAML to JSON: )?yaml: (?:unmarshal errors:\s+)?(line [0-9]{1,7}):`)

func parseDocument(text []byte) (document, error) {
	var d document
	if err := yaml.Unmarshal(text, &d); err != nil {
		if at := atLine.FindStringSubmatch(err.Error()); at != nil {
			return nil, fmt.Errorf("%s is not valid YAML", at[1])
		}
		return nil, errors.New("the document is not valid YAML")
	}
	if len(d) == 0 {
		return nil, errors.New("the document is empty")
	}
	return d, nil
}

// view is the part of a document that this package reads.
func (d document) view() (*state, error) {
	s, err := parseState(d.json())
	if err != nil {
		return nil, errors.Unwrap(err) // a document is not a state of the network yet
	}
	return s, nil
}

func (d document) json() []byte {
	b, err := json.Marshal(d)
	if err != nil {
		panic(err) // it was read from YAML
	}
	return b
}

// list returns a list of maps in the document; what is not a map is left out.
func (d document) list(keys ...string) []map[string]any {
	var at any = map[string]any(d)
	for _, k := range keys {
		m, _ := at.(map[string]any)
		at = m[k]
	}
	items, _ := at.([]any)
	var found []map[string]any
	for _, i := range items {
		if m, ok := i.(map[string]any); ok {
			found = append(found, m)
		}
	}
	return found
}

// resolve gives ports that are named by their MAC address the names that they have on this machine. nmstate would do so only
// while it applies, and leave the name out of what it writes for the next boot.
func (d document) resolve(macs map[string]string) error {
	for n, i := range d.list("interfaces") {
		identifier, ok := i["identifier"]
		if !ok || identifier == "name" {
			continue
		}
		place := fmt.Sprintf("interfaces[%d]", n)
		mac, _ := i["mac-address"].(string)
		port, known := macs[strings.ToLower(mac)]
		alias, _ := i["name"].(string)
		switch {
		case identifier != "mac-address":
			return fmt.Errorf("%s.identifier can be name or mac-address", place)
		case !known:
			return fmt.Errorf("%s.mac-address is not the MAC address of a port of this machine", place)
		case alias != port && (isPort(macs, alias) || d.named(port)):
			return fmt.Errorf("%s.name is the name of a port with another MAC address", place)
		}
		delete(i, "identifier")
		delete(i, "mac-address") // it said which port; another one than its own it shall not get
		i["name"] = port
		d.rename(alias, port)
	}
	return nil
}

func isPort(macs map[string]string, name string) bool {
	for _, port := range macs {
		if port == name {
			return true
		}
	}
	return false
}

func (d document) named(name string) bool {
	return slices.ContainsFunc(d.list("interfaces"), func(i map[string]any) bool { return i["name"] == name })
}

// rename has everything that refers to an interface by one name refer to it by another.
func (d document) rename(from, to string) {
	d.references(func(_, name string) (string, error) { //nolint:errcheck // it returns none
		if name == from {
			name = to
		}
		return name, nil
	})
}

// links wants names of interfaces to be names that an interface can have, none of them the cluster's, and each interface to be
// described once: of two the last would count.
func (d document) links() error {
	seen := map[any]bool{}
	for n, i := range d.list("interfaces") {
		if seen[i["name"]] {
			return fmt.Errorf("interfaces[%d] is for the same interface as one before it", n)
		}
		seen[i["name"]] = true
	}
	for n, r := range d.list("routes", "config") {
		if r["state"] == "absent" && (r["destination"] == nil || r["next-hop-interface"] == nil) {
			return fmt.Errorf("routes.config[%d] would remove more than one route; give destination and next-hop-interface", n)
		}
	}
	return d.references(func(place, name string) (string, error) {
		if err := linkName(name); err != nil {
			return "", fmt.Errorf("%s %w", place, err)
		}
		if !scriptName.MatchString(name) || name == "all" || name == "default" {
			return "", fmt.Errorf("%s has a name that scripts of the node would not read as one; use letters, digits, dot, dash and underscore", place)
		}
		if forbidden.MatchString(name) {
			return "", fmt.Errorf("%s is an interface of OpenShift's own network; describe the ports", place)
		}
		return name, nil
	})
}

// scriptName is what a name of an interface consists of that goes through the node's own scripts (configure-ovs, dispatchers) as one
// word. The kernel keeps "all" and "default" for settings of all interfaces (Documentation/networking/ip-sysctl.rst).
var scriptName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._@-]*$`)

// references goes over all names of interfaces in the document, and puts what f returns in their place.
func (d document) references(f func(place, name string) (string, error)) error {
	each := func(place string, in map[string]any, key string) error {
		name, ok := in[key].(string)
		if !ok {
			return nil
		}
		name, err := f(place+"."+key, name)
		if err == nil {
			in[key] = name
		}
		return err
	}
	for n, i := range d.list("interfaces") {
		place := fmt.Sprintf("interfaces[%d]", n)
		vlan, _ := i["vlan"].(map[string]any)
		bond, _ := i["link-aggregation"].(map[string]any)
		err := errors.Join(each(place, i, "name"), each(place+".vlan", vlan, "base-iface"))
		for _, key := range []string{"port", "ports"} {
			ports, _ := bond[key].([]any)
			for p, port := range ports {
				one := map[string]any{"port": port}
				err = errors.Join(err, each(fmt.Sprintf("%s.link-aggregation.%s[%d]", place, key, p), one, "port"))
				ports[p] = one["port"]
			}
		}
		for p, config := range document(bond).list("ports-config") {
			err = errors.Join(err, each(fmt.Sprintf("%s.link-aggregation.ports-config[%d]", place, p), config, "name"))
		}
		if err != nil {
			return err
		}
	}
	for n, r := range d.list("routes", "config") {
		if err := each(fmt.Sprintf("routes.config[%d]", n), r, "next-hop-interface"); err != nil {
			return err
		}
	}
	return nil
}
