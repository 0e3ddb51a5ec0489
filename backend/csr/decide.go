// Package csr approves the certificate requests of this node's own kubelet, and no other.
package csr

import (
	"crypto/ecdsa"
	"crypto/rsa"
	"crypto/x509"
	"encoding/asn1"
	"encoding/pem"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"touchdown/backend/message"

	certificatesv1 "k8s.io/api/certificates/v1"
)

// The one who may ask for the node's client certificate, and its groups, after machine-config-operator's bootstrap kubeconfig.
const (
	bootstrapper = "system:serviceaccount:openshift-machine-config-operator:node-bootstrapper"
	nodesGroup   = "system:nodes"
)

var bootstrapperGroups = []string{
	"system:authenticated", "system:serviceaccounts", "system:serviceaccounts:openshift-machine-config-operator",
}

var nodeGroups = []string{"system:authenticated", nodesGroup}

// Expect is what a request of this node looks like.
type Expect struct {
	Node      string    // name of the Node
	Addresses []string  // DNS names and IPs that its serving certificate may be for
	Now       time.Time // the machine's time; zero: the kernel's
	Kubelet   *Kubelet  // what the kubelet's files say; nil where it is on another machine
}

func (e Expect) now() time.Time {
	if e.Now.IsZero() {
		return time.Now()
	}
	return e.Now
}

// decided reports whether a request needs no decision any more.
func decided(r *certificatesv1.CertificateSigningRequest) bool {
	return len(r.Status.Conditions) > 0 || len(r.Status.Certificate) > 0
}

// Decide says why a pending request is not this node's own; nil means that it is and may be approved.
func Decide(r *certificatesv1.CertificateSigningRequest, e Expect) error {
	if decided(r) {
		return message.Failed(message.T("it is decided already"))
	}
	return foreign(r, e)
}

// foreign says why a request, decided or not, is not this node's own.
func foreign(r *certificatesv1.CertificateSigningRequest, e Expect) error {
	if e.Node == "" {
		return message.Failed(message.T("the node's own name is not known"))
	}
	rule, err := ruleFor(r.Spec.SignerName, e)
	if err != nil {
		return err
	}
	if r.Spec.Username != rule.user {
		return message.Failed(message.F("it was asked for by %.80q, not by %q", r.Spec.Username, rule.user))
	}
	if !sameSet(r.Spec.Groups, rule.groups) {
		return message.Failed(message.F("its requester is in the groups %s, not %q", first(r.Spec.Groups), rule.groups))
	}
	if err := checkUsages(r.Spec.Usages, rule.usage); err != nil {
		return err
	}
	request, err := parse(r.Spec.Request)
	if err != nil {
		return err
	}
	if err := checkSubject(request, e.Node); err != nil {
		return err
	}
	return rule.names(request)
}

type rule struct {
	user   string
	groups []string
	usage  certificatesv1.KeyUsage
	names  func(*x509.CertificateRequest) error
}

func ruleFor(signer string, e Expect) (rule, error) {
	switch signer {
	case certificatesv1.KubeAPIServerClientKubeletSignerName:
		return rule{bootstrapper, bootstrapperGroups, certificatesv1.UsageClientAuth, func(r *x509.CertificateRequest) error {
			if err := noNames(r); err != nil {
				return err
			}
			return e.Kubelet.asksWithToken(r)
		}}, nil
	case certificatesv1.KubeletServingSignerName:
		return rule{"system:node:" + e.Node, nodeGroups, certificatesv1.UsageServerAuth, func(r *x509.CertificateRequest) error {
			return onlyNames(r, e.Addresses)
		}}, nil
	}
	return rule{}, message.Failed(message.F("it is for the signer %.80q, which is none of a kubelet", signer))
}

// checkUsages wants the kubelet's set to the letter: key encipherment only comes with RSA keys, and older kubelets always ask for it.
func checkUsages(have []certificatesv1.KeyUsage, purpose certificatesv1.KeyUsage) error {
	short := []certificatesv1.KeyUsage{certificatesv1.UsageDigitalSignature, purpose}
	if sameSet(have, short) || sameSet(have, append(short, certificatesv1.UsageKeyEncipherment)) {
		return nil
	}
	return message.Failed(message.F("it asks for the usages %s", first(have)))
}

// maxRequest is how long a request may be, bytes; a kubelet's has less than 2000.
const maxRequest = 64 << 10

func parse(b []byte) (*x509.CertificateRequest, error) {
	if len(b) > maxRequest {
		return nil, message.Failed(message.F("it has %d bytes", len(b)))
	}
	block, rest := pem.Decode(b)
	switch {
	case block == nil || block.Type != "CERTIFICATE REQUEST" || len(block.Headers) > 0:
		return nil, message.Failed(message.T("it is not a certificate request in PEM"))
	case strings.TrimSpace(string(rest)) != "":
		return nil, message.Failed(message.T("it has more in it than one request"))
	}
	request, err := x509.ParseCertificateRequest(block.Bytes)
	if err != nil {
		return nil, message.Failed(message.F("it cannot be read: %s", message.Detail(err)))
	}
	if err := checkKey(request.PublicKey); err != nil { // first: the signature of a very long key takes minutes to check
		return nil, err
	}
	if err := request.CheckSignature(); err != nil {
		return nil, message.Failed(message.F("it is not signed by its own key: %s", message.Detail(err)))
	}
	return request, nil
}

func checkKey(public any) error {
	switch key := public.(type) {
	case *rsa.PublicKey:
		if bits := key.N.BitLen(); bits < 2048 || bits > 8192 {
			return message.Failed(message.F("its RSA key has %d bits", bits))
		}
	case *ecdsa.PublicKey:
		if key.Curve.Params().BitSize < 256 {
			return message.Failed(message.F("its EC key has only %d bits", key.Curve.Params().BitSize))
		}
	default:
		return message.Failed(message.F("its key is a %s", fmt.Sprintf("%T", key)))
	}
	return nil
}

// checkSubject wants exactly the node's name and the one group of nodes, and nothing beside them.
func checkSubject(r *x509.CertificateRequest, node string) error {
	subject := r.Subject
	if want := "system:node:" + node; subject.CommonName != want {
		return message.Failed(message.F("it is for %.80q, not for %q", subject.CommonName, want))
	}
	if !slices.Equal(subject.Organization, []string{nodesGroup}) {
		return message.Failed(message.F("it is for the groups %s, not for %q", first(subject.Organization), nodesGroup))
	}
	if len(subject.Names) != 2 { // a second common name would hide behind the last one
		return message.Failed(message.F("its subject has %d parts, not 2", len(subject.Names)))
	}
	return nil
}

// subjectAltName is the one extension that a kubelet asks for.
func subjectAltName() asn1.ObjectIdentifier { return asn1.ObjectIdentifier{2, 5, 29, 17} }

func noNames(r *x509.CertificateRequest) error {
	if len(r.Extensions) > 0 {
		return message.Failed(message.F("it asks for the extension %s, where a client certificate has none", r.Extensions[0].Id))
	}
	return nil
}

// onlyNames wants at least one name, and each of them expected.
func onlyNames(r *x509.CertificateRequest, addresses []string) error {
	for _, ext := range r.Extensions {
		if !ext.Id.Equal(subjectAltName()) {
			return message.Failed(message.F("it asks for the extension %s", ext.Id))
		}
		if err := onlyKinds(ext.Value); err != nil {
			return err
		}
	}
	if len(r.Extensions) > 1 {
		return message.Failed(message.T("it lists its names twice"))
	}
	for _, name := range r.DNSNames {
		if !slices.Contains(addresses, name) {
			return message.Failed(message.F("it is for the name %.80q, which is none of the node's", name))
		}
	}
	for _, ip := range r.IPAddresses {
		addr, ok := netip.AddrFromSlice(ip)
		if !ok || !slices.ContainsFunc(addresses, func(s string) bool { return sameAddr(s, addr) }) {
			return message.Failed(message.F("it is for the address %s, which is none of the node's", ip))
		}
	}
	if len(r.DNSNames)+len(r.IPAddresses) == 0 {
		return message.Failed(message.T("it is for no name or address at all"))
	}
	return nil
}

// onlyKinds looks at the raw list, because Go's parser passes over kinds of names that it does not know.
func onlyKinds(value []byte) error {
	var list asn1.RawValue
	if rest, err := asn1.Unmarshal(value, &list); err != nil || len(rest) > 0 || list.Tag != asn1.TagSequence {
		return message.Failed(message.T("its list of names cannot be read"))
	}
	for rest := list.Bytes; len(rest) > 0; {
		var name asn1.RawValue
		var err error
		if rest, err = asn1.Unmarshal(rest, &name); err != nil {
			return message.Failed(message.T("its list of names cannot be read"))
		}
		if name.Class != asn1.ClassContextSpecific || name.Tag != 2 && name.Tag != 7 { // RFC 5280: dNSName, iPAddress
			return message.Failed(message.F("it has a name of the kind %d, neither DNS nor address", name.Tag))
		}
	}
	return nil
}

func sameAddr(s string, addr netip.Addr) bool {
	want, err := netip.ParseAddr(s)
	return err == nil && want.Unmap() == addr.Unmap()
}

// sameSet compares without regard to order; a double entry is a difference.
func sameSet[T ~string](have, want []T) bool {
	return slices.Equal(slices.Sorted(slices.Values(have)), slices.Sorted(slices.Values(want)))
}

// first shows the beginning of a list that a stranger wrote.
func first[T ~string](list []T) message.Text {
	text := fmt.Sprintf("%.80q", list[:min(len(list), 3)])
	if len(list) > 3 {
		return message.F("%s and %d more", text, len(list)-3)
	}
	return message.Data(text)
}
