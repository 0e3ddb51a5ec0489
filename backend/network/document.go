package network

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"touchdown/backend/message"
	"touchdown/backend/netconfig"
)

// document is an nmstate document as its author wrote it, once it was found to hold nothing but what a site may set.
type document map[string]any

// readDocument parses a site's document, judges it by what can be told without this machine, and calls its ports by their names: macs has
// the names of the physical ports. Its errors name the place and what is wrong there, never a value.
func readDocument(text []byte, macs map[string]string) (document, *state, error) {
	read, err := netconfig.Parse(text)
	if err != nil {
		return nil, nil, err
	}
	d := document(read)
	if err := d.judged(text); err != nil {
		return nil, nil, err
	}
	for _, i := range d.list("interfaces") {
		delete(i, "profile-name") // configure-ovs knows its own profiles by their names, and ours have others
	}
	if err := d.resolve(macs); err != nil {
		return nil, nil, err
	}
	if err := d.judged(text); err != nil { // by the names that its ports have here
		return nil, nil, err
	}
	view, err := d.view()
	if err != nil {
		return nil, nil, err
	}
	return d, view, nil
}

// judged is the first thing that is wrong with a document whatever the machine is.
func (d document) judged(text []byte) error {
	if faults := netconfig.Judge(text, netconfig.Document(d)); len(faults) > 0 {
		return message.Failed(faults[0].Says())
	}
	return nil
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
func (d document) list(keys ...string) []map[string]any { return netconfig.Document(d).List(keys...) }

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
	netconfig.Document(d).Rename(func(name string) string {
		if name == from {
			name = to
		}
		return name
	})
}
