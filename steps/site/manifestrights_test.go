package site

import (
	"fmt"
	"strings"
	"testing"
)

// TestNobodyOpensTheCluster: no object gives all rights to everyone, in whatever spelling; to others it may.
func TestNobodyOpensTheCluster(t *testing.T) {
	const (
		group    = "{kind: Group, apiGroup: rbac.authorization.k8s.io, name: %q}"
		user     = "{kind: User, name: %q}"
		account  = "{kind: ServiceAccount, namespace: shop, name: %q}"
		star     = "---\napiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: all}\nrules: [{apiGroups: ['*'], resources: ['*'], verbs: ['*']}]\n"
		starHere = "---\napiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: {name: all, namespace: shop}\nrules: [{apiGroups: [''], resources: [pods], verbs: [get]}, {apiGroups: [''], resources: ['*'], verbs: ['*']}]\n"
		tekton   = "---\napiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: all}\nrules: [{apiGroups: [tekton.dev], resources: ['*'], verbs: ['*']}]\n"
		core     = "---\napiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: all}\nrules: [{apiGroups: [apps, ''], resources: ['*'], verbs: ['*']}]\n"
		noGroup  = "---\napiVersion: authorization.openshift.io/v1\nkind: ClusterRole\nmetadata: {name: all}\nrules: [{resources: ['*'], verbs: ['*']}]\n"
		gathered = "---\napiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: all}\naggregationRule: {clusterRoleSelectors: [{matchLabels: {a: b}}]}\nrules: []\n"
		reading  = "---\napiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: all}\nrules: [{apiGroups: ['*'], resources: ['*'], verbs: [get]}]\n"
	)
	// older is a binding of OpenShift's own group, and the role of its namespace.
	older := func(namespace string) string {
		return "apiVersion: authorization.openshift.io/v1\nkind: Role\nmetadata: {name: all, namespace: shop}\nrules: [{apiGroups: ['*'], resources: ['*'], verbs: ['*']}]\n---\n" +
			"apiVersion: authorization.openshift.io/v1\nkind: RoleBinding\nmetadata: {name: a, namespace: shop}\nroleRef: {name: all" + namespace + "}\ngroupNames: ['system:authenticated']\n"
	}
	binding := func(kind, role, subject string) string {
		return fmt.Sprintf("---\napiVersion: rbac.authorization.k8s.io/v1\nkind: %s\nmetadata: {name: a%s}\nroleRef: {apiGroup: rbac.authorization.k8s.io, %s}\nsubjects: [%s, %s]\n",
			kind, map[bool]string{true: ", namespace: shop"}[kind == "RoleBinding"], role, fmt.Sprintf(user, "kim"), subject)
	}
	const admin, all, allHere = "kind: ClusterRole, name: cluster-admin", "kind: ClusterRole, name: all", "kind: Role, name: all"
	for text, refused := range map[string]bool{
		binding("ClusterRoleBinding", admin, fmt.Sprintf(group, "system:unauthenticated")):        true,
		binding("ClusterRoleBinding", admin, fmt.Sprintf(group, "system:authenticated")):          true,
		binding("ClusterRoleBinding", admin, fmt.Sprintf(group, "system:authenticated:oauth")):    true,
		binding("ClusterRoleBinding", admin, fmt.Sprintf(user, "system:anonymous")):               true,
		binding("ClusterRoleBinding", admin, fmt.Sprintf(group, "system:serviceaccounts")):        true,
		binding("RoleBinding", admin, fmt.Sprintf(group, "system:serviceaccounts")):               true,
		binding("ClusterRoleBinding", all, fmt.Sprintf(group, "system:authenticated")) + star:     true,
		star + binding("RoleBinding", all, fmt.Sprintf(group, "system:authenticated")):            true,
		starHere + binding("RoleBinding", allHere, fmt.Sprintf(group, "system:authenticated")):    true,
		starHere + binding("RoleBinding", all, fmt.Sprintf(group, "system:authenticated")):        false, // another role of that name
		tekton + binding("ClusterRoleBinding", all, fmt.Sprintf(group, "system:authenticated")):   false,
		core + binding("ClusterRoleBinding", all, fmt.Sprintf(group, "system:authenticated")):     true,
		noGroup + binding("ClusterRoleBinding", all, fmt.Sprintf(group, "system:authenticated")):  true,
		gathered + binding("ClusterRoleBinding", all, fmt.Sprintf(group, "system:authenticated")): true,
		gathered + binding("ClusterRoleBinding", all, fmt.Sprintf(account, "till")):               false,
		older(", namespace: shop"):  true,
		older(", namespace: other"): false, // refused by the cluster
		older(""):                   false, // a role of the cluster
		older("") + star:            true,
		strings.Replace(star, "{name: all}", "{name: all, namespace: shop}", 1) + binding("ClusterRoleBinding", all, fmt.Sprintf(group, "system:authenticated")):           true,
		reading + binding("ClusterRoleBinding", all, fmt.Sprintf(group, "system:authenticated")):                                                                           false,
		binding("ClusterRoleBinding", "kind: ClusterRole, name: view", fmt.Sprintf(group, "system:authenticated")):                                                         false,
		binding("ClusterRoleBinding", admin, fmt.Sprintf(account, "system:authenticated")):                                                                                 false,
		binding("ClusterRoleBinding", admin, fmt.Sprintf(group, "system:serviceaccounts:shop")):                                                                            false,
		binding("ClusterRoleBinding", admin, fmt.Sprintf(account, "till")) + star:                                                                                          false,
		"apiVersion: authorization.openshift.io/v1\nkind: ClusterRoleBinding\nmetadata: {name: a}\nroleRef: {name: cluster-admin}\ngroupNames: ['system:authenticated']\n": true,
		"apiVersion: authorization.openshift.io/v1\nkind: ClusterRoleBinding\nmetadata: {name: a}\nroleRef: {name: cluster-admin}\nuserNames: ['system:anonymous']\n":      true,
		"apiVersion: template.openshift.io/v1\nkind: TemplateInstance\nmetadata: {name: a, namespace: shop}\nspec: {template: {objects: [{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, " +
			"metadata: {name: b}, roleRef: {kind: ClusterRole, name: cluster-admin}, subjects: [{kind: Group, name: 'system:authenticated'}]}]}}\n": true,
	} {
		err := manifests(text)
		if told := err != nil && strings.Contains(err.Error(), "it gives all rights to everyone"); told != refused || err != nil && !told {
			t.Errorf("%v of\n%s", err, text)
		}
	}
}
