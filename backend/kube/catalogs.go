package kube

import (
	"context"
	"strings"
)

// catalogSource is a list of operators that can be installed. A pod serves it, whose name begins with that of the source.
type catalogSource struct {
	Namespace, Name string
	// Default tells that it belongs to the marketplace operator, which puts a changed one back (operator-framework/operator-marketplace,
	// release-4.14 to release-4.21, pkg/defaults).
	Default bool
	// Tagged tells that its image is named by a tag. Then OLM gives the pod the pull policy Always
	// (operator-framework/operator-lifecycle-manager at 992bb09, pkg/lib/image): it never starts again without a registry, whatever the
	// image store holds.
	Tagged bool
}

// CatalogSources are those of the cluster; there are none without OLM, which is an optional capability.
func (c *Cluster) CatalogSources(ctx context.Context) ([]catalogSource, error) {
	all, _, err := c.List(ctx, Ref{Group: "operators.coreos.com", Version: "v1alpha1", Resource: "catalogsources"})
	if err != nil {
		return nil, err
	}
	var sources []catalogSource
	for _, object := range all {
		meta, _ := object["metadata"].(map[string]any)
		notes, _ := meta["annotations"].(map[string]any)
		spec, _ := object["spec"].(map[string]any)
		image, _ := spec["image"].(string)
		s := catalogSource{
			Default: notes["operatorframework.io/managed-by"] == "marketplace-operator",
			Tagged:  image != "" && !strings.Contains(image, "@"),
		}
		s.Namespace, _ = meta["namespace"].(string)
		s.Name, _ = meta["name"].(string)
		sources = append(sources, s)
	}
	return sources, nil
}

// Serves tells whether a pod, given as NAMESPACE/NAME, is the source's.
func (s catalogSource) Serves(pod string) bool {
	return strings.HasPrefix(pod, s.Namespace+"/"+s.Name+"-")
}
