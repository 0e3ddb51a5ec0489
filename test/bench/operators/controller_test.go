package operators

import (
	"encoding/base64"
	"encoding/json"
	"slices"
	"testing"

	configv1 "github.com/openshift/api/config/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"touchdown/backend/layout"
	"touchdown/test/bench"
)

const (
	machineConfigs = "machineconfiguration.openshift.io/"
	plantProxy     = "http://proxy.plant.example:3128"
	unversioned    = "v0.0.0-was-not-built-properly" // what a controller of its module calls its version
)

func machineKind(resource string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "machineconfiguration.openshift.io", Version: "v1", Resource: resource}
}

// runMachineConfigController starts the part of the Machine Config Operator that makes MachineConfigs of templates and objects,
// renders them for the pools and tells the nodes what to have.
func runMachineConfigController(t *testing.T, b *bench.Cluster) {
	t.Helper()
	run(t, b, "machine-config", []string{"RELEASE_VERSION=" + release}, "start", "--kubeconfig", operatorConfig(b), "--templates",
		built(t, "machine-config-templates"), "--resourcelock-namespace", "openshift-machine-config-operator", "--metrics-listen-address", "127.0.0.1:"+port(t), "--v", "2")
}

// forMachineConfig plays the Machine Config Operator itself: it puts what the cluster is into a ControllerConfig. The bench keeps
// what of it comes from the Proxy and the trust bundles.
func (s *seeds) forMachineConfig(b *bench.Cluster) {
	if !slices.Contains(b.Real, "machine-config") {
		return
	}
	s.put(s.kube.CoreV1().Namespaces().Create(s.t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "openshift-machine-api"}}, metav1.CreateOptions{}))
	s.secret("openshift-machine-api", "master-user-data-managed", corev1.SecretTypeOpaque, map[string]string{"userData": "{}"})
	ca := base64.StdEncoding.EncodeToString([]byte(s.file("loadbalancer-serving-signer.crt")))
	images := map[string]any{}
	for _, key := range []string{
		"machineConfigOperator", "apiServerWatcherKey", "infraImageKey", "keepalivedImage", "corednsImage", "haproxyImage", "baremetalRuntimeCfgImage", "kubeRbacProxyImage",
	} {
		images[key] = "example/" + key + ":1"
	}
	const osImage = "example.com/os@sha256:05a105a105a105a105a105a105a105a105a105a105a105a105a105a105a105a1"
	none := configv1.PlatformStatus{Type: configv1.NonePlatformType}
	spec := map[string]any{
		"clusterDNSIP": "172.30.0.10", "cloudProviderConfig": "", "platform": "none", "etcdDiscoveryDomain": "", "kubeAPIServerServingCAData": ca, "rootCAData": ca,
		"images": images, "releaseImage": osImage, "baseOSContainerImage": osImage, "baseOSExtensionsContainerImage": osImage, "osImageURL": osImage,
		"networkType": "OVNKubernetes", "network": map[string]any{"mtuMigration": nil}, "ipFamilies": "IPv4",
		"pullSecret": map[string]any{"namespace": "openshift-config", "name": "pull-secret"},
		"infra": s.tree(configv1.Infrastructure{
			TypeMeta: metav1.TypeMeta{APIVersion: "config.openshift.io/v1", Kind: "Infrastructure"}, ObjectMeta: metav1.ObjectMeta{Name: "cluster"},
			Status: configv1.InfrastructureStatus{
				Platform: none.Type, PlatformStatus: &none, ControlPlaneTopology: configv1.SingleReplicaTopologyMode, InfrastructureTopology: configv1.SingleReplicaTopologyMode,
				CPUPartitioning: configv1.CPUPartitioningNone, APIServerURL: "https://api." + b.Domain + ":6443", APIServerInternalURL: "https://api-int." + b.Domain + ":6443",
			},
		}),
		"dns": s.tree(configv1.DNS{
			TypeMeta: metav1.TypeMeta{APIVersion: "config.openshift.io/v1", Kind: "DNS"}, ObjectMeta: metav1.ObjectMeta{Name: "cluster"}, Spec: configv1.DNSSpec{BaseDomain: b.Domain},
		}),
	}
	object := map[string]any{
		"apiVersion": machineConfigs + "v1", "kind": "ControllerConfig", "spec": spec,
		"metadata": map[string]any{"name": "machine-config-controller", "annotations": map[string]any{
			machineConfigs + "generated-by-version": unversioned, machineConfigs + "release-image-version": release,
		}},
	}
	// An installation with FIPS: it cannot be switched on later.
	mode := map[string]any{"spec": map[string]any{"fips": true}}
	pool, err := s.dyn.Resource(machineKind("machineconfigpools")).Get(s.t.Context(), layout.Pool, metav1.GetOptions{})
	fatal(s.t, err)
	rendered, _, err := unstructured.NestedString(pool.Object, "spec", "configuration", "name")
	fatal(s.t, err)
	s.patch(machineKind("machineconfigs"), "", rendered, mode)
	fips := map[string]any{
		"apiVersion": machineConfigs + "v1", "kind": "MachineConfig", "spec": map[string]any{"fips": true, "config": map[string]any{"ignition": map[string]any{"version": "3.2.0"}}},
		"metadata": map[string]any{"name": "99-master-fips", "labels": map[string]any{machineConfigs + "role": layout.Pool}},
	}
	s.put(s.dyn.Resource(machineKind("machineconfigs")).Create(s.t.Context(), &unstructured.Unstructured{Object: fips}, metav1.CreateOptions{}))
	s.put(s.dyn.Resource(machineKind("controllerconfigs")).Create(s.t.Context(), &unstructured.Unstructured{Object: object}, metav1.CreateOptions{}))
	// Last: kube-apiserver starts again for a proxy.
	s.configMap("openshift-config", "user-ca-bundle", "ca-bundle.crt", s.file("router-ca.crt"))
	s.patch(schema.GroupVersionResource{Group: "config.openshift.io", Version: "v1", Resource: "proxies"}, "", "cluster",
		map[string]any{"spec": map[string]any{"httpProxy": plantProxy, "noProxy": ".svc"}})
}

// tree is an object as JSON has it.
func (s *seeds) tree(object any) map[string]any {
	s.t.Helper()
	text, err := json.Marshal(object)
	fatal(s.t, err)
	var tree map[string]any
	fatal(s.t, json.Unmarshal(text, &tree))
	return tree
}
