package operators

import (
	"context"
	"fmt"

	configv1 "github.com/openshift/api/config/v1"
	routev1 "github.com/openshift/api/route/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const consoleNamespace = "openshift-console"

// runConsole plays the console operator: a custom host is a second route beside the default one, which stays (and redirects).
// The default hosts hang on spec.domain; appsDomain does not move them (console-operator, GetDefaultRouteHost).
func runConsole(ctx context.Context, e *Env) {
	watched := append(configResources("ingresses"), core("secrets"), routev1.GroupVersion.WithResource("routes"))
	e.loop(ctx, "console", watched, func(ctx context.Context) error { return reconcileConsole(ctx, e) })
}

func reconcileConsole(ctx context.Context, e *Env) error {
	const operator = "console"
	ingress, err := e.Config.Ingresses().Get(ctx, "cluster", metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("reading the Ingress: %w", err)
	}
	console, problem, err := e.consoleRoute(ctx, ingress, "console", routev1.TLSTerminationReencrypt)
	if err != nil {
		return err
	}
	downloads, problem2, err := e.consoleRoute(ctx, ingress, "downloads", routev1.TLSTerminationEdge)
	if err != nil {
		return err
	}
	if bad := problem + problem2; bad != "" {
		return e.degraded(ctx, operator, true, "CustomRouteSync_FailedCustomTLSSecretValidation", "ConsoleCustomRouteSyncDegraded: "+bad)
	}
	if err := e.degraded(ctx, operator, false, "AsExpected", ""); err != nil {
		return err
	}
	input := fingerprint(console, downloads)
	applied, known, err := e.applied(ctx, operator)
	if err != nil || applied == input {
		return err
	}
	if !known {
		return e.setApplied(ctx, operator, input)
	}
	message := "SyncLoopRefreshProgressing: working toward version, 0 replicas available"
	err = e.rollOut(ctx, operator, message, consoleRollOut, func(ctx context.Context) error { return e.publishConsole(ctx, "https://"+console) })
	if err != nil {
		return err
	}
	return e.setApplied(ctx, operator, input)
}

// consoleRoute keeps a component's default route and, where one is wanted, its custom route. It returns the host that users are sent to.
func (e *Env) consoleRoute(ctx context.Context, ingress *configv1.Ingress, name string, termination routev1.TLSTerminationType) (host, problem string, err error) {
	host = fmt.Sprintf("%s-%s.%s", name, consoleNamespace, ingress.Spec.Domain)
	want, err := e.customRoute(ctx, ingress, consoleNamespace, name)
	if err != nil {
		return "", "", err
	}
	if err := e.applyRoute(ctx, operatorRoute(consoleNamespace, name, name, host, termination)); err != nil {
		return "", "", fmt.Errorf("applying route %s: %w", name, err)
	}
	switch {
	case want.problem != "":
		return host, want.problem, e.reportComponent(ctx, consoleNamespace, name, host, want.problem)
	case want.host == "" || want.host == host:
		err = e.deleteRoute(ctx, consoleNamespace, name+"-custom")
	default:
		route := operatorRoute(consoleNamespace, name+"-custom", name, want.host, termination)
		route.Spec.TLS.Certificate, route.Spec.TLS.Key = string(want.cert), string(want.key)
		host, err = want.host, e.applyRoute(ctx, route)
	}
	if err != nil {
		return "", "", fmt.Errorf("applying route %s-custom: %w", name, err)
	}
	return host, "", e.reportComponent(ctx, consoleNamespace, name, host, "")
}

func (e *Env) publishConsole(ctx context.Context, url string) error {
	err := e.retry(ctx, func() error {
		console, err := e.Config.Consoles().Get(ctx, "cluster", metav1.GetOptions{})
		if err != nil {
			return err
		}
		console.Status.ConsoleURL = url
		_, err = e.Config.Consoles().UpdateStatus(ctx, console, metav1.UpdateOptions{})
		return err
	})
	if err != nil {
		return fmt.Errorf("publishing the console's address: %w", err)
	}
	return e.setConfigMap(ctx, "openshift-config-managed", "console-public", "consoleURL", url)
}
