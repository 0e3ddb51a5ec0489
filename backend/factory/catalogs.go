package factory

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"touchdown/backend/kube"
	"touchdown/backend/message"
)

// catalogPods is the label that OLM gives the pods of a catalog source.
const catalogPods = "olm.catalogSource"

// marketplace is the namespace of the default catalog sources and of their pods.
const marketplace = "openshift-marketplace"

// operatorHub is the only switch for the default catalog sources: the marketplace operator puts back what is changed in one of them.
var operatorHub = kube.Config("operatorhubs")

// DefaultCatalogs are the names of the default catalog sources that are switched on. There are none without the marketplace, which
// is an optional capability.
func DefaultCatalogs(ctx context.Context, c *kube.Cluster) ([]string, error) {
	hub, err := c.Get(ctx, operatorHub)
	if err != nil || hub == nil {
		return nil, err
	}
	all, err := c.CatalogSources(ctx)
	var names []string
	for _, source := range all {
		if source.Default {
			names = append(names, source.Name)
		}
	}
	slices.Sort(names)
	return names, err
}

// DisableCatalogs switches the named default catalog sources off and waits until their pods are gone.
func DisableCatalogs(ctx context.Context, c *kube.Cluster, names []string, save kube.Save) error {
	_, err := c.ChangeSpec(ctx, operatorHub, func(spec map[string]any) error {
		spec["disableAllDefaultSources"] = true
		// An entry that switches one on wins over the switch for all.
		sources, _ := spec["sources"].([]any)
		for _, s := range sources {
			source, _ := s.(map[string]any)
			if name, _ := source["name"].(string); slices.Contains(names, name) {
				source["disabled"] = true
			}
		}
		return nil
	}, save)
	if err != nil {
		return fmt.Errorf("switching the default catalog sources off: %w", err)
	}
	wait := kube.Wait{
		What: message.T("the end of the default catalog sources"), Limit: 5 * time.Minute, Usual: 30 * time.Second, Code: "FAC-CATS",
		Fix: message.F("Look at the marketplace operator in %s; when it works again, run the same command once more.", marketplace),
	}
	return c.Until(ctx, wait, func(ctx context.Context) (kube.Progress, bool, error) {
		left, err := DefaultCatalogs(ctx, c)
		if err != nil {
			return kube.Progress{}, false, err
		}
		_, err = c.Pages(ctx, kube.Ref{Version: "v1", Resource: "pods", Namespace: marketplace}, catalogPods+" in ("+strings.Join(names, ",")+")",
			func(pod map[string]any) {
				meta, _ := pod["metadata"].(map[string]any)
				left = append(left, fmt.Sprint("pod/", meta["name"]))
			})
		return kube.Progress{Waiting: message.F("the marketplace operator to remove %s", strings.Join(left, ", "))}, err == nil && len(left) == 0, err
	})
}
