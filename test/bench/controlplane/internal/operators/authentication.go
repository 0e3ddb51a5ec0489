package operators

import (
	"context"
	"fmt"

	routev1 "github.com/openshift/api/route/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"touchdown/test/bench/controlplane/internal/seed"
)

const (
	authNamespace = "openshift-authentication"
	oauthRoute    = "oauth-openshift"
)

// runAuthentication plays the authentication operator: the OAuth server's host changes in place, its pods roll, and the published metadata
// moves kube-apiserver. The metadata is made of the host in the route's status, so it comes only after the router admitted the new one
// (openshift/cluster-authentication-operator, pkg/controllers/metadata/metadata_controller.go, handleOAuthMetadataConfigMap).
// The default host hangs on spec.domain; appsDomain does not move it (cluster-authentication-operator, custom route controller).
func runAuthentication(ctx context.Context, e *Env) {
	watched := append(configResources("ingresses", "oauths"), core("secrets"), routev1.GroupVersion.WithResource("routes"))
	e.loop(ctx, "authentication", watched, func(ctx context.Context) error { return reconcileAuthentication(ctx, e) })
}

// runOAuthMetadata publishes beside the roll-out of the pods: they are two controllers.
func runOAuthMetadata(ctx context.Context, e *Env) {
	e.loop(ctx, "oauth-metadata", []resource{routev1.GroupVersion.WithResource("routes")}, e.publishOAuth)
}

func reconcileAuthentication(ctx context.Context, e *Env) error {
	const operator = "authentication"
	ingress, err := e.Config.Ingresses().Get(ctx, "cluster", metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("reading the Ingress: %w", err)
	}
	oauth, err := e.Config.OAuths().Get(ctx, "cluster", metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("reading the OAuth: %w", err)
	}
	want, err := e.customRoute(ctx, ingress, authNamespace, oauthRoute)
	if err != nil {
		return err
	}
	host := "oauth-openshift." + ingress.Spec.Domain
	if want.problem != "" {
		// A custom route that fails its check changes nothing but the status.
		if err := e.degraded(ctx, operator, true, "CustomRouteController_SyncError", "CustomRouteControllerDegraded: "+want.problem); err != nil {
			return err
		}
		route, err := e.Route.Routes(authNamespace).Get(ctx, oauthRoute, metav1.GetOptions{})
		if err != nil {
			return fmt.Errorf("reading the OAuth route: %w", err)
		}
		return e.reportComponent(ctx, authNamespace, oauthRoute, route.Spec.Host, want.problem)
	}
	if want.host != "" {
		host = want.host
	}
	if err := e.applyRoute(ctx, operatorRoute(authNamespace, oauthRoute, oauthRoute, host, routev1.TLSTerminationPassthrough)); err != nil {
		return fmt.Errorf("applying the OAuth route: %w", err)
	}
	if err := e.reportComponent(ctx, authNamespace, oauthRoute, host, ""); err != nil {
		return err
	}
	if err := e.degraded(ctx, operator, false, "AsExpected", ""); err != nil {
		return err
	}
	input := fingerprint(host, want.cert, oauth.Spec)
	applied, known, err := e.applied(ctx, operator)
	if err != nil || applied == input {
		return err
	}
	if known {
		message := "OAuthServerDeploymentProgressing: deployment/oauth-openshift.openshift-authentication: 0/1 pods have been updated to the latest generation"
		if err := e.rollOut(ctx, operator, message, authRollOut, nil); err != nil {
			return err
		}
	}
	return e.setApplied(ctx, operator, input)
}

// publishOAuth publishes the metadata of the host that the router has admitted.
func (e *Env) publishOAuth(ctx context.Context) error {
	route, err := e.Route.Routes(authNamespace).Get(ctx, oauthRoute, metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("reading the OAuth route: %w", err)
	}
	if len(route.Status.Ingress) == 0 || route.Status.Ingress[0].Host == "" {
		return nil
	}
	want := seed.OAuthMetadata(route.Status.Ingress[0].Host)
	have, err := e.Kube.CoreV1().ConfigMaps("openshift-config-managed").Get(ctx, oauthRoute, metav1.GetOptions{})
	if err == nil && have.Data["oauthMetadata"] == want {
		return nil
	}
	if err := e.Pace.Sleep(ctx, oauthMetadata); err != nil {
		return err
	}
	return e.setConfigMap(ctx, "openshift-config-managed", oauthRoute, "oauthMetadata", want)
}
