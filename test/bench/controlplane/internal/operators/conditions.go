package operators

import (
	"context"
	"fmt"
	"time"

	configv1 "github.com/openshift/api/config/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// condition sets one condition of a ClusterOperator, where it differs.
func (e *Env) condition(ctx context.Context, operator string, kind configv1.ClusterStatusConditionType, on bool, reason, message string) error {
	status := configv1.ConditionFalse
	if on {
		status = configv1.ConditionTrue
	}
	if on == (kind == configv1.OperatorAvailable) && reason == "" {
		reason = "AsExpected"
	}
	err := e.retry(ctx, func() error {
		co, err := e.Config.ClusterOperators().Get(ctx, operator, metav1.GetOptions{})
		if err != nil {
			return err
		}
		for i, c := range co.Status.Conditions {
			if c.Type != kind {
				continue
			}
			if c.Status == status && c.Reason == reason && c.Message == message {
				return nil
			}
			if c.Status != status {
				co.Status.Conditions[i].LastTransitionTime = metav1.Now()
			}
			co.Status.Conditions[i].Status, co.Status.Conditions[i].Reason, co.Status.Conditions[i].Message = status, reason, message
		}
		_, err = e.Config.ClusterOperators().UpdateStatus(ctx, co, metav1.UpdateOptions{})
		return err
	})
	if err != nil {
		return fmt.Errorf("setting %s of %s: %w", kind, operator, err)
	}
	return nil
}

// rollOut plays one roll-out: Progressing, time, Progressing no more. A stuck operator stays in the middle.
func (e *Env) rollOut(ctx context.Context, operator, message string, d time.Duration, finish func(context.Context) error) error {
	e.Stats.begin(operator)
	e.Log.Info("roll-out begins", "operator", operator, "message", message)
	err := e.progress(ctx, operator, message, d, finish)
	if err != nil {
		e.Stats.fail(operator)
		return err
	}
	e.Stats.done(operator)
	e.Log.Info("roll-out ends", "operator", operator)
	return nil
}

func (e *Env) progress(ctx context.Context, operator, message string, d time.Duration, finish func(context.Context) error) error {
	if err := e.condition(ctx, operator, configv1.OperatorProgressing, true, "Deploying", message); err != nil {
		return err
	}
	if err := e.Pace.Sleep(ctx, d); err != nil {
		return err
	}
	if err := e.Faults.unstuck(ctx, operator); err != nil {
		return err
	}
	if finish != nil {
		if err := finish(ctx); err != nil {
			return err
		}
	}
	return e.condition(ctx, operator, configv1.OperatorProgressing, false, "AsExpected", "")
}
