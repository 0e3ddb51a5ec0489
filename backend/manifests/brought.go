package manifests

import (
	"encoding/json"
	"fmt"
	"slices"

	"touchdown/backend/kube"
)

// Brought names an object that a landing made in the cluster. It holds nothing of the object itself.
type Brought struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Resource   string `json:"resource"`
	Namespace  string `json:"namespace,omitempty"`
	Name       string `json:"name"`
}

// String names the object for people, as Object's does.
func (b Brought) String() string { return b.object().String() }

func (b Brought) object() Object {
	return Object{APIVersion: b.APIVersion, Kind: b.Kind, Namespace: b.Namespace, Name: b.Name}
}

func (b Brought) ref() kube.Ref { return place(b.object(), b.Resource).Ref }

// is tells whether both name the same object, whatever version of the API they name it by.
func (b Brought) is(o Object) bool {
	return b.Kind == o.Kind && b.Namespace == o.Namespace && b.Name == o.Name && b.object().group() == o.group()
}

// Inventory is what landings brought into the cluster and what is still there, in the order in which it came.
type Inventory struct {
	All  []Brought
	Keep func(text []byte) error // keeps the inventory as JSON, on disk before it returns
}

// ParseInventory reads what an Inventory kept; no text is an empty one.
func ParseInventory(text []byte) (*Inventory, error) {
	i := &Inventory{}
	if len(text) == 0 {
		return i, nil
	}
	if err := json.Unmarshal(text, &i.All); err != nil {
		return nil, fmt.Errorf("reading what earlier landings brought: %w", err)
	}
	return i, nil
}

// Dropped are the objects of the inventory that are not among those, in the order in which they came. Where there are none, nothing is
// dropped: a hand-over wipes spec.manifests with the secrets, and a later landing of other answers must not take away what runs on them.
func (i *Inventory) Dropped(objects []Object) []Brought {
	if len(objects) == 0 {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(i.All), func(b Brought) bool { return slices.ContainsFunc(objects, b.is) })
}

// Note has the inventory name what a record is of, unless that was there before. What its owner has made in the place of one of ours is no
// longer named.
func (i *Inventory) Note(r Record) error {
	b := Brought{APIVersion: r.APIVersion, Kind: r.Kind, Resource: r.At.Resource, Namespace: r.At.Namespace, Name: r.At.Name}
	named := slices.ContainsFunc(i.All, func(have Brought) bool { return have.is(b.object()) })
	if named && r.Existed && !r.Ours {
		return i.set(slices.DeleteFunc(slices.Clone(i.All), func(have Brought) bool { return have.is(b.object()) }))
	}
	if r.Existed || named {
		return nil
	}
	return i.set(append(slices.Clone(i.All), b))
}

// forget takes an object out of the inventory.
func (i *Inventory) forget(b Brought) error {
	return i.set(slices.DeleteFunc(slices.Clone(i.All), func(have Brought) bool { return have == b }))
}

func (i *Inventory) set(all []Brought) error {
	text, err := json.Marshal(all)
	if err == nil {
		err = i.Keep(text)
	}
	if err == nil {
		i.All = all
	}
	return err
}

// text is a value of an object's metadata.
func text(object map[string]any, key string) string {
	meta, _ := object["metadata"].(map[string]any)
	s, _ := meta[key].(string)
	return s
}

// described names an object that was listed.
func described(kind string, object map[string]any) string {
	return Object{Kind: kind, Namespace: text(object, "namespace"), Name: text(object, "name")}.String()
}
