package nodeconfig

import (
	"context"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"

	"touchdown/backend/kube"
	"touchdown/backend/layout"
)

// Whose MachineConfig holds storage.conf while nobody but the operator has laid it. Its template is a common one
// (templates/common/_base/files/container-storage.yaml), and those go into the first MachineConfig of the pool
// (GenerateMachineConfigsForRole in pkg/controller/template/render.go; the same in openshift/machine-config-operator release-4.14 to
// release-4.21). Of a ContainerRuntimeConfig it makes one more with the whole file; a second one gets the suffix -1, and so on
// (getManagedKeyCtrCfg).
const (
	templateConfig  = "00-master"
	generatedConfig = "99-master-generated-containerruntime"
)

// storeGate is the feature gate of the field: openshift/api features/features.go has it on by default from OpenShift 4.23, in 4.22
// only for technology previews, before that not at all. A cluster with a custom set of features serves the field of a gate
// that is off, and the operator ignores it.
const storeGate = "AdditionalStorageConfig"

// poolLabel is on every MachineConfigPool that the operator made, and is what its documentation selects a pool by.
const poolLabel = "pools.operator.machineconfiguration.openshift.io/" + layout.Pool

const storeRuntimeConfig = "touchdown-imagestore"

func runtimeConfigs(name string) kube.Ref {
	return kube.Ref{Group: "machineconfiguration.openshift.io", Version: "v1", Resource: "containerruntimeconfigs", Name: name}
}

// storeField names the store in a ContainerRuntimeConfig, from which the operator makes storage.conf itself, with whatever a
// newer release puts there. ok is false where that cannot be used: the release does not know the field or has it switched off,
// a MachineConfig of the user's lays the file, which would hide the operator's or be hidden by it, or it is not clear which of
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

// fieldServed tells whether the cluster's release knows additionalImageStores and heeds it.
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
			return gateOpen(ctx, c)
		}
	}
	return false, nil
}

// gateOpen tells whether the field's gate is not switched off: once a feature is part of every cluster, its gate is no longer listed.
func gateOpen(ctx context.Context, c Reader) (bool, error) {
	gates, err := c.Get(ctx, kube.Config("featuregates"))
	if err != nil {
		return false, err
	}
	versions, _ := below(gates, "status")["featureGates"].([]any)
	for _, v := range versions {
		version, _ := v.(map[string]any)
		disabled, _ := version["disabled"].([]any)
		if slices.ContainsFunc(disabled, func(g any) bool { gate, _ := g.(map[string]any); return text(gate, "name") == storeGate }) {
			return false, nil
		}
	}
	return true, nil
}

// poolRuntimeConfig is the name of the one ContainerRuntimeConfig of the node's pool, or of the one to make. Of several the
// operator lays one file each, and the last hides the others: then nothing is clear.
func poolRuntimeConfig(ctx context.Context, c Reader) (config string, clear bool, err error) {
	all, _, err := c.List(ctx, runtimeConfigs(""))
	if err != nil {
		return "", false, err
	}
	p, err := c.Get(ctx, kube.MachineConfigPool(layout.Pool))
	if err != nil {
		return "", false, err
	}
	has := labels.Set{}
	for key, value := range below(p, "metadata", "labels") {
		has[key], _ = value.(string)
	}
	if _, known := has[poolLabel]; !known {
		return "", false, nil // a pool that someone made again: what would select it is not known
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
