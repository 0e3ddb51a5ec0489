// Package trust puts on the node's disk, before the cluster's API runs, what the node needs to reach the site's registries:
// authorities and credentials. The cluster gets the same later and then keeps it.
package trust

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"strconv"

	"touchdown/backend/host"
	"touchdown/backend/layout/rhcos"
	"touchdown/backend/message"
	"touchdown/backend/problem"
)

// Where the node looks.
const (
	anchor     = "/etc/pki/ca-trust/source/anchors/touchdown-site.crt"
	pullSecret = rhcos.PullSecret
	registries = rhcos.RegistryCerts
)

// Registry is the authority of one registry.
type Registry struct {
	Host string
	Port int // 0: 443
	PEM  string
}

// Want is what the node shall have. What is empty is not written.
type Want struct {
	Bundle     string // authorities for everything, PEM
	Registries []Registry
	PullSecret func(now []byte) ([]byte, error) // makes the node's credentials out of the current ones
}

// File is one of the node's files.
type File struct {
	Path    string
	Content []byte
	Mode    fs.FileMode
	Held    message.Text // why it is left to the cluster, though it differs; "" when it may be written
}

// Pending returns the files that differ from what is wanted.
//
// The Machine Config Operator's own files are held back: its daemon would find them changed when it starts and give the node up
// (see host.Machine.Managed), and what the site needs comes through the cluster a few minutes later. Pods of a baked node start
// from images that are on its disk, so nothing has to be pulled before that. The anchor is a file of ours, which no MachineConfig
// lays. The daemon lays registries' authorities beside its MachineConfigs, from the very same values. Whenever its ControllerConfig
// changes it removes the folders of registries that the cluster does not name (openshift/machine-config-operator
// pkg/daemon/certificate_writer.go, release-4.14 to release-4.22), so ours may be gone until the cluster names them.
//
// CRI-O looks for the folder by the registry's name as the image is written, with the usual port or without it (containers/image
// v5.35.0 docker/docker_client.go dockerCertDir), so that a registry at that port has two.
func Pending(m *host.Machine, w Want) ([]File, error) {
	var out []File
	add := func(path string, content []byte, mode fs.FileMode) {
		now, err := m.ReadFile(path)
		if err == nil && bytes.Equal(now, content) {
			return
		}
		f := File{Path: path, Content: content, Mode: mode}
		if host.Managed(m, path) {
			f.Held = message.T("the Machine Config Operator writes it; it comes with the node's configuration")
		}
		out = append(out, f)
	}
	if w.Bundle != "" {
		add(anchor, []byte(w.Bundle), 0o644)
	}
	for _, r := range w.Registries {
		for _, name := range folders(r) {
			below, err := m.Folder(registries).Below(name)
			if err != nil {
				return nil, &problem.Problem{
					Code: "CA-NAME", Summary: message.T("A registry's name cannot be the name of a folder."),
					Fix: message.T("Correct spec.registryCerts: registryHostname is a host name or an address."), Err: err,
				}
			}
			add(below.Path("ca.crt"), []byte(r.PEM), 0o644)
		}
	}
	if w.PullSecret == nil {
		return out, nil
	}
	now, err := m.ReadFile(pullSecret)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	next, err := w.PullSecret(now)
	if err != nil {
		return nil, fmt.Errorf("merging the credentials: %w", err)
	}
	add(pullSecret, next, 0o600)
	return out, nil
}

// folders are where a registry's authorities lie.
func folders(r Registry) []string {
	if r.Port != 0 && r.Port != 443 {
		return []string{net.JoinHostPort(r.Host, strconv.Itoa(r.Port))}
	}
	return []string{r.Host, net.JoinHostPort(r.Host, "443")}
}

// Save keeps the original of a file on disk before it returns; its content is nil when there was none.
type Save func(original File) error

// Write writes the files that are not held back. It returns whether the node has to be made to trust an anchor again.
func Write(m *host.Machine, files []File, save Save) (refresh bool, err error) {
	for _, f := range files {
		if f.Held != (message.Text{}) {
			continue
		}
		original := File{Path: f.Path, Mode: f.Mode}
		if m.Exists(f.Path) {
			if original.Content, err = m.ReadFile(f.Path); err != nil {
				return refresh, err
			}
		}
		if err := save(original); err != nil {
			return refresh, fmt.Errorf("saving the original of %s: %w", f.Path, err)
		}
		if err := m.WriteFile(f.Path, f.Content, f.Mode); err != nil {
			return refresh, err
		}
		refresh = refresh || f.Path == anchor
	}
	return refresh, nil
}

// Restore puts a file back as it was. It returns whether that was an anchor, which the node has to be made to forget.
func Restore(m *host.Machine, original File) (refresh bool, err error) {
	if original.Content == nil {
		err = m.Remove(original.Path)
	} else {
		err = m.WriteFile(original.Path, original.Content, original.Mode)
	}
	return original.Path == anchor, err
}

// Refresh makes the system's bundle of the anchors. It must not run twice at the same time: the engine starts after the boot's
// own run of it. CRI-O reads the bundle only when it starts.
func Refresh(ctx context.Context, m *host.Machine) error {
	for _, argv := range [][]string{{"update-ca-trust", "extract"}, {"systemctl", "try-restart", "crio.service"}} {
		if _, err := m.Run(ctx, argv...); err != nil {
			return &problem.Problem{
				Code: "CA-TRUST", Summary: message.T("The site's CAs could not be added to the node."),
				Fix: message.T("Check the certificates of the trust bundle; retry."), Err: err,
			}
		}
	}
	return nil
}
