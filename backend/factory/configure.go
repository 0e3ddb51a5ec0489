package factory

import (
	"context"
	"errors"
	"slices"
	"time"

	machinev1 "github.com/openshift/api/machineconfiguration/v1"
	corev1 "k8s.io/api/core/v1"

	"touchdown/backend/host"
	"touchdown/backend/kube"
	"touchdown/backend/layout"
	"touchdown/backend/layout/rhcos"
	"touchdown/backend/message"
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
	operator, err := c.Get(ctx, networkOperator())
	if err != nil {
		return nil, err
	}
	all, err := Manifests(cluster.Own, onBridge(InsideNetworks(operator))...)
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
func Configure(ctx context.Context, c *kube.Cluster, p kube.Pause, wanted []Manifest, save kube.Save) (changed bool, err error) {
	names, err := Differs(ctx, c, wanted)
	if err != nil {
		return false, err
	}
	if p.Made, err = mayBeOurs(ctx, c, p); err != nil {
		return false, err
	}
	return batch(ctx, c, p, len(names) > 0, func() error {
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
func Remove(ctx context.Context, c *kube.Cluster, p kube.Pause, save kube.Save) (changed bool, err error) {
	refs, err := written(ctx, c)
	if err != nil {
		return false, err
	}
	p.Made = true // whatever cannot be rendered, less of ours makes it no worse
	return batch(ctx, c, p, len(refs) > 0, func() error {
		for _, ref := range refs {
			if _, err := c.Delete(ctx, ref, save); err != nil {
				return err
			}
		}
		return nil
	})
}

// written are the MachineConfigs of ours that the cluster has.
func written(ctx context.Context, c *kube.Cluster) ([]kube.Ref, error) {
	all, err := Manifests(host.DefaultOwn) // their names alone count
	if err != nil {
		return nil, err
	}
	var refs []kube.Ref
	for _, m := range all {
		object, err := c.Get(ctx, kube.MachineConfig(m.Name))
		if err != nil {
			return nil, err
		}
		if object != nil && ours(object) {
			refs = append(refs, kube.MachineConfig(m.Name))
		}
	}
	return refs, nil
}

// batch lets the pool take all changes of write at once, and returns whether there was work. What the pool would not take is refused
// before anything is written. A pause of an earlier batch that was cut off in it is ended in any case, one of the cluster's owner never.
func batch(ctx context.Context, c *kube.Cluster, p kube.Pause, work bool, write func() error) (bool, error) {
	paused, held, err := p.State(ctx, c)
	switch {
	case err != nil:
		return false, err
	case !work && paused && !held:
		return false, p.End(ctx, c)
	case !work:
		return false, nil
	}
	if err := p.Takes(ctx, c); err != nil {
		if paused && !held {
			err = errors.Join(err, p.End(ctx, c))
		}
		return false, err
	}
	if err := p.Begin(ctx, c); err != nil {
		return false, err
	}
	return true, errors.Join(write(), p.End(ctx, c))
}

// mayBeOurs tells whether something of ours may be what the operator cannot render: the cluster has it already, from this bake or an
// earlier one. Then a corrected bake has to get through.
func mayBeOurs(ctx context.Context, c *kube.Cluster, p kube.Pause) (bool, error) {
	if p.Made {
		return true, nil
	}
	refs, err := written(ctx, c)
	return len(refs) > 0, err
}

// Takes refuses a bake whose MachineConfigs the pool would not take. Configure asks the same; this is for what is written before.
func Takes(ctx context.Context, c *kube.Cluster, p kube.Pause, wanted []Manifest) error {
	names, err := Differs(ctx, c, wanted)
	if err != nil || len(names) == 0 {
		return err
	}
	if p.Made, err = mayBeOurs(ctx, c, p); err != nil {
		return err
	}
	return p.Takes(ctx, c)
}

// has tells whether a configuration of the pool was made of a MachineConfig.
func has(config machinev1.MachineConfigPoolStatusConfiguration, name string) bool {
	return slices.ContainsFunc(config.Source, func(s corev1.ObjectReference) bool { return s.Name == name })
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
			{rhcos.Chrony, "chronyd.service"},
			{rhcos.Dnsmasq, "dnsmasq.service"},
			{rhcos.Storage, "crio.service"},
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
// none. before is the rendered configuration from before a change, "" where there was none. drifted may be nil, see kube.RollOut.
func WaitConfigured(ctx context.Context, c *kube.Cluster, with []Manifest, before string, drifted func(context.Context, string)) error {
	return kube.RollOut{
		Wait: kube.Wait{
			What: message.T("the node's new configuration"), Limit: 40 * time.Minute, Usual: 10 * time.Minute, Code: "FAC-MCP",
			Fix: message.T("Look at the machine-config operator; when its pool is healthy again, run the same command once more."),
		},
		Pool: layout.Pool, Before: before, Drifted: drifted,
		Lacks: func(ctx context.Context, p *machinev1.MachineConfigPool) (message.Text, error) {
			old, err := outdated(ctx, c, p.Spec.Configuration, with)
			if !old {
				return message.Text{}, err
			}
			return message.T("the new configuration is not rendered yet"), nil
		},
	}.Await(ctx, c)
}

// outdated tells whether a configuration was made before the MachineConfigs are as they are now: it lacks one of with or, where there are
// none, was made of one that is gone. After a power cut "updated" may be old news, and before is not known any more.
func outdated(ctx context.Context, c *kube.Cluster, config machinev1.MachineConfigPoolStatusConfiguration, with []Manifest) (bool, error) {
	for _, m := range with {
		if !has(config, m.Name) {
			return true, nil
		}
	}
	if len(with) > 0 {
		return false, nil
	}
	all, err := Manifests(host.DefaultOwn) // their names alone count
	if err != nil {
		return false, err
	}
	for _, m := range all {
		if !has(config, m.Name) {
			continue
		}
		object, err := c.Get(ctx, kube.MachineConfig(m.Name))
		if err != nil || object == nil {
			return err == nil, err
		}
	}
	return false, nil
}
