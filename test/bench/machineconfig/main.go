// Command machineconfig lays the files and units that the Machine Config Operator renders for a single-node OpenShift on a
// platform without infrastructure (platform None) into a folder, as they lie on a node.
//
// The templates are those of the operator's module. Its own renderer would cost 230 CPU seconds to build, for it brings the
// operator's clients along, so this is a small one: the same folders in the same order, the same kind of template, and of
// the functions and values only those that the wanted templates use. What a template asks for beyond that is an error. The
// operator's renderer was run once on the same values: it makes the same files and enables the same units.
package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/template"

	_ "github.com/openshift/machine-config-operator/manifests" // says which version of the module is wanted
	"gopkg.in/yaml.v3"
)

// wanted are the templates that the bench's node uses. Not among them: what an image of RHCOS or a cloud needs;
// node-valid-hostname, which would hold up every node of a test that has no name; ofport-request, which keeps the numbers of
// OVN's flows and costs each boot a second of the processor.
var wanted = []string{
	"files/configure-ovs-network.yaml", "files/nmstate-configuration.yaml", "files/wait-for-primary-ip.yaml",
	"files/nm-ignore-sdn.yaml", "files/NetworkManager-ipv6.conf.yaml", "files/sno-forcedns-fix.yaml", "files/container-storage.yaml",
	"units/ovs-configuration.service.yaml", "units/nodeip-configuration.service.yaml", "units/nmstate-configuration.service.yaml",
	"units/wait-for-primary-ip.yaml", "units/kubelet-dependencies.target.yaml", "units/ovsdb-server.service.yaml",
	"units/ovs-vswitchd.service.yaml", "units/openvswitch.service.yaml",
	"units/crio.service.yaml", "units/crio.service-kubens.yaml", "units/crio.service-socket.yaml",
	"units/kubelet-cleanup.service.yaml", "units/kubelet.service-kubens.yaml",
}

// folders are those that generateMachineConfigForName of the operator reads for this platform; the later wins.
var folders = []string{
	"common/_base", "common/none", "common/sno",
	"master/00-master/_base", "master/00-master/none", "master/00-master/sno",
	"master/01-master-container-runtime/_base", "master/01-master-container-runtime/none", "master/01-master-container-runtime/sno",
	"master/01-master-kubelet/_base", "master/01-master-kubelet/none", "master/01-master-kubelet/sno",
}

// config has of the operator's RenderConfig what the wanted templates read.
type config struct {
	NetworkType, IPFamilies string
	Proxy                   *struct{}
	Images                  map[string]string
	Infra                   struct {
		Status struct {
			ControlPlaneTopology string
			PlatformStatus       struct{ Type string }
		}
	}
}

// file and unit are the two kinds of documents that templates render to.
type file struct {
	Mode     os.FileMode
	Path     string
	Contents struct{ Inline string }
}

type unit struct {
	Name     string
	Enabled  bool
	Contents string
	Dropins  []struct{ Name, Contents string }
}

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: machineconfig TEMPLATES NODE-IP-IMAGE FOLDER")
		os.Exit(2)
	}
	c := config{NetworkType: "OVNKubernetes", IPFamilies: "IPv4", Images: map[string]string{"baremetalRuntimeCfgImage": os.Args[2]}}
	c.Infra.Status.ControlPlaneTopology = "SingleReplica"
	c.Infra.Status.PlatformStatus.Type = "None"
	if err := lay(c, os.Args[1], os.Args[3]); err != nil {
		fmt.Fprintln(os.Stderr, "machineconfig:", err)
		os.Exit(1)
	}
}

// lay renders all that is wanted into the folder of a node's root.
func lay(c config, templates, to string) error {
	for _, name := range wanted {
		text, err := render(c, templates, name)
		if err != nil {
			return fmt.Errorf("rendering %s: %w", name, err)
		}
		if strings.HasPrefix(name, "files/") {
			err = layFile(text, to)
		} else {
			err = layUnit(text, to)
		}
		if err != nil {
			return fmt.Errorf("laying %s: %w", name, err)
		}
	}
	return nil
}

func render(c config, templates, name string) ([]byte, error) {
	var from []string
	for _, folder := range folders {
		path := filepath.Join(templates, folder, name)
		if _, err := os.Stat(path); err == nil {
			from = append(from, path)
		}
	}
	if len(from) == 0 {
		return nil, errors.New("there is no such template")
	}
	text, err := os.ReadFile(from[len(from)-1])
	if err != nil {
		return nil, err
	}
	// A platform None has no cloud provider.
	functions := template.FuncMap{"cloudProvider": func(config) string { return "" }}
	parsed, err := template.New(name).Funcs(functions).Option("missingkey=error").Parse(string(text))
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	err = parsed.Execute(&out, c)
	return out.Bytes(), err
}

func layFile(text []byte, to string) error {
	var f file
	if err := yaml.Unmarshal(text, &f); err != nil {
		return err
	}
	if f.Path == "" || f.Contents.Inline == "" {
		return errors.New("it has no path or no contents")
	}
	return write(filepath.Join(to, f.Path), f.Contents.Inline, f.Mode)
}

// layUnit writes a unit, its drop-ins and, where it is enabled, the links that its [Install] section asks for.
func layUnit(text []byte, to string) error {
	var u unit
	if err := yaml.Unmarshal(text, &u); err != nil {
		return err
	}
	dir := filepath.Join(to, "etc/systemd/system")
	for _, d := range u.Dropins {
		if d.Contents = strings.TrimSpace(d.Contents); d.Contents != "" {
			if err := write(filepath.Join(dir, u.Name+".d", d.Name), d.Contents+"\n", 0o644); err != nil {
				return err
			}
		}
	}
	if u.Contents == "" {
		return nil
	}
	if err := write(filepath.Join(dir, u.Name), u.Contents, 0o644); err != nil {
		return err
	}
	if !u.Enabled {
		return nil
	}
	for line := range strings.Lines(u.Contents) {
		key, targets, _ := strings.Cut(strings.TrimSpace(line), "=")
		suffix := map[string]string{"WantedBy": ".wants", "RequiredBy": ".requires"}[key]
		if suffix == "" {
			continue
		}
		for target := range slices.Values(strings.Fields(targets)) {
			link := filepath.Join(dir, target+suffix, u.Name)
			if err := os.MkdirAll(filepath.Dir(link), 0o755); err != nil {
				return err
			}
			if err := os.Symlink("../"+u.Name, link); err != nil {
				return err
			}
		}
	}
	return nil
}

func write(path, text string, mode os.FileMode) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		return err
	}
	return os.Chmod(path, mode) // whatever the umask says
}
