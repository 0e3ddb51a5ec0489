package site

import (
	"slices"
	"strings"
)

// openshiftRights is OpenShift's own API group of roles and bindings, the older one, which leads to the other.
const openshiftRights = "authorization.openshift.io"

// rightsGroups are the API groups of roles and bindings.
var rightsGroups = []string{"rbac.authorization.k8s.io", openshiftRights}

// anybody are groups and a user that everyone is who reaches the cluster, logs in there or runs in it. All accounts of one namespace are
// others' business.
var anybody = []string{"system:anonymous", "system:authenticated", "system:authenticated:oauth", "system:serviceaccounts", "system:unauthenticated"}

// bound is the role of a binding that has anybody among its subjects, as roleID writes it; "" for every other object.
func bound(m Manifest) string {
	group, _, _ := strings.Cut(m.APIVersion(), "/")
	if !slices.Contains(rightsGroups, group) || m.Kind() != "ClusterRoleBinding" && m.Kind() != "RoleBinding" {
		return ""
	}
	names := append(list(m["groupNames"]), list(m["userNames"])...) // of authorization.openshift.io
	for _, subject := range list(m["subjects"]) {
		if s, _ := subject.(map[string]any); s["kind"] != "ServiceAccount" {
			names = append(names, s["name"])
		}
	}
	if !slices.ContainsFunc(names, func(name any) bool {
		text, _ := name.(string)
		return slices.Contains(anybody, text)
	}) {
		return ""
	}
	role, _ := m["roleRef"].(map[string]any)
	name, _ := role["name"].(string)
	in := ""
	switch {
	case group == openshiftRights: // whose reference has no kind
		in, _ = role["namespace"].(string)
	case role["kind"] == "Role":
		in = m.Namespace()
	}
	return roleID(in, name)
}

// roleID names a role: one of the cluster where it lies in no namespace.
func roleID(namespace, name string) string { return namespace + "/" + name }

// clusterAdmin is the role of the cluster's own that may do everything.
var clusterAdmin = roleID("", "cluster-admin")

// opening is the binding among objects that gives anybody a role that is among them too, and may do everything; nil: none does.
func opening(all []Manifest) Manifest {
	mighty := map[string]bool{clusterAdmin: true}
	for _, m := range all {
		if group, _, _ := strings.Cut(m.APIVersion(), "/"); slices.Contains(rightsGroups, group) && (slices.ContainsFunc(list(m["rules"]), everything) || aggregates(m)) {
			in := m.Namespace()
			if m.Kind() == "ClusterRole" { // where the cluster drops it
				in = ""
			}
			mighty[roleID(in, m.Name())] = true
		}
	}
	for _, m := range all {
		if mighty[bound(m)] {
			return m
		}
	}
	return nil
}

// aggregates tells whether a role is filled with the rules of others by their labels. Which the cluster has cannot be told here, so that it
// counts as the most it may become.
func aggregates(role Manifest) bool {
	rule, _ := role["aggregationRule"].(map[string]any)
	return len(list(rule["clusterRoleSelectors"])) > 0
}

// everything tells whether a rule of a role allows all that can be done to all that there is, or to all of the core group, where secrets
// are; a rule of OpenShift's that names no group means that one at least.
func everything(rule any) bool {
	r, _ := rule.(map[string]any)
	groups := list(r["apiGroups"])
	return slices.Contains(list(r["verbs"]), any("*")) && slices.Contains(list(r["resources"]), any("*")) &&
		(len(groups) == 0 || slices.Contains(groups, any("*")) || slices.Contains(groups, any("")))
}

func list(value any) []any {
	items, _ := value.([]any)
	return items
}
