package steps_test

import (
	"context"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"touchdown/backend"
	"touchdown/backend/kube"
	"touchdown/test/wait"
)

// policy refuses each ConfigMap that is called refused and is valid otherwise; the binding says whether it does so or only warns.
const (
	policy = `apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: refuses}
spec:
  failurePolicy: Ignore
  matchConstraints: {resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [configmaps]}]}
  validations: [{expression: "object.metadata.name != 'refused'"}]
`
	binding = "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicyBinding\nmetadata: {name: refuses}\nspec: {policyName: refuses, validationActions: [ACTIONS]}\n"
)

// putting writes objects as kubectl would, with nothing of the product between them and the API.
func putting(ctx context.Context, c *kube.Cluster, path, object string, dryRun bool) error {
	call := c.Core.RESTClient().Patch(types.ApplyPatchType).AbsPath(path).Param("fieldManager", "kubectl").Body([]byte(object))
	if dryRun {
		call = call.Param("dryRun", "All")
	}
	return call.Do(ctx).Error()
}

// refusedKinds shows that the real API takes what the site config refuses, so that nothing but that refusal keeps it away from a cluster,
// what a denial would do there, and that a policy that only warns lands.
func refusedKinds(t *testing.T, n *backend.Node) {
	t.Helper()
	c := n.Kube
	const admission = "/apis/admissionregistration.k8s.io/v1/"
	deny := strings.ReplaceAll(binding, "ACTIONS", "Deny")
	for _, d := range []struct{ path, text, why string }{
		{admission + "validatingadmissionpolicybindings/refuses", deny, "it can refuse or alter"},
		{"/apis/apiregistration.k8s.io/v1/apiservices/v1.template.openshift.io", "apiVersion: apiregistration.k8s.io/v1\nkind: APIService\nmetadata: {name: v1.template.openshift.io}\n" +
			"spec: {group: template.openshift.io, version: v1, groupPriorityMinimum: 100, versionPriority: 100, insecureSkipTLSVerify: true, service: {name: a, namespace: default}}\n", "it can refuse or alter"},
		{"/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas/starve", "apiVersion: flowcontrol.apiserver.k8s.io/v1\nkind: FlowSchema\nmetadata: {name: starve}\n" +
			"spec: {priorityLevelConfiguration: {name: catch-all}, matchingPrecedence: 2, rules: [{subjects: [{kind: Group, group: {name: 'system:masters'}}], resourceRules: [{verbs: ['*'], apiGroups: ['*'], resources: ['*'], clusterScope: true, namespaces: ['*']}]}]}\n", "it can refuse or alter"},
		{"/api/v1/namespaces/openshift-monitoring/resourcequotas/none", "apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: none, namespace: openshift-monitoring}\nspec: {hard: {pods: '0'}}\n", "it can cut the cluster's own components off"},
		{"/apis/networking.k8s.io/v1/namespaces/openshift-console/networkpolicies/none", "apiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\nmetadata: {name: none, namespace: openshift-console}\nspec: {podSelector: {}, policyTypes: [Ingress, Egress]}\n", "it can cut the cluster's own components off"},
		{"/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/kubernetes-2", "apiVersion: discovery.k8s.io/v1\nkind: EndpointSlice\nmetadata: {name: kubernetes-2, namespace: default, labels: {kubernetes.io/service-name: kubernetes}}\n" +
			"addressType: IPv4\nendpoints: [{addresses: [192.0.2.1]}]\nports: [{name: https, port: 6443}]\n", "it can cut the cluster's own components off"},
		{admission + "validatingwebhookconfigurations/late", "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingWebhookConfiguration\nmetadata: {name: late}\n" +
			"webhooks: [{name: a.example.com, sideEffects: None, admissionReviewVersions: [v1], clientConfig: {url: 'https://192.0.2.1/'}, rules: [{apiGroups: [''], apiVersions: [v1], operations: ['*'], resources: [pods]}]}]\n", "without failurePolicy: Ignore"},
	} {
		if err := putting(t.Context(), c, d.path, d.text, true); err != nil {
			t.Errorf("the API itself refuses %s: %v", d.path, err)
		}
		if _, err := brings(t, d.text).Spec.Objects(); err == nil || !strings.Contains(err.Error(), d.why) {
			t.Errorf("%s: %v, want %q", d.path, err, d.why)
		}
	}
	denial(t, c, admission, deny)
	warns := strings.ReplaceAll(binding, "ACTIONS", "Warn, Audit")
	apply := step(t, brings(t, policy+"---\n"+warns), "manifests")
	r := newReport()
	if err := apply.Run(t.Context(), n, r); err != nil {
		t.Fatalf("a policy that only warns: %v", err)
	}
	bound := kube.Ref{Group: "admissionregistration.k8s.io", Version: "v1", Resource: "validatingadmissionpolicybindings", Name: "refuses"}
	if len(seen(t, c, bound)) != 1 {
		t.Error("a policy that only warns has not landed")
	}
	if err := putting(t.Context(), c, "/api/v1/namespaces/default/configmaps/refused", refusedMap, true); err != nil {
		t.Errorf("a policy that only warns refuses: %v", err)
	}
}

const refusedMap = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: refused, namespace: default}\n"

// denial shows what one refused object does to the cluster: a write that nothing is wrong with no longer goes through.
func denial(t *testing.T, c *kube.Cluster, admission, deny string) {
	t.Helper()
	names := []string{admission + "validatingadmissionpolicies/refuses", admission + "validatingadmissionpolicybindings/refuses"}
	for i, text := range []string{policy, deny} {
		if err := putting(t.Context(), c, names[i], text, false); err != nil {
			t.Fatal(err)
		}
	}
	write := func() error {
		return putting(t.Context(), c, "/api/v1/namespaces/default/configmaps/refused", refusedMap, true)
	}
	wait.Until(t, "the API to refuse a ConfigMap", func() bool { err := write(); return apierrors.IsInvalid(err) || apierrors.IsForbidden(err) })
	for _, name := range names {
		if err := c.Core.RESTClient().Delete().AbsPath(name).Do(t.Context()).Error(); err != nil {
			t.Fatal(err)
		}
	}
	wait.Until(t, "the API to take it again", func() bool { return write() == nil })
}
