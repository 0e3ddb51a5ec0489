package domain

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"

	"touchdown/backend/kube"
	"touchdown/backend/message"
	"touchdown/backend/problem"
)

// routed says whether the router "default" will serve the components' new hosts. Where its IngressController has selectors it takes only
// the routes that they choose (openshift/cluster-ingress-operator acca9642a, pkg/operator/controller/ingress/deployment.go: NAMESPACE_LABELS,
// ROUTE_LABELS; the same since release-4.14). A host that it does not take would be answered with its error page, and whether another router
// serves it, and on which port, is for the cluster's owner to know.
func (n Names) routed(ctx context.Context, c *kube.Cluster) error {
	router, err := c.Get(ctx, kube.IngressController("default"))
	if err != nil {
		return err
	}
	if err := listens(router); err != nil {
		return err
	}
	spec, _ := router["spec"].(map[string]any)
	if spec["namespaceSelector"] == nil && spec["routeSelector"] == nil {
		return nil
	}
	hosts, err := n.Hosts(ctx, c)
	if err != nil {
		return err
	}
	for _, part := range components {
		if !hosts[part.name].Moves() {
			continue
		}
		of, err := part.labels(ctx, c)
		if err != nil {
			return err
		}
		for _, key := range []string{"namespaceSelector", "routeSelector"} {
			selector, err := selectorOf(spec[key])
			if err != nil {
				return fmt.Errorf("reading spec.%s of ingresscontrollers/default: %w", key, err)
			}
			if !selector.Matches(of[key]) {
				return &problem.Problem{
					Code:    "RTR-SHRD",
					Summary: message.F("The router default would not serve %s: its spec.%s (%s) does not choose the route of %s.", hosts[part.name].Name, key, selector, part.name),
					Fix: message.T("Nothing was written. The cluster's owner can let that router take the routes of openshift-console and openshift-authentication: " +
						"oc edit ingresscontroller default -n openshift-ingress-operator. Then retry, or start without a new name."),
				}
			}
		}
	}
	return nil
}

// listens refuses a router that is not at port 443 of the node: which address leads to it then, its owner alone can tell. status says what
// is in force; the operator chooses HostNetwork on the platforms that the bake takes (openshift/cluster-ingress-operator
// pkg/operator/controller/ingress/controller.go, setDefaultPublishingStrategy, 4.14 to 4.21).
func listens(router map[string]any) error {
	status, _ := router["status"].(map[string]any)
	strategy, _ := status["endpointPublishingStrategy"].(map[string]any)
	kind, _ := strategy["type"].(string)
	host, _ := strategy["hostNetwork"].(map[string]any)
	port, given := host["httpsPort"].(int64)
	if kind == "" || kind == "HostNetwork" && (!given || port == 0 || port == 443) {
		return nil
	}
	where := message.Data(kind)
	if kind == "HostNetwork" {
		where = message.F("%s, port %d", kind, port)
	}
	return &problem.Problem{
		Code:    "RTR-443",
		Summary: message.F("The router default is not at port 443 of this node (endpointPublishingStrategy %s), where the new names lead.", where),
		Fix:     message.T("Nothing was written. The cluster's owner can move it there, or move the names by hand. Then retry, or start without a new name."),
	}
}

// labels are what a selector sees of the component's route once it has its new host, and of its namespace. The login keeps its
// route; the console gets another one, with the labels of its operator's manifest (openshift/console-operator 684157180,
// bindata/assets/routes), unless it has that already.
func (part component) labels(ctx context.Context, c *kube.Cluster) (map[string]labels.Set, error) {
	namespace, err := c.Get(ctx, kube.Ref{Version: "v1", Resource: "namespaces", Name: part.namespace})
	if err != nil {
		return nil, err
	}
	name, fresh := part.name, labels.Set{}
	if part.namespace == "openshift-console" {
		name += "-custom"
	}
	if part.name != "downloads" {
		fresh["app"] = part.name
	}
	route, err := c.Get(ctx, kube.Route(part.namespace, name))
	if err != nil {
		return nil, err
	}
	if route != nil {
		fresh = labelsOf(route)
	}
	return map[string]labels.Set{"namespaceSelector": labelsOf(namespace), "routeSelector": fresh}, nil
}

func labelsOf(object map[string]any) labels.Set {
	meta, _ := object["metadata"].(map[string]any)
	raw, _ := meta["labels"].(map[string]any)
	set := labels.Set{}
	for key, value := range raw {
		set[key], _ = value.(string)
	}
	return set
}

// selectorOf reads a selector; without one everything is chosen.
func selectorOf(raw any) (labels.Selector, error) {
	tree, ok := raw.(map[string]any)
	if !ok {
		return labels.Everything(), nil
	}
	var selector metav1.LabelSelector
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(tree, &selector); err != nil {
		return nil, fmt.Errorf("reading a selector: %w", err)
	}
	all, err := metav1.LabelSelectorAsSelector(&selector)
	if err != nil {
		return nil, fmt.Errorf("reading a selector: %w", err)
	}
	return all, nil
}
