package iso

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"

	"touchdown/backend/message"
	"touchdown/backend/problem"
)

// object is a part of an Ignition config. It is not decoded further: a config keeps the version of the specification that it has.
type object = map[string]any

// whose says of a config to which something is added why that cannot be.
type whose struct{ lost, taken func(string) *problem.Problem }

// live is the config of a live system, installed that of an installed one.
var (
	live = whose{
		lost: func(by string) *problem.Problem {
			return &problem.Problem{
				Code: "LVE-RPLC", Summary: message.F("The Ignition config of the live system is replaced by %s: the installation would be lost.", by),
				Fix: message.T(mergeIt),
			}
		},
		taken: func(what string) *problem.Problem {
			return &problem.Problem{
				Code: "LVE-TWCE", Summary: message.F("The Ignition config of the live system already has %s, which the installation adds.", what),
				Fix: message.T(removeIt),
			}
		},
	}
	installed = whose{
		lost: func(by string) *problem.Problem {
			return &problem.Problem{
				Code: "LVE-RPLC", Summary: message.F("The Ignition config of the installed system is replaced by %s: the site config would be lost.", by),
				Fix: message.T(mergeIt),
			}
		},
		taken: func(what string) *problem.Problem {
			return &problem.Problem{
				Code: "LVE-TWCE", Summary: message.F("The Ignition config of the installed system already has %s, which the site config needs.", what),
				Fix: message.T(removeIt),
			}
		},
	}
)

const (
	mergeIt  = "Merge that config (ignition.config.merge) instead."
	removeIt = "Remove it from the config."
)

// replaced refuses a config that another one replaces: everything that is added to it would be lost.
func (w whose) replaced(config []byte) error {
	c, err := parse(config)
	if err != nil {
		return err
	}
	if by := c.Ignition.Config.Replace.Source; by != nil {
		return w.lost(source(by))
	}
	return nil
}

// inline is a file for root alone. Its content is escaped, not base64, which could not be compressed.
func inline(path string, data []byte) object {
	return object{"path": path, "mode": 0o600, "overwrite": true, "contents": object{"source": "data:," + url.PathEscape(string(data))}}
}

func decode(config []byte) (object, error) {
	var whole object
	d := json.NewDecoder(bytes.NewReader(config))
	d.UseNumber()
	if err := d.Decode(&whole); err != nil {
		return nil, fmt.Errorf("reading the Ignition config: %w", err)
	}
	return whole, nil
}

func list(whole object, section, name string) []any {
	in, _ := whole[section].(object)
	all, _ := in[name].([]any)
	return all
}

func put(whole object, all []any, section, name string) {
	in, is := whole[section].(object)
	if !is {
		in = object{}
		whole[section] = in
	}
	in[name] = all
}

// once refuses what is in a list twice: one of the two would be lost.
func (w whose) once(all []any, key string) error {
	seen := map[any]bool{}
	for _, o := range all {
		o, _ := o.(object)
		if seen[o[key]] {
			return w.taken(fmt.Sprint(o[key]))
		}
		seen[o[key]] = true
	}
	return nil
}
