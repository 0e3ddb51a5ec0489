package domain

import (
	"context"

	"touchdown/backend/kube"
)

// Owners are the Secrets with which the cluster's owner serves names already; "" where there is none, or only one of Touchdown's.
type Owners struct {
	API    string // in openshift-config, of an entry that is for the new name of the API and for no other
	Router string // in openshift-ingress: the router's default certificate
	Below  string // the domain that the router appends to subdomains, which need not be the cluster's
}

// Owners reads them. Whether their certificates are good for the names is not checked.
func (n Names) Owners(ctx context.Context, c *kube.Cluster) (o Owners, err error) {
	api, err := c.Get(ctx, kube.Config("apiservers"))
	if err != nil {
		return o, err
	}
	router, err := c.Get(ctx, kube.IngressController("default"))
	if err != nil {
		return o, err
	}
	spec, _ := api["spec"].(map[string]any)
	serving, _ := spec["servingCerts"].(map[string]any)
	entries, err := list(serving, "namedCertificates")
	if err != nil {
		return o, err
	}
	for _, entry := range entries {
		if names := namesOf(entry); len(names) == 1 && names[0] == API(n.Domain) && !n.ours(secretOf(entry)) {
			o.API = secretOf(entry)
		}
	}
	if secret := textIn(router, "spec", "defaultCertificate", "name"); !n.ours(secret) {
		o.Router = secret
	}
	o.Below = textIn(router, "status", "domain")
	return o, nil
}
