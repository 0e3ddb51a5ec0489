package factory

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/netip"
	"net/url"
	"path"
	"strings"

	"sigs.k8s.io/yaml"

	"touchdown/assets"
	"touchdown/backend/host"
	"touchdown/backend/layout/rhcos"
)

// dnsmasqConfig is what the assisted installer calls its own; a cluster that has one keeps it.
const dnsmasqConfig = "50-master-dnsmasq-configuration"

// The label by which our MachineConfigs are told from others of the same name.
const (
	managedBy = "app.kubernetes.io/managed-by"
	touchdown = "touchdown"
)

// Manifest is one MachineConfig of the bake.
type Manifest struct {
	Name   string
	Labels map[string]string
	YAML   []byte         // as people apply it
	Files  []File         // what it lays on the node
	Units  []string       // that it enables
	config map[string]any // Ignition
}

// File is one file that a MachineConfig lays on the node.
type File struct {
	Path string
	Mode fs.FileMode
	Data []byte
}

// Manifests returns the MachineConfigs of a node with the given addresses, in the order of their names; inside is for host.Own.File.
func Manifests(own host.Own, inside ...netip.Prefix) ([]Manifest, error) {
	const dir = "machineconfigs"
	entries, err := assets.MachineConfigs.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("reading the MachineConfigs: %w", err)
	}
	all := make([]Manifest, 0, len(entries))
	for _, e := range entries {
		data, err := assets.MachineConfigs.ReadFile(path.Join(dir, e.Name()))
		if err != nil {
			return nil, fmt.Errorf("reading the MachineConfigs: %w", err)
		}
		if data, err = addressed(data, own.File(inside...)); err != nil {
			return nil, fmt.Errorf("reading %s: %w", e.Name(), err)
		}
		m, err := parseManifest(data)
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", e.Name(), err)
		}
		all = append(all, m)
	}
	return all, nil
}

// addressed gives a MachineConfig the node's own addresses, where it lays them: what it has is for host.DefaultOwn.
func addressed(manifest, settings []byte) ([]byte, error) {
	var config machineConfig
	if err := yaml.Unmarshal(manifest, &config); err != nil {
		return nil, fmt.Errorf("parsing: %w", err)
	}
	for _, f := range config.Spec.Config.Storage.Files {
		if f.Path == host.OwnFile {
			text := strings.ReplaceAll(url.QueryEscape(string(settings)), "+", "%20")
			return bytes.ReplaceAll(manifest, []byte(f.Contents.Source), []byte("data:,"+text)), nil
		}
	}
	return manifest, nil
}

// machineConfig is the part of a MachineConfig that the bake uses.
type machineConfig struct {
	Metadata struct {
		Name   string            `json:"name"`
		Labels map[string]string `json:"labels"`
	} `json:"metadata"`
	Spec struct {
		Config struct {
			Storage struct {
				Files []struct {
					Path     string      `json:"path"`
					Mode     fs.FileMode `json:"mode"`
					Contents struct {
						Source string `json:"source"`
					} `json:"contents"`
				} `json:"files"`
			} `json:"storage"`
			Systemd struct {
				Units []unit `json:"units"`
			} `json:"systemd"`
		} `json:"config"`
	} `json:"spec"`
}

type unit struct {
	Name     string `json:"name"`
	Enabled  bool   `json:"enabled"`
	Contents string `json:"contents"`
	Dropins  []struct {
		Name     string `json:"name"`
		Contents string `json:"contents"`
	} `json:"dropins"`
}

func parseManifest(data []byte) (Manifest, error) {
	asJSON, err := yaml.YAMLToJSON(data)
	if err != nil {
		return Manifest{}, fmt.Errorf("parsing: %w", err)
	}
	m := Manifest{YAML: data}
	var config machineConfig
	var object struct {
		Spec struct {
			Config map[string]any `json:"config"`
		} `json:"spec"`
	}
	if err := json.Unmarshal(asJSON, &object); err != nil {
		return m, fmt.Errorf("parsing: %w", err)
	}
	if err := json.Unmarshal(asJSON, &config); err != nil {
		return m, fmt.Errorf("parsing: %w", err)
	}
	m.Name, m.Labels, m.config = config.Metadata.Name, config.Metadata.Labels, object.Spec.Config
	for _, f := range config.Spec.Config.Storage.Files {
		content, err := dataURL(f.Contents.Source)
		if err != nil {
			return m, fmt.Errorf("the content of %s: %w", f.Path, err)
		}
		m.Files = append(m.Files, File{f.Path, f.Mode, content})
	}
	for _, u := range config.Spec.Config.Systemd.Units {
		m.addUnit(u)
	}
	return m, nil
}

func (m *Manifest) addUnit(u unit) {
	if u.Contents != "" {
		m.Files = append(m.Files, File{path.Join(rhcos.Units, u.Name), 0o644, []byte(u.Contents)})
	}
	for _, d := range u.Dropins {
		m.Files = append(m.Files, File{path.Join(rhcos.Units, u.Name+".d", d.Name), 0o644, []byte(d.Contents)})
	}
	if u.Enabled {
		m.Units = append(m.Units, u.Name)
	}
}

// dataURL returns the content of a URL of the kind that Ignition uses (RFC 2397).
func dataURL(source string) ([]byte, error) {
	rest, ok := strings.CutPrefix(source, "data:")
	kind, body, found := strings.Cut(rest, ",")
	if !ok || !found {
		return nil, fmt.Errorf("%.20q is not data URL", source)
	}
	if strings.HasSuffix(kind, ";base64") {
		b, err := base64.StdEncoding.DecodeString(body)
		if err != nil {
			return nil, fmt.Errorf("decoding base64: %w", err)
		}
		return b, nil
	}
	text, err := url.PathUnescape(body)
	if err != nil {
		return nil, fmt.Errorf("unescaping: %w", err)
	}
	return []byte(text), nil
}
