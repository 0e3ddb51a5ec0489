package kube

import (
	"context"
	"fmt"
	"slices"
	"strings"

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

// Unsettled says why an operator is not at rest: not available, still progressing or degraded; "" when it is. A condition
// that it does not report counts as not settled.
func Unsettled(co *configv1.ClusterOperator) string {
	for _, want := range []struct {
		kind   configv1.ClusterStatusConditionType
		status configv1.ConditionStatus
		says   string
	}{
		{configv1.OperatorAvailable, configv1.ConditionTrue, "is not available"},
		{configv1.OperatorProgressing, configv1.ConditionFalse, "is still at work"},
		{configv1.OperatorDegraded, configv1.ConditionFalse, "is degraded"},
	} {
		cond := Condition(co, want.kind)
		if cond == nil {
			return fmt.Sprintf("%s does not say whether it is %s", co.Name, strings.ToLower(string(want.kind)))
		}
		if cond.Status != want.status {
			why := firstLine(cond.Message)
			if why == "" {
				why = cond.Reason // all that an operator says that its owner has set to Unmanaged
			}
			return strings.TrimRight(fmt.Sprintf("%s %s: %s", co.Name, want.says, why), ": ")
		}
	}
	return ""
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
