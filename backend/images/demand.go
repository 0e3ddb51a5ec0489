package images

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"touchdown/backend/images/store"
	"touchdown/backend/images/wanted"
)

// demand is all by which an image is known to be needed.
type demand struct {
	ids, digests, names map[string]bool
	patterns            []string // of pins that others set
}

// demand gathers what workloads need, what containers run from, whoever started them, and what others than Touchdown have
// pinned. Touchdown's own pins say nothing: it pins all that it seeds.
func (p pruning) demand(ctx context.Context) (demand, error) {
	n := demand{ids: map[string]bool{}, digests: map[string]bool{}, names: map[string]bool{}}
	for _, i := range p.wanted.Images {
		if !started(i) {
			continue
		}
		n.ids[i.ID], n.digests[i.Digest] = true, true
		for _, name := range i.Names {
			n.name(name)
		}
	}
	containers, err := p.cri.Containers(ctx)
	if err != nil {
		return n, fmt.Errorf("asking which images are in use: %w", err)
	}
	for _, c := range containers {
		n.ids[strings.TrimPrefix(c.ImageID, "sha256:")] = true
		n.name(c.ImageID)
		n.name(c.Image)
	}
	n.patterns, err = pinnedByOthers(p.host)
	return n, err
}

// started tells whether anything runs an image or may do so at any time: a workload that was scaled to zero comes back with
// one command, pods that have ended do not.
func started(i wanted.Image) bool {
	return !i.Spare() || slices.ContainsFunc(i.Needers, func(n wanted.Needer) bool {
		switch n.Source {
		case "deployments", "statefulsets", "daemonsets", "deploymentconfigs":
			return true
		}
		return false
	})
}

func (n demand) name(name string) {
	n.names[name] = true
	if _, digest, ok := strings.Cut(name, "@"); ok {
		n.digests[digest] = true
	}
}

// has tells whether an image of the store is needed. It may be needed by a name that CRI-O does not resolve at the moment.
func (n demand) has(i store.Image) bool {
	if n.ids[i.ID] || i.Digest != "" && n.digests[i.Digest] || slices.ContainsFunc(n.patterns, func(p string) bool { return pinMatches(p, i.ID) }) {
		return true
	}
	for _, name := range i.Names {
		_, digest, _ := strings.Cut(name, "@")
		if n.names[name] || digest != "" && n.digests[digest] || slices.ContainsFunc(n.patterns, func(p string) bool { return pinMatches(p, name) }) {
			return true
		}
	}
	return false
}

// pinMatches is how CRI-O reads pinned_images: a whole name, the beginning of one before a star, or a word between two.
func pinMatches(pattern, name string) bool {
	begin, open := strings.CutSuffix(pattern, "*")
	word, middle := strings.CutPrefix(begin, "*")
	switch {
	case open && middle:
		return strings.Contains(name, word)
	case open:
		return strings.HasPrefix(name, begin)
	}
	return pattern == name
}
