package domain

import (
	"context"

	"touchdown/backend/kube"
	"touchdown/backend/message"
	"touchdown/backend/problem"
)

// mover is an operator that takes part in rolling the names out.
type mover struct {
	name       string // of its ClusterOperator
	resource   string // of operator.openshift.io, where its managementState is; the ingress operator has none
	namespace  string
	deployment string
}

// movers are in the usual order of their ends. A cluster without the console's capability has no such operator.
// kube-controller-manager takes the router's new certificate.
var movers = []mover{
	{"ingress", "", "openshift-ingress-operator", "ingress-operator"},
	{"openshift-apiserver", "openshiftapiservers", "openshift-apiserver-operator", "openshift-apiserver-operator"},
	{"kube-controller-manager", "kubecontrollermanagers", "openshift-kube-controller-manager-operator", "kube-controller-manager-operator"},
	{"kube-apiserver", "kubeapiservers", "openshift-kube-apiserver-operator", "kube-apiserver-operator"},
	{"console", "consoles", "openshift-console-operator", "console-operator"},
	{"authentication", "authentications", "openshift-authentication-operator", "authentication-operator"},
}

// managed says whether each operator that has to roll the names out works. One that is not Managed rolls nothing out, and its
// ClusterOperator says Unknown for as long as that lasts (library-go, pkg/operator/status/status_controller.go and
// management/management_state.go; cluster-kube-apiserver-operator c813e820b, pkg/operator/targetconfigcontroller, which does nothing for
// Force either). The console alone may be Removed: then it serves no route (console-operator 684157180, pkg/console/controllers/route).
func managed(ctx context.Context, c *kube.Cluster) error {
	for _, m := range movers {
		if m.resource != "" {
			object, err := c.Get(ctx, operatorConfig(m.resource))
			if err != nil {
				return err
			}
			spec, _ := object["spec"].(map[string]any)
			state, _ := spec["managementState"].(string)
			if object != nil && state != "Managed" && (m.name != "console" || state != "Removed") {
				return &problem.Problem{
					Code:    "CVR-STTE",
					Summary: message.F("The operator %s is not managed (managementState %q), so the new names would not be served.", m.name, state),
					Fix: message.F("Nothing was written. The cluster's owner can change it: oc patch %s cluster --type merge -p '{\"spec\":{\"managementState\":\"Managed\"}}'. "+
						"Then retry, or start without a new name.", m.resource+"."+operatorConfig(m.resource).Group),
				}
			}
			if state == "Removed" {
				continue
			}
		}
		why, err := kube.Idle(ctx, c, m.namespace, m.deployment)
		if err != nil {
			return err
		}
		if why != (message.Text{}) {
			return &problem.Problem{
				Code:    "CVR-REST",
				Summary: message.F("The operator %s does not run, so the new names would not be served: %s.", m.name, why),
				Fix: message.F("Nothing was written. The cluster's owner can start it: oc scale deployment -n %s %s --replicas 1. "+
					"Then retry, or start without a new name.", m.namespace, m.deployment),
			}
		}
	}
	return nil
}

// operatorConfig names the one object by which an operator is configured.
func operatorConfig(resource string) kube.Ref {
	return kube.Ref{Group: "operator.openshift.io", Version: "v1", Resource: resource, Name: "cluster"}
}
