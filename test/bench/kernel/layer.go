package kernel

import (
	"archive/tar"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"maps"
	neturl "net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"touchdown/assets"
)

// layer is the tar that the first boot lays over the packages: what tar calls a name is a path without its first slash. Each name is in it
// once: BusyBox's tar makes links last, ends at the first whose name is taken, and leaves out those behind it.
type layer struct {
	entries map[string]entry
}

type entry struct {
	tar.Header
	data []byte
}

// file adds a file, with root as its owner. What was added under the name before is gone, here and in link and folder.
func (l layer) file(name string, mode int64, data []byte) {
	l.add(name, entry{tar.Header{Mode: mode, Size: int64(len(data)), Typeflag: tar.TypeReg}, data})
}

func (l layer) link(name, target string) {
	l.add(name, entry{Header: tar.Header{Linkname: target, Mode: 0o777, Typeflag: tar.TypeSymlink}})
}

func (l layer) folder(name string, mode int64) {
	l.add(name+"/", entry{Header: tar.Header{Mode: mode, Typeflag: tar.TypeDir}})
}

func (l layer) add(name string, e entry) {
	e.Name = strings.TrimPrefix(name, "/")
	l.entries[e.Name] = e
}

// write writes the tar.
func (l layer) write(to io.Writer) error {
	w := tar.NewWriter(to)
	for _, name := range slices.Sorted(maps.Keys(l.entries)) { // a folder comes before what is in it
		e := l.entries[name]
		if err := w.WriteHeader(&e.Header); err != nil {
			return fmt.Errorf("laying %s: %w", name, err)
		}
		if _, err := w.Write(e.data); err != nil {
			return fmt.Errorf("laying %s: %w", name, err)
		}
	}
	return w.Close()
}

// notHere are files of the bench node that a machine with its own kernel does not need: lent lines, and a clock that
// must not be set.
var notHere = []string{
	"/etc/systemd/system/getty@.service", "/etc/systemd/system/serial-getty@.service",
	"/etc/systemd/system/chrony.service.d/10-bench.conf",
	"/etc/NetworkManager/system-connections/enp1s0.nmconnection", // the installed node's takes its place
}

// tree adds the files of a folder: those that may be executed, and those of a bin folder, as programs.
func (l layer) tree(root string) error {
	return filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name := strings.TrimPrefix(file, root)
		for _, skip := range notHere {
			if name == skip {
				return nil
			}
		}
		if d.Type()&fs.ModeSymlink != 0 {
			target, err := os.Readlink(file)
			l.link(name, target)
			return err
		}
		info, err := d.Info()
		if err != nil {
			return fmt.Errorf("laying %s: %w", name, err)
		}
		mode := int64(0o644)
		if info.Mode()&0o100 != 0 || path.Base(path.Dir(name)) == "bin" {
			mode = 0o755
		}
		return l.copy(name, mode, file)
	})
}

func (l layer) copy(name string, mode int64, from string) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return fmt.Errorf("laying %s: %w", name, err)
	}
	l.file(name, mode, data)
	return nil
}

// ignition is a config, as far as the configs of the bench go.
type ignition struct {
	Storage struct {
		Directories []struct {
			Path string
			Mode int64
		}
		Files []struct {
			Path     string
			Mode     int64
			Contents struct{ Source string }
		}
	}
	Systemd struct {
		Units []unit
	}
}

// lays adds what a config asks for.
func (l layer) lays(c ignition) error {
	for _, d := range c.Storage.Directories {
		l.folder(d.Path, d.Mode)
	}
	for _, f := range c.Storage.Files {
		data, err := dataURL(f.Contents.Source)
		if err != nil {
			return fmt.Errorf("laying %s: %w", f.Path, err)
		}
		l.file(f.Path, f.Mode, data)
	}
	for _, u := range c.Systemd.Units {
		l.unit(u)
	}
	return nil
}

// installed adds what the Ignition config of an installed disk asks for, once, as its first boot does; nil: the disk was not installed.
func (l layer) installed(config []byte) error {
	if config == nil {
		return nil
	}
	var c ignition
	if err := json.Unmarshal(config, &c); err != nil {
		return fmt.Errorf("reading the Ignition config: %w", err)
	}
	return l.lays(c)
}

// machineConfig is what the bake's documents say, as far as they say it.
type machineConfig struct {
	Spec struct{ Config ignition }
}

type unit struct {
	Name, Contents string
	Enabled        bool
	Dropins        []struct{ Name, Contents string }
}

// bake adds what Touchdown lays on a node, as the Machine Config Operator's daemon would.
func (l layer) bake() error {
	const dir = "machineconfigs"
	entries, err := assets.MachineConfigs.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("listing the MachineConfigs: %w", err)
	}
	for _, e := range entries {
		text, err := assets.MachineConfigs.ReadFile(path.Join(dir, e.Name()))
		if err != nil {
			return fmt.Errorf("reading a MachineConfig: %w", err)
		}
		var m machineConfig
		if err := yaml.Unmarshal(text, &m); err != nil {
			return fmt.Errorf("reading %s: %w", e.Name(), err)
		}
		if err := l.lays(m.Spec.Config); err != nil {
			return err
		}
	}
	return nil
}

// dataURL reads what a URL of this scheme holds (RFC 2397).
func dataURL(url string) ([]byte, error) {
	head, data, _ := strings.Cut(url, ",")
	if strings.HasSuffix(head, ";base64") {
		return base64.StdEncoding.DecodeString(data)
	}
	text, err := neturl.PathUnescape(data)
	return []byte(text), err
}

const units = "/etc/systemd/system/"

// unit adds a unit, its drop-ins, and the links that enable it.
func (l layer) unit(u unit) {
	for _, d := range u.Dropins {
		l.file(units+u.Name+".d/"+d.Name, 0o644, []byte(d.Contents))
	}
	if u.Contents == "" {
		return
	}
	l.file(units+u.Name, 0o644, []byte(u.Contents))
	if !u.Enabled {
		return
	}
	for line := range strings.Lines(u.Contents) {
		key, wants, _ := strings.Cut(strings.TrimSpace(line), "=")
		folder := map[string]string{"WantedBy": ".wants/", "RequiredBy": ".requires/"}[key]
		if folder == "" {
			continue
		}
		for _, by := range strings.Fields(wants) {
			l.link(units+by+folder+u.Name, "../"+u.Name)
		}
	}
}
