package operators

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"

	configv1 "github.com/openshift/api/config/v1"
	mcv1 "github.com/openshift/api/machineconfiguration/v1"
	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// runMachineConfig plays the machine config operator: inputs become rendered configurations, pools move to them, the node follows.
func runMachineConfig(ctx context.Context, e *Env) {
	watched := append(configResources("imagedigestmirrorsets", "imagetagmirrorsets", "images", "proxies"), core("secrets"), core("configmaps"),
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
	mirrors    []map[string]any // specs of the mirror objects
	proxy      configv1.ProxyStatus
	trust      string            // the bundle that the Proxy names
	configs    map[string]string // MachineConfigs of the role by name, as fingerprints
	specs      map[string]map[string]any
	rest       map[string]string // of those, what makes the node reboot
}

func (in poolInput) hash() string {
	return fingerprint(in.pullSecret, in.registries, in.proxy, in.trust, in.configs)
}

func (in poolInput) names() []string {
	var names []string
	for name := range in.configs {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}

// reboots fingerprints what a change of makes the node reboot; SSH keys, registries, the pull secret and files with a policy do not.
func (in poolInput) reboots() string {
	return fingerprint(in.rest, in.proxy)
}

func reconcileMachineConfig(ctx context.Context, e *Env) error {
	if err := e.registryCAs(ctx); err != nil {
		return err
	}
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
			in, err = e.movePool(ctx, pool, in, boot)
		} else {
			err = e.begin(ctx, pool, in)
		}
		if err != nil {
			return err
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
			if spec, ok := item.Object["spec"].(map[string]any); ok && r.Resource != "images" {
				in.mirrors = append(in.mirrors, spec)
			}
		}
	}
	proxy, err := e.Config.Proxies().Get(ctx, "cluster", metav1.GetOptions{})
	if err != nil {
		return in, fmt.Errorf("reading the Proxy: %w", err)
	}
	in.proxy = proxy.Status
	if in.trust, err = e.trustBundle(ctx, proxy.Spec.TrustedCA.Name); err != nil {
		return in, err
	}
	noReboot, err := e.noReboot(ctx)
	if err != nil {
		return in, err
	}
	configs, err := e.Dynamic.Resource(mcv1.GroupVersion.WithResource("machineconfigs")).List(ctx, metav1.ListOptions{LabelSelector: mcv1.MachineConfigRoleLabelKey + "=" + pool})
	if err != nil {
		return in, fmt.Errorf("listing machine configs: %w", err)
	}
	in.configs, in.specs, in.rest = map[string]string{}, map[string]map[string]any{}, map[string]string{}
	for _, item := range configs.Items {
		spec, _, _ := unstructured.NestedMap(item.Object, "spec")
		in.configs[item.GetName()], in.specs[item.GetName()] = fingerprint(spec), spec
		if rest := harsh(spec, noReboot); rest != "" {
			in.rest[item.GetName()] = rest
		}
	}
	return in, nil
}

// trustBundle is what a node is to trust: the installer's bundle, whatever the Proxy names, and behind it the one that the Proxy names
// (openshift/machine-config-operator, pkg/operator/sync.go, syncRenderConfig).
func (e *Env) trustBundle(ctx context.Context, named string) (string, error) {
	trust := ""
	for _, name := range slices.Compact([]string{userBundle, cmp.Or(named, userBundle)}) {
		cm, err := e.Kube.CoreV1().ConfigMaps("openshift-config").Get(ctx, name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			continue
		}
		if err != nil {
			return "", fmt.Errorf("reading the trust bundle: %w", err)
		}
		trust += cm.Data["ca-bundle.crt"]
	}
	return trust, nil
}

// movePool renders and brings the pool there. The worker pool of a single node has no machine and is there at once. It returns
// what it rendered from: more may have come while the pool was paused.
func (e *Env) movePool(ctx context.Context, pool string, in poolInput, bootBefore string) (poolInput, error) {
	in, name, err := e.target(ctx, pool, in)
	if err != nil {
		return in, err
	}
	reboot := bootBefore != in.reboots()
	e.Stats.begin("machine-config-" + pool)
	e.Log.Info("pool moves", "pool", pool, "to", name, "reboot", reboot)
	if err := e.updatePool(ctx, pool, name, in.names(), pool == "master"); err != nil {
		return in, err
	}
	if pool == "master" {
		if err := e.moveNode(ctx, name, in, reboot); err != nil {
			return in, err
		}
	}
	if err := e.updatePool(ctx, pool, name, in.names(), false); err != nil {
		return in, err
	}
	e.Stats.done("machine-config-" + pool)
	return in, nil
}

// target renders what the pool shall have. As the real operator, it goes on rendering while the pool is paused, and no machine
// moves before that ends.
func (e *Env) target(ctx context.Context, pool string, in poolInput) (poolInput, string, error) {
	for rendered := ""; ; {
		if err := e.coalesce(ctx); err != nil {
			return in, "", err
		}
		in, err := e.readPool(ctx, pool) // what came meanwhile goes into the same rendering
		if err != nil {
			return in, "", err
		}
		name := "rendered-" + pool + "-" + in.hash()[:32]
		if name != rendered {
			made, err := e.render(ctx, name, in)
			if err != nil {
				return in, "", err
			}
			if made { // not by the bench's run before a reboot
				e.Stats.rendered()
			}
			rendered = name
		}
		paused, err := e.aim(ctx, pool, name, in.names())
		if err != nil || !paused {
			return in, name, err
		}
	}
}

// coalesce waits as the real operator does before it renders, so that the writes of one moment make one rendering.
func (e *Env) coalesce(ctx context.Context) error {
	if !e.Pace.None() {
		return e.Pace.Sleep(ctx, render)
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(coalesce):
		return nil
	}
}

// render returns whether the rendering is new.
func (e *Env) render(ctx context.Context, name string, in poolInput) (made bool, err error) {
	mc := &mcv1.MachineConfig{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if mc.Spec.Config.Raw, err = in.ignition(); err != nil {
		return false, err
	}
	err = e.retry(ctx, func() error {
		_, err := e.MCO.MachineConfigs().Create(ctx, mc, metav1.CreateOptions{})
		if apierrors.IsAlreadyExists(err) {
			return nil
		}
		made = err == nil
		return err
	})
	if err != nil {
		return false, fmt.Errorf("creating %s: %w", name, err)
	}
	return made, nil
}

// applyFiles has the node's daemon bring it to the rendered configuration, where the bench has files of a node.
func (e *Env) applyFiles(ctx context.Context, rendered string, in poolInput, reboot bool) error {
	if e.NodeRoot == "" {
		return nil
	}
	raw, err := in.ignition()
	if err != nil {
		return err
	}
	return e.applyRaw(ctx, rendered, raw, reboot)
}

func (e *Env) applyRaw(ctx context.Context, rendered string, raw []byte, reboot bool) error {
	policies, err := e.policies(ctx)
	if err != nil {
		return err
	}
	hold := func() error { return e.Faults.unstuck(ctx, "machine-config-daemon") }
	return daemon{root: e.NodeRoot, real: e.RealNode, hold: hold}.apply(ctx, rendered, raw, reboot, policies)
}

// begin lets a new node have what it was installed with, without a reboot.
func (e *Env) begin(ctx context.Context, pool string, in poolInput) error {
	if pool != "master" {
		return nil
	}
	p, err := e.MCO.MachineConfigPools().Get(ctx, pool, metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("reading the pool: %w", err)
	}
	return e.applyFiles(ctx, p.Spec.Configuration.Name, in, false)
}
