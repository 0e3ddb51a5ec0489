package kube

import (
	"context"

	configv1 "github.com/openshift/api/config/v1"
	machinev1 "github.com/openshift/api/machineconfiguration/v1"
	operatorv1 "github.com/openshift/api/operator/v1"
	routev1 "github.com/openshift/api/route/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
)

// The groups of which this program reads objects by their types, with the kinds that it reads.
type (
	coreKinds          group
	certificatesKinds  group
	configKinds        group
	operatorKinds      group
	routeKinds         group
	machineConfigKinds group
)

// withKinds lets a cluster's objects be read by their types.
func withKinds(c *Cluster, client rest.Interface) {
	at := func(version schema.GroupVersion) group { return group{client, "/apis/" + version.String()} }
	c.Core = coreKinds{client, "/api/" + corev1.SchemeGroupVersion.Version}
	c.Certificates = certificatesKinds(at(certificatesv1.SchemeGroupVersion))
	c.Config = configKinds(at(configv1.GroupVersion))
	c.Operator = operatorKinds(at(operatorv1.GroupVersion))
	c.Route = routeKinds(at(routev1.GroupVersion))
	c.MachineConfig = machineConfigKinds(at(machinev1.GroupVersion))
}

func (k coreKinds) Nodes() objects[corev1.Node, corev1.NodeList] {
	return objects[corev1.Node, corev1.NodeList]{group(k), "nodes", ""}
}

func (k coreKinds) Namespaces() objects[corev1.Namespace, corev1.NamespaceList] {
	return objects[corev1.Namespace, corev1.NamespaceList]{group(k), "namespaces", ""}
}

func (k coreKinds) Secrets(namespace string) objects[corev1.Secret, corev1.SecretList] {
	return objects[corev1.Secret, corev1.SecretList]{group(k), "secrets", namespace}
}

func (k coreKinds) ConfigMaps(namespace string) objects[corev1.ConfigMap, corev1.ConfigMapList] {
	return objects[corev1.ConfigMap, corev1.ConfigMapList]{group(k), "configmaps", namespace}
}

func (k coreKinds) Pods(namespace string) objects[corev1.Pod, corev1.PodList] {
	return objects[corev1.Pod, corev1.PodList]{group(k), "pods", namespace}
}

func (k coreKinds) Events(namespace string) objects[corev1.Event, corev1.EventList] {
	return objects[corev1.Event, corev1.EventList]{group(k), "events", namespace}
}

// RESTClient asks for what has no kind here.
func (k coreKinds) RESTClient() rest.Interface { return k.client }

func (k coreKinds) ServiceAccounts(namespace string) serviceAccounts {
	return serviceAccounts{objects[corev1.ServiceAccount, corev1.ServiceAccountList]{group(k), "serviceaccounts", namespace}}
}

type serviceAccounts struct {
	objects[corev1.ServiceAccount, corev1.ServiceAccountList]
}

// CreateToken has the API make a token for an account, which the API keeps nowhere.
func (s serviceAccounts) CreateToken(ctx context.Context, name string, request *authenticationv1.TokenRequest, opts metav1.CreateOptions) (*authenticationv1.TokenRequest, error) {
	request.TypeMeta = metav1.TypeMeta{APIVersion: authenticationv1.SchemeGroupVersion.String(), Kind: "TokenRequest"}
	return send(ctx, s.at(s.client.Post(), &opts).Name(name).SubResource("token"), request)
}

func (k certificatesKinds) CertificateSigningRequests() requests {
	return requests{objects[certificatesv1.CertificateSigningRequest, certificatesv1.CertificateSigningRequestList]{group(k), "certificatesigningrequests", ""}}
}

type requests struct {
	objects[certificatesv1.CertificateSigningRequest, certificatesv1.CertificateSigningRequestList]
}

// UpdateApproval writes the conditions of a request that was read: approved or denied.
func (r requests) UpdateApproval(ctx context.Context, name string, request *certificatesv1.CertificateSigningRequest, opts metav1.UpdateOptions) (*certificatesv1.CertificateSigningRequest, error) {
	request.TypeMeta = metav1.TypeMeta{APIVersion: certificatesv1.SchemeGroupVersion.String(), Kind: "CertificateSigningRequest"}
	return send(ctx, r.at(r.client.Put(), &opts).Name(name).SubResource("approval"), request)
}

func (k configKinds) ClusterVersions() objects[configv1.ClusterVersion, configv1.ClusterVersionList] {
	return objects[configv1.ClusterVersion, configv1.ClusterVersionList]{group(k), "clusterversions", ""}
}

func (k configKinds) ClusterOperators() objects[configv1.ClusterOperator, configv1.ClusterOperatorList] {
	return objects[configv1.ClusterOperator, configv1.ClusterOperatorList]{group(k), "clusteroperators", ""}
}

func (k configKinds) Infrastructures() objects[configv1.Infrastructure, configv1.InfrastructureList] {
	return objects[configv1.Infrastructure, configv1.InfrastructureList]{group(k), "infrastructures", ""}
}

func (k configKinds) Networks() objects[configv1.Network, configv1.NetworkList] {
	return objects[configv1.Network, configv1.NetworkList]{group(k), "networks", ""}
}

func (k configKinds) Authentications() objects[configv1.Authentication, configv1.AuthenticationList] {
	return objects[configv1.Authentication, configv1.AuthenticationList]{group(k), "authentications", ""}
}

func (k configKinds) OAuths() objects[configv1.OAuth, configv1.OAuthList] {
	return objects[configv1.OAuth, configv1.OAuthList]{group(k), "oauths", ""}
}

func (k configKinds) APIServers() objects[configv1.APIServer, configv1.APIServerList] {
	return objects[configv1.APIServer, configv1.APIServerList]{group(k), "apiservers", ""}
}

func (k configKinds) Ingresses() objects[configv1.Ingress, configv1.IngressList] {
	return objects[configv1.Ingress, configv1.IngressList]{group(k), "ingresses", ""}
}

func (k configKinds) DNSes() objects[configv1.DNS, configv1.DNSList] {
	return objects[configv1.DNS, configv1.DNSList]{group(k), "dnses", ""}
}

func (k configKinds) Proxies() objects[configv1.Proxy, configv1.ProxyList] {
	return objects[configv1.Proxy, configv1.ProxyList]{group(k), "proxies", ""}
}

func (k operatorKinds) Etcds() objects[operatorv1.Etcd, operatorv1.EtcdList] {
	return objects[operatorv1.Etcd, operatorv1.EtcdList]{group(k), "etcds", ""}
}

func (k operatorKinds) KubeAPIServers() objects[operatorv1.KubeAPIServer, operatorv1.KubeAPIServerList] {
	return objects[operatorv1.KubeAPIServer, operatorv1.KubeAPIServerList]{group(k), "kubeapiservers", ""}
}

func (k operatorKinds) KubeControllerManagers() objects[operatorv1.KubeControllerManager, operatorv1.KubeControllerManagerList] {
	return objects[operatorv1.KubeControllerManager, operatorv1.KubeControllerManagerList]{group(k), "kubecontrollermanagers", ""}
}

func (k operatorKinds) KubeSchedulers() objects[operatorv1.KubeScheduler, operatorv1.KubeSchedulerList] {
	return objects[operatorv1.KubeScheduler, operatorv1.KubeSchedulerList]{group(k), "kubeschedulers", ""}
}

func (k operatorKinds) DNSes() objects[operatorv1.DNS, operatorv1.DNSList] {
	return objects[operatorv1.DNS, operatorv1.DNSList]{group(k), "dnses", ""}
}

func (k operatorKinds) IngressControllers(namespace string) objects[operatorv1.IngressController, operatorv1.IngressControllerList] {
	return objects[operatorv1.IngressController, operatorv1.IngressControllerList]{group(k), "ingresscontrollers", namespace}
}

func (k routeKinds) Routes(namespace string) objects[routev1.Route, routev1.RouteList] {
	return objects[routev1.Route, routev1.RouteList]{group(k), "routes", namespace}
}

func (k machineConfigKinds) MachineConfigPools() objects[machinev1.MachineConfigPool, machinev1.MachineConfigPoolList] {
	return objects[machinev1.MachineConfigPool, machinev1.MachineConfigPoolList]{group(k), "machineconfigpools", ""}
}
