package operators

import (
	"context"
	"errors"
	"fmt"
	"strings"

	configv1 "github.com/openshift/api/config/v1"
	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

const (
	marketplaceNamespace = "openshift-marketplace"
	marketplaceKey       = "operatorframework.io/managed-by"
	marketplaceName      = "marketplace-operator"
	catalogLabel         = "olm.catalogSource"
)

var catalogSources = schema.GroupVersionResource{Group: "operators.coreos.com", Version: "v1alpha1", Resource: "catalogsources"}

// defaultCatalogs are those of a 4.18 cluster (operator-framework/operator-marketplace release-4.18, defaults/).
func defaultCatalogs() []string {
	return []string{"certified-operators", "community-operators", "redhat-marketplace", "redhat-operators"}
}

// runMarketplace plays the marketplace operator, which keeps the default catalog sources as OperatorHub has them
// (pkg/operatorhub, pkg/defaults), and OLM, which keeps one pod for each catalog source (pkg/controller/registry/reconciler).
func runMarketplace(ctx context.Context, e *Env) {
	watched := append(configResources("operatorhubs"), catalogSources, core("pods"))
	e.loop(ctx, "marketplace", watched, func(ctx context.Context) error {
		hub, err := e.Config.OperatorHubs().Get(ctx, "cluster", metav1.GetOptions{})
		if err != nil {
			return fmt.Errorf("reading OperatorHub: %w", err)
		}
		image := e.catalogImage(ctx)
		var errs []error
		for _, name := range defaultCatalogs() {
			errs = append(errs, e.keepCatalog(ctx, name, image, switchedOff(hub.Spec, name)))
		}
		return errors.Join(append(errs, e.keepCatalogPods(ctx))...)
	})
}

// switchedOff reads the spec as the operator does: a source with its own entry follows that entry.
func switchedOff(spec configv1.OperatorHubSpec, name string) bool {
	for _, source := range spec.Sources {
		if source.Name == name {
			return source.Disabled
		}
	}
	return spec.DisableAllDefaultSources
}

// catalogImage is what a test wants to be pulled; by default one that no registry of the bench has.
func (e *Env) catalogImage(ctx context.Context) string {
	config, err := e.Kube.CoreV1().ConfigMaps(namespace).Get(ctx, "catalogs", metav1.GetOptions{})
	if err == nil && config.Data["image"] != "" {
		return config.Data["image"]
	}
	return "registry.redhat.io/redhat/redhat-operator-index:v4.18"
}

func (e *Env) keepCatalog(ctx context.Context, name, image string, off bool) error {
	client := e.Dynamic.Resource(catalogSources).Namespace(marketplaceNamespace)
	have, err := client.Get(ctx, name, metav1.GetOptions{})
	switch {
	case err != nil && !apierrors.IsNotFound(err):
		return fmt.Errorf("reading catalog source %s: %w", name, err)
	case err != nil && off:
		return nil
	case err == nil && off:
		if have.GetAnnotations()[marketplaceKey] != marketplaceName {
			return nil // the user's own of the same name
		}
		if err := client.Delete(ctx, name, metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
			return fmt.Errorf("deleting catalog source %s: %w", name, err)
		}
		return nil
	case err == nil:
		if now, _, _ := unstructured.NestedString(have.Object, "spec", "image"); now == image {
			return nil
		}
		// Whoever changes a default catalog source finds it put back.
		if err := unstructured.SetNestedField(have.Object, image, "spec", "image"); err != nil {
			return fmt.Errorf("putting back catalog source %s: %w", name, err)
		}
		if _, err := client.Update(ctx, have, metav1.UpdateOptions{}); err != nil {
			return fmt.Errorf("putting back catalog source %s: %w", name, err)
		}
		return nil
	}
	made := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "operators.coreos.com/v1alpha1", "kind": "CatalogSource",
		"metadata": map[string]any{"name": name, "namespace": marketplaceNamespace, "annotations": map[string]any{marketplaceKey: marketplaceName}},
		"spec":     map[string]any{"sourceType": "grpc", "image": image},
	}}
	if _, err := client.Create(ctx, made, metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("creating catalog source %s: %w", name, err)
	}
	return nil
}

// keepCatalogPods gives each catalog source of the namespace its pod; the garbage collector takes it away again.
func (e *Env) keepCatalogPods(ctx context.Context) error {
	sources, err := e.Dynamic.Resource(catalogSources).Namespace(marketplaceNamespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("listing catalog sources: %w", err)
	}
	pods := e.Kube.CoreV1().Pods(marketplaceNamespace)
	for i := range sources.Items {
		source := &sources.Items[i]
		image, _, _ := unstructured.NestedString(source.Object, "spec", "image")
		have, err := pods.List(ctx, metav1.ListOptions{LabelSelector: catalogLabel + "=" + source.GetName()})
		if err != nil {
			return fmt.Errorf("listing the pods of catalog source %s: %w", source.GetName(), err)
		}
		if len(have.Items) > 0 && have.Items[0].Spec.Containers[0].Image == image || image == "" {
			continue
		}
		if len(have.Items) > 0 {
			if err := pods.Delete(ctx, have.Items[0].Name, metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
				return fmt.Errorf("replacing the pod of catalog source %s: %w", source.GetName(), err)
			}
		}
		if err := e.catalogPod(ctx, source, image); err != nil {
			return err
		}
	}
	return nil
}

func (e *Env) catalogPod(ctx context.Context, source *unstructured.Unstructured, image string) error {
	yes, policy, grace := true, v1.PullAlways, int64(0)
	if strings.Contains(image, "@") { // OLM: pkg/lib/image, InferImagePullPolicy
		policy = v1.PullIfNotPresent
	}
	pod := &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			GenerateName: source.GetName() + "-", Labels: map[string]string{catalogLabel: source.GetName(), "olm.managed": "true"},
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: source.GetAPIVersion(), Kind: source.GetKind(), Name: source.GetName(), UID: source.GetUID(), Controller: &yes,
			}},
		},
		Spec: v1.PodSpec{
			NodeName: e.Node, TerminationGracePeriodSeconds: &grace,
			Containers: []v1.Container{{Name: "registry-server", Image: image, ImagePullPolicy: policy}},
		},
	}
	pods := e.Kube.CoreV1().Pods(marketplaceNamespace)
	made, err := pods.Create(ctx, pod, metav1.CreateOptions{})
	if err != nil {
		return fmt.Errorf("creating the pod of catalog source %s: %w", source.GetName(), err)
	}
	if e.RealNode {
		return nil
	}
	now := metav1.Now()
	made.Status.Phase = v1.PodRunning
	made.Status.Conditions = []v1.PodCondition{{Type: v1.PodReady, Status: v1.ConditionTrue, LastTransitionTime: now}}
	made.Status.ContainerStatuses = []v1.ContainerStatus{{
		Name: "registry-server", Ready: true, Image: image, State: v1.ContainerState{Running: &v1.ContainerStateRunning{StartedAt: now}},
	}}
	if _, err := pods.UpdateStatus(ctx, made, metav1.UpdateOptions{}); err != nil {
		return fmt.Errorf("reporting the pod of catalog source %s: %w", source.GetName(), err)
	}
	return nil
}
