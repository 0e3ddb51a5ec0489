package remote

import (
	"fmt"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"touchdown/backend/host"
	"touchdown/backend/images/ref"
	"touchdown/backend/layout/rhcos"
)

// Where containers-registries.conf(5) puts the settings. OpenShift writes the first file from the cluster's mirror sets.
const (
	confFile = rhcos.Registries
	confDir  = rhcos.RegistriesDropIns + "/*.conf"
	// confLimit bounds a file of settings: hundreds of mirrors take some 100 KiB.
	confLimit = 4 << 20
)

// endpoint is a place where images may lie.
type endpoint struct {
	Location string `toml:"location"`
	Insecure bool   `toml:"insecure"`
	From     string `toml:"pull-from-mirror"` // all, digest-only, tag-only
}

// registry is what the settings say of names with a prefix.
type registry struct {
	endpoint
	Prefix     string     `toml:"prefix"`
	Blocked    bool       `toml:"blocked"`
	DigestOnly bool       `toml:"mirror-by-digest-only"`
	Mirrors    []endpoint `toml:"mirror"`
}

// source is one place to ask for an image, and by what name.
type source struct {
	ref      ref.Ref
	insecure bool
}

// mirrors are the node's settings.
type mirrors []registry

// readMirrors reads the settings as CRI-O does: a file that comes later replaces what is said of a prefix.
func readMirrors(m *host.Machine) (mirrors, error) {
	files, err := m.Glob(confDir)
	if err != nil {
		return nil, err
	}
	if m.Exists(confFile) {
		files = append([]string{confFile}, files...)
	}
	var all mirrors
	for _, path := range files {
		if all, err = all.with(m, path); err != nil {
			return all, err
		}
	}
	return all, nil
}

func (all mirrors) with(m *host.Machine, path string) (mirrors, error) {
	b, whole, err := m.ReadHead(path, confLimit)
	if err != nil {
		return all, err
	}
	var file struct {
		Registry []struct {
			Prefix     string     `toml:"prefix"`
			Location   string     `toml:"location"`
			Insecure   bool       `toml:"insecure"`
			Blocked    bool       `toml:"blocked"`
			DigestOnly bool       `toml:"mirror-by-digest-only"`
			Mirrors    []endpoint `toml:"mirror"`
		} `toml:"registry"`
	}
	if !whole {
		return all, fmt.Errorf("reading %s: it is larger than %d bytes", path, confLimit)
	}
	if err := toml.Unmarshal(b, &file); err != nil {
		return all, fmt.Errorf("reading %s: %w", path, err)
	}
	for _, r := range file.Registry {
		one := registry{endpoint{r.Location, r.Insecure, ""}, r.Prefix, r.Blocked, r.DigestOnly, r.Mirrors}
		if one.Prefix == "" {
			one.Prefix = one.Location
		}
		all = all.put(one)
	}
	return all, nil
}

func (all mirrors) put(one registry) mirrors {
	for i := range all {
		if all[i].Prefix == one.Prefix {
			all[i] = one
			return all
		}
	}
	return append(all, one)
}

// find returns what is said of a name: the longest prefix wins. nil when nothing is.
func (all mirrors) find(name string) *registry {
	var best *registry
	for i, r := range all {
		if matches(name, r.Prefix) > 0 && (best == nil || len(r.Prefix) > len(best.Prefix)) {
			best = &all[i]
		}
	}
	return best
}

// matches returns how many bytes of name a prefix covers, 0 for none. "*.example.com" stands for every name below.
func matches(name, prefix string) int {
	length := len(prefix)
	if domain, wild := strings.CutPrefix(prefix, "*"); wild {
		host, _, _ := strings.Cut(name, "/")
		at := strings.Index(host, domain)
		if at <= 0 || !strings.HasPrefix(domain, ".") {
			return 0
		}
		length = at + len(domain)
	} else if prefix == "" || !strings.HasPrefix(name, prefix) {
		return 0
	}
	if length == len(name) || strings.ContainsRune(":/@", rune(name[length])) {
		return length
	}
	return 0
}

// sources returns where CRI-O would look for an image, in its order.
func (all mirrors) sources(r ref.Ref) []source {
	set := all.find(r.String())
	if set == nil {
		return []source{{ref: r}}
	}
	var found []source
	add := func(e endpoint) {
		at := r
		if e.Location != "" {
			moved, err := ref.Parse(e.Location + r.String()[matches(r.String(), set.Prefix):])
			if err != nil {
				return // a location that is none: CRI-O names it when it pulls
			}
			at = moved
		}
		if other := all.find(at.Name()); other == nil || !other.Blocked {
			found = append(found, source{at, e.Insecure})
		}
	}
	for _, e := range set.Mirrors {
		if e.serves(r, set.DigestOnly) {
			add(e)
		}
	}
	add(set.endpoint)
	return found
}

func (e endpoint) serves(r ref.Ref, digestOnly bool) bool {
	digested := r.Digest != ""
	switch {
	case digestOnly:
		return digested
	case e.From == "digest-only":
		return digested
	case e.From == "tag-only":
		return !digested
	}
	return true
}
