package manifests

import (
	"context"
	"slices"

	"touchdown/backend/kube"
	"touchdown/backend/message"
)

// plain are the kinds that hold nothing but what stands in their objects, by group. Only these are removed: with a namespace, a definition of
// kinds or an operator's object go things and data that cannot all be seen from here.
var plain = map[string][]string{
	"":                          {"ConfigMap", "Secret", "ServiceAccount"},
	"rbac.authorization.k8s.io": {"ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"},
}

// judge tells whether an object of the inventory is still there and Touchdown's, and why it must stay then.
func (b Brought) judge(ctx context.Context, c *kube.Cluster) (why message.Text, there bool, err error) {
	object, err := c.Get(ctx, b.ref())
	if err != nil || object == nil || !applied(object) || text(object, "deletionTimestamp") != "" {
		return why, false, err
	}
	kind, _ := object["kind"].(string) // not the inventory's, which is a file
	switch who := adopter(object); {
	case !slices.Contains(plain[b.object().group()], kind):
		return message.T("with an object of its kind others can go, and their data"), true, nil
	case who != (message.Text{}):
		return message.F("it belongs to %s as well", who), true, nil
	}
	why, err = claimsOf(ctx, c, text(object, "uid"))
	return why, true, err
}

// adopter names who else manages the object: its owner, or a tool that applies it, for example from a Git repository. A tool that
// does not use server-side apply leaves an annotation.
func adopter(object map[string]any) message.Text {
	meta, _ := object["metadata"].(map[string]any)
	annotations, _ := meta["annotations"].(map[string]any)
	switch {
	case len(ownersOf(object)) > 0:
		return message.T("another object")
	case annotations["argocd.argoproj.io/tracking-id"] != nil, annotations["kubectl.kubernetes.io/last-applied-configuration"] != nil:
		return message.T("a tool that applies it")
	}
	fields, _ := meta["managedFields"].([]any)
	for _, field := range fields {
		f, _ := field.(map[string]any)
		who, _ := f["manager"].(string)
		if f["operation"] == "Apply" && who != manager && f["subresource"] == nil {
			return message.Data(who)
		}
	}
	return message.Text{}
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
