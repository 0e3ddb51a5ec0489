package wanted

import (
	"context"
	"errors"
	"strings"
	"sync"

	"touchdown/backend/images/ref"
	"touchdown/backend/kube"
	"touchdown/backend/message"
)

// object is what all readers look at.
type object struct {
	Metadata struct {
		Name              string            `json:"name"`
		Namespace         string            `json:"namespace"`
		Labels            map[string]string `json:"labels"`
		Annotations       map[string]string `json:"annotations"`
		DeletionTimestamp string            `json:"deletionTimestamp"`
		OwnerReferences   []struct {
			Kind       string `json:"kind"`
			Name       string `json:"name"`
			Controller bool   `json:"controller"`
		} `json:"ownerReferences"`
	} `json:"metadata"`
	raw map[string]any
}

func (o object) who(kind string) string {
	return kind + " " + o.Metadata.Namespace + "/" + o.Metadata.Name
}

// kind is a kind of objects that name images.
type kind struct {
	source         string // plural, as in the API
	group, version string
	selector       string // labels
	read           func(g *gathering, o object) error
}

// kinds are all of them. One that a cluster does not have is not a fault: DeploymentConfigs, OLM and KubeVirt are optional.
func kinds() []kind {
	return []kind{
		{source: "pods", version: "v1", read: readPod},
		{source: "deployments", group: "apps", version: "v1", read: template("Deployment", "spec", "template", "spec")},
		{source: "daemonsets", group: "apps", version: "v1", read: template("DaemonSet", "spec", "template", "spec")},
		{source: "statefulsets", group: "apps", version: "v1", read: template("StatefulSet", "spec", "template", "spec")},
		{source: "replicasets", group: "apps", version: "v1", read: template("ReplicaSet", "spec", "template", "spec")},
		{source: "replicationcontrollers", version: "v1", read: template("ReplicationController", "spec", "template", "spec")},
		{source: "jobs", group: "batch", version: "v1", read: template("Job", "spec", "template", "spec")},
		{source: "cronjobs", group: "batch", version: "v1", read: template("CronJob", "spec", "jobTemplate", "spec", "template", "spec")},
		{source: "deploymentconfigs", group: "apps.openshift.io", version: "v1", read: template("DeploymentConfig", "spec", "template", "spec")},
		{source: "virtualmachines", group: "kubevirt.io", version: "v1", read: template("VirtualMachine", "spec", "template", "spec")},
		{source: "catalogsources", group: "operators.coreos.com", version: "v1alpha1", read: readCatalog},
		// OLM copies each into every namespace that it watches.
		{source: "clusterserviceversions", group: "operators.coreos.com", version: "v1alpha1", selector: "!olm.copiedFrom", read: readCSV},
		{source: "installplans", group: "operators.coreos.com", version: "v1alpha1", read: readInstallPlan},
	}
}

// cluster reads everything that the API knows.
func (g *gathering) cluster(ctx context.Context, p Place, s *store, o Options) {
	switch {
	case p.Kube == nil && p.Away != nil:
		g.fail("cluster", p.Away)
		return
	case p.Kube == nil:
		g.note("cluster", message.T("Not asked."))
		return
	}
	c := p.Kube.Within(min(apiTime, p.Kube.Pace.Limit))
	// The release comes first: Touchdown waits once for an API that is away, not once a kind.
	if err := g.release(ctx, c, s, o); err != nil {
		g.fail("cluster", err)
		return
	}
	var all sync.WaitGroup
	for _, k := range kinds() {
		all.Go(func() { g.kind(ctx, c, k) })
	}
	all.Go(func() {
		if err := g.machineConfig(ctx, c); err != nil {
			g.fail("machineconfigs", err)
		}
	})
	all.Wait()
}

func (g *gathering) kind(ctx context.Context, c *kube.Cluster, k kind) {
	_, err := c.Pages(ctx, kube.Ref{Group: k.group, Version: k.version, Resource: k.source}, k.selector, func(raw map[string]any) {
		o := object{raw: raw}
		err := decode(raw, &o)
		if err == nil {
			err = k.read(g, o)
		}
		if err != nil {
			g.note(k.source, message.F("%s/%s: %s", o.Metadata.Namespace, o.Metadata.Name, err))
		}
	})
	if err != nil {
		g.fail(k.source, err)
	}
}

// template reads what lies in an object as the specification of pods.
func template(kind string, path ...string) func(*gathering, object) error {
	source := strings.ToLower(kind) + "s"
	return func(g *gathering, o object) error {
		var spec podSpec
		if err := decode(o.raw, &spec, path...); err != nil {
			return err
		}
		n := Needer{Who: o.owner(kind), Need: spec.need(o.Metadata.Namespace), Source: source}
		idle, old := o.idle(kind)
		if old {
			return nil
		}
		if idle {
			n.Need = Spare
		}
		g.addPod(spec, n)
		return nil
	}
}

// idle tells whether nothing of a template runs or is to run, and whether it is only kept as history.
func (o object) idle(kind string) (idle, old bool) {
	var v struct {
		Spec   struct{ Replicas *int64 }
		Status struct {
			DesiredNumberScheduled *int64
			ObservedGeneration     int64
			Conditions             []struct{ Type, Status string }
		}
	}
	if decode(o.raw, &v) != nil {
		return false, false // taken as at work
	}
	none := v.Spec.Replicas != nil && *v.Spec.Replicas == 0
	switch kind {
	case "ReplicaSet", "ReplicationController":
		return none, none
	case "DaemonSet":
		n := v.Status.DesiredNumberScheduled
		return v.Status.ObservedGeneration > 0 && (n == nil || *n == 0), false // for no node of this cluster
	case "Job":
		for _, c := range v.Status.Conditions {
			if (c.Type == "Complete" || c.Type == "Failed") && c.Status == "True" {
				return true, false
			}
		}
		return false, false
	}
	return none, false
}

// owner is who a person would name: the Deployment for its ReplicaSet and its pods, the file for a static pod.
func (o object) owner(kind string) string {
	m := o.Metadata
	if m.Annotations["kubernetes.io/config.mirror"] != "" {
		kind = "static pod"
	}
	for _, r := range m.OwnerReferences {
		hash := m.Labels["pod-template-hash"]
		switch {
		case r.Kind == "Node": // the kubelet adds the node's name to that of its file
			m.Name = strings.TrimSuffix(m.Name, "-"+r.Name)
		case !r.Controller:
		case r.Kind == "ReplicaSet" && hash != "" && strings.HasSuffix(r.Name, "-"+hash):
			kind, m.Name = "Deployment", strings.TrimSuffix(r.Name, "-"+hash)
		default:
			kind, m.Name = r.Kind, r.Name
		}
	}
	return kind + " " + m.Namespace + "/" + m.Name
}

func readPod(g *gathering, o object) error {
	if o.Metadata.DeletionTimestamp != "" {
		return nil
	}
	var spec podSpec
	type statuses []struct{ Name, ImageID string }
	var status struct {
		Phase                                                                string
		ContainerStatuses, InitContainerStatuses, EphemeralContainerStatuses statuses
	}
	if err := errors.Join(decode(o.raw, &spec, "spec"), decode(o.raw, &status, "status")); err != nil {
		return err
	}
	n := Needer{Who: o.owner("Pod"), Need: spec.need(o.Metadata.Namespace), Source: "pods"}
	if o.Metadata.Annotations["kubernetes.io/config.mirror"] != "" {
		n.Need = Boot
	}
	if status.Phase == "Succeeded" || status.Phase == "Failed" {
		n.Need = Spare
	}
	g.addPod(spec, n)
	ids := map[string]string{}
	for _, all := range []statuses{status.ContainerStatuses, status.InitContainerStatuses, status.EphemeralContainerStatuses} {
		for _, s := range all {
			ids[s.Name] = s.ImageID
		}
	}
	for _, a := range spec.images() {
		g.resolve(a.name, ids[a.by])
	}
	return nil
}

// resolve keeps the digest that a pod runs of a reference that has none.
func (g *gathering) resolve(name, id string) {
	r, err := ref.Parse(id)
	if err != nil || r.Digest == "" {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.seen[name] = r.Digest
}

func readCatalog(g *gathering, o object) error {
	var spec struct{ Image string }
	err := decode(o.raw, &spec, "spec")
	if err == nil && spec.Image != "" {
		market := o.Metadata.Annotations["operatorframework.io/managed-by"] == "marketplace-operator"
		g.add(use{spec.Image, Needer{Who: o.who("CatalogSource"), Need: Run, Source: "catalogsources", Market: market}})
	}
	return err
}

// readCSV reads an operator's: what it runs, and what it may start at any time (relatedImages).
func readCSV(g *gathering, o object) error {
	var spec struct {
		RelatedImages []struct{ Image string }
		Install       struct {
			Spec struct {
				Deployments []struct {
					Spec struct{ Template struct{ Spec podSpec } }
				}
			}
		}
	}
	if err := decode(o.raw, &spec, "spec"); err != nil {
		return err
	}
	n := Needer{Who: o.who("ClusterServiceVersion"), Need: Run, Source: "clusterserviceversions"}
	for _, i := range spec.RelatedImages {
		if i.Image != "" {
			g.add(use{i.Image, n})
		}
	}
	for _, d := range spec.Install.Spec.Deployments {
		g.addPod(d.Spec.Template.Spec, n)
	}
	return nil
}

// readInstallPlan reads the bundles of installed operators. One that is unpacked is not needed again.
func readInstallPlan(g *gathering, o object) error {
	var status struct {
		Phase         string
		BundleLookups []struct{ Path string }
	}
	if err := decode(o.raw, &status, "status"); err != nil {
		return err
	}
	n := Needer{Who: o.who("InstallPlan"), Need: Run, Source: "installplans"}
	if status.Phase == "Complete" || status.Phase == "Failed" {
		n.Need = Spare
	}
	for _, b := range status.BundleLookups {
		if b.Path != "" {
			g.add(use{b.Path, n})
		}
	}
	return nil
}
