package site

import (
	"cmp"
	"crypto/x509"
	"slices"
	"strings"

	"touchdown/backend/message"
)

// relocation judges what the node gets besides its network.
func (v *judge) relocation() {
	s := v.config.Spec
	v.hostname(s)
	v.mirrors("spec.imageDigestMirrors", s.ImageDigestMirrors)
	v.mirrors("spec.imageTagMirrors", s.ImageTagMirrors)
	judgePolicies(v, s)
	if s.RemoveFactoryMirrors && len(s.ImageDigestMirrors)+len(s.ImageTagMirrors) == 0 {
		v.warn("spec.removeFactoryMirrors", fault(message.T("give the site's mirrors"), message.T("is true, but there are no others: images that are not on the disk come from their source")))
	}
	v.registryCerts(s.RegistryCerts)
	if s.Proxy.NoProxy != "" && s.Proxy.HTTPProxy == "" && s.Proxy.HTTPSProxy == "" {
		v.fail("spec.proxy.noProxy", fault(message.T("give the proxy, or remove it"), message.T("is given, but there is no proxy")))
	}
	v.authorities("spec.additionalTrustBundle", s.AdditionalTrustBundle)
}

func (v *judge) hostname(s Spec) {
	const path = "spec.hostname"
	switch {
	case s.Hostname == "":
	case !s.Policy.AllowHostnameChange:
		v.fail(path, fault(message.T("remove it to keep the factory's name, or write spec.policy.allowHostnameChange: true"), message.T("is given, but spec.policy.allowHostnameChange is false")))
	case !s.Policy.AllowReboot:
		v.fail(path, fault(message.T("write spec.policy.allowReboot: true"), message.T("is given, but the reboot that it takes is not allowed")))
	case v.config.own(s.Hostname) || s.Hostname == v.config.Domain():
		v.fail(path, fault(message.T("choose another name for the node"), message.F("is %s, a name of the cluster itself: its API, its applications or its domain", shown(s.Hostname))))
	}
}

func (v *judge) mirrors(path string, mirrors []Mirror) {
	var seen []string
	for i, m := range mirrors {
		here := itemPath(path, i)
		if m.Source != "" && slices.Contains(seen, m.Source) {
			v.fail(here+".source", fault(message.T("put all mirrors of a source into one item"), message.F("is there twice: %s", shown(m.Source))))
		}
		seen = append(seen, m.Source)
		if slices.Contains(m.Mirrors, m.Source) {
			v.fail(here+".mirrors", fault(message.T("remove it"), message.T("names the source itself")))
		}
		for _, mirror := range m.Mirrors {
			if most := maxImageName - appended(m.Source); len(mirror) <= maxImageName && len(mirror) > most {
				v.fail(here+".mirrors", fault(message.T("give a shorter path"), message.F("has %d characters; more than %d leave no room for the names of OpenShift's images, which are appended", len(mirror), most)))
			}
		}
	}
}

// judgePolicies wants one policy for a source: of two the machine-config-operator takes neither, and with them no other mirror
// (pkg/controller/container-runtime-config/helpers.go, validateRegistriesConfScopes).
func judgePolicies(v *judge, s Spec) {
	policy := func(m Mirror) string { return cmp.Or(m.MirrorSourcePolicy, mirrorPolicies[0]) }
	for i, tag := range s.ImageTagMirrors {
		for _, digest := range s.ImageDigestMirrors {
			if tag.Source != "" && tag.Source == digest.Source && policy(tag) != policy(digest) {
				v.fail(itemPath("spec.imageTagMirrors", i)+".mirrorSourcePolicy", fault(message.T("write the same in both"), message.F("is %s, and spec.imageDigestMirrors has %s for the same source", policy(tag), policy(digest))))
			}
		}
	}
}

func (v *judge) registryCerts(certs []RegistryCert) {
	type registry struct {
		host string
		port int
	}
	var seen []registry
	for i, c := range certs {
		here := itemPath("spec.registryCerts", i)
		port := c.RegistryPort
		if port == 0 {
			port = 443
		}
		if r := (registry{c.RegistryHostname, port}); slices.Contains(seen, r) {
			v.fail(here+".registryHostname", fault(message.T("put all certificates of a registry into one item"), message.T("is there twice with that port")))
		} else {
			seen = append(seen, r)
		}
		v.authorities(here+".certificate", c.Certificate)
	}
}

// authorities judges certificates by which others are judged.
func (v *judge) authorities(path, bundle string) {
	if strings.TrimSpace(bundle) == "" || v.errs.At(path) != nil {
		return
	}
	cas, bad := parseCerts(bundle)
	if bad != nil {
		return
	}
	if i := slices.IndexFunc(cas, func(c *x509.Certificate) bool { return !c.IsCA }); i >= 0 {
		v.warn(path, fault(message.T("give the certificate of the authority"), message.F("holds a certificate that is not an authority, number %d", i+1)))
	}
	trusted(v, path, cas)
}
