package operators

import (
	"context"
	"crypto/tls"
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
			return e.followDeployment(ctx, d, func(context.Context, *appsv1.Deployment) error { return nil }, nil)
		})
	}
	<-ctx.Done()
}

// runRouterDeployment plays the router's pods: the only one goes before the next one comes, and that serves the certificate that
// its volume names.
func runRouterDeployment(ctx context.Context, e *Env) {
	d := deployment{"ingress", "openshift-ingress", "router-default", routerAway}
	goes := func(context.Context, *appsv1.Deployment) error {
		e.routerAway.Store(true)
		e.Router.Away(true)
		return nil
	}
	comes := func(ctx context.Context, now *appsv1.Deployment) error {
		e.routerAway.Store(false)
		e.Router.Away(false)
		return e.serveVolume(ctx, now)
	}
	e.loop(ctx, "deployment "+d.name, []resource{deploymentsResource(), core("secrets")}, func(ctx context.Context) error {
		return e.followDeployment(ctx, d, goes, comes)
	})
}

// serveVolume gives the router the certificate that its pods mount.
func (e *Env) serveVolume(ctx context.Context, d *appsv1.Deployment) error {
	for _, volume := range d.Spec.Template.Spec.Volumes {
		if volume.Name != "default-certificate" || volume.Secret == nil {
			continue
		}
		secret, err := e.Kube.CoreV1().Secrets(d.Namespace).Get(ctx, volume.Secret.SecretName, metav1.GetOptions{})
		if err != nil {
			return fmt.Errorf("reading the default certificate: %w", err)
		}
		cert, key := secret.Data[v1.TLSCertKey], secret.Data[v1.TLSPrivateKeyKey]
		if _, err := tls.X509KeyPair(cert, key); err != nil {
			return nil // a router goes on with the one before
		}
		return e.Router.SetDefault(cert, key)
	}
	return nil
}

// followDeployment rolls out what changed since the controller last looked; comes is called at each look.
func (e *Env) followDeployment(ctx context.Context, d deployment, goes, comes func(context.Context, *appsv1.Deployment) error) error {
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
		if err := goes(ctx, now); err != nil {
			return err
		}
		if err := e.setReplicas(ctx, d, generation, 0); err != nil {
			return err
		}
		if err := e.Pace.Sleep(ctx, d.life); err != nil {
			return err
		}
		if err := e.setReplicas(ctx, d, generation, 1); err != nil {
			return err
		}
		e.Stats.done(d.operator)
		e.Log.Info("roll-out ends", "operator", d.operator, "generation", generation)
	}
	if comes == nil {
		return nil
	}
	return comes(ctx, now)
}

// setReplicas writes the status of a deployment whose only pod is there, or not.
func (e *Env) setReplicas(ctx context.Context, d deployment, generation int64, available int32) error {
	err := e.retry(ctx, func() error {
		now, err := e.Kube.AppsV1().Deployments(d.namespace).Get(ctx, d.name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		status, reason := v1.ConditionTrue, "MinimumReplicasAvailable"
		if available == 0 {
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
