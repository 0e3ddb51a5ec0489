package health

import (
	"slices"
	"time"

	configv1 "github.com/openshift/api/config/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Alerts that fire on nodes that are well. They are told, and warn of nothing.
var (
	// expected fire where nothing of the internet answers, and where nobody set a receiver.
	expected = []string{
		"AlertmanagerReceiversNotConfigured", "CannotRetrieveUpdates", "TelemeterClientFailures", "SamplesImagestreamImportFailing",
		"SamplesRetriesMissingOnImagestreamImportFailing",
	}
	// expectedOffline fire where no registry has what the default catalogs and the samples name.
	expectedOffline = []string{"OperatorHubSourceError", "SamplesDegraded", "SamplesMissingSecret", "SamplesMissingTBRCredential"}
	// expectedAlone have limits that only several nodes can keep. The memory of three control plane nodes is to be used to 60 %, so that two
	// can do the work of the third; and a disruption budget without room holds up the drain of a node, which the only one never has.
	expectedAlone = []string{"HighOverallControlPlaneMemory", "PodDisruptionBudgetAtLimit"}
)

// unsynchronised fires while the kernel's clock follows no time server, which at a site that has none is for ever.
const unsynchronised = "NodeClockNotSynchronising"

// expects tells whether an alert fires at such a site though the node is well.
func (s *State) expects(a Alert) bool {
	name, operator := a.Labels["alertname"], a.Labels["name"]
	switch {
	case slices.Contains(expected, name), s.Wide.Alerts.OwnTime && name == unsynchronised, len(s.Nodes) == 1 && slices.Contains(expectedAlone, name):
		return true
	case !offline(s):
		return false
	case name == "ClusterOperatorDegraded" || name == "ClusterOperatorDown":
		return optional[operator] != "" || operator == "version" && failsOnlyOptional(s.Version)
	}
	return slices.Contains(expectedOffline, name) || dispensable(s, a.Labels["namespace"])
}

func failsOnlyOptional(v *configv1.ClusterVersion) bool {
	if v == nil {
		return false
	}
	failing := versionCondition(v, "Failing")
	return failing != nil && onlyOptional(failing)
}

// burn is how long after its cause an alert still fires: those of the API server's error budget look back so far, which they say as short
// (openshift/cluster-kube-apiserver-operator bindata/assets/alerts/kube-apiserver-slos-basic.yaml, 4.14 to 4.22).
func (a Alert) burn() time.Duration {
	back, err := time.ParseDuration(a.Labels["short"])
	if err != nil || back < 0 || back > day {
		return 0
	}
	return back
}

// foreign tells whether an operator belongs to another product than OpenShift: the version operator makes itself the owner of OpenShift's.
func foreign(s *State, co *configv1.ClusterOperator) bool {
	owns := func(co configv1.ClusterOperator) bool {
		return slices.ContainsFunc(co.OwnerReferences, func(o metav1.OwnerReference) bool { return o.Kind == "ClusterVersion" })
	}
	return !owns(*co) && slices.ContainsFunc(s.Operators, owns)
}

// record tells of a pod that ended in failure, stays as a record and was replaced: by the controller that it belongs to, or, of an installer
// of the control plane, by the next try. OpenShift's alert KubePodNotReady passes over pods that failed, too.
func record(p *corev1.Pod) bool {
	return slices.ContainsFunc(p.OwnerReferences, func(o metav1.OwnerReference) bool {
		switch o.Kind {
		case "ReplicaSet", "ReplicationController", "StatefulSet", "DaemonSet":
			return o.Controller != nil && *o.Controller
		case "ConfigMap":
			return ofRevision(o)
		}
		return false
	})
}
