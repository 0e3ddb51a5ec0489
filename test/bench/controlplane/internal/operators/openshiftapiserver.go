package operators

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// runOpenShiftAPIServer plays openshift-apiserver: it gives routes their host, and learns a new appsDomain by a roll-out.
func runOpenShiftAPIServer(ctx context.Context, e *Env) {
	const operator = "openshift-apiserver"
	e.loop(ctx, operator, configResources("ingresses"), func(ctx context.Context) error {
		ingress, err := e.Config.Ingresses().Get(ctx, "cluster", metav1.GetOptions{})
		if err != nil {
			return fmt.Errorf("reading the Ingress: %w", err)
		}
		domain := ingress.Spec.AppsDomain
		if domain == "" {
			domain = ingress.Spec.Domain
		}
		applied, known, err := e.applied(ctx, operator)
		if err != nil {
			return err
		}
		if known && applied != domain {
			e.hostDomain.set(applied) // until the roll-out ends, routes get hosts of the domain before
			message := "APIServerDeploymentProgressing: deployment/apiserver.openshift-apiserver: 0/1 pods have been updated to the latest generation"
			if err := e.rollOut(ctx, operator, message, openshiftRollOut, nil); err != nil {
				return err
			}
		}
		e.hostDomain.set(domain)
		if known && applied == domain {
			return nil
		}
		return e.setApplied(ctx, operator, domain)
	})
}
