package seed

// operators are the ClusterOperators of a 4.18 cluster.
func operators() []string {
	return []string{
		"authentication", "baremetal", "cloud-controller-manager", "cloud-credential", "cluster-autoscaler", "config-operator", "console",
		"control-plane-machine-set", "csi-snapshot-controller", "dns", "etcd", "image-registry", "ingress", "insights", "kube-apiserver",
		"kube-controller-manager", "kube-scheduler", "kube-storage-version-migrator", "machine-api", "machine-approver", "machine-config",
		"marketplace", "monitoring", "network", "node-tuning", "olm", "openshift-apiserver", "openshift-controller-manager", "openshift-samples",
		"operator-lifecycle-manager", "operator-lifecycle-manager-catalog", "operator-lifecycle-manager-packageserver", "service-ca", "storage",
	}
}

// staticPodOperators have a status with node revisions.
func staticPodOperators() []string {
	return []string{"KubeAPIServer", "Etcd", "KubeControllerManager", "KubeScheduler"}
}

func plainOperators() []string { return []string{"Console", "Authentication", "OpenShiftAPIServer"} }

func routes(domain string) []route {
	apps := ".apps." + domain
	all := []route{
		{Namespace: "openshift-console", Name: "console", Host: "console-openshift-console" + apps, Termination: "reencrypt"},
		{Namespace: "openshift-console", Name: "downloads", Host: "downloads-openshift-console" + apps, Termination: "edge"},
		{Namespace: "openshift-authentication", Name: "oauth-openshift", Host: "oauth-openshift" + apps, Termination: "passthrough"},
		{
			Namespace: "openshift-ingress-canary", Name: "canary", Host: "canary-openshift-ingress-canary" + apps, Termination: "passthrough",
			Subdomain: "canary-openshift-ingress-canary", Port: "8443-tcp",
		},
	}
	for _, name := range []string{"alertmanager-main", "prometheus-k8s", "prometheus-k8s-federate", "thanos-querier"} {
		all = append(all, route{Namespace: "openshift-monitoring", Name: name, Host: name + "-openshift-monitoring" + apps, Termination: "reencrypt", Generated: true})
	}
	return append(all,
		route{Namespace: "plant", Name: "dashboard", Host: "dashboard-plant" + apps, Termination: "edge", Generated: true},
		route{Namespace: "plant", Name: "portal", Host: "portal.plant.example", Termination: "edge"})
}

func componentRoutes(domain string) []componentRoute {
	apps := ".apps." + domain
	return []componentRoute{
		{"openshift-authentication", "oauth-openshift", "oauth-openshift" + apps, "system:serviceaccount:oauth-openshift:authentication-operator"},
		{"openshift-console", "console", "console-openshift-console" + apps, "system:serviceaccount:openshift-console-operator:console-operator"},
		{"openshift-console", "downloads", "downloads-openshift-console" + apps, "system:serviceaccount:openshift-console-operator:console-operator"},
	}
}

func keySecrets() []keySecret {
	var all []keySecret
	add := func(namespace string, names ...string) {
		for _, name := range names {
			all = append(all, keySecret{Namespace: namespace, Name: name, Pair: name})
		}
	}
	add("openshift-kube-apiserver-operator", "loadbalancer-serving-signer", "localhost-serving-signer", "service-network-serving-signer",
		"localhost-recovery-serving-signer", "kube-control-plane-signer", "kube-apiserver-to-kubelet-signer", "node-system-admin-signer",
		"aggregator-client-signer", "node-system-admin-client")
	add("openshift-kube-apiserver", "external-loadbalancer-serving-certkey", "internal-loadbalancer-serving-certkey", "localhost-serving-cert-certkey",
		"localhost-recovery-serving-certkey", "service-network-serving-certkey", "aggregator-client", "kubelet-client")
	add("openshift-kube-controller-manager-operator", "csr-signer", "csr-signer-signer")
	add("openshift-kube-controller-manager", "csr-signer")
	add("openshift-ingress-operator", "router-ca")
	add("openshift-ingress", "router-certs-default")
	add("openshift-service-ca", "signing-key")
	return all
}

func bundles() []bundle {
	return []bundle{
		{"openshift-config", "admin-kubeconfig-client-ca", []string{"admin-kubeconfig-signer"}},
		{"openshift-config-managed", "default-ingress-cert", []string{"router-ca"}},
		{"openshift-config-managed", "kube-apiserver-server-ca", ServerSigners()},
		{"openshift-config-managed", "kube-apiserver-client-ca", ClientSigners()},
		{"openshift-config-managed", "csr-controller-ca", []string{"csr-signer", "csr-signer-signer"}},
		{"openshift-kube-apiserver-operator", "loadbalancer-serving-ca", []string{"loadbalancer-serving-signer"}},
		{"openshift-kube-apiserver-operator", "localhost-serving-ca", []string{"localhost-serving-signer"}},
		{"openshift-kube-apiserver-operator", "service-network-serving-ca", []string{"service-network-serving-signer"}},
	}
}

// ServerSigners are the signers of kube-apiserver's own serving certificates.
func ServerSigners() []string {
	return []string{"loadbalancer-serving-signer", "localhost-serving-signer", "service-network-serving-signer", "localhost-recovery-serving-signer"}
}

// AdminSigner signs administrators' kubeconfigs.
const AdminSigner = "admin-kubeconfig-signer"

// ClientSigners are the signers whose client certificates kube-apiserver accepts.
func ClientSigners() []string {
	return []string{"csr-signer", "kube-control-plane-signer", "kube-apiserver-to-kubelet-signer", "node-system-admin-signer", AdminSigner}
}

// StaticPod is a pod that the node's kubelet starts from a manifest.
type StaticPod struct{ Namespace, Name, App string }

// StaticPods are those of the control plane.
func StaticPods() []StaticPod {
	var all []StaticPod
	for _, p := range pods() {
		if p.Static {
			all = append(all, StaticPod{p.Namespace, p.Name, p.App})
		}
	}
	return all
}

func pods() []pod {
	all := []pod{
		{"openshift-ingress", "router-default-6d8c7b9f5-x2x7m", "router", false},
		{"openshift-console", "console-7f9d6c8b4-qk2lp", "console", false},
		{"openshift-authentication", "oauth-openshift-5b7c9d6f8-t4w9z", "oauth-openshift", false},
		{"openshift-apiserver", "apiserver-6c5f7d9b8-p8kqn", "openshift-apiserver", false},
		{"openshift-dns", "dns-default-4zt7q", "dns", false},
		{"openshift-ovn-kubernetes", "ovnkube-node-8mhx5", "ovnkube-controller", false},
		{"openshift-machine-config-operator", "machine-config-daemon-h2vxj", "machine-config-daemon", false},
		{"openshift-cluster-version", "cluster-version-operator-7d5b9c-w6zxr", "cluster-version-operator", false},
		{"openshift-monitoring", "prometheus-k8s-0", "prometheus", false},
	}
	for _, p := range []pod{
		{"openshift-etcd", "etcd-", "etcd", true},
		{"openshift-kube-apiserver", "kube-apiserver-", "kube-apiserver", true},
		{"openshift-kube-controller-manager", "kube-controller-manager-", "kube-controller-manager", true},
		{"openshift-kube-scheduler", "openshift-kube-scheduler-", "kube-scheduler", true},
	} {
		p.Name += Node
		all = append(all, p)
	}
	return all
}

func deployments() []object {
	return []object{
		{"openshift-ingress", "router-default"},
		{"openshift-console", "console"},
		{"openshift-console", "downloads"},
		{"openshift-authentication", "oauth-openshift"},
		{"openshift-apiserver", "apiserver"},
	}
}
