package site

import (
	"encoding/base64"
	"slices"
	"strings"
	"unicode/utf8"

	"touchdown/backend/message"
)

// The reasons for which an object is refused, about what it is.
var (
	deniedReboot  = message.T("it drains or reboots the node, which the site config decides otherwise")
	deniedNetwork = message.T("it changes the node's network, which spec.network and spec.networkConfig do")
	deniedOwned   = message.T("it belongs to what the landing changes; the site config has settings for it")
	deniedCore    = message.T("it lies in a namespace of the cluster's own components")
	deniedWebhook = message.T("without failurePolicy: Ignore the cluster cannot start again while the webhook does not answer")
)

// More of them, about what it does to others.
var (
	deniedChanges = message.T("it can refuse or alter what the cluster's own components write, so the cluster would not start again")
	deniedCut     = message.T("it can cut the cluster's own components off from each other")
	deniedStart   = message.T("it can keep the cluster's own pods from starting again")
	deniedLogin   = message.T("it replaces the way to log in that the landing hands over")
	deniedRights  = message.T("it gives all rights to everyone who reaches the cluster, logs in there or runs in it")
	deniedFirst   = message.T("with a priority it comes before the cluster's own for each account that has all rights, as operators of the cluster have, whomever it is for")
)

// deniedKinds are groups and kinds ("" stands for all of a group) that would take the node or the cluster out of the landing's hands.
var deniedKinds = []struct {
	group string
	kinds []string
	why   message.Text
}{
	{"machineconfiguration.openshift.io", nil, deniedReboot},
	{"performance.openshift.io", nil, deniedReboot},
	{"tuned.openshift.io", nil, deniedReboot},
	{"lca.openshift.io", nil, deniedOwned},
	{"rhsyseng.github.io", nil, deniedOwned},
	{"nodemaintenance.medik8s.io", nil, deniedReboot},
	{"self-node-remediation.medik8s.io", nil, deniedReboot},
	{"fence-agents-remediation.medik8s.io", nil, deniedReboot},
	{"kataconfiguration.openshift.io", nil, deniedReboot},
	{"sriovnetwork.openshift.io", []string{"SriovNetworkNodePolicy", "SriovNetworkPoolConfig"}, deniedReboot},
	{"nmstate.io", nil, deniedNetwork},
	{"k8s.ovn.org", []string{"AdminPolicyBasedExternalRoute", "EgressIP", "EgressService"}, deniedNetwork},
	{"policy.networking.k8s.io", nil, deniedCut},
	{"admissionregistration.k8s.io", []string{"MutatingAdmissionPolicyBinding"}, deniedChanges},
	{"apiregistration.k8s.io", nil, deniedChanges},
	{"flowcontrol.apiserver.k8s.io", nil, deniedChanges},
	{"quota.openshift.io", nil, deniedChanges},
	{"operator.openshift.io", nil, deniedOwned},
	{"config.openshift.io", []string{
		"APIServer", "ClusterImagePolicy", "ClusterOperator", "ClusterVersion", "DNS", "FeatureGate", "Image", "ImageDigestMirrorSet",
		"ImagePolicy", "ImageTagMirrorSet", "Infrastructure", "Ingress", "Network", "Node", "OperatorHub", "Proxy",
	}, deniedOwned},
	{"config.openshift.io", []string{"Scheduler"}, deniedStart},
	{"config.openshift.io", []string{"Authentication"}, deniedLogin},
	{"certificates.k8s.io", nil, deniedOwned},
	{"", []string{"Node"}, deniedOwned},
}

// holding are kinds that can stop the traffic or the start of pods, and watched are the namespaces beside deniedNamespaces whose pods a
// landing waits for. In default lies the API's own Service, whose endpoints another slice would add to.
var (
	holding = []string{"EgressFirewall", "LimitRange", "NetworkPolicy", "ResourceQuota"}
	watched = []string{
		"openshift-cluster-*", "openshift-console*", "openshift-controller-manager*", "openshift-image-registry", "openshift-insights",
		"openshift-machine-api", "openshift-marketplace", "openshift-monitoring", "openshift-multus", "openshift-operator-lifecycle-manager",
		"openshift-route-controller-manager",
	}
	leading = []string{"EndpointSlice", "Endpoints", "Service"}
)

// deniedNamespaces are those of components that a landing waits for; a star stands for what begins so.
var deniedNamespaces = []string{
	"kube-node-lease", "kube-public", "kube-system", "openshift-apiserver*", "openshift-authentication*", "openshift-cluster-version", "openshift-config-managed",
	"openshift-config-operator", "openshift-dns*", "openshift-etcd*", "openshift-ingress*", "openshift-kube-*", "openshift-machine-config-operator",
	"openshift-network-*", "openshift-oauth-apiserver", "openshift-ovn-kubernetes", "openshift-service-ca*",
}

// instead is what to do about an object that is refused.
func instead(why message.Text) message.Text {
	if why == deniedFirst {
		return message.T("leave its priority out, and have the pods that need it name it in their annotation openshift.io/required-scc")
	}
	return message.T("remove it")
}

// denied tells why an object is not applied.
func denied(m Manifest) (message.Text, bool) {
	group, _, grouped := strings.Cut(m.APIVersion(), "/")
	if !grouped {
		group = ""
	}
	for _, d := range deniedKinds {
		if d.group == group && (d.kinds == nil || slices.Contains(d.kinds, m.Kind())) {
			return d.why, true
		}
	}
	in, is := m.Namespace(), group == "" && m.Kind() == "Namespace" || group == "project.openshift.io" // the same, by another name
	if is {
		in = m.Name()
	}
	switch {
	case isOneOf(in, deniedNamespaces):
		return deniedCore, true
	case isOneOf(in, watched) && slices.Contains(holding, m.Kind()), in == "default" && slices.Contains(leading, m.Kind()):
		return deniedCut, true
	case is && isOneOf(in, watched) && confines(m):
		return deniedStart, true
	case group == "apiextensions.k8s.io" && redefines(m):
		return deniedChanges, true
	case takesPort(m):
		return deniedPort, true
	case group == "admissionregistration.k8s.io" && m.Kind() == "ValidatingAdmissionPolicyBinding" && denies(m):
		return deniedChanges, true
	case group == "admissionregistration.k8s.io" && holdsUp(m):
		return deniedWebhook, true
	case group == "security.openshift.io" && comesFirst(m):
		return deniedFirst, true
	case group == "security.openshift.io" && takesOver(m):
		return deniedStart, true
	case bound(m) == clusterAdmin:
		return deniedRights, true
	case group == "compliance.openshift.io" && remedies(m):
		return deniedReboot, true
	}
	if m.Namespace() == "openshift-config" && (slices.Contains([]string{"pull-secret", "user-ca-bundle", "admin-kubeconfig-client-ca"}, m.Name()) || strings.HasPrefix(m.Name(), "touchdown-")) {
		return deniedOwned, true
	}
	return message.Text{}, false
}

// isOneOf tells whether a namespace is one of those, or begins as one with a star does. That of the observability operator, an addition to a
// cluster, only looks like a component's.
func isOneOf(namespace string, patterns []string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		start, all := strings.CutSuffix(pattern, "*")
		return namespace == pattern || all && strings.HasPrefix(namespace, start) && namespace != "openshift-cluster-observability-operator"
	})
}

// holdsUp tells whether a configuration has a webhook without which the API takes no change: of a single node, the webhook's own pod may
// be what the API does not take. Fail is what counts where nothing is written (k8s.io/api v0.34.1, admissionregistration/v1/types.go).
func holdsUp(m Manifest) bool {
	hooks, _ := m["webhooks"].([]any)
	return slices.ContainsFunc(hooks, func(hook any) bool {
		h, _ := hook.(map[string]any)
		return h["failurePolicy"] != "Ignore"
	})
}

// denies tells whether a binding has its policy refuse anything. A policy alone does nothing, and failurePolicy: Ignore is about faults of
// the policy, not about what it refuses (k8s.io/api v0.34.1, admissionregistration/v1/types.go).
func denies(m Manifest) bool {
	actions, _ := m.spec("validationActions").([]any)
	return len(actions) == 0 || slices.ContainsFunc(actions, func(action any) bool { return action != "Warn" && action != "Audit" })
}

// manifestSecrets are the secret texts in the objects: all data of Secrets, encoded and decoded, and what stands beside a key that names
// a secret elsewhere.
func manifestSecrets(s string) []string {
	var texts []string
	all, _ := objectsOf(s)
	for _, m := range all {
		secret := m.Kind() == "Secret"
		for key, value := range m {
			in := secret && (key == "data" || key == "stringData")
			eachText(value, in, func(text string) {
				texts = append(texts, text)
				if plain, err := base64.StdEncoding.DecodeString(text); err == nil && len(plain) > 0 && utf8.Valid(plain) {
					texts = append(texts, string(plain))
				}
			})
		}
	}
	return texts
}

// names tells whether a key names a secret that stands beside it. secretName and its like name an object.
func names(key string) bool {
	key = strings.ToLower(key)
	return slices.ContainsFunc([]string{"password", "passwd", "passphrase", "token"}, func(word string) bool { return strings.HasSuffix(key, word) })
}

// eachText calls f with each secret text of a value. secret says that the value is one.
func eachText(value any, secret bool, f func(string)) {
	switch value := value.(type) {
	case map[string]any:
		for key, below := range value {
			eachText(below, secret || names(key), f)
		}
	case []any:
		for _, item := range value {
			eachText(item, secret, f)
		}
	case string:
		if secret && value != "" {
			f(value)
		}
	}
}
