package kube

import (
	"context"

	"touchdown/backend/message"
)

// Idle says why an operator does not run: its owner scaled its Deployment down, or deleted it and told the cluster's version operator to
// leave it alone (ClusterVersion spec.overrides). An override alone stops nothing: the version operator only no longer
// puts the manifest back (openshift/cluster-version-operator 6e719331f, pkg/cvo/sync_worker.go). No text when it runs, or where this cluster
// has no such Deployment.
func Idle(ctx context.Context, c *Cluster, namespace, deployment string) (why message.Text, err error) {
	name := namespace + "/" + deployment
	object, err := c.Get(ctx, Ref{Group: "apps", Version: "v1", Resource: "deployments", Namespace: namespace, Name: deployment})
	if err != nil {
		return message.Text{}, err
	}
	replicas, said := int64(1), false
	if spec, ok := object["spec"].(map[string]any); ok {
		replicas, said = spec["replicas"].(int64)
	}
	if object != nil && (!said || replicas > 0) {
		return message.Text{}, nil
	}
	left, err := leftAlone(ctx, c, namespace, deployment)
	switch {
	case err != nil:
		return message.Text{}, err
	case object == nil && left:
		return message.F("deployment %s was deleted, and spec.overrides of the ClusterVersion keeps it from coming back", name), nil
	case object == nil:
		return message.Text{}, nil
	case left:
		return message.F("deployment %s has 0 replicas, and spec.overrides of the ClusterVersion keeps it so", name), nil
	}
	return message.F("deployment %s has 0 replicas", name), nil
}

// leftAlone tells whether the version operator was told not to manage a Deployment.
func leftAlone(ctx context.Context, c *Cluster, namespace, deployment string) (bool, error) {
	version, err := c.Get(ctx, Ref{Group: "config.openshift.io", Version: "v1", Resource: "clusterversions", Name: "version"})
	if err != nil {
		return false, err
	}
	spec, _ := version["spec"].(map[string]any)
	overrides, _ := spec["overrides"].([]any)
	for _, o := range overrides {
		entry, _ := o.(map[string]any)
		if entry["kind"] == "Deployment" && entry["namespace"] == namespace && entry["name"] == deployment && entry["unmanaged"] == true {
			return true, nil
		}
	}
	return false, nil
}
