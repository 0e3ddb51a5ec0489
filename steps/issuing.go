package steps

import (
	"context"
	"fmt"
	"time"

	"touchdown/backend"
	"touchdown/backend/certs"
	"touchdown/backend/domain"
	"touchdown/backend/kube"
	"touchdown/steps/site"
)

// certificates is what the new names are served with.
type certificates struct {
	names  domain.Names
	owners domain.Owners
	wants  [2]certs.Want // for the API and for the apps
	kept   [2]string     // Secrets of the cluster's owner that stay in service; "" where Touchdown installs one
	until  [2]time.Time  // how long those are good
}

// issuing decides on the certificates. One that the site config brings is used. Else a certificate of the cluster's owner that serves
// the new name already and is good for it stays. Else the cluster's own signer issues one; the one for the apps is for the old names too, which
// go on working.
func issuing(ctx context.Context, c *kube.Cluster, cfg *site.Config, node *backend.Node) (*certificates, error) {
	now, err := domain.Read(ctx, c)
	if err != nil {
		return nil, fmt.Errorf("reading what the cluster is called: %w", err)
	}
	d := cfg.Domain()
	in := &certificates{names: namesOf(cfg)}
	if in.owners, err = in.names.Owners(ctx, c); err != nil {
		return nil, fmt.Errorf("reading the certificates of the cluster's owner: %w", err)
	}
	in.wants = [2]certs.Want{{
		Secret: in.names.APISecret, Namespaces: []string{domain.ConfigNamespace}, Names: []string{domain.API(d)}, Now: node.Now(),
	}, {
		Secret: in.names.AppsSecret, Namespaces: []string{domain.ConfigNamespace, domain.RouterNamespace},
		Names: []string{"*." + domain.Apps(d)}, Now: node.Now(),
	}}
	in.wants[0].Own, in.wants[1].Own = ownPairs(cfg)
	if err := in.keep(ctx, c); err != nil {
		return nil, err
	}
	return in, in.sign(ctx, c, now)
}

// namesOf are the names that a site asks for, with Touchdown's own certificates.
func namesOf(cfg *site.Config) domain.Names {
	d, proxy := cfg.Domain(), cfg.Spec.Proxy
	return domain.Names{
		Domain: d, APISecret: certs.APISecret(d), AppsSecret: certs.AppsSecret(d), Ours: certs.Ours,
		Proxied: proxy.HTTPProxy != "" || proxy.HTTPSProxy != "",
	}
}

// keep leaves the owner's certificates in service where they are good.
func (in *certificates) keep(ctx context.Context, c *kube.Cluster) error {
	secrets := [2]kube.Ref{
		kube.Secret(domain.ConfigNamespace, in.owners.API), kube.Secret(domain.RouterNamespace, in.owners.Router),
	}
	for i := range in.wants {
		w := &in.wants[i]
		if w.Own != nil || secrets[i].Name == "" {
			continue
		}
		pair, leaf, err := certs.Serves(ctx, c, secrets[i], w.Names, w.Now)
		if err != nil {
			return fmt.Errorf("reading the certificates of the cluster's owner: %w", err)
		}
		if pair != nil {
			in.kept[i], in.until[i], w.Own = secrets[i].Name, leaf.NotAfter, pair
		}
	}
	if in.kept[0] != "" {
		in.names.APISecret, in.wants[0].Secret = in.kept[0], in.kept[0]
	}
	if in.kept[1] != "" { // the console and the login read theirs in another namespace than the router
		in.names.RouterSecret, in.wants[1].Namespaces = in.kept[1], []string{domain.ConfigNamespace}
	}
	return nil
}

// sign loads the cluster's signers for what nobody brings.
func (in *certificates) sign(ctx context.Context, c *kube.Cluster, now domain.Now) (err error) {
	api, apps := &in.wants[0], &in.wants[1]
	if api.Own == nil {
		if api.Signer, err = certs.APISigner(ctx, c); err != nil {
			return fmt.Errorf("loading the API's signer: %w", err)
		}
	}
	if apps.Own != nil {
		return nil
	}
	for _, old := range []string{now.OldApps, in.owners.Below} {
		if name := "*." + old; old != "" && name != apps.Names[0] && name != apps.Names[len(apps.Names)-1] {
			apps.Names = append(apps.Names, name)
		}
	}
	if apps.Signer, err = certs.AppsSigner(ctx, c); err != nil {
		return fmt.Errorf("loading the router's signer: %w", err)
	}
	return nil
}

func day(t time.Time) string { return t.UTC().Format(time.DateOnly) }
