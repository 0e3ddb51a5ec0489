package site

import (
	"fmt"
	"strings"

	"gopkg.in/yaml.v3"
)

// FromSeedReconfiguration takes over what a manifest.json of the lifecycle agent says (api/seedreconfig). The notes
// tell what was taken and what was left out.
func FromSeedReconfiguration(data []byte, name string) (*Config, []string, error) {
	im, err := newImport(data, name)
	if err != nil {
		return nil, nil, err
	}
	if v := child(im.root, "api_version"); v == nil || v.Value != "1" {
		return nil, nil, im.refuse("api_version", "is not 1, the only version that is known")
	}
	im.take("base_domain", "spec.baseDomain")
	im.take("cluster_name", "spec.clusterName")
	im.take("pull_secret", "spec.pullSecret")
	im.leave(im.root, "", "api_version")
	return im.done()
}

// FromClusterRelocation takes over what a ClusterRelocation of the cluster-relocation-operator says
// (rhsyseng.github.io/v1beta1). Its secrets are objects of their own, so they are only noted.
func FromClusterRelocation(data []byte, name string) (*Config, []string, error) {
	im, err := newImport(data, name)
	if err != nil {
		return nil, nil, err
	}
	if v := child(im.root, "apiVersion"); v == nil || v.Value != "rhsyseng.github.io/v1beta1" {
		return nil, nil, im.refuse("apiVersion", "is not rhsyseng.github.io/v1beta1")
	}
	if v := child(im.root, "kind"); v == nil || v.Value != "ClusterRelocation" {
		return nil, nil, im.refuse("kind", "is not ClusterRelocation")
	}
	spec := child(im.root, "spec")
	domain := child(spec, "domain")
	if domain == nil || !strings.Contains(domain.Value, ".") {
		return nil, nil, im.refuse("spec.domain", "is missing, or has no dot where cluster name and base domain part")
	}
	cluster, base, _ := strings.Cut(domain.Value, ".")
	im.store(domain, "spec.domain", "spec.clusterName", cluster)
	im.store(domain, "spec.domain", "spec.baseDomain", base)
	for _, ref := range []string{"apiCertRef", "ingressCertRef", "pullSecretRef"} {
		if child(spec, ref) != nil {
			im.notes = append(im.notes, "spec."+ref+" names a Secret that is not part of the document: give its content yourself")
			im.taken["spec."+ref] = true
		}
	}
	im.leave(spec, "spec")
	im.leave(im.root, "", "apiVersion", "kind", "metadata", "spec", "status")
	return im.done()
}

// FromInstallConfig takes over the name, the base domain and the pull secret of an install-config.yaml.
func FromInstallConfig(data []byte, name string) (*Config, []string, error) {
	im, err := newImport(data, name)
	if err != nil {
		return nil, nil, err
	}
	im.take("metadata.name", "spec.clusterName")
	im.take("baseDomain", "spec.baseDomain")
	im.take("pullSecret", "spec.pullSecret")
	im.leave(im.root, "", "apiVersion", "kind", "metadata")
	return im.done()
}

// importer carries one foreign document over.
type importer struct {
	root   *yaml.Node
	name   string
	config *Config
	notes  []string
	errs   Errors
	taken  map[string]bool
}

func newImport(data []byte, name string) (*importer, error) {
	root, err := document(data, name)
	if err != nil {
		return nil, Errors{err}
	}
	return &importer{root: root, name: name, config: New(), taken: map[string]bool{}}, nil
}

func (im *importer) refuse(path, msg string) error {
	return Errors{position{im.name, im.root.Line, im.root.Column}.at(path, fault("check that it is the right file", "%s", msg))}
}

// take copies the text at a path of the foreign document.
func (im *importer) take(from, to string) {
	n := im.root
	for _, part := range strings.Split(from, ".") {
		n = child(n, part)
	}
	if n == nil || n.Kind == yaml.ScalarNode && n.Value == "" {
		return
	}
	if f := plainNode(n, yaml.ScalarNode); f != nil {
		im.errs = append(im.errs, position{im.name, n.Line, n.Column}.at(from, f))
		return
	}
	im.store(n, from, to, n.Value)
}

func (im *importer) store(n *yaml.Node, from, to, value string) {
	im.taken[from] = true
	place := position{im.name, n.Line, n.Column}
	if f := im.config.store(to, value); f != nil {
		im.errs = append(im.errs, place.at(from, f))
		return
	}
	im.config.note(to, "file "+im.name)
	im.config.places[to] = place
	im.notes = append(im.notes, from+" is now "+to)
}

// leave notes the keys of a group that were not taken, except those that hold nothing to take.
func (im *importer) leave(group *yaml.Node, prefix string, except ...string) {
	if group == nil || group.Kind != yaml.MappingNode {
		return
	}
	var left, odd int
	skip := map[string]bool{}
	for _, key := range except {
		skip[key] = true
	}
	for i := 0; i+1 < len(group.Content) && left < maxErrors; i += 2 {
		key := group.Content[i].Value
		if skip[key] {
			continue
		}
		path := join(prefix, key)
		switch {
		case path == prefix:
			odd++
		case !im.taken[path]:
			left++
			im.notes = append(im.notes, path+" is left out: this release has nothing for it")
		}
	}
	if odd > 0 {
		im.notes = append(im.notes, fmt.Sprintf("keys left out besides these: %d", odd))
	}
}

func (im *importer) done() (*Config, []string, error) {
	if len(im.errs) > 0 {
		return nil, nil, im.errs.sorted()
	}
	return im.config, im.notes, nil
}
