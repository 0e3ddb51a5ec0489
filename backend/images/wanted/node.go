package wanted

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"sigs.k8s.io/yaml"

	"touchdown/backend/host"
	"touchdown/backend/layout/rhcos"
	"touchdown/backend/message"
)

// Where the node keeps what it starts automatically.
const (
	manifestDir  = rhcos.Manifests
	resourcesDir = rhcos.Resources
	crioConf     = rhcos.Crio
	crioConfDir  = rhcos.CrioDropIns
)

const (
	fileLimit  = 1 << 20 // of a manifest, a unit, a script: the largest real one has 30 KiB
	filesLimit = 4000    // of one kind: a folder with more is none of OpenShift's
)

// node reads what lies on the node's disk, which no list of pods shows.
func (g *gathering) node(ctx context.Context, p Place, s *store) {
	g.staticPods(p.Host)
	g.units(p.Host)
	g.pause(ctx, p, s)
}

// files lists what matches the patterns, bounded, without hidden files.
func (g *gathering) files(m *host.Machine, source string, patterns ...string) []string {
	var all []string
	for _, pattern := range patterns {
		found, err := m.Glob(pattern)
		if err != nil {
			g.note(source, reason(err))
		}
		all = append(all, found...)
	}
	all = slices.DeleteFunc(all, func(path string) bool { return strings.HasPrefix(filepath.Base(path), ".") })
	if len(all) > filesLimit {
		g.note(source, message.F("There are %d files; only %d were read.", len(all), filesLimit))
		all = all[:filesLimit]
	}
	return all
}

// read reads a text file; nil for a folder, a dangling link, a masked unit, a program.
func (g *gathering) read(m *host.Machine, source, path string) []byte {
	b, whole, err := m.ReadHead(path, fileLimit)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, host.ErrNotRegular):
		return nil
	case err != nil:
		g.note(source, reason(err))
		return nil
	case bytes.IndexByte(b[:min(len(b), 4096)], 0) >= 0:
		return nil
	case !whole:
		g.note(source, message.F("%s is larger than %d bytes and was not read.", path, fileLimit))
		return nil
	}
	return b
}

// staticPods reads the pods that the kubelet starts automatically: every file of its folder, and what the operators keep for
// revisions. Of those, the newest and the last known good one may be started again; older ones are history.
func (g *gathering) staticPods(m *host.Machine) {
	for _, path := range g.files(m, "static-pods", manifestDir+"/*") {
		g.staticPod(m, path, Boot)
	}
	paths := g.files(m, "static-pods", resourcesDir+"/*/*-pod.yaml", resourcesDir+"/*/*-pod.yml", resourcesDir+"/*/*-pod.json", resourcesDir+"/*-last-known-good")
	newest := map[string]int{}
	for _, path := range paths {
		if name, n, ok := revision(path); ok {
			newest[name] = max(newest[name], n)
		}
	}
	for _, path := range paths {
		name, n, ok := revision(path)
		if ok && n < newest[name] {
			g.staticPod(m, path, Spare)
		} else {
			g.staticPod(m, path, Boot)
		}
	}
}

var revisionForm = regexp.MustCompile(`/([a-z0-9-]+)-pod-([0-9]{1,9})/[^/]+$`)

// revision takes "…/kube-apiserver-pod-7/kube-apiserver-pod.yaml" apart.
func revision(path string) (name string, n int, ok bool) {
	parts := revisionForm.FindStringSubmatch(path)
	if parts == nil {
		return "", 0, false
	}
	n, err := strconv.Atoi(parts[2])
	return parts[1], n, err == nil
}

func (g *gathering) staticPod(m *host.Machine, path string, need Need) {
	b := g.read(m, "static-pods", path)
	if len(bytes.TrimSpace(b)) == 0 {
		return
	}
	var pod struct {
		Kind     string
		Metadata struct{ Name, Namespace string }
		Spec     podSpec
	}
	if err := yaml.Unmarshal(b, &pod); err != nil || pod.Kind != "Pod" {
		g.note("static-pods", message.F("%s is not a pod.", path))
		return
	}
	if pod.Metadata.Namespace == "" {
		pod.Metadata.Namespace = "default"
	}
	g.addPod(pod.Spec, Needer{Who: staticPod + pod.Metadata.Namespace + "/" + pod.Metadata.Name, Need: need, Source: "static-pods"})
}

// pause notes the image that each pod begins with: of the settings that the next start of CRI-O will read, and of the one that
// runs, which knows a default when the settings have none.
func (g *gathering) pause(ctx context.Context, p Place, s *store) {
	image := ""
	for _, path := range append([]string{crioConf}, g.files(p.Host, "crio", crioConfDir+"/*")...) {
		b := g.read(p.Host, "crio", path)
		var file struct {
			Crio struct {
				Image struct {
					PauseImage string `toml:"pause_image"`
				} `toml:"image"`
			} `toml:"crio"`
		}
		if err := toml.Unmarshal(b, &file); err != nil {
			g.note("crio", message.F("%s: %s", path, err))
			continue
		}
		if file.Crio.Image.PauseImage != "" {
			image = file.Crio.Image.PauseImage
		}
	}
	if image != "" {
		g.add(use{image, Needer{Who: pauseImage, Need: Boot, Source: "crio"}})
	}
	if s.rt == nil || !s.read {
		return
	}
	running, err := s.rt.PauseImage(ctx)
	switch {
	case err != nil:
		g.fail("crio", err)
	case running != "" && running != image:
		g.add(use{running, Needer{Who: pauseRunning, Need: Boot, Source: "crio"}})
	}
}
