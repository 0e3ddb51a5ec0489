package operators

import (
	configv1 "github.com/openshift/api/config/v1"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

type resource = schema.GroupVersionResource

func configResources(names ...string) []resource {
	var all []resource
	for _, name := range names {
		all = append(all, configv1.GroupVersion.WithResource(name))
	}
	return all
}

func core(name string) resource { return v1.SchemeGroupVersion.WithResource(name) }
