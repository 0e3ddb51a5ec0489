package nodeconfig

import (
	"context"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"

	"touchdown/backend/kube"
)

// generatedConfig is what the operator makes of a ContainerRuntimeConfig: one MachineConfig with the whole storage.conf
// (getManagedKeyCtrCfg of its container runtime controller). A second one gets the suffix -1, and so on.
const (
	templateConfig  = "01-master-container-runtime" // of the operator, for a pool without such an object
	generatedConfig = "99-master-generated-containerruntime"
)

// poolLabel is on every MachineConfigPool that the operator made, and is what its documentation selects a pool by.
const poolLabel = "pools.operator.machineconfiguration.openshift.io/" + pool

const storeRuntimeConfig = "touchdown-imagestore"

func runtimeConfigs(name string) kube.Ref {
	return kube.Ref{Group: "machineconfiguration.openshift.io", Version: "v1", Resource: "containerruntimeconfigs", Name: name}
}

// storeField names the store in a ContainerRuntimeConfig, from which the operator makes storage.conf itself, with whatever a
// newer release puts there. ok is false where that is not to be had: the release does not know the field (OpenShift before
// 4.22), somebody's MachineConfig lays the file, which would hide the operator's or be hidden by it, or it is not clear which of
// several objects is in force.
func (w Want) storeField(ctx context.Context, c Reader, owner, base string) (o object, ok bool, err error) {
	if owner != "" && owner != templateConfig && !strings.HasPrefix(owner, generatedConfig) {
		return o, false, nil
	}
	served, err := fieldServed(ctx, c)
	if err != nil || !served {
		return o, false, err
	}
	name, clear, err := poolRuntimeConfig(ctx, c)
	if err != nil || !clear {
		return o, false, err
	}
	before, err := stores(base)
	if err != nil {
		return o, false, err
	}
	return object{
		Change: storeChange(before, w.ImageStore, func(r Config) bool {
			named, err := stores(r.Files[storageFile])
			return err == nil && slices.Contains(named, w.ImageStore)
		}),
		ref:  runtimeConfigs(name),
		kind: kube.New{Kind: "ContainerRuntimeConfig", Labels: map[string]string{"app.kubernetes.io/managed-by": "touchdown"}},
		change: func(spec map[string]any) error {
			if spec["machineConfigPoolSelector"] == nil {
				spec["machineConfigPoolSelector"] = map[string]any{"matchLabels": map[string]any{poolLabel: ""}}
			}
			config, _ := spec["containerRuntimeConfig"].(map[string]any)
			if config == nil {
				config = map[string]any{}
				spec["containerRuntimeConfig"] = config
			}
			list, _ := config["additionalImageStores"].([]any)
			if !slices.ContainsFunc(list, func(s any) bool { at, _ := s.(map[string]any); return at["path"] == w.ImageStore }) {
				config["additionalImageStores"] = append(list, map[string]any{"path": w.ImageStore})
			}
			return nil
		},
	}, true, nil
}

// fieldServed tells whether the cluster's release knows additionalImageStores.
func fieldServed(ctx context.Context, c Reader) (bool, error) {
	crd, err := c.Get(ctx, kube.Ref{
		Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions",
		Name: "containerruntimeconfigs.machineconfiguration.openshift.io",
	})
	if err != nil {
		return false, err
	}
	versions, _ := below(crd, "spec")["versions"].([]any)
	for _, v := range versions {
		version, _ := v.(map[string]any)
		config := below(version, "schema", "openAPIV3Schema", "properties", "spec", "properties", "containerRuntimeConfig", "properties")
		if text(version, "name") == "v1" && config["additionalImageStores"] != nil {
			return true, nil
		}
	}
	return false, nil
}

// poolRuntimeConfig is the name of the one ContainerRuntimeConfig of the node's pool, or of the one to make. Of several the
// operator lays one file each, and the last hides the others: then nothing is clear.
func poolRuntimeConfig(ctx context.Context, c Reader) (config string, clear bool, err error) {
	all, _, err := c.List(ctx, runtimeConfigs(""))
	if err != nil {
		return "", false, err
	}
	p, err := c.Get(ctx, kube.MachineConfigPool(pool))
	if err != nil {
		return "", false, err
	}
	has := labels.Set{}
	for key, value := range below(p, "metadata", "labels") {
		has[key], _ = value.(string)
	}
	if _, known := has[poolLabel]; !known {
		return "", false, nil // a pool that somebody made anew: what would select it is not known
	}
	var chosen []string
	for _, o := range all {
		var selector metav1.LabelSelector
		raw := below(o, "spec", "machineConfigPoolSelector")
		if raw == nil {
			continue
		}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(raw, &selector); err != nil {
			return "", false, nil //nolint:nilerr // the operator refuses it too
		}
		if s, err := metav1.LabelSelectorAsSelector(&selector); err == nil && s.Matches(has) {
			chosen = append(chosen, name(o))
		}
	}
	switch len(chosen) {
	case 0:
		return storeRuntimeConfig, true, nil
	case 1:
		return chosen[0], true, nil
	}
	return "", false, nil
}
