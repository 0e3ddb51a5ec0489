// Package seed fills an empty API with the objects of a factory-built single-node OpenShift.
package seed

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"text/template"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/restmapper"

	operatorv1 "github.com/openshift/api/operator/v1"

	"touchdown/test/bench/controlplane/internal/cluster"
)

//go:embed objects/*.yaml
var objects embed.FS

// Apply creates all objects with their status, then the CSRs of a node that no kubelet keeps.
func Apply(ctx context.Context, c *cluster.Clients, v *Values) error {
	groups, err := restmapper.GetAPIGroupResources(c.Kube.Discovery())
	if err != nil {
		return fmt.Errorf("discovering the API: %w", err)
	}
	mapper := restmapper.NewDiscoveryRESTMapper(groups)
	files, err := objects.ReadDir("objects")
	if err != nil {
		return fmt.Errorf("listing the objects: %w", err)
	}
	// One file after the other, because namespaces come first; the objects of a file all at once.
	for _, file := range files {
		items, err := v.render(file.Name())
		if err != nil {
			return err
		}
		if err := createAll(ctx, c.Dynamic, mapper, items); err != nil {
			return fmt.Errorf("creating the objects of %s: %w", file.Name(), err)
		}
	}
	if err := setRevisions(ctx, c, v.Revision); err != nil {
		return err
	}
	if v.Real {
		return nil
	}
	return requestCertificates(ctx, c, v)
}

func (v *Values) render(file string) ([]*unstructured.Unstructured, error) {
	tmpl, err := template.New(file).Option("missingkey=error").Funcs(v.functions()).ParseFS(objects, "objects/"+file)
	if err != nil {
		return nil, fmt.Errorf("parsing %s: %w", file, err)
	}
	var text bytes.Buffer
	if err := tmpl.ExecuteTemplate(&text, file, v); err != nil {
		return nil, fmt.Errorf("filling %s: %w", file, err)
	}
	var items []*unstructured.Unstructured
	decoder := yaml.NewYAMLOrJSONDecoder(&text, 4096)
	for {
		item := &unstructured.Unstructured{}
		err := decoder.Decode(item)
		if errors.Is(err, io.EOF) {
			return items, nil
		}
		if err != nil {
			return nil, fmt.Errorf("decoding %s after %d objects: %w", file, len(items), err)
		}
		if item.Object != nil {
			items = append(items, item)
		}
	}
}

func createAll(ctx context.Context, client dynamic.Interface, mapper meta.RESTMapper, items []*unstructured.Unstructured) error {
	errs := make([]error, len(items))
	var all sync.WaitGroup
	slots := make(chan struct{}, 16)
	for i, item := range items {
		all.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			if err := create(ctx, client, mapper, item); err != nil {
				errs[i] = fmt.Errorf("%s %s: %w", item.GetKind(), item.GetName(), err)
			}
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

func create(ctx context.Context, client dynamic.Interface, mapper meta.RESTMapper, item *unstructured.Unstructured) error {
	kind := item.GroupVersionKind()
	mapping, err := mapper.RESTMapping(kind.GroupKind(), kind.Version)
	if err != nil {
		return err
	}
	var to dynamic.ResourceInterface = client.Resource(mapping.Resource)
	if mapping.Scope.Name() == meta.RESTScopeNameNamespace {
		to = client.Resource(mapping.Resource).Namespace(item.GetNamespace())
	}
	made, err := to.Create(ctx, item, metav1.CreateOptions{FieldValidation: metav1.FieldValidationStrict})
	if apierrors.IsBadRequest(err) && strings.Contains(err.Error(), "strict decoding error") {
		// Older definitions lack fields of today.
		slog.Warn("seeding without unknown fields", "kind", item.GetKind(), "name", item.GetName(), "error", err)
		made, err = to.Create(ctx, item, metav1.CreateOptions{FieldValidation: metav1.FieldValidationIgnore})
	}
	if apierrors.IsAlreadyExists(err) {
		made, err = to.Get(ctx, item.GetName(), metav1.GetOptions{})
	}
	if err != nil {
		return err
	}
	status, ok := item.Object["status"]
	if !ok {
		return nil
	}
	for {
		made.Object["status"] = status
		_, err = to.UpdateStatus(ctx, made, metav1.UpdateOptions{})
		if apierrors.IsNotFound(err) {
			return nil // a resource without status subresource: the status came with the rest
		}
		if !apierrors.IsConflict(err) {
			return err
		}
		if made, err = to.Get(ctx, item.GetName(), metav1.GetOptions{}); err != nil {
			return err
		}
	}
}

// setRevisions gives the nodes of the static pod operators their revision. A node's entry may not be created with one (a rule of the CRD).
func setRevisions(ctx context.Context, c *cluster.Clients, revision int) error {
	patch := fmt.Appendf(nil, `[{"op":"add","path":"/status/nodeStatuses/0/currentRevision","value":%d}]`, revision)
	for _, resource := range []string{"kubeapiservers", "etcds", "kubecontrollermanagers", "kubeschedulers"} {
		client := c.Dynamic.Resource(operatorv1.GroupVersion.WithResource(resource))
		if _, err := client.Patch(ctx, "cluster", types.JSONPatchType, patch, metav1.PatchOptions{}, "status"); err != nil {
			return fmt.Errorf("setting the revision of %s: %w", resource, err)
		}
	}
	return nil
}
