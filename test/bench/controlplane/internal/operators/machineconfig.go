package operators

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"

	configv1 "github.com/openshift/api/config/v1"
	mcv1 "github.com/openshift/api/machineconfiguration/v1"
	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// runMachineConfig plays the machine config operator: inputs become rendered configurations, pools move to them, the node follows.
func runMachineConfig(ctx context.Context, e *Env) {
	watched := append(configResources("imagedigestmirrorsets", "imagetagmirrorsets", "images", "proxies"), core("secrets"),
		mcv1.GroupVersion.WithResource("machineconfigs"), mirrorPolicies())
	e.loop(ctx, "machine-config", watched, func(ctx context.Context) error { return reconcileMachineConfig(ctx, e) })
}

func mirrorPolicies() resource {
	return resource{Group: "operator.openshift.io", Version: "v1alpha1", Resource: "imagecontentsourcepolicies"}
}

// poolInput is what the configuration of one pool is rendered from.
type poolInput struct {
	pullSecret []byte
	registries []any
	proxy      configv1.ProxyStatus
	configs    map[string]string // MachineConfigs of the role by name, as fingerprints
}

func (in poolInput) hash() string {
	return fingerprint(in.pullSecret, in.registries, in.proxy, in.configs)
}

func (in poolInput) names() []string {
	var names []string
	for name := range in.configs {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}

// reboots fingerprints what a change of makes the node reboot; SSH keys, registries and the pull secret do not.
func (in poolInput) reboots() string {
	rest := map[string]string{}
	for name, print := range in.configs {
		if !strings.HasSuffix(name, "-ssh") {
			rest[name] = print
		}
	}
	return fingerprint(rest, in.proxy)
}

func reconcileMachineConfig(ctx context.Context, e *Env) error {
	for _, pool := range []string{"worker", "master"} {
		in, err := e.readPool(ctx, pool)
		if err != nil {
			return err
		}
		operator := "machine-config-" + pool
		applied, known, err := e.applied(ctx, operator)
		if err != nil {
			return err
		}
		hash, boot, _ := strings.Cut(applied, "/")
		if hash == in.hash() {
			continue
		}
		if known {
			if err := e.movePool(ctx, pool, in, boot != in.reboots()); err != nil {
				return err
			}
		}
		if err := e.setApplied(ctx, operator, in.hash()+"/"+in.reboots()); err != nil {
			return err
		}
	}
	return nil
}

func (e *Env) readPool(ctx context.Context, pool string) (in poolInput, err error) {
	secret, err := e.Kube.CoreV1().Secrets("openshift-config").Get(ctx, "pull-secret", metav1.GetOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		return in, fmt.Errorf("reading the pull secret: %w", err)
	}
	if err == nil {
		in.pullSecret = secret.Data[v1.DockerConfigJsonKey]
	}
	for _, r := range append(configResources("imagedigestmirrorsets", "imagetagmirrorsets", "images"), mirrorPolicies()) {
		list, err := e.Dynamic.Resource(r).List(ctx, metav1.ListOptions{})
		if err != nil {
			return in, fmt.Errorf("listing %s: %w", r.Resource, err)
		}
		for _, item := range list.Items {
			in.registries = append(in.registries, item.GetName(), item.Object["spec"])
		}
	}
	proxy, err := e.Config.Proxies().Get(ctx, "cluster", metav1.GetOptions{})
	if err != nil {
		return in, fmt.Errorf("reading the Proxy: %w", err)
	}
	in.proxy = proxy.Status
	configs, err := e.Dynamic.Resource(mcv1.GroupVersion.WithResource("machineconfigs")).List(ctx, metav1.ListOptions{LabelSelector: mcv1.MachineConfigRoleLabelKey + "=" + pool})
	if err != nil {
		return in, fmt.Errorf("listing machine configs: %w", err)
	}
	in.configs = map[string]string{}
	for _, item := range configs.Items {
		spec, _, _ := unstructured.NestedMap(item.Object, "spec")
		in.configs[item.GetName()] = fingerprint(spec)
	}
	return in, nil
}

// movePool renders and brings the pool there. The worker pool of a single node has no machine and is there at once.
func (e *Env) movePool(ctx context.Context, pool string, in poolInput, reboot bool) error {
	if err := e.Pace.Sleep(ctx, render); err != nil {
		return err
	}
	in, err := e.readPool(ctx, pool) // what came meanwhile goes into the same rendering
	if err != nil {
		return err
	}
	name := "rendered-" + pool + "-" + in.hash()[:32]
	if err := e.render(ctx, name); err != nil {
		return err
	}
	e.Stats.rendered()
	e.Stats.begin("machine-config-" + pool)
	e.Log.Info("pool moves", "pool", pool, "to", name, "reboot", reboot)
	if err := e.updatePool(ctx, pool, name, in.names(), pool == "master"); err != nil {
		return err
	}
	if pool == "master" {
		if err := e.moveNode(ctx, name, in, reboot); err != nil {
			return err
		}
	}
	if err := e.updatePool(ctx, pool, name, in.names(), false); err != nil {
		return err
	}
	e.Stats.done("machine-config-" + pool)
	return nil
}

func (e *Env) render(ctx context.Context, name string) error {
	mc := &mcv1.MachineConfig{ObjectMeta: metav1.ObjectMeta{Name: name}}
	mc.Spec.Config.Raw = []byte(`{"ignition":{"version":"3.4.0"}}`)
	err := e.retry(ctx, func() error {
		_, err := e.MCO.MachineConfigs().Create(ctx, mc, metav1.CreateOptions{})
		if apierrors.IsAlreadyExists(err) {
			return nil
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("creating %s: %w", name, err)
	}
	return nil
}

// applyFiles writes what machine-config-daemon would write on a node that the bench has files of.
func (e *Env) applyFiles(in poolInput) error {
	if e.NodeRoot == "" {
		return nil
	}
	path := filepath.Join(e.NodeRoot, "var/lib/kubelet/config.json")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("writing the node's pull secret: %w", err)
	}
	if err := os.WriteFile(path, in.pullSecret, 0o600); err != nil {
		return fmt.Errorf("writing the node's pull secret: %w", err)
	}
	return nil
}
