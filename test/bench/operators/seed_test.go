package operators

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	configv1 "github.com/openshift/api/config/v1"
	"github.com/openshift/api/features"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"touchdown/test/bench"
)

// kinds are those that the operators only want to list or to make: definitions without a schema are enough.
var kinds = []string{
	"security.openshift.io/v1/SecurityContextConstraints/securitycontextconstraints/Cluster",
	"migration.k8s.io/v1alpha1/StorageVersionMigration/storageversionmigrations/Cluster",
	"monitoring.coreos.com/v1/PrometheusRule/prometheusrules/Namespaced",
	"monitoring.coreos.com/v1/ServiceMonitor/servicemonitors/Namespaced",
	"ingress.operator.openshift.io/v1/DNSRecord/dnsrecords/Namespaced",
	"operators.coreos.com/v1alpha1/Subscription/subscriptions/Namespaced",
	"operators.coreos.com/v1alpha1/InstallPlan/installplans/Namespaced",
	"console.openshift.io/v1/ConsolePlugin/consoleplugins/Cluster",
	"console.openshift.io/v1/ConsoleNotification/consolenotifications/Cluster",
	"console.openshift.io/v1/ConsoleLink/consolelinks/Cluster",
	"oauth.openshift.io/v1/OAuthClient/oauthclients/Cluster",
	"oauth.openshift.io/v1/OAuthAccessToken/oauthaccesstokens/Cluster",
	"oauth.openshift.io/v1/OAuthAuthorizeToken/oauthauthorizetokens/Cluster",
	"oauth.openshift.io/v1/OAuthClientAuthorization/oauthclientauthorizations/Cluster",
	"machineconfiguration.openshift.io/v1/ControllerConfig/controllerconfigs/Cluster",
	"machineconfiguration.openshift.io/v1/ContainerRuntimeConfig/containerruntimeconfigs/Cluster",
	"machineconfiguration.openshift.io/v1/MachineOSConfig/machineosconfigs/Cluster",
	"machineconfiguration.openshift.io/v1/MachineOSBuild/machineosbuilds/Cluster",
	"machineconfiguration.openshift.io/v1/MachineConfigNode/machineconfignodes/Cluster",
	"machineconfiguration.openshift.io/v1/PinnedImageSet/pinnedimagesets/Cluster",
	"machine.openshift.io/v1beta1/MachineSet/machinesets/Namespaced",
	"config.openshift.io/v1alpha1/ClusterImagePolicy/clusterimagepolicies/Cluster",
	"config.openshift.io/v1alpha1/ImagePolicy/imagepolicies/Namespaced",
	"user.openshift.io/v1/User/users/Cluster",
	"user.openshift.io/v1/Identity/identities/Cluster",
	"user.openshift.io/v1/Group/groups/Cluster",
}

// gates are feature gates that these operators ask for and the bench's release of openshift/api does not know.
var gates = []configv1.FeatureGateName{
	"CRDCompatibilityRequirementOperator", "ClusterAPIMachineManagement", "GatewayAPIWithoutOLM", "HyperShiftOnlyDynamicResourceAllocation",
	"KMSEncryption", "MutableCSINodeAllocatableCount", "NewOLMBoxCutterRuntime", "NoRegistryClusterInstall", "OSStreams", "OnPremDNSRecords",
	"ProvisioningRequestAvailable",
}

// seeds are what a cluster has of the operators that do not run here.
type seeds struct {
	t    *testing.T
	dir  string // of the bench's certificates
	kube kubernetes.Interface
	dyn  dynamic.Interface
}

// prepare gives the cluster what the real operators need beyond the bench's own seed.
func prepare(t *testing.T, b *bench.Cluster) *seeds {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", operatorConfig(b))
	fatal(t, err)
	config.QPS = -1
	s := &seeds{t: t, dir: filepath.Join(b.Dir, "pki")}
	s.kube, err = kubernetes.NewForConfig(config)
	fatal(t, err)
	s.dyn, err = dynamic.NewForConfig(config)
	fatal(t, err)
	s.definitions()
	s.featureGates()
	for _, name := range []string{
		"openshift-apiserver", "openshift-infra", "openshift-kube-apiserver", "openshift-kube-apiserver-operator", "openshift-etcd",
		"openshift-authentication-operator", "openshift-oauth-apiserver", "openshift-operators", "openshift-ingress-canary",
		"openshift-console-operator", "openshift-console-user-settings",
	} {
		s.put(s.kube.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{}))
	}
	s.forKubeAPIServer()
	s.forIngress(b)
	s.forAuthentication(b)
	s.forConsole(b)
	s.forMachineConfig(b)
	return s
}

// forIngress takes away what the bench's seed has in the name of the ingress operator and in another form: it makes its own.
func (s *seeds) forIngress(b *bench.Cluster) {
	if !slices.Contains(b.Real, "ingress") {
		return
	}
	fatal(s.t, s.kube.AppsV1().Deployments("openshift-ingress").Delete(s.t.Context(), "router-default", metav1.DeleteOptions{}))
	s.configMap("openshift-ingress-operator", "trusted-ca", "ca-bundle.crt", s.file("router-ca.crt"))
	bundle := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "service-ca-bundle", Annotations: map[string]string{"service.beta.openshift.io/inject-cabundle": "true"}}}
	bundle.Data = map[string]string{"service-ca.crt": s.file("signing-key.crt")} // what service-ca gives the router, as the next one
	s.put(s.kube.CoreV1().ConfigMaps("openshift-ingress").Create(s.t.Context(), bundle, metav1.CreateOptions{}))
	s.pair("openshift-ingress", "router-metrics-certs-default", "localhost-serving-cert-certkey")
}

// forKubeAPIServer plays what the installer and the operators of etcd and of kube-controller-manager leave for it.
func (s *seeds) forKubeAPIServer() {
	ca := s.file("loadbalancer-serving-signer.crt")
	s.configMap("openshift-config", "etcd-serving-ca", "ca-bundle.crt", ca)
	s.configMap("openshift-etcd", "etcd-all-bundles", "server-ca-bundle.crt", ca)
	s.configMap("openshift-config", "initial-kube-apiserver-server-ca", "ca-bundle.crt", ca)
	s.configMap("openshift-config-managed", "sa-token-signing-certs", "service-account-001.pub", s.file("service-account.pub"))
	s.configMap("openshift-kube-apiserver", "config-7", "config.yaml", "{}") // of the revision that the bench begins with
	s.pair("openshift-config", "etcd-client", "kubelet-client")
	s.account("openshift-kube-apiserver-operator", "kube-apiserver-operator")
}

// forConsole takes away the seed's deployments, whose selectors are not the operator's.
func (s *seeds) forConsole(b *bench.Cluster) {
	if !slices.Contains(b.Real, "console") {
		return
	}
	for _, name := range []string{"console", "downloads"} {
		fatal(s.t, s.kube.AppsV1().Deployments("openshift-console").Delete(s.t.Context(), name, metav1.DeleteOptions{}))
	}
	s.configMap("openshift-config-managed", "oauth-serving-cert", "ca-bundle.crt", s.file("router-ca.crt")) // the authentication operator's
	s.configMap("openshift-console-operator", "telemetry-config", "ACCOUNT_MAIL", "nobody@plant.example")
	client := map[string]any{"apiVersion": "oauth.openshift.io/v1", "kind": "OAuthClient", "metadata": map[string]any{"name": "console"}}
	oauth := schema.GroupVersionResource{Group: "oauth.openshift.io", Version: "v1", Resource: "oauthclients"}
	s.put(s.dyn.Resource(oauth).Create(s.t.Context(), &unstructured.Unstructured{Object: client}, metav1.CreateOptions{}))
	s.configMap("openshift-console", "service-ca", "service-ca.crt", s.file("signing-key.crt"))
	s.pair("openshift-console", "console-serving-cert", "localhost-serving-cert-certkey") // service-ca's
	s.configMap("openshift-console", "trusted-ca-bundle", "ca-bundle.crt", s.file("router-ca.crt"))
}

// forAuthentication plays what the operators of service-ca and of the API servers leave for it.
func (s *seeds) forAuthentication(b *bench.Cluster) {
	if !slices.Contains(b.Real, "authentication") {
		return
	}
	const server, api = "openshift-authentication", "openshift-oauth-apiserver"
	fatal(s.t, s.kube.AppsV1().Deployments(server).Delete(s.t.Context(), "oauth-openshift", metav1.DeleteOptions{}))
	s.configMap("openshift-config-managed", "service-ca", "ca-bundle.crt", s.file("signing-key.crt"))
	s.configMap("openshift-authentication-operator", "trusted-ca-bundle", "ca-bundle.crt", s.file("router-ca.crt"))
	s.configMap(server, "v4-0-config-system-service-ca", "service-ca.crt", s.file("signing-key.crt"))
	s.account("openshift-authentication-operator", "authentication-operator")
	s.pair(server, "v4-0-config-system-serving-cert", "localhost-serving-cert-certkey")
	s.pair(api, "serving-cert", "localhost-serving-cert-certkey")
	s.secret("openshift-config", "webhook-authentication-integrated-oauth", corev1.SecretTypeOpaque, map[string]string{"kubeConfig": "{}"})
	// The ingress operator's, with the key.
	key := map[string]any{"stringData": map[string]any{"apps." + b.Domain: s.file("router-certs-default.crt") + s.file("router-certs-default.key")}}
	s.patch(schema.GroupVersionResource{Version: "v1", Resource: "secrets"}, "openshift-config-managed", "router-certs", key)
}

func (s *seeds) put(_ any, err error) {
	s.t.Helper()
	if err != nil && !apierrors.IsAlreadyExists(err) {
		s.t.Fatal(err)
	}
}

func (s *seeds) file(name string) string {
	s.t.Helper()
	text, err := os.ReadFile(filepath.Join(s.dir, name))
	fatal(s.t, err)
	return string(text)
}

func (s *seeds) configMap(namespace, name, key, value string) {
	s.t.Helper()
	cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: map[string]string{key: value}}
	s.put(s.kube.CoreV1().ConfigMaps(namespace).Create(s.t.Context(), cm, metav1.CreateOptions{}))
}

func (s *seeds) secret(namespace, name string, kind corev1.SecretType, data map[string]string) {
	s.t.Helper()
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name}, Type: kind, StringData: data}
	s.put(s.kube.CoreV1().Secrets(namespace).Create(s.t.Context(), secret, metav1.CreateOptions{}))
}

// pair stores a certificate of the bench under the name that an operator looks for.
func (s *seeds) pair(namespace, name, of string) {
	s.t.Helper()
	s.secret(namespace, name, corev1.SecretTypeTLS, map[string]string{"tls.crt": s.file(of + ".crt"), "tls.key": s.file(of + ".key")})
}

func (s *seeds) account(namespace, name string) {
	s.t.Helper()
	sa := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: name}}
	s.put(s.kube.CoreV1().ServiceAccounts(namespace).Create(s.t.Context(), sa, metav1.CreateOptions{}))
}

func (s *seeds) definitions() {
	s.t.Helper()
	crds := s.dyn.Resource(schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"})
	for _, kind := range kinds {
		f := strings.Split(kind, "/")
		crd := map[string]any{
			"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
			"metadata": map[string]any{"name": f[3] + "." + f[0], "annotations": map[string]any{"api-approved.kubernetes.io": "unapproved, a test's own"}},
			"spec": map[string]any{
				"group": f[0], "scope": f[4],
				"names": map[string]any{"kind": f[2], "listKind": f[2] + "List", "plural": f[3], "singular": strings.ToLower(f[2])},
				"versions": []any{map[string]any{
					"name": f[1], "served": true, "storage": true, "subresources": map[string]any{"status": map[string]any{}},
					"schema": map[string]any{"openAPIV3Schema": map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true}},
				}},
			},
		}
		s.put(crds.Create(s.t.Context(), &unstructured.Unstructured{Object: crd}, metav1.CreateOptions{}))
	}
}

// featureGates says which gates the release has, as the config operator does.
func (s *seeds) featureGates() {
	s.t.Helper()
	all, err := features.FeatureSets(features.SelfManaged, configv1.Default)
	fatal(s.t, err)
	details := configv1.FeatureGateDetails{Version: release}
	for _, g := range all.Enabled {
		details.Enabled = append(details.Enabled, configv1.FeatureGateAttributes{Name: g.FeatureGateAttributes.Name})
	}
	for _, g := range all.Disabled {
		details.Disabled = append(details.Disabled, configv1.FeatureGateAttributes{Name: g.FeatureGateAttributes.Name})
	}
	for _, name := range gates {
		details.Disabled = append(details.Disabled, configv1.FeatureGateAttributes{Name: name})
	}
	s.patch(schema.GroupVersionResource{Group: "config.openshift.io", Version: "v1", Resource: "featuregates"}, "", "cluster",
		map[string]any{"status": configv1.FeatureGateStatus{FeatureGates: []configv1.FeatureGateDetails{details}}}, "status")
}

func (s *seeds) patch(r schema.GroupVersionResource, namespace, name string, change any, sub ...string) {
	s.t.Helper()
	text, err := json.Marshal(change)
	fatal(s.t, err)
	_, err = s.dyn.Resource(r).Namespace(namespace).Patch(context.Background(), name, types.MergePatchType, text, metav1.PatchOptions{}, sub...)
	fatal(s.t, err)
}
