package site

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestManifests: objects are taken with their values as JSON has them, and one that would take node or cluster out of the landing's hands
// is refused, with its line.
func TestManifests(t *testing.T) {
	const config = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: b}\n"
	of := func(apiVersion, kind, meta string) string {
		return fmt.Sprintf("apiVersion: %s\nkind: %s\nmetadata: {%s}\n", apiVersion, kind, meta)
	}
	for text, want := range map[string]string{
		config: "", "# a\n---\n" + config + "---\n---\n" + of("v1", "Namespace", "name: c"): "",
		"":                                      "has no object in it",
		"# nothing\n":                           "has no object in it",
		"just text":                             "is a text where keys and values are expected",
		"- " + "a: b":                           "keys and values are expected",
		"a: [":                                  "is not YAML",
		"a: &x 1\n":                             "has an anchor",
		"a: *x\n":                               "is not YAML",
		"a: !!str 1\n":                          "has a tag",
		config + "data: {a: b, a: c}\n":         "has a key twice in one group, in its line 4",
		config + "data:\n  <<: {a: b}\n":        "has a merge key",
		config + "n: 18446744073709551615\n":    "too large, in its line 4",
		config + "n: .inf\n":                    "a number that JSON does not have",
		config + "---\n" + config:               "has ConfigMap a twice, in its line 5",
		"kind: A\nmetadata: {name: a}\n":        "an object without apiVersion",
		"apiVersion: v1\nmetadata: {name: a}\n": "an object without kind",
		"apiVersion: v1\nkind: A\n":             "an object without metadata.name",
		"apiVersion: v1\nkind: A\nmetadata: [a]\n":       "an object without metadata.name",
		of("v1", "A", `name: "a\u001b[2J"`):              "kind, name or namespace no object can have",
		of("v1", "A", `name: a, namespace: "../x y"`):    "kind, name or namespace no object can have",
		of("v1", "A", `name: ".."`):                      "kind, name or namespace no object can have",
		of("v1", "A", `name: a/b`):                       "kind, name or namespace no object can have",
		of("../../v1", "A", `name: a`):                   "kind, name or namespace no object can have",
		of("v1", "A", "name: "+strings.Repeat("a", 254)): "kind, name or namespace no object can have",
		of("v1", "List", "name: a") + "items: []\n":      "has a list of objects (List)",
		of("v1", "List", `resourceVersion: ""`) + "items:\n- {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}\n":                                                                                 "has a list of objects (List), in its line 1; write its items as objects, with --- between them",
		of("v1", "ConfigMapList", "") + "items: []\n":                                                                                                                                                  "has a list of objects (ConfigMapList)",
		of("v1", `"a\u001b[2JList"`, "") + "items: []\n":                                                                                                                                               "an object without metadata.name",
		of("v1", "ConfigMap", "generateName: a-"):                                                                                                                                                      "has an object with metadata.generateName, which gives it another name each time",
		of("v1", "ConfigMap", "name: a, resourceVersion: '1'"):                                                                                                                                         "has ConfigMap a with metadata.resourceVersion",
		of("v1", "ConfigMap", "name: a, managedFields: []"):                                                                                                                                            "has ConfigMap a with metadata.managedFields",
		of("machineconfiguration.openshift.io/v1", "KubeletConfig", "name: a"):                                                                                                                         "it drains or reboots the node",
		of("performance.openshift.io/v2", "PerformanceProfile", "name: a"):                                                                                                                             "it drains or reboots the node",
		of("nmstate.io/v1", "NodeNetworkConfigurationPolicy", "name: a"):                                                                                                                               "it changes the node's network",
		of("operator.openshift.io/v1", "IngressController", "name: default, namespace: x"):                                                                                                             "it belongs to what the landing changes",
		of("config.openshift.io/v1", "ClusterVersion", "name: version"):                                                                                                                                "it belongs to what the landing changes",
		of("config.openshift.io/v1", "OAuth", "name: cluster"):                                                                                                                                         "",
		of("v1", "Lease", "name: a, namespace: kube-node-lease"):                                                                                                                                       "it lies in a namespace of the cluster's own components",
		of("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", "name: a") + "webhooks: [{failurePolicy: Ignore}, {name: b}]\n":                                                        "without failurePolicy: Ignore",
		of("admissionregistration.k8s.io/v1", "MutatingWebhookConfiguration", "name: a") + "webhooks: [{failurePolicy: Fail}]\n":                                                                       "without failurePolicy: Ignore",
		of("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", "name: a") + "webhooks: [{failurePolicy: Ignore}]\n":                                                                   "",
		of("v1", "ConfigMap", "name: user-ca-bundle, namespace: openshift-config"):                                                                                                                     "it belongs to what the landing changes",
		of("tuned.openshift.io/v1", "Tuned", "name: a, namespace: b"):                                                                                                                                  "it drains or reboots the node",
		of("lca.openshift.io/v1", "ImageBasedUpgrade", "name: upgrade"):                                                                                                                                "it belongs to what the landing changes",
		of("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicyBinding", "name: a") + "spec: {policyName: a, validationActions: [Deny]}\n":                                                    "it can refuse or alter",
		of("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicyBinding", "name: a") + "spec: {policyName: a}\n":                                                                               "it can refuse or alter",
		of("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicyBinding", "name: a") + "spec: {policyName: a, validationActions: [Warn, Audit]}\n":                                             "",
		of("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicy", "name: a") + "spec: {failurePolicy: Fail}\n":                                                                                "",
		of("admissionregistration.k8s.io/v1beta1", "MutatingAdmissionPolicyBinding", "name: a"):                                                                                                        "it can refuse or alter",
		of("apiregistration.k8s.io/v1", "APIService", "name: v1.route.openshift.io"):                                                                                                                   "it can refuse or alter",
		of("flowcontrol.apiserver.k8s.io/v1", "FlowSchema", "name: a"):                                                                                                                                 "it can refuse or alter",
		of("quota.openshift.io/v1", "ClusterResourceQuota", "name: a"):                                                                                                                                 "it can refuse or alter",
		of("policy.networking.k8s.io/v1alpha1", "AdminNetworkPolicy", "name: a"):                                                                                                                       "it can cut the cluster's own components off",
		of("networking.k8s.io/v1", "NetworkPolicy", "name: a, namespace: openshift-monitoring"):                                                                                                        "it can cut the cluster's own components off",
		of("networking.k8s.io/v1", "NetworkPolicy", "name: a, namespace: shop"):                                                                                                                        "",
		of("networking.k8s.io/v1", "NetworkPolicy", "name: a, namespace: openshift-gitops"):                                                                                                            "",
		of("v1", "ResourceQuota", "name: a, namespace: openshift-console"):                                                                                                                             "it can cut the cluster's own components off",
		of("discovery.k8s.io/v1", "EndpointSlice", "name: a, namespace: default"):                                                                                                                      "it can cut the cluster's own components off",
		of("k8s.ovn.org/v1", "EgressIP", "name: a"):                                                                                                                                                    "it changes the node's network",
		of("self-node-remediation.medik8s.io/v1alpha1", "SelfNodeRemediationTemplate", "name: a, namespace: b"):                                                                                        "it drains or reboots the node",
		of("v1", "ConfigMap", "name: a, ownerReferences: []"):                                                                                                                                          "has ConfigMap a with metadata.ownerReferences",
		of("v1", "ConfigMap", "name: a, deletionTimestamp: 2026-01-01T00:00:00Z"):                                                                                                                      "has ConfigMap a with metadata.deletionTimestamp",
		of("config.openshift.io/v1", "ImagePolicy", "name: a, namespace: b"):                                                                                                                           "it belongs to what the landing changes",
		of("config.openshift.io/v1", "Scheduler", "name: cluster") + "spec: {mastersSchedulable: false}":                                                                                               "it can keep the cluster's own pods from starting",
		of("config.openshift.io/v1", "Authentication", "name: cluster") + "spec: {type: OIDC}":                                                                                                         "it replaces the way to log in",
		of("kataconfiguration.openshift.io/v1", "KataConfig", "name: a"):                                                                                                                               "it drains or reboots the node",
		of("compliance.openshift.io/v1alpha1", "ScanSetting", "name: a, namespace: b") + "autoApplyRemediations: true\n":                                                                               "it drains or reboots the node",
		of("compliance.openshift.io/v1alpha1", "ComplianceSuite", "name: a, namespace: b") + "spec: {autoApplyRemediations: true}\n":                                                                   "it drains or reboots the node",
		of("compliance.openshift.io/v1alpha1", "ComplianceRemediation", "name: a, namespace: b") + "spec: {apply: true}\n":                                                                             "it drains or reboots the node",
		of("compliance.openshift.io/v1alpha1", "ScanSetting", "name: a, namespace: b") + "autoApplyRemediations: false\n":                                                                              "",
		of("project.openshift.io/v1", "Project", "name: openshift-etcd"):                                                                                                                               "it lies in a namespace of the cluster's own components",
		of("security.openshift.io/v1", "SecurityContextConstraints", "name: a") + "priority: 1\nusers: ['system:serviceaccount:shop:till']\n":                                                          "with a priority it comes before the cluster's own",
		of("security.openshift.io/v1", "SecurityContextConstraints", "name: a") + "priority: '1'\n":                                                                                                    "with a priority it comes before the cluster's own",
		of("security.openshift.io/v1", "SecurityContextConstraints", "name: a") + "priority: 0\n":                                                                                                      "",
		of("security.openshift.io/v1", "SecurityContextConstraints", "name: a") + "users: ['system:serviceaccount:openshift-monitoring:x']\n":                                                          "it can keep the cluster's own pods from starting",
		of("security.openshift.io/v1", "SecurityContextConstraints", "name: a") + "groups: ['system:authenticated']\n":                                                                                 "it can keep the cluster's own pods from starting",
		of("security.openshift.io/v1", "SecurityContextConstraints", "name: a") + "groups: ['system:serviceaccounts:openshift-monitoring']\n":                                                          "it can keep the cluster's own pods from starting",
		of("security.openshift.io/v1", "SecurityContextConstraints", "name: a") + "priority:\nusers: ['system:serviceaccount:shop:till']\ngroups: ['system:serviceaccounts:shop']\n":                   "",
		of("template.openshift.io/v1", "TemplateInstance", "name: a, namespace: b") + "spec: {template: {objects: [{apiVersion: v1, kind: List, items: [" + rebooting + "]}]}}\n":                      "has TemplateInstance a with MachineConfig in it, and it drains or reboots the node",
		of("policy.open-cluster-management.io/v1", "ConfigurationPolicy", "name: a, namespace: b") + "spec: {remediationAction: enforce, object-templates: [{objectDefinition: " + rebooting + "}]}\n": "has ConfigurationPolicy a with MachineConfig in it, and it drains or reboots the node",
		of("policy.open-cluster-management.io/v1", "ConfigurationPolicy", "name: a, namespace: b") + "spec: {remediationAction: inform, object-templates: [{objectDefinition: " + rebooting + "}]}\n":  "",
		of("policy.open-cluster-management.io/v1", "Policy", "name: a, namespace: b") + "spec: {remediationAction: enforce, policy-templates: [{objectDefinition: {apiVersion: policy.open-cluster-management.io/v1, kind: ConfigurationPolicy, metadata: {name: c}, spec: {remediationAction: inform, object-templates: [{objectDefinition: " + rebooting + "}]}}}]}\n": "has Policy a with MachineConfig in it",
		of("policy.open-cluster-management.io/v1", "ConfigurationPolicy", "name: a, namespace: b") + "spec: {remediationAction: Enforce, object-templates-raw: '[{objectDefinition: " + rebooting + "}]'}\n":                                                                                                                                                             "has ConfigurationPolicy a with MachineConfig in it",
		of("policy.open-cluster-management.io/v1", "ConfigurationPolicy", "name: a, namespace: b") + "spec: {remediationAction: enforce, object-templates-raw: '{{- range x }}\\n- a: b\\n{{- end }}'}\n":                                                                                                                                                                "has ConfigurationPolicy a with object-templates-raw in it, and what it makes cannot be judged",
		of("policy.open-cluster-management.io/v1", "ConfigurationPolicy", "name: a, namespace: b") + "spec: {remediationAction: enforce, object-templates-raw: '[{objectDefinition: {apiVersion: v1, kind: ConfigMap, metadata: {name: d}}}]'}\n":                                                                                                                        "",
		of("policy.open-cluster-management.io/v1", "ConfigurationPolicy", "name: a, namespace: b") + "spec: {remediationAction: inform, object-templates-raw: '{{ range x }}'}\n":                                                                                                                                                                                        "",
		of("example.com/v1", "A", "name: a") + "spec: {ref: {apiVersion: machineconfiguration.openshift.io/v1, kind: MachineConfig, name: x}}\n":                                                                                                                                                                                                                         "",
		of("v1", "Node", "name: sno"):                                                             "it belongs to what the landing changes",
		of("example.com/v1", "Node", "name: sno"):                                                 "",
		of("v1", "Secret", "name: kubeadmin, namespace: kube-system"):                             "it lies in a namespace of the cluster's own components",
		of("v1", "Namespace", "name: openshift-etcd"):                                             "it lies in a namespace of the cluster's own components",
		of("v1", "ConfigMap", "name: a, namespace: openshift-kube-apiserver-operator"):            "it lies in a namespace of the cluster's own components",
		of("v1", "Secret", "name: pull-secret, namespace: openshift-config"):                      "it belongs to what the landing changes",
		of("v1", "ConfigMap", "name: cluster-monitoring-config, namespace: openshift-monitoring"): "",
		strings.Repeat("---\n"+config, 2)[:4] + many(mostManifests):                               "",
		many(mostManifests + 1):                                                                   "more than the 100 objects",
	} {
		err := manifests(text)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%.60q: %v, want %q", text, err, want)
		}
	}
}

// rebooting is an object as another one may hold it.
const rebooting = "{apiVersion: machineconfiguration.openshift.io/v1, kind: MachineConfig, metadata: {name: x}}"

func many(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a%d, namespace: b}\n", i)
	}
	return b.String()
}

// TestManifestValues: dates and long numbers stay what they are, and yes is a text, as in YAML of today.
func TestManifestValues(t *testing.T) {
	c := New()
	if err := c.Set("spec.manifests", "apiVersion: v1\nkind: A\nmetadata: {name: a}\nd: 2026-01-02\nm: 0644\nn: 1.5\nb: True\ny: yes\nz:\nl: [1, x]\ne: {}\n"); err != nil {
		t.Fatal(err)
	}
	all, err := c.Spec.Objects()
	if err != nil || len(all) != 1 {
		t.Fatalf("%v, %v", all, err)
	}
	for key, want := range map[string]string{"d": "2026-01-02", "m": "420", "n": "1.5", "b": "true", "y": "yes", "z": "<nil>", "l": "[1 x]", "e": "map[]"} {
		if got := fmt.Sprint(all[0][key]); got != want {
			t.Errorf("%s is %s, want %s", key, got, want)
		}
	}
	if _, is := all[0]["b"].(bool); !is {
		t.Errorf("b is %T", all[0]["b"])
	}
}

// TestManifestSecrets: what is in Secrets is kept out of all texts, encoded and decoded, while the lines around it, which stand in other
// documents too, are left alone.
func TestManifestSecrets(t *testing.T) {
	c := New()
	text := "apiVersion: v1\nkind: Secret\nmetadata: {name: bootstrap, namespace: a}\ndata: {kubeconfig: UExBTlRFRC0x}\nstringData: {x: PLANTED-2}\n---\n" +
		"apiVersion: hub.example.com/v1\nkind: Agent\nmetadata: {name: a}\nspec: {bindPassword: PLANTED-3, secretName: bootstrap, list: [{token: PLANTED-4}]}\n"
	if err := c.Set("spec.manifests", text); err != nil {
		t.Fatal(err)
	}
	got := c.SecretTexts()
	slices.Sort(got)
	if want := []string{"PLANTED-1", "PLANTED-2", "PLANTED-3", "PLANTED-4", "UExBTlRFRC0x"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if out, err := c.Marshal(true); err != nil || strings.Contains(string(out), "PLANTED") {
		t.Errorf("%v\n%s", err, out)
	}
	if c.WithoutSecrets().Spec.Manifests != "" {
		t.Error("a document without secrets has them")
	}
}
