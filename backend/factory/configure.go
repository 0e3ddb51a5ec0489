package factory

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"touchdown/backend/host"
	"touchdown/backend/kube"
	"touchdown/backend/problem"
)

// disruption names the object that says which changes of the machine need no reboot.
func disruption() kube.Ref {
	return kube.Ref{Group: "operator.openshift.io", Version: "v1", Resource: "machineconfigurations", Name: "cluster"}
}

// Wanted returns the MachineConfigs that this cluster shall have: all of them, or all but the name server's where another
// hand laid one.
func Wanted(ctx context.Context, c *kube.Cluster) ([]Manifest, error) {
	cluster, err := Look(ctx, c)
	if err != nil {
		return nil, err
	}
	all, err := Manifests(cluster.Own)
	if err != nil {
		return nil, err
	}
	object, err := c.Get(ctx, kube.MachineConfig(dnsmasqConfig))
	if err != nil {
		return nil, err
	}
	if object != nil && !ours(object) {
		all = slices.DeleteFunc(all, func(m Manifest) bool { return m.Name == dnsmasqConfig })
	}
	return all, nil
}

func ours(object map[string]any) bool {
	meta, _ := object["metadata"].(map[string]any)
	labels, _ := meta["labels"].(map[string]any)
	return labels[managedBy] == touchdown
}

// Rendered is the name of the configuration that the pool shall have now.
func Rendered(ctx context.Context, c *kube.Cluster) (string, error) {
	p, _, err := c.Pool(ctx, pool)
	if err != nil {
		return "", err
	}
	return p.Spec.Configuration.Name, nil
}

// Differs returns the names of the MachineConfigs that are missing or other than wanted.
func Differs(ctx context.Context, c *kube.Cluster, wanted []Manifest) ([]string, error) {
	var names []string
	for _, m := range wanted {
		object, err := c.Get(ctx, kube.MachineConfig(m.Name))
		if err != nil {
			return nil, err
		}
		spec, _ := object["spec"].(map[string]any)
		if object == nil || !same(spec["config"], m.config) {
			names = append(names, m.Name)
		}
	}
	return names, nil
}

// Configure writes the MachineConfigs in one batch, while the pool is paused, so that there is one rendering and one
// reboot. It returns whether anything changed.
func Configure(ctx context.Context, c *kube.Cluster, wanted []Manifest, save kube.Save) (changed bool, err error) {
	names, err := Differs(ctx, c, wanted)
	if err != nil {
		return false, err
	}
	if len(names) == 0 {
		return false, resume(ctx, c) // an earlier bake may have been cut off between the two
	}
	return true, batch(ctx, c, func() error {
		for _, m := range wanted {
			if err := putConfig(ctx, c, m, save); err != nil {
				return err
			}
		}
		return nil
	})
}

func putConfig(ctx context.Context, c *kube.Cluster, m Manifest, save kube.Save) error {
	_, err := c.Put(ctx, kube.MachineConfig(m.Name), kube.New{Kind: "MachineConfig", Labels: m.Labels}, func(spec map[string]any) error {
		if !same(spec["config"], m.config) {
			spec["config"] = m.config
		}
		return nil
	}, save)
	return err
}

// Remove takes our MachineConfigs back, in one batch like Configure. One of the same name that is not ours stays.
func Remove(ctx context.Context, c *kube.Cluster, save kube.Save) (changed bool, err error) {
	all, err := Manifests(host.DefaultOwn) // their names alone count
	if err != nil {
		return false, err
	}
	var refs []kube.Ref
	for _, m := range all {
		object, err := c.Get(ctx, kube.MachineConfig(m.Name))
		if err != nil {
			return false, err
		}
		if object != nil && ours(object) {
			refs = append(refs, kube.MachineConfig(m.Name))
		}
	}
	if len(refs) == 0 {
		return false, resume(ctx, c)
	}
	return true, batch(ctx, c, func() error {
		for _, ref := range refs {
			if _, err := c.Delete(ctx, ref, save); err != nil {
				return err
			}
		}
		return nil
	})
}

// batch lets the pool take all changes of write at once. It is never left paused: the node would take no later change and no
// update of the cluster. What cannot be resumed now is resumed by the next bake.
func batch(ctx context.Context, c *kube.Cluster, write func() error) error {
	if err := pause(ctx, c, true); err != nil {
		return err
	}
	err := write()
	// Even when ctx has ended: for the resuming there are a few seconds left.
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), 20*time.Second)
	defer cancel()
	return errors.Join(err, pause(last, c, false))
}

func resume(ctx context.Context, c *kube.Cluster) error { return pause(ctx, c, false) }

func pause(ctx context.Context, c *kube.Cluster, paused bool) error {
	_, err := c.ChangeSpec(ctx, kube.MachineConfigPool(pool), func(spec map[string]any) error {
		if now, _ := spec["paused"].(bool); now != paused {
			spec["paused"] = paused
		}
		return nil
	}, func(kube.Ref, []byte) error { return nil })
	if err != nil {
		return fmt.Errorf("pausing the pool (%t): %w", paused, err)
	}
	return nil
}

// SetDisruptionPolicies tells the cluster which later changes of the node need only a service restarted, not a reboot. It returns false
// where this OpenShift has no such object.
func SetDisruptionPolicies(ctx context.Context, c *kube.Cluster, save kube.Save) (bool, error) {
	object, err := c.Get(ctx, disruption())
	if err != nil || object == nil {
		return false, err
	}
	_, err = c.ChangeSpec(ctx, disruption(), func(spec map[string]any) error {
		policy, _ := spec["nodeDisruptionPolicy"].(map[string]any)
		if policy == nil {
			policy = map[string]any{}
		}
		files, _ := policy["files"].([]any)
		for _, p := range []struct{ path, service string }{
			{"/etc/chrony.conf", "chronyd.service"},
			{"/etc/dnsmasq.d", "dnsmasq.service"},
			{"/etc/containers/storage.conf", "crio.service"},
		} {
			files = restarting(files, p.path, p.service)
		}
		policy["files"] = files
		spec["nodeDisruptionPolicy"] = policy
		return nil
	}, save)
	if p, ok := errors.AsType[*problem.Problem](err); ok && p.Code == "CLU-LACK" {
		return false, nil // before 4.17 the field is pruned
	}
	return err == nil, err
}

// restarting adds the policy for a path, unless someone has one for it already.
func restarting(files []any, path, service string) []any {
	for _, f := range files {
		if m, ok := f.(map[string]any); ok && m["path"] == path {
			return files
		}
	}
	return append(files, map[string]any{
		"path":    path,
		"actions": []any{map[string]any{"type": "Restart", "restart": map[string]any{"serviceName": service}}},
	})
}

// WaitConfigured waits until the node has the configuration with the given MachineConfigs, or without any of ours when there are
// none. before is the rendered configuration from before a change, "" where there was none.
func WaitConfigured(ctx context.Context, c *kube.Cluster, with []Manifest, before string) error {
	wait := kube.Wait{
		What: "the node's new configuration", Limit: 40 * time.Minute, Usual: 10 * time.Minute, Code: "FAC-POOL",
		Fix: "Look at the machine-config operator; when its pool is well again, run the same command once more.",
	}
	return c.Until(ctx, wait, func(ctx context.Context) (kube.Progress, bool, error) {
		p, nodes, err := c.Pool(ctx, pool)
		if err != nil {
			return kube.Progress{}, false, err
		}
		why := kube.PoolPending(p, nodes, before)
		if why == "" {
			has := map[string]bool{}
			for _, source := range p.Spec.Configuration.Source {
				has[source.Name] = true
			}
			for _, m := range with {
				if !has[m.Name] {
					why = "the new configuration is not rendered yet"
				}
			}
		}
		return kube.Progress{Waiting: why}, why == "", nil
	})
}
