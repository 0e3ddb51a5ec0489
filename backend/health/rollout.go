package health

import (
	"time"

	configv1 "github.com/openshift/api/config/v1"
	machinev1 "github.com/openshift/api/machineconfiguration/v1"
	corev1 "k8s.io/api/core/v1"

	"touchdown/backend/kube"
)

// How long the version operator waits for an operator in an update before it says that it is slow
// (openshift/cluster-version-operator 6e719331f, pkg/cvo/status.go, convertErrorToProgressingForUpdateEffectNone).
const (
	operatorTime = 30 * time.Minute
	poolTime     = 90 * time.Minute
)

// etcdTime is how long something of etcd's operator may be degraded before the operator says that etcd is: its parts say so at each restart
// of the database or the API (openshift/cluster-etcd-operator pkg/operator/starter.go, WithDegradedInertia: 2 and 5 minutes in 4.14 to 4.20,
// 10 since).
const etcdTime = 10 * time.Minute

// usual tells whether something is at work since then for no longer than usual. Who looks once wants a cluster at rest.
func (o Options) usual(s *State, since time.Time, most time.Duration) bool {
	return o.Follows && s.age(since) < most
}

// operatorRolls tells whether an operator is well and rolls a change out.
func (o Options) operatorRolls(s *State, co *configv1.ClusterOperator) bool {
	is := func(kind configv1.ClusterStatusConditionType, status configv1.ConditionStatus) bool {
		cond := kube.Condition(co, kind)
		return cond != nil && cond.Status == status
	}
	return is(configv1.OperatorAvailable, configv1.ConditionTrue) && is(configv1.OperatorDegraded, configv1.ConditionFalse) &&
		is(configv1.OperatorProgressing, configv1.ConditionTrue) &&
		o.usual(s, kube.Condition(co, configv1.OperatorProgressing).LastTransitionTime.Time, operatorTime)
}

// staticPodRolls tells it of the operator of one of the control plane's parts.
func (o Options) staticPodRolls(s *State, what string) bool {
	for i := range s.Operators {
		if s.Operators[i].Name == what {
			return o.operatorRolls(s, &s.Operators[i])
		}
	}
	return false
}

// poolRolls tells it of a MachineConfigPool.
func (o Options) poolRolls(s *State, pool *machinev1.MachineConfigPool) bool {
	for _, cond := range pool.Status.Conditions {
		if cond.Type == machinev1.MachineConfigPoolUpdating && cond.Status == corev1.ConditionTrue {
			return o.usual(s, cond.LastTransitionTime.Time, poolTime)
		}
	}
	return false
}

// updates tells whether an update of the cluster goes on well. It has no usual time; the version operator says that it is failing when
// an operator takes too long.
func (o Options) updates(v *configv1.ClusterVersion) bool {
	failing, progressing := versionCondition(v, "Failing"), versionCondition(v, configv1.OperatorProgressing)
	return o.Follows && failing != nil && failing.Status == configv1.ConditionFalse &&
		progressing != nil && progressing.Status == configv1.ConditionTrue
}
