package nodeconfig

import (
	"bytes"
	"context"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"strings"

	"touchdown/backend/kube"
	"touchdown/backend/message"
	"touchdown/backend/problem"
	"touchdown/backend/value"
)

const (
	configNamespace = "openshift-config"
	bundleKey       = "ca-bundle.crt"
	ownRegistryCAs  = "touchdown-registry-cas"
	ownBundle       = "user-ca-bundle" // the installer's name for it
)

// registryCAs adds authorities of registries to the ConfigMap that the cluster names, or to one of ours.
func (w Want) registryCAs(ctx context.Context, c Reader) ([]Change, error) {
	if len(w.RegistryCAs) == 0 {
		return nil, nil
	}
	image, err := c.Get(ctx, kube.Config("images"))
	if err != nil {
		return nil, err
	}
	cm := text(image, "spec", "additionalTrustedCA", "name")
	named := cm
	if cm == "" {
		cm = ownRegistryCAs
	}
	var hosts []string
	for _, ca := range w.RegistryCAs {
		if _, err := certificates(ca.PEM); err != nil {
			return nil, badPEM(message.F("the authority of the registry %s", ca.Host), err)
		}
		for _, key := range caKeys(ca) {
			hosts = append(hosts, strings.ReplaceAll(key, "..", ":"))
		}
	}
	// It is not part of the rendered configuration: the operator's daemon lays the files beside it.
	ch := Change{What: message.T("Authorities of registries"), New: message.F("added for %s", strings.Join(hosts, ", "))}
	objects := []object{{
		Change: ch, ref: kube.ConfigMap(configNamespace, cm), kind: kube.New{Kind: "ConfigMap"},
		change: func(data map[string]any) error {
			for _, ca := range w.RegistryCAs {
				for _, key := range caKeys(ca) {
					have, _ := data[key].(string)
					data[key] = MergePEM(have, ca.PEM)
				}
			}
			return nil
		},
	}}
	if named == "" {
		objects = append(objects, object{
			Change: Change{What: message.T("ConfigMap of the registries' authorities"), New: message.Data(cm)},
			ref:    kube.Config("images"), kind: kube.New{Kind: "Image"},
			change: func(spec map[string]any) error {
				spec["additionalTrustedCA"] = map[string]any{"name": cm}
				return nil
			},
		})
	}
	return compared(ctx, c, objects...)
}

// caKeys are how the ConfigMap names a registry: a colon is not part of a key. CRI-O looks for a registry by the words of the image's name
// (see trust.Pending), in which the usual port can stand or not.
func caKeys(ca RegistryCA) []string {
	if ca.Port != 0 && ca.Port != 443 {
		return []string{fmt.Sprintf("%s..%d", ca.Host, ca.Port)}
	}
	return []string{ca.Host, ca.Host + "..443"}
}

// trust adds authorities to the bundle that the cluster's proxy names.
func (w Want) trust(ctx context.Context, c Reader) ([]Change, error) {
	added := MergePEM("", w.Trust...)
	for _, bundle := range w.Trust { // what is merged has lost a block that cannot be read
		if err := torn(bundle); err != nil {
			return nil, badPEM(message.T("the additional trust bundle"), err)
		}
	}
	if added == "" {
		return nil, nil
	}
	certs, err := certificates(added)
	if err != nil {
		return nil, badPEM(message.T("the additional trust bundle"), err)
	}
	proxy, err := c.Get(ctx, kube.Config("proxies"))
	if err != nil {
		return nil, err
	}
	cm := text(proxy, "spec", "trustedCA", "name")
	named := cm != ""
	if !named {
		cm = ownBundle
	}
	var names []string
	for _, cert := range certs {
		names = append(names, cert.Subject.String())
	}
	objects := []object{{
		Change: Change{
			What: message.T("Trusted authorities"), New: message.F("also %s", strings.Join(names, "; ")), File: anchorFile, Renders: true,
			In: func(r Config) bool { return MergePEM(r.Files[anchorFile], added) == r.Files[anchorFile] },
		},
		ref: kube.ConfigMap(configNamespace, cm), kind: kube.New{Kind: "ConfigMap"},
		change: func(data map[string]any) error {
			have, _ := data[bundleKey].(string)
			data[bundleKey] = MergePEM(have, added)
			return nil
		},
	}}
	if !named {
		objects = append(objects, object{
			Change: Change{What: message.T("Trust bundle of the cluster"), New: message.Data(cm), File: anchorFile, Renders: true},
			ref:    kube.Config("proxies"), kind: kube.New{Kind: "Proxy"},
			change: func(spec map[string]any) error {
				spec["trustedCA"] = map[string]any{"name": cm}
				return nil
			},
		})
	}
	return compared(ctx, c, objects...)
}

// MergePEM adds to a bundle the certificates that it does not have. A bundle that lacks none stays unchanged, to the byte.
func MergePEM(bundle string, more ...string) string {
	have := blocks(bundle)
	for _, text := range more {
		for _, b := range blocks(text) {
			if contains(have, b) {
				continue
			}
			have = append(have, b)
			if bundle != "" && !strings.HasSuffix(bundle, "\n") {
				bundle += "\n"
			}
			bundle += string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: b}))
		}
	}
	return bundle
}

func contains(have [][]byte, b []byte) bool {
	for _, h := range have {
		if bytes.Equal(h, b) {
			return true
		}
	}
	return false
}

// blocks are the certificates of a text, as far as they can be read.
func blocks(text string) [][]byte {
	var out [][]byte
	all, _ := value.PEM([]byte(text))
	for _, block := range all {
		if block.Type == "CERTIFICATE" {
			out = append(out, block.Bytes)
		}
	}
	return out
}

// torn reports a block of a text that cannot be read.
func torn(text string) error {
	if _, n := value.PEM([]byte(text)); n > 0 {
		return fmt.Errorf("block %d is cut off or damaged", n)
	}
	return nil
}

func certificates(text string) ([]*x509.Certificate, error) {
	if err := torn(text); err != nil {
		return nil, err
	}
	var out []*x509.Certificate
	for _, b := range blocks(text) {
		cert, err := x509.ParseCertificate(b)
		if err != nil {
			return nil, fmt.Errorf("parsing certificate %d: %w", len(out)+1, err)
		}
		out = append(out, cert)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("no certificate in it")
	}
	return out, nil
}

func badPEM(what message.Text, err error) error {
	return &problem.Problem{
		Code: "CA-BAD", Summary: message.F("A certificate cannot be read: %s.", what),
		Fix: message.T("Give it as PEM, with the lines BEGIN CERTIFICATE and END CERTIFICATE."), Err: err,
	}
}
