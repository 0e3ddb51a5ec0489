package main

import (
	"fmt"

	operatorv1 "github.com/openshift/api/operator/v1"
	apply "github.com/openshift/client-go/operator/applyconfigurations/operator/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// specOf and statusOf tell library-go what one of its controllers has applied to kubeapiservers/cluster.
func specOf(obj *unstructured.Unstructured, manager string) (*apply.StaticPodOperatorSpecApplyConfiguration, error) {
	k, err := typed(obj)
	if err != nil {
		return nil, err
	}
	applied, err := apply.ExtractKubeAPIServer(k, manager)
	if err != nil {
		return nil, fmt.Errorf("reading the fields of %s: %w", manager, err)
	}
	if applied.Spec == nil {
		return nil, nil
	}
	return &applied.Spec.StaticPodOperatorSpecApplyConfiguration, nil
}

func statusOf(obj *unstructured.Unstructured, manager string) (*apply.StaticPodOperatorStatusApplyConfiguration, error) {
	k, err := typed(obj)
	if err != nil {
		return nil, err
	}
	applied, err := apply.ExtractKubeAPIServerStatus(k, manager)
	if err != nil {
		return nil, fmt.Errorf("reading the fields of %s: %w", manager, err)
	}
	if applied.Status == nil {
		return nil, nil
	}
	return &applied.Status.StaticPodOperatorStatusApplyConfiguration, nil
}

func typed(obj *unstructured.Unstructured) (*operatorv1.KubeAPIServer, error) {
	k := &operatorv1.KubeAPIServer{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(obj.Object, k); err != nil {
		return nil, fmt.Errorf("reading kubeapiservers/cluster: %w", err)
	}
	return k, nil
}
