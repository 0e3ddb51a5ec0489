package health

import (
	"cmp"
	"context"
	"crypto/x509"
	"net"
	"net/url"
	"strings"
	"sync"

	configv1 "github.com/openshift/api/config/v1"

	"touchdown/backend/kube"
	"touchdown/backend/message"
)

// probe asks the servers themselves, by the names under which people will.
func (s *State) probe(ctx context.Context, c *kube.Cluster, o Options) {
	roots := o.trusted(c)
	api, ingress := o.servers(c, s)
	var all sync.WaitGroup
	for id, target := range s.targets(o, api, ingress) {
		all.Go(func() {
			shown := target.Shown
			if shown.Skip == (message.Text{}) {
				served, err := kube.Probe(ctx, target.address, shown.Name, roots, s.At)
				if shown.Err = err; err == nil {
					shown.Leaf, shown.Trust = served.Leaf(), served.Trust
				}
			}
			s.mu.Lock()
			defer s.mu.Unlock()
			s.Served[id] = shown
		})
	}
	for _, site := range sites {
		all.Go(func() {
			answer := s.ask(ctx, site, ingress, o.Domain)
			s.mu.Lock()
			defer s.mu.Unlock()
			s.Sites[site.id] = answer
		})
	}
	all.Wait()
}

// trusted are the CAs that the cluster's servers may have their certificates from.
func (o Options) trusted(c *kube.Cluster) *x509.CertPool {
	roots := c.Roots()
	for _, cert := range o.Roots {
		roots.AddCert(cert)
	}
	return roots
}

// servers are where the node itself serves API and router; no router where the node's address is not known.
func (o Options) servers(c *kube.Cluster, s *State) (api, ingress string) {
	ingress = o.Ingress
	if address := kube.InternalIP(s.Nodes); ingress == "" && address != "" {
		ingress = net.JoinHostPort(address, "443")
	}
	return cmp.Or(o.API, c.Address()), ingress
}

type target struct {
	Shown
	address string
}

func (s *State) targets(o Options, api, ingress string) map[string]target {
	t := map[string]target{"cert-api": {Shown: Shown{Name: apiHost(s.Infra)}, address: api}}
	if apiHost(s.Infra) == "" {
		t["cert-api"] = target{Shown: Shown{Skip: message.T("the cluster does not say what its API is called")}}
	}
	apps := o.Domain
	if apps == "" {
		t["cert-api-new"] = target{Shown: Shown{Skip: message.T("the cluster has no new name")}}
		apps = strings.TrimPrefix(apiHost(s.Infra), "api.")
	} else {
		t["cert-api-new"] = target{Shown: Shown{Name: "api." + apps}, address: api}
	}
	switch {
	case ingress == "":
		t["cert-apps"] = target{Shown: Shown{Skip: message.T("the node's address is not known")}}
	case apps == "":
		t["cert-apps"] = target{Shown: Shown{Skip: message.T("the cluster's domain is not known")}}
	default:
		t["cert-apps"] = target{Shown: Shown{Name: "touchdown.apps." + apps}, address: ingress}
	}
	return t
}

// apiPort is the port of the API's URL.
func apiPort(infra *configv1.Infrastructure) string {
	if infra == nil {
		return "6443"
	}
	u, err := url.Parse(infra.Status.APIServerURL)
	if err != nil {
		return "6443"
	}
	return cmp.Or(u.Port(), "6443")
}

func apiHost(infra *configv1.Infrastructure) string {
	if infra == nil {
		return ""
	}
	u, err := url.Parse(infra.Status.APIServerURL)
	if err != nil {
		return ""
	}
	return u.Hostname()
}
