package kube

import (
	"context"
	"slices"
	"strings"

	"touchdown/backend/message"

	configv1 "github.com/openshift/api/config/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Operators returns the cluster's operators, in the order of their names.
func (c *Cluster) Operators(ctx context.Context) ([]configv1.ClusterOperator, error) {
	var items []configv1.ClusterOperator
	err := c.Do(ctx, "listing the cluster's operators", func(ctx context.Context) error {
		list, err := c.Config.ClusterOperators().List(ctx, metav1.ListOptions{})
		if err == nil {
			items = list.Items
		}
		return err
	})
	slices.SortFunc(items, func(a, b configv1.ClusterOperator) int { return strings.Compare(a.Name, b.Name) })
	return items, err
}

// OperatorPending says why an operator is not at rest: not available, still progressing or degraded; "" when it is. A condition
// that it does not report counts as pending.
func OperatorPending(co *configv1.ClusterOperator) message.Text {
	for _, want := range []struct {
		kind   configv1.ClusterStatusConditionType
		status configv1.ConditionStatus
		says   message.Text
		lacks  message.Text
	}{
		{configv1.OperatorAvailable, configv1.ConditionTrue, message.F("%s is not available", co.Name), message.F("%s does not say whether it is available", co.Name)},
		{configv1.OperatorProgressing, configv1.ConditionFalse, message.F("%s is still at work", co.Name), message.F("%s does not say whether it is progressing", co.Name)},
		{configv1.OperatorDegraded, configv1.ConditionFalse, message.F("%s is degraded", co.Name), message.F("%s does not say whether it is degraded", co.Name)},
	} {
		cond := Condition(co, want.kind)
		if cond == nil {
			return want.lacks
		}
		if cond.Status != want.status {
			why := firstLine(cond.Message)
			if why == "" {
				why = cond.Reason // all that an operator says that its owner has set to Unmanaged
			}
			if why == "" {
				return want.says
			}
			return message.F("%s: %s", want.says, why)
		}
	}
	return message.Text{}
}

// Condition returns a condition of an operator, or nil.
func Condition(co *configv1.ClusterOperator, kind configv1.ClusterStatusConditionType) *configv1.ClusterOperatorStatusCondition {
	for i := range co.Status.Conditions {
		if co.Status.Conditions[i].Type == kind {
			return &co.Status.Conditions[i]
		}
	}
	return nil
}

func firstLine(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	if len(s) > 200 {
		s = s[:200]
	}
	return s
}
