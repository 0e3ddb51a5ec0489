package operators

import (
	"context"
	"fmt"
	"maps"
	"slices"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// firstInputs makes the ConfigMaps of a cluster that the stand-ins see for the first time: its revision has what is asked for.
func (e *Env) firstInputs(ctx context.Context, want map[string]string) error {
	op, err := e.Operator.KubeAPIServers().Get(ctx, "cluster", metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("reading the revision of kube-apiserver: %w", err)
	}
	if err := e.putInputs(ctx, op.Status.LatestAvailableRevision, want); err != nil {
		return err
	}
	return e.putInputs(ctx, 0, want)
}

// inputKeys are the revisioned ConfigMaps that change here, each with its key.
var inputKeys = map[string]string{"config": "config.yaml", "oauth-metadata": "oauthMetadata"}

func inputName(name string, revision int32) string {
	if revision == 0 {
		return name
	}
	return fmt.Sprintf("%s-%d", name, revision)
}

// kasInputs reads the inputs of a revision, or with 0 those of the next one; there is false where they were never written.
func (e *Env) kasInputs(ctx context.Context, revision int32) (in map[string]string, there bool, err error) {
	in = map[string]string{}
	for name, key := range inputKeys {
		cm, err := e.Kube.CoreV1().ConfigMaps(kasNamespace).Get(ctx, inputName(name, revision), metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return nil, false, nil
		}
		if err != nil {
			return nil, false, fmt.Errorf("reading the configuration of kube-apiserver: %w", err)
		}
		in[name] = cm.Data[key]
	}
	return in, true, nil
}

// putInputs writes the inputs of a revision, or with 0 those of the next one and what the operator observed.
func (e *Env) putInputs(ctx context.Context, revision int32, in map[string]string) error {
	if revision == 0 {
		observed := []byte(in["config"])
		err := e.retry(ctx, func() error {
			op, err := e.Operator.KubeAPIServers().Get(ctx, "cluster", metav1.GetOptions{})
			if err != nil || string(op.Spec.ObservedConfig.Raw) == string(observed) {
				return err
			}
			op.Spec.ObservedConfig = runtime.RawExtension{Raw: observed}
			_, err = e.Operator.KubeAPIServers().Update(ctx, op, metav1.UpdateOptions{})
			return err
		})
		if err != nil {
			return fmt.Errorf("writing what was observed: %w", err)
		}
	}
	for _, name := range []string{"config", "oauth-metadata"} {
		if err := e.setConfigMap(ctx, kasNamespace, inputName(name, revision), inputKeys[name], in[name]); err != nil {
			return err
		}
	}
	return nil
}

// copyServingCerts copies the Secrets of namedCertificates to the operand by their place in the list: an entry put before others
// moves theirs, beneath the running server.
func (e *Env) copyServingCerts(ctx context.Context, secrets []string) error {
	for i, name := range secrets {
		from, err := e.Kube.CoreV1().Secrets("openshift-config").Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return fmt.Errorf("reading a serving certificate: %w", err)
		}
		if err := e.putSecret(ctx, &v1.Secret{ObjectMeta: metav1.ObjectMeta{Name: certName(i)}, Type: from.Type, Data: from.Data}); err != nil {
			return err
		}
	}
	return nil
}

// removeServingCerts removes the copies behind the first n.
func (e *Env) removeServingCerts(ctx context.Context, n int) error {
	for i := n; i < namedMost; i++ {
		err := e.Kube.CoreV1().Secrets(kasNamespace).Delete(ctx, certName(i), metav1.DeleteOptions{})
		if apierrors.IsNotFound(err) {
			return nil // they are without gaps
		}
		if err != nil {
			return fmt.Errorf("removing a serving certificate: %w", err)
		}
	}
	return nil
}

func (e *Env) putSecret(ctx context.Context, want *v1.Secret) error {
	to := e.Kube.CoreV1().Secrets(kasNamespace)
	have, err := to.Get(ctx, want.Name, metav1.GetOptions{})
	switch {
	case err == nil && maps.EqualFunc(have.Data, want.Data, slices.Equal[[]byte]):
		return nil
	case err == nil && have.Type == want.Type:
		have.Data = want.Data
		_, err = to.Update(ctx, have, metav1.UpdateOptions{})
	case err == nil: // a type cannot change
		if err = to.Delete(ctx, want.Name, metav1.DeleteOptions{}); err == nil {
			_, err = to.Create(ctx, want, metav1.CreateOptions{})
		}
	case apierrors.IsNotFound(err):
		_, err = to.Create(ctx, want, metav1.CreateOptions{})
	}
	if err != nil {
		return fmt.Errorf("copying a serving certificate: %w", err)
	}
	return nil
}
