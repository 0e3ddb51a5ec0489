// Package nodeconfig changes what the Machine Config Operator puts on the node: SSH keys, time servers, mirrors, registries'
// authorities, the proxy, the trust bundle and the image store, all in one batch that the node takes at once.
package nodeconfig

import (
	"context"
	"fmt"
	"strings"

	"touchdown/backend/kube"
	"touchdown/backend/layout"
	"touchdown/backend/layout/rhcos"
	"touchdown/backend/message"
)

// Files of the node that the Machine Config Operator makes of the cluster's objects.
const (
	chronyFile     = rhcos.Chrony
	registriesFile = rhcos.Registries
	proxyFile      = rhcos.Proxy
	anchorFile     = "/etc/pki/ca-trust/source/anchors/openshift-config-user-ca-bundle.crt"
	pullSecretFile = rhcos.PullSecret
	storageFile    = rhcos.Storage
)

// Mirror says where the images of a source are pulled from.
type Mirror struct {
	Source  string
	Mirrors []string
	Policy  string // AllowContactingSource (also ""), NeverContactSource
}

// RegistryCA is the authority of one registry.
type RegistryCA struct {
	Host string
	Port int // 0: 443
	PEM  string
}

// Proxy is how the node gets out. The zero value leaves the cluster's unchanged.
type Proxy struct {
	HTTP, HTTPS string   // URLs, may hold a password
	NoProxy     []string // the site's own, and what of the node must never go through a proxy
}

// Want is what the node's configuration shall have. What is empty stays unchanged; nothing that is there is taken away, but for
// the factory's mirrors when that is asked for.
type Want struct {
	SSHKeys              []string
	NTPSources           []string
	Chrony               string // the node's own /etc/chrony.conf, for a cluster that has no MachineConfig for it
	DigestMirrors        []Mirror
	TagMirrors           []Mirror
	RemoveFactoryMirrors bool
	RegistryCAs          []RegistryCA
	Proxy                Proxy
	Trust                []string // PEM
	ImageStore           string   // folder that CRI-O reads images from beside its own; verified before it is named here
	Storage              string   // the node's own /etc/containers/storage.conf, for a cluster that has no MachineConfig for it
	Files                []File   // what is one file each
}

// Change is one thing of the batch.
type Change struct {
	What, Old, New message.Text // for the review
	File           string       // of the node that changes with it; "": none
	Units          []string     // of the node that change with it
	Login          bool         // the keys of the user core change with it
	PullSecret     bool         // it is the cluster's credentials for registries
	Renders        bool         // the Machine Config Operator makes a new configuration of it
	Pending        bool         // the cluster does not have it yet

	// In tells whether a rendered configuration has it; nil: it is in none.
	In func(Config) bool
	// Ours is set where a MachineConfig of ours is rendered, so that In must come true. What the operator makes of other
	// objects is its own business and may differ by release.
	Ours bool
	// Write makes it so. It must be safe to repeat.
	Write func(ctx context.Context, c *kube.Cluster, save kube.Save) (bool, error)
}

// PullSecret is the change of the cluster's credentials for registries, so that they come with the same configuration. has tells
// whether a content of the node's file has them.
func PullSecret(pending bool, has func(content []byte) bool, write func(context.Context, *kube.Cluster, kube.Save) (bool, error)) Change {
	return Change{
		What: message.T("Registry credentials"), File: pullSecretFile, PullSecret: true, Renders: true, Pending: pending, Write: write,
		In: func(r Config) bool { return has([]byte(r.Files[pullSecretFile])) },
	}
}

// Reader reads the cluster: a *kube.Cluster, or Unread.
type Reader interface {
	Get(ctx context.Context, ref kube.Ref) (map[string]any, error)
	List(ctx context.Context, ref kube.Ref) (objects []map[string]any, served bool, err error)
	Pending(ctx context.Context, ref kube.Ref, change func(map[string]any) error) (bool, error)
}

// Unread is a cluster whose API does not run yet: nothing of it is known, and every change is pending.
type Unread struct{}

// Get implements Reader.
func (Unread) Get(context.Context, kube.Ref) (map[string]any, error) { return nil, nil }

// List implements Reader.
func (Unread) List(context.Context, kube.Ref) ([]map[string]any, bool, error) { return nil, true, nil }

// Pending implements Reader.
func (Unread) Pending(context.Context, kube.Ref, func(map[string]any) error) (bool, error) {
	return true, nil
}

// Changes compares with the cluster. The order is the one in which they are written.
func Changes(ctx context.Context, c Reader, w Want) ([]Change, error) {
	var all []Change
	for _, look := range []func(context.Context, Reader) ([]Change, error){
		w.sshKeys, w.chrony, w.mirrors, w.registryCAs, w.trust, w.proxy, w.imageStore, w.files,
	} {
		changes, err := look(ctx, c)
		if err != nil {
			return nil, err
		}
		all = append(all, changes...)
	}
	return all, nil
}

// Pending returns those that the cluster does not have yet.
func Pending(all []Change) []Change {
	var out []Change
	for _, ch := range all {
		if ch.Pending {
			out = append(out, ch)
		}
	}
	return out
}

// object is a Change that sets one object.
type object struct {
	Change
	ref    kube.Ref
	kind   kube.New
	change func(map[string]any) error
}

func (o object) compare(ctx context.Context, c Reader) (Change, error) {
	ch := o.Change
	var err error
	ch.Pending, err = c.Pending(ctx, o.ref, o.change)
	ch.Write = func(ctx context.Context, c *kube.Cluster, save kube.Save) (bool, error) {
		return c.Put(ctx, o.ref, o.kind, o.change, save)
	}
	return ch, err
}

func compared(ctx context.Context, c Reader, objects ...object) ([]Change, error) {
	var all []Change
	for _, o := range objects {
		ch, err := o.compare(ctx, c)
		if err != nil {
			return nil, fmt.Errorf("comparing %s: %w", o.ref, err)
		}
		all = append(all, ch)
	}
	return all, nil
}

// machineConfig is a MachineConfig of ours with the given Ignition document.
func machineConfig(name string, ch Change, ignition map[string]any) object {
	ch.Renders, ch.Ours = true, true
	return object{
		Change: ch, ref: kube.MachineConfig(name),
		kind: kube.New{Kind: "MachineConfig", Labels: map[string]string{
			"machineconfiguration.openshift.io/role": layout.Pool, "app.kubernetes.io/managed-by": "touchdown",
		}},
		change: func(spec map[string]any) error {
			spec["config"] = ignition
			return nil
		},
	}
}

// text returns a string below an object.
func text(object map[string]any, keys ...string) string {
	for i, key := range keys {
		if i == len(keys)-1 {
			s, _ := object[key].(string)
			return s
		}
		object, _ = object[key].(map[string]any)
	}
	return ""
}

func below(object map[string]any, keys ...string) map[string]any {
	for _, key := range keys {
		object, _ = object[key].(map[string]any)
	}
	return object
}

func name(object map[string]any) string { return text(object, "metadata", "name") }

// fields splits a list with commas.
func fields(list string) []string {
	return strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' })
}
