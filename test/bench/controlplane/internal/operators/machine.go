package operators

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"os/user"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	operatorv1 "github.com/openshift/api/operator/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"touchdown/test/bench/controlplane/internal/durable"
)

// machine is what a rendered configuration makes of a node: the part of Ignition 3 that machine-config-daemon handles.
type machine struct {
	Storage struct {
		Files []struct {
			Path     string `json:"path"`
			Mode     *int   `json:"mode"`
			Contents struct {
				Source      string `json:"source"`
				Compression string `json:"compression"`
			} `json:"contents"`
		} `json:"files"`
	} `json:"storage"`
	Systemd struct {
		Units []machineUnit `json:"units"`
	} `json:"systemd"`
	Passwd struct {
		Users []struct {
			Name string   `json:"name"`
			Keys []string `json:"sshAuthorizedKeys"`
		} `json:"users"`
	} `json:"passwd"`

	data map[string][]byte // of the files, decoded
}

type machineUnit struct {
	Name     string  `json:"name"`
	Enabled  *bool   `json:"enabled,omitempty"`
	Contents *string `json:"contents,omitempty"`
	Dropins  []struct {
		Name     string `json:"name"`
		Contents string `json:"contents"`
	} `json:"dropins,omitempty"`
}

// laid is a file as it lies on the node.
type laid struct {
	data []byte
	mode fs.FileMode
}

const (
	unitDir  = "/etc/systemd/system"
	coreKeys = "/home/core/.ssh/authorized_keys.d/ignition"
)

func parseMachine(raw []byte) (machine, error) {
	m := machine{data: map[string][]byte{}}
	if err := json.Unmarshal(raw, &m); err != nil {
		return m, fmt.Errorf("reading an Ignition document: %w", err)
	}
	for _, f := range m.Storage.Files {
		data, err := content(f.Contents.Source, f.Contents.Compression)
		if err != nil {
			return m, fmt.Errorf("the content of %s: %w", f.Path, err)
		}
		m.data[f.Path] = data
	}
	return m, nil
}

// content decodes a data URL (RFC 2397), with Ignition's own compression.
func content(source, compression string) ([]byte, error) {
	if source == "" {
		return nil, nil
	}
	rest, ok := strings.CutPrefix(source, "data:")
	kind, body, found := strings.Cut(rest, ",")
	if !ok || !found {
		return nil, fmt.Errorf("only data URLs are handled, not %.30q", source)
	}
	text, err := url.PathUnescape(body)
	if err != nil {
		return nil, fmt.Errorf("unescaping: %w", err)
	}
	data := []byte(text)
	if strings.HasSuffix(kind, ";base64") {
		if data, err = base64.StdEncoding.DecodeString(text); err != nil {
			return nil, fmt.Errorf("decoding: %w", err)
		}
	}
	if compression != "gzip" {
		return data, nil
	}
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("unpacking: %w", err)
	}
	if data, err = io.ReadAll(r); err != nil {
		return nil, fmt.Errorf("unpacking: %w", err)
	}
	return data, nil
}

// files are all files of the configuration: also those of the units and the keys.
func (m machine) files() map[string]laid {
	all := map[string]laid{}
	for _, f := range m.Storage.Files {
		mode := fs.FileMode(0o644)
		if f.Mode != nil {
			mode = fs.FileMode(*f.Mode)
		}
		all[f.Path] = laid{m.data[f.Path], mode}
	}
	for _, u := range m.Systemd.Units {
		if u.Contents != nil {
			all[path.Join(unitDir, u.Name)] = laid{[]byte(*u.Contents), 0o644}
		}
		for _, d := range u.Dropins {
			all[path.Join(unitDir, u.Name+".d", d.Name)] = laid{[]byte(d.Contents), 0o644}
		}
	}
	for _, u := range m.Passwd.Users {
		if u.Name == "core" && len(u.Keys) > 0 {
			all[coreKeys] = laid{[]byte(strings.Join(u.Keys, "\n") + "\n"), 0o600}
		}
	}
	return all
}

// enabled are the units that the configuration switches on or off.
func (m machine) enabled() map[string]bool {
	all := map[string]bool{}
	for _, u := range m.Systemd.Units {
		if u.Enabled != nil {
			all[u.Name] = *u.Enabled
		}
	}
	return all
}

// own gives the keys of core to core, where there is such a user.
func (d daemon) own(file string) error {
	if file != coreKeys || !d.real {
		return nil
	}
	core, err := user.Lookup("core")
	if err != nil {
		return nil //nolint:nilerr // the bench's node may not have one
	}
	uid, _ := strconv.Atoi(core.Uid)
	gid, _ := strconv.Atoi(core.Gid)
	for _, p := range []string{"/home/core/.ssh", path.Dir(coreKeys), coreKeys} {
		if err := os.Chown(filepath.Join(d.root, p), uid, gid); err != nil {
			return fmt.Errorf("giving core its keys: %w", err)
		}
	}
	return nil
}

// policies are the cluster's node disruption policies, as commands of systemctl.
func (e *Env) policies(ctx context.Context) ([]policy, error) {
	mc, err := e.Operator.MachineConfigurations().Get(ctx, "cluster", metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the machine configuration: %w", err)
	}
	var all []policy
	for _, f := range mc.Status.NodeDisruptionPolicyStatus.ClusterPolicies.Files {
		p := policy{path: f.Path}
		for _, a := range f.Actions {
			p.argv = append(p.argv, command(a)...)
		}
		all = append(all, p)
	}
	return all, nil
}

func command(a operatorv1.NodeDisruptionPolicyStatusAction) [][]string {
	switch {
	case a.Type == operatorv1.SpecialStatusAction: // registries.conf
		return [][]string{{"try-reload-or-restart", "crio.service"}}
	case a.Type == operatorv1.DaemonReloadStatusAction:
		return [][]string{{"daemon-reload"}}
	case a.Reload != nil:
		return [][]string{{"try-reload-or-restart", string(a.Reload.ServiceName)}}
	case a.Restart != nil:
		return [][]string{{"try-restart", string(a.Restart.ServiceName)}}
	}
	return nil
}

// registryCAs writes the registries' CAs, which the daemon brings to the node outside of the rendered configuration.
func (e *Env) registryCAs(ctx context.Context) error {
	if e.NodeRoot == "" {
		return nil
	}
	image, err := e.Config.Images().Get(ctx, "cluster", metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("reading the image configuration: %w", err)
	}
	want := map[string]string{}
	if name := image.Spec.AdditionalTrustedCA.Name; name != "" {
		cm, err := e.Kube.CoreV1().ConfigMaps("openshift-config").Get(ctx, name, metav1.GetOptions{})
		if err != nil && !apierrors.IsNotFound(err) {
			return fmt.Errorf("reading the registries' CAs: %w", err)
		}
		if err == nil {
			want = cm.Data
		}
	}
	dir := filepath.Join(e.NodeRoot, "etc/docker/certs.d")
	var places []string
	for key, ca := range want {
		place := filepath.Join(dir, strings.Replace(key, "..", ":", 1))
		places = append(places, place)
		if now, err := os.ReadFile(filepath.Join(place, "ca.crt")); err == nil && string(now) == ca {
			continue
		}
		if err := durable.WriteFile(filepath.Join(place, "ca.crt"), []byte(ca), 0o644); err != nil {
			return err
		}
	}
	have, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		return fmt.Errorf("listing the registries' CAs: %w", err)
	}
	for _, place := range have {
		if !slices.Contains(places, place) {
			if err := os.RemoveAll(place); err != nil {
				return fmt.Errorf("removing a registry's CA: %w", err)
			}
		}
	}
	return nil
}
