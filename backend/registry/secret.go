// Package registry gives the cluster the credentials of the site's registries.
package registry

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	machinev1 "github.com/openshift/api/machineconfiguration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"touchdown/backend/host"
	"touchdown/backend/kube"
	"touchdown/backend/layout"
	"touchdown/backend/layout/rhcos"
	"touchdown/backend/message"
	"touchdown/backend/problem"
	"touchdown/backend/value"
)

const (
	dataKey = ".dockerconfigjson"
	onDisk  = rhcos.PullSecret // what the Machine Config Operator makes of the secret
)

func ref() kube.Ref { return kube.Secret("openshift-config", "pull-secret") }

// Hosts names the registries of a pull secret, in order.
func Hosts(pullSecret []byte) ([]string, error) {
	p, err := readSecret(pullSecret)
	return slices.Sorted(maps.Keys(p.Auths)), err
}

// Current returns the registries that the cluster has credentials for.
func Current(ctx context.Context, c *kube.Cluster) ([]string, error) {
	b, err := Credentials(ctx, c)
	if err != nil {
		return nil, err
	}
	return Hosts(b)
}

// OnDisk returns the registries that the node has credentials for: the cluster's, as of when it ran last.
func OnDisk(m *host.Machine) ([]string, error) {
	b, err := m.ReadFile(onDisk)
	if err != nil {
		return nil, err
	}
	return Hosts(b)
}

// Apply merges the site's credentials into the cluster's pull secret: those given replace the ones of the same registry, the
// others stay. The factory's may still be needed for images that nobody has mirrored, and one too many does no harm; a
// missing one stops every pull from that registry.
func Apply(ctx context.Context, c *kube.Cluster, pullSecret []byte, save kube.Save) (bool, error) {
	if _, err := readSecret(pullSecret); err != nil {
		return false, err
	}
	return c.ChangePart(ctx, ref(), "data", func(data map[string]any) error {
		encoded, _ := data[dataKey].(string)
		current, err := base64.StdEncoding.DecodeString(encoded)
		if err != nil {
			return fmt.Errorf("decoding %s: %w", ref(), err)
		}
		merged, changed, err := Merge(current, pullSecret)
		if err != nil || !changed {
			return err
		}
		data[dataKey] = base64.StdEncoding.EncodeToString(merged)
		return nil
	}, save)
}

// Merge puts the credentials of site over those of current, and reports whether that changes anything. current is kept to the byte
// when not.
func Merge(current, site []byte) (merged []byte, changed bool, err error) {
	now, err := readSecret(current)
	if err != nil {
		return nil, false, err
	}
	wanted, err := readSecret(site)
	if err != nil {
		return nil, false, err
	}
	for name, auth := range wanted.Auths {
		auth = value.Complete(auth)
		for _, key := range keys(now, name) {
			if !sameJSON(now.Auths[key], auth) { // one that is there, but not complete, is no use to CRI-O
				now.Auths[key], changed = auth, true
			}
		}
	}
	if !changed {
		return current, false, nil
	}
	if merged, err = now.JSON(); err != nil {
		return nil, false, fmt.Errorf("encoding the pull secret: %w", err)
	}
	return merged, true, nil
}

// keys are those by which a pull secret has a registry already, else its name. CRI-O would go on using the credentials of quay.io where those
// of https://quay.io were put beside them.
func keys(p value.PullSecret, name string) (same []string) {
	for key := range p.Auths {
		if value.Registry(key) == value.Registry(name) {
			same = append(same, key)
		}
	}
	if len(same) == 0 {
		return []string{name}
	}
	return same
}

// Pending tells whether Apply would change the cluster's credentials.
func Pending(ctx context.Context, c *kube.Cluster, pullSecret []byte) (bool, error) {
	now, err := Credentials(ctx, c)
	if err != nil {
		return false, err
	}
	_, changed, err := Merge(now, pullSecret)
	return changed, err
}

// Has tells whether content, of the node's file, has all credentials of pullSecret.
func Has(content, pullSecret []byte) bool {
	_, changed, err := Merge(content, pullSecret)
	return err == nil && !changed
}

// readSecret never puts any of the secret into its error.
func readSecret(pullSecret []byte) (value.PullSecret, error) {
	p, ok := value.ReadPullSecret(pullSecret)
	if !ok {
		return p, &problem.Problem{
			Code:    "PULL-BAD",
			Summary: message.T("The pull secret is not the JSON that registry credentials are kept in."),
			Fix:     message.T("Download it again and give it whole."),
		}
	}
	return p, nil
}

func sameJSON(a, b json.RawMessage) bool {
	var x, y any
	if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil {
		return false
	}
	one, errOne := json.Marshal(x)
	two, errTwo := json.Marshal(y)
	return errOne == nil && errTwo == nil && string(one) == string(two)
}

// Credentials returns the cluster's pull secret: JSON, with secrets in it.
func Credentials(ctx context.Context, c *kube.Cluster) ([]byte, error) {
	var b []byte
	err := c.Do(ctx, "reading "+ref().String(), func(ctx context.Context) error {
		secret, err := c.Core.Secrets("openshift-config").Get(ctx, "pull-secret", metav1.GetOptions{})
		if err == nil {
			b = secret.Data[dataKey]
		}
		return err
	})
	return b, err
}

// RollOut says how long to wait for the node's copy of the pull secret, and for which.
type RollOut struct {
	Before string   // rendered configuration from before the change; "" takes any
	Gone   [][]byte // pull secrets of which the node must have nothing any more but what the cluster has
	Limit  time.Duration
	Stands time.Duration // how long the node has to be degraded until that is believed

	Drifted func(ctx context.Context, current string) // see kube.RollOut
}

// WaitOnNode waits until the node has the cluster's pull secret on disk and its pool is at rest on another configuration than
// before. The node neither drains nor reboots for it (since 4.7.4).
func WaitOnNode(ctx context.Context, c *kube.Cluster, m *host.Machine, r RollOut) error {
	return kube.RollOut{
		Wait: kube.Wait{
			What: message.T("the roll-out of the pull secret to the node"), Limit: r.Limit, Usual: 3 * time.Minute, Code: "PULL-LTE",
			Fix: message.T("Look at the machine-config operator; retry to go on waiting."),
		},
		Pool: layout.Pool, Before: r.Before,
		Degraded: &problem.Problem{
			Code:    "PULL-DGR",
			Summary: message.T("The node could not take its new configuration."),
			Fix:     message.T("Undo, or look at the machine-config operator."),
		},
		Stands: r.Stands, Drifted: r.Drifted,
		Lacks: func(ctx context.Context, _ *machinev1.MachineConfigPool) (message.Text, error) {
			want, err := Credentials(ctx, c)
			if err != nil || has(m, want) && !slices.ContainsFunc(r.Gone, func(gone []byte) bool { return keeps(m, want, gone) }) {
				return message.Text{}, err
			}
			return message.T("the pull secret on the node's disk"), nil
		},
	}.Await(ctx, c)
}

// has reports whether the node's file holds all credentials of the secret, as they are there: the operator copies one that is not complete,
// too. Newer releases add the internal registry's to it.
func has(m *host.Machine, want []byte) bool {
	b, err := m.ReadFile(onDisk)
	if err != nil {
		return false
	}
	now, err := readSecret(b)
	if err != nil {
		return false
	}
	wanted, err := readSecret(want)
	if err != nil {
		return false
	}
	for name, auth := range wanted.Auths {
		if !sameJSON(now.Auths[name], auth) {
			return false
		}
	}
	return true
}

// keeps reports whether the node's file still has a credential of gone that the secret has no more. After a power cut nothing else tells: the
// pool calls its old configuration "updated", and the old file has all that the secret has.
func keeps(m *host.Machine, want, gone []byte) bool {
	b, err := m.ReadFile(onDisk)
	if err != nil {
		return false
	}
	now, errNow := readSecret(b)
	wanted, errWanted := readSecret(want)
	taken, errTaken := readSecret(gone)
	if errNow != nil || errWanted != nil || errTaken != nil {
		return false
	}
	for name, auth := range taken.Auths {
		for _, key := range keys(now, name) {
			if sameJSON(now.Auths[key], value.Complete(auth)) && !sameJSON(now.Auths[key], wanted.Auths[key]) {
				return true
			}
		}
	}
	return false
}
