package site

import (
	"bytes"
	"slices"
	"strings"

	"touchdown/backend/message"

	"gopkg.in/yaml.v3"
)

// The documents that can be imported, by their names for --from.
const (
	SeedReconfiguration = "seed-reconfiguration"
	ClusterRelocation   = "cluster-relocation"
	InstallConfig       = "install-config"
	AgentConfig         = "agent-config"
)

// Imports are the names that --from takes.
func Imports() []string {
	return []string{SeedReconfiguration, ClusterRelocation, InstallConfig, AgentConfig}
}

// shape is what a foreign document is, by its kind or by the keys that only one program writes.
type shape struct {
	what string       // "a ClusterRelocation (rhsyseng.github.io/v1beta1)"
	from string       // the importer that reads it; "" for none
	fix  message.Text // what to do with it where no importer does
}

// expect refuses every document but the one that --from names: most keys of another kind would be left out without a word, and
// the rest would not mean the same.
func (im *importer) expect(from string) error {
	is := shapeOf(im.root)
	if is.from == from {
		return nil
	}
	fix := is.fix
	if is.from != "" {
		fix = message.F("use --from %s", is.from)
	}
	return Errors{position{im.name, im.root.Line, im.root.Column}.at("", fault(fix, message.F("is %s, not %s", is.what, named(from))))}
}

// named is an importer's document in a sentence.
func named(from string) string {
	return map[string]string{
		SeedReconfiguration: "a SeedReconfiguration", ClusterRelocation: "a ClusterRelocation",
		InstallConfig: "an install-config", AgentConfig: "an agent-config",
	}[from]
}

func shapeOf(root *yaml.Node) shape {
	has := func(keys ...string) bool {
		return slices.ContainsFunc(keys, func(key string) bool { return child(root, key) != nil })
	}
	kind, version := word(root, "kind"), word(root, "apiVersion")
	switch {
	case kind == Kind && strings.HasPrefix(version, "touchdown.dev/"):
		return shape{what: "a site config of Touchdown already", fix: message.T("use it without importing it")}
	case kind == "ClusterRelocation":
		return shape{what: kindText(kind, version), from: ClusterRelocation}
	case kind == "AgentConfig":
		return shape{what: named(AgentConfig), from: AgentConfig}
	case kind == "InstallConfig", !has("kind") && has("baseDomain", "controlPlane", "imageDigestSources", "imageContentSources"):
		return shape{what: named(InstallConfig), from: InstallConfig}
	case has("kind"):
		return shape{what: kindText(kind, version), fix: message.Data(unread())}
	case has("api_version", "cluster_name", "base_domain"):
		return shape{what: named(SeedReconfiguration), from: SeedReconfiguration}
	case has("interfaces", "dns-resolver"):
		return shape{what: "an nmstate document", fix: message.T("put it under spec.networkConfig of a site config")}
	}
	return shape{what: "a document of no known kind", fix: message.Data(unread())}
}

// unread is what to do with a document that no importer reads.
func unread() string { return "only these are imported: " + strings.Join(Imports(), ", ") }

// kindText is "an ImageBasedConfig (v1beta1)".
func kindText(kind, version string) string {
	if kind == "" {
		return "a document of another kind"
	}
	text := "a " + kind
	if strings.ContainsAny(kind[:1], "AEIOU") {
		text = "an " + kind
	}
	if version != "" {
		text += " (" + version + ")"
	}
	return text
}

// word is a value that may be repeated in a message; "" for one that is not the name of a kind or a version.
func word(root *yaml.Node, key string) string {
	n := child(root, key)
	if n == nil || n.Kind != yaml.ScalarNode || len(n.Value) > 64 {
		return ""
	}
	odd := func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("./-", r)
	}
	if strings.ContainsFunc(n.Value, odd) {
		return ""
	}
	return n.Value
}

// maxListed is how many documents of one file a message lists.
const maxListed = 5

// several lists what a file with more than one document holds.
func several(data []byte) string {
	var found []string
	dec := yaml.NewDecoder(bytes.NewReader(data))
	for len(found) <= maxListed {
		var doc yaml.Node
		if decode(dec, &doc) != nil || len(doc.Content) == 0 {
			break
		}
		is := shapeOf(doc.Content[0])
		text := is.what
		if is.from != "" {
			text += " (--from " + is.from + ")"
		}
		found = append(found, text)
	}
	if len(found) > maxListed {
		found = append(found[:maxListed], "more")
	}
	last := len(found) - 1
	return strings.Join(found[:last], ", ") + " and " + found[last]
}

// versions refuses a version of the document that its importer does not know. A document may leave it out.
func (im *importer) versions(known ...string) error {
	v := child(im.root, "apiVersion")
	if v == nil || v.Kind == yaml.ScalarNode && slices.Contains(known, v.Value) {
		return nil
	}
	return im.refuse("apiVersion", message.F("is not %s", strings.Join(known, " or ")))
}
