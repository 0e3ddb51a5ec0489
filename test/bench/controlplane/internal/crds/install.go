package crds

import (
	"context"
	"embed"
	"fmt"
	"os"
	"path/filepath"
	"time"

	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"
)

// stubs are definitions that openshift/api does not have.
//
//go:embed stubs/*.yaml
var stubs embed.FS

// Install creates every definition in a folder, and the stubs, and waits until all are served.
func Install(ctx context.Context, config *rest.Config, dir string) error {
	client, err := clientset.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("making the CRD client: %w", err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
	if err != nil || len(files) == 0 {
		return fmt.Errorf("no definitions in %s", dir)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return fmt.Errorf("reading a definition: %w", err)
		}
		if err := install(ctx, client, filepath.Base(file), data); err != nil {
			return err
		}
	}
	more, err := stubs.ReadDir("stubs")
	if err != nil {
		return fmt.Errorf("listing the stubs: %w", err)
	}
	for _, stub := range more {
		data, err := stubs.ReadFile("stubs/" + stub.Name())
		if err != nil {
			return fmt.Errorf("reading a stub: %w", err)
		}
		if err := install(ctx, client, stub.Name(), data); err != nil {
			return err
		}
	}
	return waitServed(ctx, client, len(files)+len(more))
}

func install(ctx context.Context, client clientset.Interface, file string, data []byte) error {
	crd := &apiextensions.CustomResourceDefinition{}
	if err := yaml.Unmarshal(data, crd); err != nil {
		return fmt.Errorf("parsing %s: %w", file, err)
	}
	if _, err := client.ApiextensionsV1().CustomResourceDefinitions().Create(ctx, crd, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("creating %s: %w", crd.Name, err)
	}
	return nil
}

func waitServed(ctx context.Context, client clientset.Interface, want int) error {
	for {
		list, err := client.ApiextensionsV1().CustomResourceDefinitions().List(ctx, metav1.ListOptions{})
		if err == nil && established(list.Items) >= want {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for the definitions to be served: %w", ctx.Err())
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func established(list []apiextensions.CustomResourceDefinition) int {
	n := 0
	for _, crd := range list {
		for _, c := range crd.Status.Conditions {
			if c.Type == apiextensions.Established && c.Status == apiextensions.ConditionTrue {
				n++
			}
		}
	}
	return n
}
