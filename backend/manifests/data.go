package manifests

import (
	"context"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"touchdown/backend/kube"
	"touchdown/backend/message"
)

// judge tells whether an object of the inventory is still there and Touchdown's, and why it must stay then. An object of others, which goes
// too, is no reason.
func (b Brought) judge(ctx context.Context, c *kube.Cluster, others []Brought) (why message.Text, there bool, err error) {
	object, err := c.Get(ctx, b.ref())
	if err != nil || object == nil || !applied(object) || text(object, "deletionTimestamp") != "" {
		return why, false, err
	}
	if who := adopter(object); who != "" {
		return message.F("it belongs to %s as well", who), true, nil
	}
	switch group := b.object().group(); {
	case group == "" && (b.Kind == "PersistentVolumeClaim" || b.Kind == "PersistentVolume"):
		return message.T("it holds data"), true, nil
	case group == "" && b.Kind == "Namespace":
		why, err = inNamespace(ctx, c, b.Name, others)
	case b.object().definesKinds():
		why, err = ofKind(ctx, c, object, others)
	}
	if err != nil || why != (message.Text{}) {
		return why, true, err
	}
	why, err = claimsOf(ctx, c, text(object, "uid"))
	return why, true, err
}

// adopter is another manager that applies the object, such as a tool that keeps it as it is in a repository.
func adopter(object map[string]any) string {
	meta, _ := object["metadata"].(map[string]any)
	fields, _ := meta["managedFields"].([]any)
	for _, field := range fields {
		f, _ := field.(map[string]any)
		who, _ := f["manager"].(string)
		if f["operation"] == "Apply" && who != manager && f["subresource"] == nil {
			return who
		}
	}
	return ""
}

// claimsOf tells which volume claim would go with an object, as those of a StatefulSet can.
func claimsOf(ctx context.Context, c *kube.Cluster, uid string) (why message.Text, err error) {
	_, err = c.Pages(ctx, kube.Ref{Version: "v1", Resource: "persistentvolumeclaims"}, "", func(claim map[string]any) {
		if slices.Contains(ownersOf(claim), uid) {
			why = message.F("the data in %s would go with it", described("PersistentVolumeClaim", claim))
		}
	})
	return why, err
}

// ownersOf are the UIDs of an object's owners: it goes with them.
func ownersOf(object map[string]any) (uids []string) {
	meta, _ := object["metadata"].(map[string]any)
	owners, _ := meta["ownerReferences"].([]any)
	for _, owner := range owners {
		o, _ := owner.(map[string]any)
		uid, _ := o["uid"].(string)
		uids = append(uids, uid)
	}
	return uids
}

// among tells whether an object that was listed is one of those.
func among(all []Brought, group, kind string, object map[string]any) bool {
	return slices.ContainsFunc(all, func(b Brought) bool {
		return b.Kind == kind && b.object().group() == group && b.Namespace == text(object, "namespace") && b.Name == text(object, "name")
	})
}

// ofKind tells which objects a definition has: they would go with it.
func ofKind(ctx context.Context, c *kube.Cluster, definition map[string]any, others []Brought) (why message.Text, err error) {
	spec, _ := definition["spec"].(map[string]any)
	called, _ := spec["names"].(map[string]any)
	group, _ := spec["group"].(string)
	kind, _ := called["kind"].(string)
	plural, _ := called["plural"].(string)
	versions, _ := spec["versions"].([]any)
	for _, version := range versions {
		v, _ := version.(map[string]any)
		name, _ := v["name"].(string)
		if v["served"] != true {
			continue
		}
		var found []string
		_, err := c.Pages(ctx, kube.Ref{Group: group, Version: name, Resource: plural}, "", func(object map[string]any) {
			if !among(others, group, kind, object) {
				found = append(found, described(kind, object))
			}
		})
		if err != nil {
			return why, err
		}
		if len(found) > 0 {
			return message.F("the cluster has objects of its kind: %s", names(found)), nil
		}
		return why, nil // each version that is served has all of them
	}
	return message.T("it cannot be seen whether the cluster has objects of its kind"), nil
}

// inNamespace tells what a namespace holds that neither a landing nor the cluster itself put there.
func inNamespace(ctx context.Context, c *kube.Cluster, namespace string, others []Brought) (why message.Text, err error) {
	kinds, err := namespaced(ctx, c)
	if err != nil {
		return why, err
	}
	var found []string
	for _, k := range kinds {
		_, err := c.Pages(ctx, kube.Ref{Group: k.group, Version: k.version, Resource: k.resource, Namespace: namespace}, "", func(object map[string]any) {
			if !among(others, k.group, k.kind, object) && !passing(k, object) {
				found = append(found, Object{Kind: k.kind, Name: text(object, "name")}.String())
			}
		})
		switch {
		case apierrors.IsMethodNotSupported(err) || apierrors.IsForbidden(err):
		case err != nil:
			return why, err
		}
	}
	if len(found) > 0 {
		return message.F("it has %s, which no landing brought", names(found)), nil
	}
	return why, nil
}

// listed is a kind of objects in namespaces that the API serves.
type listed struct{ group, version, resource, kind string }

// views are groups whose objects are seen, not stored: what other objects tell. An event is gone after hours.
var views = []string{"events.k8s.io", "metrics.k8s.io", "custom.metrics.k8s.io", "packages.operators.coreos.com"}

// namespaced are all kinds of objects in namespaces.
func namespaced(ctx context.Context, c *kube.Cluster) (all []listed, err error) {
	var groups metav1.APIGroupList
	err = c.Do(ctx, "listing the groups of the API", func(ctx context.Context) error {
		groups = metav1.APIGroupList{}
		return c.Core.RESTClient().Get().AbsPath("/apis").Do(ctx).Into(&groups)
	})
	if err != nil {
		return nil, err
	}
	versions := []string{"v1"}
	for _, g := range groups.Groups {
		if !slices.Contains(views, g.Name) {
			versions = append(versions, g.PreferredVersion.GroupVersion)
		}
	}
	for _, apiVersion := range versions {
		var list metav1.APIResourceList
		err := c.Do(ctx, "listing the kinds of "+apiVersion, func(ctx context.Context) error {
			list = metav1.APIResourceList{}
			return c.Core.RESTClient().Get().AbsPath(root(apiVersion)).Do(ctx).Into(&list)
		})
		if err != nil {
			return nil, err
		}
		o := Object{APIVersion: apiVersion}
		for _, r := range list.APIResources {
			if r.Namespaced && !strings.Contains(r.Name, "/") && slices.Contains(r.Verbs, "list") && slices.Contains(r.Verbs, "delete") {
				all = append(all, listed{o.group(), apiVersion[strings.IndexByte(apiVersion, '/')+1:], r.Name, r.Kind})
			}
		}
	}
	return all, nil
}

// own is what the cluster itself puts into each namespace, by kind and name; test/reality.md has the sources.
var own = map[string][]string{
	"ConfigMap":      {"kube-root-ca.crt", "openshift-service-ca.crt"},
	"ServiceAccount": {"default", "builder", "deployer"},
	"RoleBinding":    {"system:deployers", "system:image-builders", "system:image-pullers"},
}

// passing tells whether an object is the cluster's own, or goes with what owns it. A volume claim counts always: it has data.
func passing(k listed, object map[string]any) bool {
	switch {
	case text(object, "deletionTimestamp") != "", k.group == "" && (k.kind == "Event" || k.kind == "Endpoints"):
		return true
	case k.kind == "PersistentVolumeClaim" && k.group == "":
		return false
	case slices.Contains(own[k.kind], text(object, "name")):
		return true
	case k.kind == "Secret" && k.group == "":
		return object["type"] == "kubernetes.io/service-account-token" ||
			object["type"] == "kubernetes.io/dockercfg" && strings.Contains(text(object, "name"), "-dockercfg-")
	}
	return len(ownersOf(object)) > 0
}
