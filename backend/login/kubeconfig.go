package login

import (
	"context"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"touchdown/backend/kube"
	"touchdown/backend/message"
	"touchdown/backend/problem"
)

// bundleKey is the key of a ConfigMap that holds CAs.
const bundleKey = "ca-bundle.crt"

// acceptTime is how long the API may take to accept a new signer: the operator, the kubelet and the certificate syncer bring it to
// kube-apiserver, which reads it again without a restart.
const acceptTime = 5 * time.Minute

// clientCA is where the cluster keeps the CAs of administrators' kubeconfigs.
func clientCA() kube.Ref { return kube.ConfigMap("openshift-config", "admin-kubeconfig-client-ca") }

// Want is the kubeconfig that is asked for.
type Want struct {
	Domain string        // the cluster's: the server is api.DOMAIN
	Life   time.Duration // of the client certificate
	Trust  []byte        // CAs of the site, PEM; taken up where they signed the API's certificate
	Now    time.Time
	Note   func(signer string) error // keeps the signer's SHA-256 on disk before the cluster gets it, for Revoke
}

// Kubeconfig is one that the API accepts.
type Kubeconfig struct {
	Text   []byte    // the file; it holds a key
	Until  time.Time // end of the client certificate
	Server time.Time // end of the API's certificate
}

// server is the URL of a cluster's API.
func server(domain string) string { return "https://" + net.JoinHostPort("api."+domain, "6443") }

// Works tells whether the API accepts a kubeconfig that NewKubeconfig made for this domain. An API that cannot be asked is an error:
// it says nothing about the kubeconfig.
func Works(ctx context.Context, c *kube.Cluster, domain string, text []byte) (until, api time.Time, works bool, err error) {
	no := time.Time{}
	k, err := kube.ParseKubeconfig(text)
	if err != nil || k.Server != server(domain) {
		return no, no, false, nil
	}
	if err := k.Try(ctx, c.Address()); errors.Is(err, kube.ErrRefused) {
		return no, no, false, nil
	} else if err != nil {
		return no, no, false, err
	}
	served, err := kube.Probe(ctx, c.Address(), "api."+domain, pool(string(k.CA)), time.Now())
	if err != nil {
		return no, no, false, err
	}
	block, _ := pem.Decode(k.Cert)
	if block == nil {
		return no, no, false, nil
	}
	cert, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return no, no, false, nil //nolint:nilerr // a broken kubeconfig does not work
	}
	return cert.NotAfter.UTC(), served.Leaf().NotAfter.UTC(), true, nil
}

// NewKubeconfig makes a kubeconfig for api.DOMAIN and has the cluster accept it. Once it is
// accepted it takes the place of one that Touchdown made before, which is no longer accepted then.
func NewKubeconfig(ctx context.Context, c *kube.Cluster, w Want, save kube.Save) (*Kubeconfig, error) {
	name := "api." + w.Domain
	ca, leaf, err := trusted(ctx, c, name, w)
	if err != nil {
		return nil, err
	}
	end := w.Now.Add(w.Life)
	user, err := newClient(w.Now, end)
	if err != nil {
		return nil, err
	}
	k := kube.Kubeconfig{Name: w.Domain, Server: server(w.Domain), CA: ca, Cert: user.cert, Key: user.key}
	text, err := k.Text()
	if err != nil {
		return nil, err
	}
	if err := w.Note(fingerprint(user.ca)); err != nil {
		return nil, fmt.Errorf("noting the kubeconfig's signer: %w", err)
	}
	if _, err := c.Put(ctx, clientCA(), kube.New{Kind: "ConfigMap"}, func(data map[string]any) error {
		now, _ := data[bundleKey].(string)
		if !strings.Contains(now, string(user.ca)) { // a patch whose answer was lost is sent again
			data[bundleKey] = with(now, user.ca)
		}
		return nil
	}, save); err != nil {
		return nil, err
	}
	if err := accepted(ctx, c, k); err != nil {
		return nil, err
	}
	if err := replaced(ctx, c, fingerprint(user.ca), save); err != nil {
		return nil, err
	}
	return &Kubeconfig{Text: text, Until: end.UTC().Truncate(time.Second), Server: leaf.NotAfter.UTC()}, nil
}

// replaced takes the signers of the kubeconfigs before this one out of the cluster.
func replaced(ctx context.Context, c *kube.Cluster, by string, save kube.Save) error {
	_, err := c.ChangePart(ctx, clientCA(), "data", func(data map[string]any) error {
		if bundle, is := data[bundleKey].(string); is {
			data[bundleKey] = without(bundle, func(cert *x509.Certificate, sum string) bool {
				return strings.HasPrefix(cert.Subject.CommonName, signerName) && sum != by
			})
		}
		return nil
	}, save)
	return err
}

// accepted waits until the API lets the kubeconfig in.
func accepted(ctx context.Context, c *kube.Cluster, k kube.Kubeconfig) error {
	return c.Until(ctx, kube.Wait{
		What: message.T("the API's acceptance of the new kubeconfig"), Limit: acceptTime, Usual: 2 * time.Minute, Code: "PWD-LATE",
		Fix: message.T("Look at the kube-apiserver operator; ask for the kubeconfig again."),
	}, func(ctx context.Context) (kube.Progress, bool, error) {
		err := k.Try(ctx, c.Address())
		if ctx.Err() != nil {
			return kube.Progress{}, false, context.Cause(ctx)
		}
		return kube.Progress{Waiting: message.T("the API to accept the new kubeconfig")}, err == nil, nil
	})
}

// Revoke takes signers out of the cluster, by their SHA-256: what they signed is no longer accepted.
func Revoke(ctx context.Context, c *kube.Cluster, signers []string) error {
	now, err := c.Get(ctx, clientCA())
	if err != nil || now == nil || len(signers) == 0 {
		return err
	}
	_, err = c.ChangePart(ctx, clientCA(), "data", func(data map[string]any) error {
		if bundle, is := data[bundleKey].(string); is {
			data[bundleKey] = without(bundle, func(_ *x509.Certificate, sum string) bool { return slices.Contains(signers, sum) })
		}
		return nil
	}, func(kube.Ref, []byte) error { return nil }) // it is an undo itself
	return err
}

// trusted returns what a client has to trust, as OpenShift's own kubeconfigs do: the signers of the API's certificates, old and new
// while they rotate, the router's, which the login shows, and, where the API serves a certificate of others, who signed that. Also
// the certificate that the API serves to name.
func trusted(ctx context.Context, c *kube.Cluster, name string, w Want) ([]byte, *x509.Certificate, error) {
	own, err := managedBundle(ctx, c, "kube-apiserver-server-ca")
	if err != nil {
		return nil, nil, err
	}
	router, err := managedBundle(ctx, c, "default-ingress-cert")
	if err != nil {
		return nil, nil, err
	}
	bundle := with(own, []byte(router))
	served, err := kube.Probe(ctx, c.Address(), name, pool(bundle), w.Now)
	if err == nil && served.Trust != nil {
		bundle = with(bundle, anchor(ctx, c, name, w, served.Chain))
		served, err = kube.Probe(ctx, c.Address(), name, pool(bundle), w.Now)
	}
	if err == nil {
		err = served.Trust
	}
	if err != nil {
		return nil, nil, &problem.Problem{
			Code: "PWD-CERT", Summary: message.F("The API does not serve a good certificate for %s.", name),
			Fix: message.T("Wait until the new names are rolled out, then ask again."), Err: err,
		}
	}
	return []byte(bundle), served.Leaf(), nil
}

// anchor is what verifies a chain that the cluster's own signers do not: the site's CAs, else the last certificate of the chain.
func anchor(ctx context.Context, c *kube.Cluster, name string, w Want, chain []*x509.Certificate) []byte {
	if served, err := kube.Probe(ctx, c.Address(), name, pool(string(w.Trust)), w.Now); err == nil && served.Trust == nil {
		return w.Trust
	}
	return encode("CERTIFICATE", chain[len(chain)-1].Raw)
}

// managedBundle reads CAs that the cluster's operators publish; "" where they publish none.
func managedBundle(ctx context.Context, c *kube.Cluster, name string) (string, error) {
	object, err := c.Get(ctx, kube.ConfigMap("openshift-config-managed", name))
	if err != nil {
		return "", err
	}
	data, _ := object["data"].(map[string]any)
	bundle, _ := data[bundleKey].(string)
	return bundle, nil
}

func pool(bundle string) *x509.CertPool {
	p := x509.NewCertPool()
	p.AppendCertsFromPEM([]byte(bundle))
	return p
}
