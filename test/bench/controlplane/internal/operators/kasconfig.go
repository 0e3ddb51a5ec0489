package operators

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	configv1 "github.com/openshift/api/config/v1"
	operatorv1 "github.com/openshift/api/operator/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	kasConfig    = "kube-apiserver-config"
	kasNamespace = "openshift-kube-apiserver"
	kasPods      = "/etc/kubernetes/static-pod-certs/secrets/"

	configObservation = "ConfigObservationDegraded"
	namedMost         = 10 // user-serving-cert-000 to -009
)

// runKubeAPIServerConfig plays the operator's config observer, target config and resource sync: what the cluster asks for becomes
// ConfigMaps and Secrets of the operand, or ConfigObservationDegraded, and then the old ones stay. Each input goes its own way:
// the configuration is not held back for the OAuth metadata.
func runKubeAPIServerConfig(ctx context.Context, e *Env) {
	watched := append(configResources("apiservers", "proxies"), core("secrets"), core("configmaps"))
	first := true // what the condition says may be of an earlier run of the bench
	e.loop(ctx, kasConfig, watched, func(ctx context.Context) error {
		err := observeKubeAPIServer(ctx, e, first)
		first = first && err != nil
		return err
	})
}

func observeKubeAPIServer(ctx context.Context, e *Env, first bool) error {
	_, there, err := e.kasInputs(ctx, 0)
	if err != nil {
		return err
	}
	want, secrets, refused, err := wantedInputs(ctx, e)
	if err != nil {
		return err
	}
	if !there {
		return e.firstInputs(ctx, want)
	}
	have, _, err := e.kasInputs(ctx, 0)
	if err != nil {
		return err
	}
	if refused == nil && maps.Equal(have, want) && !e.refused.Load() && !first {
		if err := e.copyServingCerts(ctx, secrets); err != nil {
			return err
		}
		return e.removeServingCerts(ctx, len(secrets))
	}
	if err := e.Pace.Sleep(ctx, observe); err != nil {
		return err
	}
	if want, secrets, refused, err = wantedInputs(ctx, e); err != nil {
		return err
	}
	if err := e.sayObserved(ctx, refused); err != nil {
		return err
	}
	if refused != nil {
		return e.putInputs(ctx, 0, want)
	}
	// The operator copies and removes beside writing the configuration, in no order (syncObservedResources only hands the rules to
	// resource sync), and a revision is installed a minute later. Without delays it is installed at once, so this order counts here.
	if err := e.copyServingCerts(ctx, secrets); err != nil {
		return err
	}
	if err := e.putInputs(ctx, 0, want); err != nil {
		return err
	}
	return e.removeServingCerts(ctx, len(secrets))
}

// wantedInputs is what the operand's ConfigMaps should hold, by their names. Where the observer refuses the configuration, the
// one that it observed before stays in it.
func wantedInputs(ctx context.Context, e *Env) (want map[string]string, secrets []string, refused, err error) {
	api, err := e.Config.APIServers().Get(ctx, "cluster", metav1.GetOptions{})
	if err != nil {
		return nil, nil, nil, fmt.Errorf("reading the APIServer: %w", err)
	}
	meta, err := e.Kube.CoreV1().ConfigMaps("openshift-config-managed").Get(ctx, "oauth-openshift", metav1.GetOptions{})
	if err != nil {
		return nil, nil, nil, fmt.Errorf("reading the OAuth metadata: %w", err)
	}
	proxy, err := e.Config.Proxies().Get(ctx, "cluster", metav1.GetOptions{})
	if err != nil {
		return nil, nil, nil, fmt.Errorf("reading the Proxy: %w", err)
	}
	rest := api.Spec
	rest.ServingCerts = configv1.APIServerServingCerts{}
	config := kasConfiguration{Others: fingerprint(rest, proxy.Status)}
	refused, err = e.refuses(ctx, api.Spec.ServingCerts.NamedCertificates)
	if err != nil {
		return nil, nil, nil, err
	}
	if refused == nil {
		for i, named := range api.Spec.ServingCerts.NamedCertificates {
			base := kasPods + certName(i) + "/tls."
			config.ServingInfo.NamedCertificates = append(config.ServingInfo.NamedCertificates, observedCertificate{named.Names, base + "crt", base + "key"})
			secrets = append(secrets, named.ServingCertificate.Name)
		}
		config.ServingInfo.NamedCertificates = append(ownCertificates(), config.ServingInfo.NamedCertificates...)
	} else if config.ServingInfo, err = e.observedBefore(ctx); err != nil {
		return nil, nil, nil, err
	}
	text, err := json.Marshal(config)
	if err != nil {
		return nil, nil, nil, fmt.Errorf("encoding the configuration: %w", err)
	}
	return map[string]string{"config": string(text), "oauth-metadata": meta.Data["oauthMetadata"]}, secrets, refused, nil
}

// kasConfiguration is the part of the server's config.yaml that matters here.
type kasConfiguration struct {
	ServingInfo servingInfo `json:"servingInfo"`
	Others      string      `json:"bench,omitempty"` // stands for all other settings
}

type servingInfo struct {
	NamedCertificates []observedCertificate `json:"namedCertificates,omitempty"`
}

type observedCertificate struct {
	Names    []string `json:"names,omitempty"`
	CertFile string   `json:"certFile"`
	KeyFile  string   `json:"keyFile"`
}

// ownCertificates are those that the operator mints; they come first and have no names.
func ownCertificates() []observedCertificate {
	var all []observedCertificate
	for _, name := range []string{
		"localhost-serving-cert-certkey", "service-network-serving-certkey", "external-loadbalancer-serving-certkey",
		"internal-loadbalancer-serving-certkey", "localhost-recovery-serving-certkey",
	} {
		all = append(all, observedCertificate{CertFile: kasPods + name + "/tls.crt", KeyFile: kasPods + name + "/tls.key"})
	}
	return all
}

// refuses says what the operator says, and in its order: more than ten entries, a name of a Secret that is empty, a Secret that
// is not there, a name in two entries. Names are compared to the letter, those in a certificate not at all
// (openshift/cluster-kube-apiserver-operator c813e820b, pkg/operator/configobservation/apiserver/observe_apiserver.go).
func (e *Env) refuses(ctx context.Context, named []configv1.APIServerNamedServingCert) (refused, err error) {
	if len(named) > namedMost {
		return fmt.Errorf("spec.servingCerts.namedCertificates cannot have more than %d entries", namedMost), nil
	}
	indexes := map[string][]string{}
	for i, n := range named {
		for _, name := range n.Names {
			indexes[name] = append(indexes[name], fmt.Sprint(i))
		}
		if n.ServingCertificate.Name == "" {
			return fmt.Errorf("spec.servingCerts.namedCertificates[%d].servingCertificate.name cannot be empty", i), nil
		}
		_, err := e.Kube.CoreV1().Secrets("openshift-config").Get(ctx, n.ServingCertificate.Name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return fmt.Errorf("secret %q not found", n.ServingCertificate.Name), nil
		}
		if err != nil {
			return nil, fmt.Errorf("reading a serving certificate: %w", err)
		}
	}
	var twice []string
	for _, name := range slices.Sorted(maps.Keys(indexes)) {
		if len(indexes[name]) > 1 {
			twice = append(twice, fmt.Sprintf("spec.servingCerts.namedCertificates[...].servingCertificate.name %q is used by other indexes: [%s]", name, strings.Join(indexes[name], ",")))
		}
	}
	if twice == nil {
		return nil, nil
	}
	return fmt.Errorf("%s", strings.Join(twice, "\n")), nil
}

// observedBefore is what the operator observed last.
func (e *Env) observedBefore(ctx context.Context) (servingInfo, error) {
	var c kasConfiguration
	op, err := e.Operator.KubeAPIServers().Get(ctx, "cluster", metav1.GetOptions{})
	if err == nil && len(op.Spec.ObservedConfig.Raw) > 0 {
		err = json.Unmarshal(op.Spec.ObservedConfig.Raw, &c)
	}
	if err != nil {
		return servingInfo{}, fmt.Errorf("reading what kube-apiserver's operator observed: %w", err)
	}
	return c.ServingInfo, nil
}

// sayObserved sets the operator's own condition at once; the ClusterOperator follows after two minutes, for a trouble that lasts.
func (e *Env) sayObserved(ctx context.Context, refused error) error {
	c := operatorv1.OperatorCondition{Type: configObservation, Status: operatorv1.ConditionFalse}
	if refused != nil {
		c.Status, c.Reason, c.Message = operatorv1.ConditionTrue, "Error", refused.Error()
	}
	err := e.updateRevision(ctx, func(s *operatorv1.StaticPodOperatorStatus) { setCondition(s, c) })
	if err != nil {
		return err
	}
	if e.isReal(staticPods) {
		return nil // its status controller tells the ClusterOperator
	}
	before := e.refused.Swap(refused != nil)
	if refused == nil {
		if before {
			return e.degraded(ctx, kas, false, "AsExpected", "")
		}
		return nil
	}
	if !before {
		go e.degradeLate(ctx, refused)
	}
	return nil
}

// degradeLate is the inertia of the operator's status: library-go reports a degraded part only when it lasts.
func (e *Env) degradeLate(ctx context.Context, refused error) {
	if e.Pace.Sleep(ctx, degradedInertia) != nil || !e.refused.Load() {
		return
	}
	err := e.degraded(ctx, kas, true, "ConfigObservation_Error", configObservation+": "+refused.Error())
	if err == nil && !e.refused.Load() { // put right in between
		err = e.degraded(ctx, kas, false, "AsExpected", "")
	}
	if err != nil && ctx.Err() == nil {
		e.Log.Warn("degrading kube-apiserver", "error", err)
	}
}

// degradedInertia is how long a part is degraded before the ClusterOperator is.
const degradedInertia = 2 * time.Minute
