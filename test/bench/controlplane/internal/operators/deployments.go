package operators

import (
	"context"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// deployment is one whose operator is real: the bench plays its controller and its pods.
type deployment struct {
	operator        string
	namespace, name string
	life            time.Duration // of a roll-out
}

func deploymentsResource() resource { return appsv1.SchemeGroupVersion.WithResource("deployments") }

// runAuthDeployments plays the pods of the login and of its API server.
func runAuthDeployments(ctx context.Context, e *Env) {
	e.runDeployments(ctx, deployment{"authentication", authNamespace, oauthRoute, authRollOut},
		deployment{"oauth-apiserver", "openshift-oauth-apiserver", "apiserver", authRollOut})
}

// runConsoleDeployments plays the pods of the console.
func runConsoleDeployments(ctx context.Context, e *Env) {
	e.runDeployments(ctx, deployment{"console", consoleNamespace, "console", consoleRollOut},
		deployment{"downloads", consoleNamespace, "downloads", consoleRollOut})
}

func (e *Env) runDeployments(ctx context.Context, all ...deployment) {
	for _, d := range all {
		go e.loop(ctx, "deployment "+d.name, []resource{deploymentsResource()}, func(ctx context.Context) error {
			return e.followDeployment(ctx, d, func(ctx context.Context, _ *appsv1.Deployment) error { return e.Pace.Sleep(ctx, d.life) }, nil)
		})
	}
	<-ctx.Done()
}

// followDeployment rolls out what changed since the controller last looked: replace is what happens to the pods; look is called at each
// look.
func (e *Env) followDeployment(ctx context.Context, d deployment, replace, look func(context.Context, *appsv1.Deployment) error) error {
	now, err := e.Kube.AppsV1().Deployments(d.namespace).Get(ctx, d.name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading deployment %s: %w", d.name, err)
	}
	generation, had := now.Generation, now.Status.AvailableReplicas
	if generation != now.Status.ObservedGeneration || had == 0 {
		e.Stats.begin(d.operator)
		e.Log.Info("roll-out begins", "operator", d.operator, "generation", generation)
		if err := e.setReplicas(ctx, d, generation, 0); err != nil {
			return err
		}
		if err := replace(ctx, now); err != nil {
			return err
		}
		if err := e.setReplicas(ctx, d, generation, 1); err != nil {
			return err
		}
		e.Stats.done(d.operator)
		e.Log.Info("roll-out ends", "operator", d.operator, "generation", generation)
	}
	if look == nil {
		return nil
	}
	return look(ctx, now)
}

// loneOf tells a deployment that may lack its only pod and is available all the same: where maxSurge is 0, and maxUnavailable too, a
// share of one pod, one may be missing (k8s.io/kubernetes v1.34.1, pkg/controller/deployment/util, ResolveFenceposts). The ingress operator
// reckons alike (cluster-ingress-operator 3da316787326, pkg/operator/controller/ingress/status.go).
func loneOf(d *appsv1.Deployment) bool {
	r := d.Spec.Strategy.RollingUpdate
	return r != nil && r.MaxSurge != nil && r.MaxSurge.IntValue() == 0
}

// setReplicas writes the status of a deployment whose only pod is there, or not.
func (e *Env) setReplicas(ctx context.Context, d deployment, generation int64, available int32) error {
	err := e.retry(ctx, func() error {
		now, err := e.Kube.AppsV1().Deployments(d.namespace).Get(ctx, d.name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		status, reason := v1.ConditionTrue, "MinimumReplicasAvailable"
		if available == 0 && !loneOf(now) {
			status, reason = v1.ConditionFalse, "MinimumReplicasUnavailable"
		}
		stamp := metav1.Now()
		now.Status = appsv1.DeploymentStatus{
			ObservedGeneration: generation, Replicas: 1, UpdatedReplicas: available, ReadyReplicas: available, AvailableReplicas: available,
			UnavailableReplicas: 1 - available,
			Conditions: []appsv1.DeploymentCondition{
				{Type: appsv1.DeploymentAvailable, Status: status, Reason: reason, LastUpdateTime: stamp, LastTransitionTime: stamp},
				{Type: appsv1.DeploymentProgressing, Status: v1.ConditionTrue, Reason: "NewReplicaSetAvailable", LastUpdateTime: stamp, LastTransitionTime: stamp},
			},
		}
		_, err = e.Kube.AppsV1().Deployments(d.namespace).UpdateStatus(ctx, now, metav1.UpdateOptions{})
		return err
	})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("changing the status of deployment %s: %w", d.name, err)
	}
	return nil
}
