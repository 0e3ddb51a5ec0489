package site

import (
	"errors"
	"io"
	"regexp"
	"strings"

	"touchdown/backend/message"

	"gopkg.in/yaml.v3"
)

const (
	// maxManifests is the size of spec.manifests in bytes, well below what a journal entry and an etcd request of 1.5 MiB hold. A hub's
	// import manifest has about 30 KiB.
	maxManifests = 256 << 10
	// mostManifests is how many objects it may have: each is asked for and written on its own. Chosen.
	mostManifests = 100
)

const pathManifests = "spec.manifests"

// manifestEntries say what else the cluster gets.
var manifestEntries = []entry{
	{
		Item:  Item{Path: pathManifests, Type: typeManifests, Secret: true, Meaning: "Kubernetes objects that the cluster gets once it is well, with --- between them, such as the import manifest of a hub (klusterlet); what an earlier landing brought and these no longer list is removed, and without any it stays", Example: "|"},
		limit: maxManifests, check: manifests, younger: true,
		at: func(c *Config) any { return (*string)(&c.Spec.Manifests) },
	},
	{
		Item: Item{Path: "spec.manifestsFile", Type: typeFiles, Meaning: "file or folder beside this document that holds spec.manifests, or several: [crds.yaml, import.yaml]", Example: "import.yaml"},
		into: pathManifests,
	},
}

// Manifest is an object of spec.manifests: a tree of JSON's types with apiVersion, kind and metadata.name. It may be or hold a secret;
// Kind, Namespace and Name do not.
type Manifest map[string]any

// APIVersion is the group and version of the object.
func (m Manifest) APIVersion() string { return m.text("apiVersion") }

// Kind is the kind of the object.
func (m Manifest) Kind() string { return m.text("kind") }

// Name is its name.
func (m Manifest) Name() string { return m.meta("name") }

// Namespace is where it lies; "" for one of the cluster, and for one that does not say.
func (m Manifest) Namespace() string { return m.meta("namespace") }

func (m Manifest) text(key string) string {
	s, _ := m[key].(string)
	return s
}

func (m Manifest) meta(key string) string {
	meta, _ := m["metadata"].(map[string]any)
	s, _ := meta[key].(string)
	return s
}

func (m Manifest) spec(key string) any {
	spec, _ := m["spec"].(map[string]any)
	return spec[key]
}

// Objects are the objects of spec.manifests, in their order. It fails where Parse does.
func (s *Spec) Objects() ([]Manifest, error) {
	if s.Manifests == "" {
		return nil, nil
	}
	all, f := objectsOf(string(s.Manifests))
	if f != nil {
		return nil, f
	}
	return all, nil
}

// manifests reports what is wrong with a text of Kubernetes objects, as far as can be told without the cluster. Its errors name lines,
// kinds and names, never another value.
func manifests(s string) error {
	if _, f := objectsOf(s); f != nil {
		return f
	}
	return nil
}

func objectsOf(s string) ([]Manifest, *Error) { return objectsIn([]ManifestFile{{Text: s}}) }

// objectsIn are the objects of files, in their order.
func objectsIn(files []ManifestFile) ([]Manifest, *Error) {
	found := heap{seen: map[string]bool{}}
	for _, file := range files {
		if f := found.add(file.Text); f != nil {
			if file.Name != "" {
				f.Msg = message.F("the file %s %s", shown(file.Name), f.Msg)
			}
			return nil, f
		}
	}
	if len(found.all) == 0 {
		return nil, fault(message.T("write Kubernetes objects, with --- between them, or leave it out"), message.T("has no object in it"))
	}
	if m := opening(found.all); m != nil {
		return nil, fault(message.T("remove it"), message.F("has %s %s, and %s", m.Kind(), m.Name(), deniedRights))
	}
	return found.all, nil
}

// heap gathers objects, each once.
type heap struct {
	all  []Manifest
	seen map[string]bool
}

// add gathers the objects of a text.
func (h *heap) add(s string) *Error {
	s = string(fromJSON([]byte(s)))
	dec := yaml.NewDecoder(strings.NewReader(s))
	for {
		var doc yaml.Node
		err := decode(dec, &doc)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			wrong := syntax([]byte(s), "", err)
			return fault(message.T("correct it there; kubectl apply --dry-run=client -f FILE shows the same"), message.F("is not YAML: %s, in its line %d", wrong.Msg, wrong.Line))
		}
		root := doc.Content[0]
		if root.Tag == "!!null" { // comments alone, or two separators
			continue
		}
		object, f := objectOf(root)
		if f != nil {
			return f
		}
		id := strings.Join([]string{object.APIVersion(), object.Kind(), object.Namespace(), object.Name()}, " ")
		if h.seen[id] {
			return fault(message.T("keep one of them"), message.F("has %s %s twice, in its line %s", object.Kind(), object.Name(), lineNumber(root)))
		}
		h.seen[id] = true
		if h.all = append(h.all, object); len(h.all) > mostManifests {
			return fault(message.T("have an operator of the cluster or the hub bring them"), message.F("has more than the %d objects that are allowed", mostManifests))
		}
	}
}

// objectOf is one object, judged.
func objectOf(root *yaml.Node) (Manifest, *Error) {
	if f := plainNode(root, yaml.MappingNode); f != nil {
		f.Fix = message.T("write objects that start with apiVersion:, with --- between them")
		return nil, f
	}
	where, f := plainTree(root)
	if f == nil {
		where = root
		var object map[string]any
		if object, f = treeOf(root, &where); f == nil {
			if f = refusedManifest(object); f == nil {
				return object, nil
			}
		}
	}
	f.Msg = message.F("%s, in its line %s", f.Msg, lineNumber(where))
	return nil, f
}

// refusedManifest reports an object that cannot be named, or that the landing must not be handed.
func refusedManifest(m Manifest) *Error {
	missing := func(key string) *Error {
		return fault(message.F("write its %s", key), message.F("has an object without %s", key))
	}
	switch {
	case m.APIVersion() == "":
		return missing("apiVersion")
	case m.Kind() == "":
		return missing("kind")
	case m.APIVersion() == APIVersion: // with its secrets, by a folder that leads back to the site config's own
		return fault(message.T("name the files with the objects alone"), message.F("has a site config (%s), which is not an object of the cluster", m.Kind()))
	case kindForm.MatchString(m.Kind()) && (m.Kind() == "List" || m["items"] != nil && strings.HasSuffix(m.Kind(), "List")): // oc get -o yaml writes one, without a name
		return fault(message.T("write its items as objects, with --- between them"), message.F("has a list of objects (%s)", m.Kind()))
	case m.Name() == "" && m.meta("generateName") != "":
		return fault(message.T("write metadata.name in its place: with each attempt there would be one more"), message.T("has an object with metadata.generateName, which gives it another name each time"))
	case m.Name() == "":
		return missing("metadata.name")
	case !nameable(m):
		return fault(message.T("write it as the API has it"), message.T("has an object whose apiVersion, kind, name or namespace no object can have"))
	}
	for _, key := range []string{"resourceVersion", "uid", "managedFields", "generateName", "ownerReferences", "deletionTimestamp", "deletionGracePeriodSeconds"} {
		if meta, _ := m["metadata"].(map[string]any); meta[key] != nil {
			return fault(message.T("remove it"), message.F("has %s %s with metadata.%s", m.Kind(), m.Name(), key))
		}
	}
	if why, is := denied(m); is {
		return fault(instead(why), message.F("has %s %s, and %s", m.Kind(), m.Name(), why))
	}
	if kind, why, is := inside(map[string]any(m), false); is {
		return fault(instead(why), message.F("has %s %s with %s in it, and %s", m.Kind(), m.Name(), kind, why))
	}
	return nil
}

// What names an object; each is a part of a path in the API, so that none may be "..". Longer names are the API's to refuse; roles may
// have colons: k8s.io/apimachinery v0.34.1, pkg/api/validation/path and pkg/util/validation.
var (
	apiVersionForm = regexp.MustCompile(`^([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[a-z]([-a-z0-9]*[a-z0-9])?$`)
	kindForm       = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9]*$`)
	namespaceForm  = regexp.MustCompile(`^([a-z0-9]([-a-z0-9]*[a-z0-9])?)?$`)
	objectForm     = regexp.MustCompile(`^[A-Za-z0-9]([-A-Za-z0-9._:]*[A-Za-z0-9])?$`)
)

// longestName is the length of the longest name that an object can have: DNS1123SubdomainMaxLength there.
const longestName = 253

// nameable tells whether an object can have such names.
func nameable(m Manifest) bool {
	return apiVersionForm.MatchString(m.APIVersion()) && kindForm.MatchString(m.Kind()) && namespaceForm.MatchString(m.Namespace()) &&
		objectForm.MatchString(m.Name()) && max(len(m.APIVersion()), len(m.Kind()), len(m.Namespace()), len(m.Name())) <= longestName
}

// treeOf turns nodes into the types of JSON; where becomes the node that cannot be. plainTree has looked at them.
func treeOf(n *yaml.Node, where **yaml.Node) (map[string]any, *Error) {
	value, f := valueOf(n, where)
	tree, _ := value.(map[string]any)
	return tree, f
}

func valueOf(n *yaml.Node, where **yaml.Node) (any, *Error) {
	switch n.Kind {
	case yaml.MappingNode:
		tree := map[string]any{}
		for i := 0; i+1 < len(n.Content); i += 2 {
			value, f := valueOf(n.Content[i+1], where)
			if f != nil {
				return nil, f
			}
			tree[n.Content[i].Value] = value
		}
		return tree, nil
	case yaml.SequenceNode:
		list := []any{}
		for _, item := range n.Content {
			value, f := valueOf(item, where)
			if f != nil {
				return nil, f
			}
			list = append(list, value)
		}
		return list, nil
	}
	return scalarOf(n, where)
}

// scalarOf is a value without parts. A date is the text that stands there, as in JSON.
func scalarOf(n *yaml.Node, where **yaml.Node) (any, *Error) {
	switch n.ShortTag() {
	case "!!null":
		return nil, nil
	case "!!bool":
		return strings.EqualFold(n.Value, "true"), nil
	case "!!int":
		var i int64
		if n.Decode(&i) == nil {
			return i, nil
		}
		*where = n
		return nil, fault(message.T("put it in quotes"), message.T("has a number that is too large"))
	case "!!float":
		var d float64
		if n.Decode(&d) == nil && d-d == 0 { // neither infinite nor no number, which JSON does not have
			return d, nil
		}
		*where = n
		return nil, fault(message.T("put it in quotes"), message.T("has a number that JSON does not have"))
	}
	return n.Value, nil
}
