package site

import (
	"strings"
	"testing"
)

// TestManifestsAgainstTheCluster: objects that let a cluster come to its end, and keep it from starting again at its next reboot, are refused.
func TestManifestsAgainstTheCluster(t *testing.T) {
	const start, port, changes = "it can keep the cluster's own pods from starting again", "it takes a TCP port of the node", "it can refuse or alter"
	const pod = "{containers: [{name: a, image: b, ports: [{containerPort: 8443, hostPort: 443}]}]}"
	const host = "{hostNetwork: true, containers: [{name: a, image: b, ports: [{containerPort: 6443}]}]}"
	of := func(apiVersion, kind, meta, rest string) string {
		return "apiVersion: " + apiVersion + "\nkind: " + kind + "\nmetadata: {" + meta + "}\n" + rest + "\n"
	}
	for text, want := range map[string]string{
		of("v1", "Namespace", "name: openshift-monitoring, annotations: {openshift.io/node-selector: 'disk=ssd'}", ""):                                                                                                start,
		of("v1", "Namespace", "name: openshift-multus, labels: {pod-security.kubernetes.io/enforce: restricted}", ""):                                                                                                 start,
		of("project.openshift.io/v1", "Project", "name: openshift-console, annotations: {scheduler.alpha.kubernetes.io/node-selector: 'a=b'}", ""):                                                                    start,
		of("v1", "Namespace", "name: openshift-monitoring, labels: {openshift.io/cluster-monitoring: 'true'}", ""):                                                                                                    "",
		of("v1", "Namespace", "name: shop, annotations: {openshift.io/node-selector: 'disk=ssd'}, labels: {pod-security.kubernetes.io/enforce: a}", ""):                                                               "",
		of("v1", "ConfigMap", "name: openshift-monitoring, namespace: openshift-monitoring, annotations: {openshift.io/a: b}", ""):                                                                                    "",
		of("apiextensions.k8s.io/v1", "CustomResourceDefinition", "name: clusteroperators.config.openshift.io", "spec: {group: config.openshift.io, conversion: {strategy: Webhook}}"):                                changes,
		of("apiextensions.k8s.io/v1", "CustomResourceDefinition", "name: egressips.k8s.ovn.org", ""):                                                                                                                  changes,
		of("apiextensions.k8s.io/v1", "CustomResourceDefinition", "name: klusterlets.operator.open-cluster-management.io", "spec: {group: operator.open-cluster-management.io}"):                                      "",
		of("apiextensions.k8s.io/v1", "CustomResourceDefinition", "name: kataconfigs.kataconfiguration.openshift.io", ""):                                                                                             "",
		of("v1", "Pod", "name: a, namespace: b", "spec: "+pod):                                                                                                                                                        port,
		of("v1", "Pod", "name: a, namespace: b", "spec: "+host):                                                                                                                                                       port,
		of("v1", "Pod", "name: a, namespace: b", "spec: "+strings.Replace(host, "6443}", "6443, protocol: UDP}", 1)):                                                                                                  "",
		of("v1", "Pod", "name: a, namespace: b", "spec: "+strings.Replace(host, "hostNetwork: true, ", "", 1)):                                                                                                        "",
		of("v1", "Pod", "name: a, namespace: b", "spec: "+strings.Replace(pod, "hostPort: 443", "hostPort: 8080", 1)):                                                                                                 "",
		of("apps/v1", "DaemonSet", "name: a, namespace: b", "spec: {template: {spec: "+pod+"}}"):                                                                                                                      port,
		of("apps/v1", "Deployment", "name: a, namespace: b", "spec: {template: {spec: "+strings.Replace(host, "containers", "initContainers", 1)+"}}"):                                                                port,
		of("batch/v1", "CronJob", "name: a, namespace: b", "spec: {jobTemplate: {spec: {template: {spec: "+host+"}}}}"):                                                                                               port,
		of("example.com/v1", "Till", "name: a, namespace: b", "spec: {template: {spec: "+pod+"}}"):                                                                                                                    "",
		of("template.openshift.io/v1", "TemplateInstance", "name: a, namespace: b", "spec: {template: {objects: [{apiVersion: apps/v1, kind: Deployment, metadata: {name: x}, spec: {template: {spec: "+pod+"}}}]}}"): port,
		of("apps/v1", "Deployment", "name: a, namespace: b", "spec: [1]"):                                                                                                                                             "",
		of("v1", "Pod", "name: a, namespace: b", "spec: {containers: [x, {ports: {a: b}}, {ports: [1, {hostPort: '443'}]}]}"):                                                                                         "",
		of("v1", "Namespace", "name: openshift-monitoring, annotations: {openshift.io/node-selector: ''}", ""):                                                                                                        "",
		of("v1", "Namespace", "name: openshift-multus, labels: {pod-security.kubernetes.io/enforce: privileged, pod-security.kubernetes.io/enforce-version: latest}", ""):                                             "",
		of("v1", "Namespace", "name: openshift-cluster-observability-operator, labels: {pod-security.kubernetes.io/enforce: restricted}", ""):                                                                         "",
		of("apiextensions.k8s.io/v1", "CustomResourceDefinition", "name: certmanagers.operator.openshift.io", "spec: {group: operator.openshift.io}"):                                                                 "",
		of("apiextensions.k8s.io/v1", "CustomResourceDefinition", "name: istiocsrs.operator.openshift.io", "spec: {group: operator.openshift.io}"):                                                                    "",
		of("apiextensions.k8s.io/v1", "CustomResourceDefinition", "name: http01proxies.operator.openshift.io", "spec: {group: operator.openshift.io}"):                                                                "",
		of("apiextensions.k8s.io/v1", "CustomResourceDefinition", "name: etcds.operator.openshift.io", "spec: {group: operator.openshift.io}"):                                                                        changes,
	} {
		err := manifests(text)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}
