package domain

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"touchdown/backend/kube"
	"touchdown/backend/message"
	"touchdown/backend/problem"
)

// mostNamed is how many named certificates the API server's operator takes. It refuses a longer list as a whole, as it does one
// with a name in two entries or with an entry whose Secret is missing, and goes on with the configuration that it had
// (openshift/cluster-kube-apiserver-operator c813e820b, pkg/operator/configobservation/apiserver/observe_apiserver.go; the same checks
// since release-4.14).
const mostNamed = 10

// Taken is an entry of the API server's named certificates that holds a name which is to be served with another certificate.
type Taken struct {
	Index  int    // in spec.servingCerts.namedCertificates
	Secret string // what it serves the name with
}

// place puts an entry for name into the list of named certificates. Entries of others keep their places, since the operator copies each
// Secret beneath the running server by its place: the new entry comes last. Order does not matter, as an entry that names a
// host wins over one that takes its names from the certificate (k8s.io/apiserver, dynamiccertificates, BuildNamedCertificates), and a
// host may be named only once. So the name is taken out of other entries; undo puts it back. A refusal would leave the
// technician at the site with a cluster that only its owner can edit, and the certificate for this name is what the site
// config asks for.
func place(certs []any, name, secret string) (placed []any, taken []Taken, err error) {
	ours := -1
	for i, c := range certs {
		entry, ok := c.(map[string]any)
		if !ok {
			return nil, nil, fmt.Errorf("entry %d of namedCertificates is not an object", i)
		}
		names := namesOf(entry)
		rest := slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n == name })
		if len(rest) == len(names) {
			placed = append(placed, entry)
			continue
		}
		if served := secretOf(entry); served != secret {
			taken = append(taken, Taken{i, served})
		}
		switch {
		case len(rest) > 0: // the others stay with their certificate
			entry["names"] = anys(rest)
		case ours < 0: // without names it would serve whatever is in its certificate
			ours = len(placed)
			entry["names"], entry["servingCertificate"] = []any{name}, map[string]any{"name": secret}
		default:
			continue
		}
		placed = append(placed, entry)
	}
	if ours < 0 {
		placed = append(placed, map[string]any{"names": []any{name}, "servingCertificate": map[string]any{"name": secret}})
	}
	return placed, taken, nil
}

// refused says why the API server's operator would refuse a list of named certificates; nil when it would not. exists tells of a
// Secret in the namespace of the configuration.
func refused(certs []any, exists func(secret string) (bool, error)) error {
	const fix = "Nothing was written. The cluster's owner can put it right: oc edit apiserver cluster. Then retry, or start without a new name."
	if len(certs) > mostNamed {
		return &problem.Problem{
			Code:    "CERT-MAX",
			Summary: message.F("The API server serves %d named certificates, and OpenShift allows no more than %d.", len(certs)-1, mostNamed),
			Fix:     message.T("Nothing was written. The cluster's owner can remove an entry that is no longer needed: oc edit apiserver cluster. Then retry, or start without a new name."),
		}
	}
	first := map[string]int{}
	for i, entry := range certs {
		secret := secretOf(entry)
		there := false
		if secret != "" {
			var err error
			if there, err = exists(secret); err != nil {
				return err
			}
		}
		if !there {
			return &problem.Problem{
				Code:    "CERT-ENT",
				Summary: message.F("Entry %d of the API server's named certificates (%s) refers to a secret that does not exist: %q.", i, strings.Join(namesOf(entry), ", "), secret),
				Fix:     message.T(fix),
			}
		}
		for _, name := range namesOf(entry) {
			if j, twice := first[name]; twice {
				return &problem.Problem{
					Code:    "CERT-ENT",
					Summary: message.F("Entries %d (secret %s) and %d (secret %s) of the API server's named certificates are both for %s.", j, secretOf(certs[j]), i, secret, name),
					Fix:     message.T(fix),
				}
			}
			first[name] = i
		}
	}
	return nil
}

// Fits says whether the cluster's operators will take the names: before anything is written, so that what they refuse, or what no operator
// would roll out, is told with its reason and not by waiting for something that never comes. taken are the entries of the API server
// from which the name is to be moved.
func (n Names) Fits(ctx context.Context, c *kube.Cluster) (taken []Taken, err error) {
	if err := managed(ctx, c); err != nil {
		return nil, err
	}
	if err := n.routed(ctx, c); err != nil {
		return nil, err
	}
	if err := n.proxied(ctx, c); err != nil {
		return nil, err
	}
	return n.listed(ctx, c)
}

// Refuses tells whether an error of Fits is a verdict: another one only says that the cluster could not be asked.
func Refuses(err error) bool {
	p, ok := errors.AsType[*problem.Problem](err)
	return ok && slices.Contains([]string{"CERT-MAX", "CERT-ENT", "CVR-STTE", "CVR-REST", "RTR-SHRD", "RTR-443", "PRX-NAME"}, p.Code)
}

// listed says whether the API server's operator will take the list of named certificates.
func (n Names) listed(ctx context.Context, c *kube.Cluster) (taken []Taken, err error) {
	object, err := c.Get(ctx, kube.Config("apiservers"))
	if err != nil {
		return nil, err
	}
	spec, _ := object["spec"].(map[string]any)
	serving, _ := spec["servingCerts"].(map[string]any)
	certs, err := list(serving, "namedCertificates")
	if err != nil {
		return nil, err
	}
	placed, taken, err := place(certs, API(n.Domain), n.APISecret)
	if err != nil {
		return nil, err
	}
	return taken, refused(placed, func(secret string) (there bool, err error) {
		if secret == n.APISecret {
			return true, nil // ours, which may not be written yet
		}
		err = c.Do(ctx, "reading "+kube.Secret(ConfigNamespace, secret).String(), func(ctx context.Context) error {
			_, err := c.Core.Secrets(ConfigNamespace).Get(ctx, secret, metav1.GetOptions{})
			there = err == nil
			if apierrors.IsNotFound(err) {
				return nil
			}
			return err
		})
		return there, err
	})
}

func namesOf(entry any) []string {
	m, _ := entry.(map[string]any)
	raw, _ := m["names"].([]any)
	names := make([]string, 0, len(raw))
	for _, n := range raw {
		s, _ := n.(string)
		names = append(names, s)
	}
	return names
}

func secretOf(entry any) string {
	m, _ := entry.(map[string]any)
	cert, _ := m["servingCertificate"].(map[string]any)
	name, _ := cert["name"].(string)
	return name
}

func anys(all []string) []any {
	out := make([]any, 0, len(all))
	for _, s := range all {
		out = append(out, s)
	}
	return out
}
