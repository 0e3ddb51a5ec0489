package network

import (
	"encoding/json"
	"errors"
	"fmt"

	"touchdown/backend/message"
	"touchdown/backend/netconfig"
	"touchdown/backend/value"
)

// document is an nmstate document as its author wrote it, once it was found to hold nothing but what a site may set.
type document map[string]any

// readDocument parses a site's document, judges it by what can be told without this machine, and calls its ports and VLANs by the names that
// they have here: now, and before the first change. Its errors name the place and what is wrong there, never a value.
func readDocument(text []byte, now, before *Current) (document, *state, error) {
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
	if err := d.resolve(now.Macs); err != nil {
		return nil, nil, err
	}
	if err := d.judged(text); err != nil { // by the names that its ports have here
		return nil, nil, err
	}
	d.keepsNames(now, before)
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
// while it applies, and leave the name out of what it writes for the next boot. What a document calls such a port counts in the document
// alone: it may be the name that another port has here.
func (d document) resolve(macs map[string]string) error {
	here := map[string]string{} // the names on this machine, by those of the document
	var found []map[string]any
	for n, i := range d.list("interfaces") {
		if i["identifier"] != "mac-address" {
			continue
		}
		place := fmt.Sprintf("interfaces[%d]", n)
		mac, _ := i["mac-address"].(string)
		port, known := macs[value.MAC(mac)]
		alias, _ := i["name"].(string)
		if !known {
			return fmt.Errorf("%s.mac-address is not the MAC address of a port of this machine", place)
		}
		for other, is := range here {
			if is == port && other != alias {
				return fmt.Errorf("%s.mac-address is that of another interface of the document", place)
			}
		}
		here[alias] = port
		found = append(found, i)
	}
	for n, i := range d.list("interfaces") {
		name, _ := i["name"].(string)
		for alias, port := range here {
			if name == port && here[name] == "" {
				return fmt.Errorf("interfaces[%d].name is the name of the port that the document calls %s", n, alias)
			}
		}
	}
	for _, i := range found {
		delete(i, "identifier")
		delete(i, "mac-address") // it said which port; another one than its own it shall not get
	}
	netconfig.Document(d).Rename(func(name string) string {
		if port := here[name]; port != "" {
			return port
		}
		return name
	})
	return nil
}
