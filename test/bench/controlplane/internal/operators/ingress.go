package operators

import (
	"context"
	"crypto/tls"
	"fmt"

	operatorv1 "github.com/openshift/api/operator/v1"
	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const defaultCertificate = "router-certs-default"

// runIngress plays the ingress operator: the router rolls with its IngressController and serves the default certificate that this names.
func runIngress(ctx context.Context, e *Env) {
	watched := append([]resource{operatorv1.GroupVersion.WithResource("ingresscontrollers")}, core("secrets"))
	e.loop(ctx, "ingress", watched, func(ctx context.Context) error { return reconcileIngress(ctx, e) })
}

func reconcileIngress(ctx context.Context, e *Env) error {
	const operator = "ingress"
	ic, err := e.Operator.IngressControllers("openshift-ingress-operator").Get(ctx, "default", metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("reading the IngressController: %w", err)
	}
	name := defaultCertificate
	if ic.Spec.DefaultCertificate != nil && ic.Spec.DefaultCertificate.Name != "" {
		name = ic.Spec.DefaultCertificate.Name
	}
	secret, err := e.Kube.CoreV1().Secrets("openshift-ingress").Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return e.routerWaits(ctx, ic, fmt.Sprintf("MountVolume.SetUp failed for volume \"default-certificate\" : secret %q not found", name))
	}
	if err != nil {
		return fmt.Errorf("reading the default certificate: %w", err)
	}
	cert, key := secret.Data[v1.TLSCertKey], secret.Data[v1.TLSPrivateKeyKey]
	if _, err := tls.X509KeyPair(cert, key); err != nil {
		return e.routerWaits(ctx, ic, fmt.Sprintf("unable to load default certificate %s: %v", name, err))
	}
	input := fingerprint(ic.Spec)
	applied, known, err := e.applied(ctx, operator)
	if err != nil {
		return err
	}
	if !known || applied == input {
		e.routerComes() // the bench may have ended while it was away
		// A new content of the same Secret needs no roll-out: the router reads the mounted file again.
		if err := e.Router.SetDefault(cert, key); err != nil || known {
			return err
		}
		return e.setApplied(ctx, operator, input)
	}
	// The certificate's controller does not wait for the router.
	if err := e.setConfigMap(ctx, "openshift-config-managed", "default-ingress-cert", "ca-bundle.crt", string(cert)); err != nil {
		return err
	}
	// It says what it has read when it admits the IngressController, before it rolls out anything (cluster-ingress-operator 3da316787326,
	// pkg/operator/controller/ingress/controller.go, Reconcile).
	if err := e.routerStatus(ctx, true, ic.Generation); err != nil {
		return err
	}
	message := "ingresscontroller \"default\" is progressing: IngressControllerProgressing: Waiting for rollout: 0 of 1 updated replica(s) are available"
	err = e.rollOut(ctx, operator, message, 0, func(ctx context.Context) error {
		err := e.replaceRouter(ctx, func(context.Context) error { return e.Router.SetDefault(cert, key) })
		if err != nil {
			return err
		}
		return e.routerStatus(ctx, false, ic.Generation)
	})
	if err != nil {
		return err
	}
	if err := e.degraded(ctx, operator, false, "AsExpected", ""); err != nil {
		return err
	}
	return e.setApplied(ctx, operator, input)
}

// routerWaits plays a new router pod that cannot start: the old one has the ports of the only node and goes on.
func (e *Env) routerWaits(ctx context.Context, ic *operatorv1.IngressController, why string) error {
	if err := e.routerStatus(ctx, true, ic.Generation); err != nil {
		return err
	}
	return e.degraded(ctx, "ingress", true, "IngressDegraded", "The \"default\" ingress controller reports Degraded=True: "+why)
}

// routerStatus sets Progressing of the IngressController and the generation that the operator has read.
func (e *Env) routerStatus(ctx context.Context, progressing bool, generation int64) error {
	status := operatorv1.ConditionFalse
	if progressing {
		status = operatorv1.ConditionTrue
	}
	err := e.retry(ctx, func() error {
		ic, err := e.Operator.IngressControllers("openshift-ingress-operator").Get(ctx, "default", metav1.GetOptions{})
		if err != nil {
			return err
		}
		changed := generation > ic.Status.ObservedGeneration
		ic.Status.ObservedGeneration = max(generation, ic.Status.ObservedGeneration)
		for i, c := range ic.Status.Conditions {
			if c.Type == operatorv1.OperatorStatusTypeProgressing && c.Status != status {
				ic.Status.Conditions[i].Status, ic.Status.Conditions[i].LastTransitionTime, changed = status, metav1.Now(), true
			}
		}
		if !changed {
			return nil
		}
		_, err = e.Operator.IngressControllers("openshift-ingress-operator").UpdateStatus(ctx, ic, metav1.UpdateOptions{})
		return err
	})
	if err != nil {
		return fmt.Errorf("changing the status of the IngressController: %w", err)
	}
	return nil
}
