package operators

import (
	"context"
	"encoding/base64"
	"fmt"

	configv1 "github.com/openshift/api/config/v1"
	mcv1 "github.com/openshift/api/machineconfiguration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const userBundle = "user-ca-bundle" // the installer's

// runControllerConfig plays the machine config operator for a real machine-config-controller: what the cluster's proxy and trust bundles say
// goes into its ControllerConfig, which whoever starts the controller makes. The other inputs the controller reads itself.
func runControllerConfig(ctx context.Context, e *Env) {
	configs := mcv1.GroupVersion.WithResource("controllerconfigs")
	e.loop(ctx, "controller-config", append(configResources("proxies"), core("configmaps"), configs), func(ctx context.Context) error {
		proxy, err := e.Config.Proxies().Get(ctx, "cluster", metav1.GetOptions{})
		if err != nil {
			return fmt.Errorf("reading the Proxy: %w", err)
		}
		trust, err := e.trustBundle(ctx, proxy.Spec.TrustedCA.Name)
		if err != nil {
			return err
		}
		err = e.retry(ctx, func() error { return e.controllerConfig(ctx, proxy.Status, trust) })
		if err != nil {
			return fmt.Errorf("writing the ControllerConfig: %w", err)
		}
		return nil
	})
}

func (e *Env) controllerConfig(ctx context.Context, proxy configv1.ProxyStatus, trust string) error {
	client := e.Dynamic.Resource(mcv1.GroupVersion.WithResource("controllerconfigs"))
	config, err := client.Get(ctx, "machine-config-controller", metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	before := fingerprint(config.Object["spec"])
	set := func(value any, field string) error {
		return unstructured.SetNestedField(config.Object, value, "spec", field)
	}
	unstructured.RemoveNestedField(config.Object, "spec", "proxy")
	if proxy.HTTPProxy+proxy.HTTPSProxy != "" {
		err = set(map[string]any{"httpProxy": proxy.HTTPProxy, "httpsProxy": proxy.HTTPSProxy, "noProxy": proxy.NoProxy}, "proxy")
	}
	if err == nil {
		err = set(base64.StdEncoding.EncodeToString([]byte(trust)), "additionalTrustBundle")
	}
	if err != nil || fingerprint(config.Object["spec"]) == before {
		return err
	}
	_, err = client.Update(ctx, config, metav1.UpdateOptions{})
	return err
}
