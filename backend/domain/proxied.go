package domain

import (
	"context"
	"net/url"
	"strings"

	"golang.org/x/net/http/httpproxy"

	"touchdown/backend/kube"
	"touchdown/backend/message"
	"touchdown/backend/problem"
)

// proxied says whether the cluster's operators would ask for the new hosts at a proxy that the cluster has already. They look at the login
// and the console by their new hosts, with the proxy of proxies/cluster in their environment, and report trouble for as long as that
// fails (openshift/cluster-authentication-operator 65eb4b219, pkg/libs/endpointaccessible, buildTLSClient; the same since release-4.14).
// The exceptions of a proxy from the factory have the factory's domain. Those of a proxy that the site brings get the new one.
func (n Names) proxied(ctx context.Context, c *kube.Cluster) error {
	if n.Proxied {
		return nil
	}
	proxy, err := c.Get(ctx, kube.Config("proxies"))
	if err != nil {
		return err
	}
	through := httpproxy.Config{HTTPSProxy: textIn(proxy, "status", "httpsProxy"), NoProxy: textIn(proxy, "status", "noProxy")}
	if through.HTTPSProxy == "" {
		return nil
	}
	hosts, err := n.Hosts(ctx, c)
	if err != nil {
		return err
	}
	ask := through.ProxyFunc()
	for _, part := range components {
		host := hosts[part.name]
		// A proxy that cannot be read is none, for the operators too.
		if at, err := ask(&url.URL{Scheme: "https", Host: host.Name}); !host.Moves() || err != nil || at == nil {
			continue
		}
		base := strings.TrimPrefix(Apps(n.Domain), "apps")
		return &problem.Problem{
			Code:    "PRX-NAME",
			Summary: message.F("The cluster's operators would ask its proxy for %s: the proxy's exceptions (noProxy) do not have %s.", host.Name, base),
			Fix:     message.F("Nothing was written. Give the site's proxy in spec.proxy of the site config, which adds the new names to the exceptions; or the cluster's owner adds %s: oc edit proxy cluster. Then retry, or start without a new name.", base),
		}
	}
	return nil
}
