package domain

import (
	"context"

	"touchdown/backend/kube"
)

// Served are the hosts of the console, its downloads and the login once the names have moved, by the name of the component.
type Served map[string]Host

// Host is where a component is served.
type Host struct {
	Name   string
	Old    string // what the cluster's owner had chosen below the domain that is left behind; "" for nothing
	Owner  bool   // the cluster's owner chose it: it stays, with its certificate
	Absent bool   // no operator serves it; it would be served here
}

// Moves tells whether the host is new and will be served.
func (h Host) Moves() bool { return !h.Owner && !h.Absent }

// Console is the host of the console.
func (h Served) Console() Host { return h[components[0].name] }

// OAuth is the host of the login.
func (h Served) OAuth() Host { return h[components[2].name] }

// Hosts reads which of the components' hosts move.
func (n Names) Hosts(ctx context.Context, c *kube.Cluster) (Served, error) {
	ingress, err := c.Get(ctx, kube.Config("ingresses"))
	if err != nil {
		return nil, err
	}
	console, err := c.Get(ctx, operatorConfig("consoles"))
	if err != nil {
		return nil, err
	}
	spec, _ := ingress["spec"].(map[string]any)
	hosts := Served{}
	for _, part := range components {
		there, err := part.served(ctx, c, console)
		if err != nil {
			return nil, err
		}
		host := n.host(part, spec, legacyHost(part, console))
		host.Absent = !there
		hosts[part.name] = host
	}
	return hosts, nil
}

// host decides for one component. What the owner chose stays, unless it lies below the domain that is left behind, as
// the site's DNS will not know it. A choice of Touchdown, from an earlier move, is known by its Secret.
func (n Names) host(part component, spec map[string]any, legacy string) Host {
	ours := part.host + "." + Apps(n.Domain)
	chosen, secret := legacy, ""
	if entry := part.entry(spec); entry != nil {
		chosen, _ = entry["hostname"].(string)
		key, _ := entry["servingCertKeyPairSecret"].(map[string]any)
		secret, _ = key["name"].(string)
	}
	installed, _ := spec["domain"].(string)
	apps, _ := spec["appsDomain"].(string)
	switch {
	case chosen == "", n.ours(secret), chosen == ours && secret == "":
		return Host{Name: ours}
	case below(chosen, Apps(n.Domain)):
	case below(chosen, installed), below(chosen, apps):
		return Host{Name: ours, Old: chosen}
	}
	return Host{Name: chosen, Owner: true}
}

// entry is the component's one in the ingress configuration, nil when there is none.
func (part component) entry(spec map[string]any) map[string]any {
	routes, _ := spec["componentRoutes"].([]any)
	for _, r := range routes {
		if entry, _ := r.(map[string]any); entry["namespace"] == part.namespace && entry["name"] == part.name {
			return entry
		}
	}
	return nil
}

// legacyHost is the console's host as the console's operator is told it, which counts where the ingress configuration has no entry
// (openshift/console-operator 684157180, pkg/console/subresource/route, NewRouteConfig).
func legacyHost(part component, console map[string]any) string {
	if part.name != "console" {
		return ""
	}
	return textIn(console, "spec", "route", "hostname")
}

// served tells whether an operator makes the component's route: not where the console was removed or has an ingress of the owner's
// (console-operator 684157180, pkg/console/controllers/route), nor where users log in at their own provider
// (cluster-authentication-operator f3df4f5b2, pkg/controllers/customroute, removeOperands).
func (part component) served(ctx context.Context, c *kube.Cluster, console map[string]any) (bool, error) {
	elsewhere := map[string]string{"console": "consoleURL", "downloads": "clientDownloadsURL"}[part.name]
	switch {
	case elsewhere == "":
		auth, err := c.Get(ctx, kube.Config("authentications"))
		if err != nil || textIn(auth, "spec", "type") != "OIDC" {
			return err == nil, err
		}
	case textIn(console, "spec", "managementState") == "Removed", textIn(console, "spec", "ingress", elsewhere) != "":
		return false, nil
	case console != nil:
		return true, nil
	}
	route, err := c.Get(ctx, kube.Route(part.namespace, part.name))
	return route != nil, err
}

// textIn returns a string below an object, "" when there is none.
func textIn(object map[string]any, keys ...string) string {
	last := len(keys) - 1
	for _, key := range keys[:last] {
		object, _ = object[key].(map[string]any)
	}
	s, _ := object[keys[last]].(string)
	return s
}
