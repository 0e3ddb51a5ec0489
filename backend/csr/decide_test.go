package csr_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/pem"
	"net"
	"net/url"
	"slices"
	"strings"
	"testing"

	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"

	"touchdown/backend/csr"
)

const bootstrapper = "system:serviceaccount:openshift-machine-config-operator:node-bootstrapper"

func sno() csr.Expect {
	return csr.Expect{Node: "sno1", Addresses: []string{"sno1", "192.168.7.10", "fd02::10"}}
}

// ask is what a request asks for; its zero key is an EC one.
type ask struct {
	template x509.CertificateRequest
	key      crypto.Signer
	edit     func(*certificatesv1.CertificateSigningRequest)
}

func (a ask) build(t *testing.T, spec certificatesv1.CertificateSigningRequestSpec) *certificatesv1.CertificateSigningRequest {
	t.Helper()
	if a.key == nil {
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		a.key = key
	}
	der, err := x509.CreateCertificateRequest(rand.Reader, &a.template, a.key)
	if err != nil {
		t.Fatal(err)
	}
	spec.Request = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der})
	r := &certificatesv1.CertificateSigningRequest{Spec: spec}
	if a.edit != nil {
		a.edit(r)
	}
	return r
}

func subject(cn string, orgs ...string) pkix.Name {
	return pkix.Name{CommonName: cn, Organization: orgs}
}

func client() (ask, certificatesv1.CertificateSigningRequestSpec) {
	return ask{template: x509.CertificateRequest{Subject: subject("system:node:sno1", "system:nodes")}},
		certificatesv1.CertificateSigningRequestSpec{
			SignerName: certificatesv1.KubeAPIServerClientKubeletSignerName,
			Username:   bootstrapper,
			Groups:     []string{"system:serviceaccounts:openshift-machine-config-operator", "system:serviceaccounts", "system:authenticated"},
			Usages:     []certificatesv1.KeyUsage{certificatesv1.UsageDigitalSignature, certificatesv1.UsageClientAuth},
		}
}

func serving() (ask, certificatesv1.CertificateSigningRequestSpec) {
	return ask{template: x509.CertificateRequest{
			Subject: subject("system:node:sno1", "system:nodes"), DNSNames: []string{"sno1"},
			IPAddresses: []net.IP{net.ParseIP("192.168.7.10"), net.ParseIP("fd02::10")},
		}}, certificatesv1.CertificateSigningRequestSpec{
			SignerName: certificatesv1.KubeletServingSignerName,
			Username:   "system:node:sno1",
			Groups:     []string{"system:nodes", "system:authenticated"},
			Usages:     []certificatesv1.KeyUsage{certificatesv1.UsageServerAuth, certificatesv1.UsageDigitalSignature, certificatesv1.UsageKeyEncipherment},
		}
}

func rsaKey(t *testing.T, bits int) crypto.Signer {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, bits)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

type maker = func() (ask, certificatesv1.CertificateSigningRequestSpec)

func TestDecideOwn(t *testing.T) {
	long := rsaKey(t, 2048)
	for name, change := range map[string]func(*ask, *certificatesv1.CertificateSigningRequestSpec){
		"as the kubelet asks": func(*ask, *certificatesv1.CertificateSigningRequestSpec) {},
		"with an RSA key": func(a *ask, s *certificatesv1.CertificateSigningRequestSpec) {
			a.key = long
			s.Usages = append(s.Usages[:2:2], certificatesv1.UsageKeyEncipherment)
			if s.SignerName == certificatesv1.KubeletServingSignerName {
				s.Usages = []certificatesv1.KeyUsage{"key encipherment", "digital signature", "server auth"}
			}
		},
		"groups in another order": func(_ *ask, s *certificatesv1.CertificateSigningRequestSpec) { slices.Reverse(s.Groups) },
		"usages in another order": func(_ *ask, s *certificatesv1.CertificateSigningRequestSpec) { slices.Reverse(s.Usages) },
		"space after the PEM": func(a *ask, _ *certificatesv1.CertificateSigningRequestSpec) {
			a.edit = func(r *certificatesv1.CertificateSigningRequest) { r.Spec.Request = append(r.Spec.Request, '\n') }
		},
	} {
		for kind, make := range map[string]maker{"client": client, "serving": serving} {
			t.Run(kind+" "+name, func(t *testing.T) {
				a, spec := make()
				change(&a, &spec)
				if why := csr.Decide(a.build(t, spec), sno()); why != nil {
					t.Errorf("refused: %v", why)
				}
			})
		}
	}
	for name, change := range map[string]func(*x509.CertificateRequest){
		"only the name":                 func(r *x509.CertificateRequest) { r.IPAddresses = nil },
		"only one address":              func(r *x509.CertificateRequest) { r.DNSNames, r.IPAddresses = nil, r.IPAddresses[:1] },
		"an address in its long form":   func(r *x509.CertificateRequest) { r.IPAddresses[0] = r.IPAddresses[0].To16() },
		"an IPv6 address written fully": func(r *x509.CertificateRequest) { r.IPAddresses[1] = net.ParseIP("fd02:0:0:0:0:0:0:10") },
	} {
		t.Run("serving for "+name, func(t *testing.T) {
			a, spec := serving()
			change(&a.template)
			if why := csr.Decide(a.build(t, spec), sno()); why != nil {
				t.Errorf("refused: %v", why)
			}
		})
	}
}

// both are refused for a client as well as for a serving certificate.
func hostileBoth(t *testing.T) map[string]func(*ask, *certificatesv1.CertificateSigningRequestSpec) {
	type spec = certificatesv1.CertificateSigningRequestSpec
	request := func(change func(*x509.CertificateRequest)) func(*ask, *spec) {
		return func(a *ask, _ *spec) { change(&a.template) }
	}
	object := func(change func(*certificatesv1.CertificateSigningRequest)) func(*ask, *spec) {
		return func(a *ask, _ *spec) { a.edit = change }
	}
	bytes := func(change func([]byte) []byte) func(*ask, *spec) {
		return object(func(r *certificatesv1.CertificateSigningRequest) { r.Spec.Request = change(r.Spec.Request) })
	}
	condition := func(kind certificatesv1.RequestConditionType) func(*ask, *spec) {
		return object(func(r *certificatesv1.CertificateSigningRequest) {
			r.Status.Conditions = []certificatesv1.CertificateSigningRequestCondition{{Type: kind, Status: corev1.ConditionTrue}}
		})
	}
	weak := rsaKey(t, 1024)
	return map[string]func(*ask, *spec){
		"requester is another node": func(_ *ask, s *spec) { s.Username = "system:node:sno2" },
		"requester is an admin": func(_ *ask, s *spec) {
			s.Username, s.Groups = "system:admin", []string{"system:masters", "system:authenticated"}
		},
		"requester is nobody":        func(_ *ask, s *spec) { s.Username = "" },
		"requester is anonymous":     func(_ *ask, s *spec) { s.Username, s.Groups = "system:anonymous", []string{"system:unauthenticated"} },
		"requester differs in case":  func(_ *ask, s *spec) { s.Username = strings.ToUpper(s.Username) },
		"requester has a suffix":     func(_ *ask, s *spec) { s.Username += "x" },
		"requester has a space":      func(_ *ask, s *spec) { s.Username += " " },
		"requester in a group more":  func(_ *ask, s *spec) { s.Groups = append(s.Groups, "system:masters") },
		"requester in a group twice": func(_ *ask, s *spec) { s.Groups = append(s.Groups, "system:authenticated") },
		"requester in a group less":  func(_ *ask, s *spec) { s.Groups = s.Groups[:1] },
		"requester in no group":      func(_ *ask, s *spec) { s.Groups = nil },
		"signer of API clients":      func(_ *ask, s *spec) { s.SignerName = certificatesv1.KubeAPIServerClientSignerName },
		"signer legacy":              func(_ *ask, s *spec) { s.SignerName = "kubernetes.io/legacy-unknown" },
		"signer of someone":          func(_ *ask, s *spec) { s.SignerName = "example.com/own" },
		"signer none":                func(_ *ask, s *spec) { s.SignerName = "" },
		"usage more":                 func(_ *ask, s *spec) { s.Usages = append(s.Usages, certificatesv1.UsageCertSign) },
		"usage for code":             func(_ *ask, s *spec) { s.Usages = append(s.Usages, certificatesv1.UsageCodeSigning) },
		"usages for both ends":       func(_ *ask, s *spec) { s.Usages = append(s.Usages, "client auth", "server auth") },
		"usage twice":                func(_ *ask, s *spec) { s.Usages = append(s.Usages, s.Usages[0]) },
		"usage any":                  func(_ *ask, s *spec) { s.Usages = []certificatesv1.KeyUsage{certificatesv1.UsageAny} },
		"usages none":                func(_ *ask, s *spec) { s.Usages = nil },
		"usages without signature": func(_ *ask, s *spec) {
			s.Usages = slices.DeleteFunc(s.Usages, func(u certificatesv1.KeyUsage) bool { return u == "digital signature" })
		},
		"name of another node":  request(func(r *x509.CertificateRequest) { r.Subject.CommonName = "system:node:sno2" }),
		"name without prefix":   request(func(r *x509.CertificateRequest) { r.Subject.CommonName = "sno1" }),
		"name of an admin":      request(func(r *x509.CertificateRequest) { r.Subject.CommonName = "system:admin" }),
		"name longer":           request(func(r *x509.CertificateRequest) { r.Subject.CommonName += ".evil" }),
		"name with a zero byte": request(func(r *x509.CertificateRequest) { r.Subject.CommonName += "\x00" }),
		"name empty":            request(func(r *x509.CertificateRequest) { r.Subject.CommonName = "" }),
		"group masters":         request(func(r *x509.CertificateRequest) { r.Subject.Organization = []string{"system:masters"} }),
		"group more": request(func(r *x509.CertificateRequest) {
			r.Subject.Organization = append(r.Subject.Organization, "system:masters")
		}),
		"group twice": request(func(r *x509.CertificateRequest) {
			r.Subject.Organization = append(r.Subject.Organization, "system:nodes")
		}),
		"group none":                   request(func(r *x509.CertificateRequest) { r.Subject.Organization = nil }),
		"subject with a unit":          request(func(r *x509.CertificateRequest) { r.Subject.OrganizationalUnit = []string{"x"} }),
		"subject with a country":       request(func(r *x509.CertificateRequest) { r.Subject.Country = []string{"XX"} }),
		"subject with a serial number": request(func(r *x509.CertificateRequest) { r.Subject.SerialNumber = "1" }),
		"subject with a second name":   request(func(r *x509.CertificateRequest) { r.RawSubject = twoNames(t) }),
		"e-mail address":               request(func(r *x509.CertificateRequest) { r.EmailAddresses = []string{"root@sno1"} }),
		"URI":                          request(func(r *x509.CertificateRequest) { r.URIs = []*url.URL{{Scheme: "spiffe", Host: "x", Path: "/y"}} }),
		"foreign DNS name":             request(func(r *x509.CertificateRequest) { r.DNSNames = append(r.DNSNames, "api.factory.example") }),
		"wildcard":                     request(func(r *x509.CertificateRequest) { r.DNSNames = append(r.DNSNames, "*") }),
		"name of the API's service":    request(func(r *x509.CertificateRequest) { r.DNSNames = append(r.DNSNames, "kubernetes.default.svc") }),
		"DNS name in capitals":         request(func(r *x509.CertificateRequest) { r.DNSNames = append(r.DNSNames, "SNO1") }),
		"DNS name with a dot":          request(func(r *x509.CertificateRequest) { r.DNSNames = append(r.DNSNames, "sno1.") }),
		"empty DNS name":               request(func(r *x509.CertificateRequest) { r.DNSNames = append(r.DNSNames, "") }),
		"an address as DNS name":       request(func(r *x509.CertificateRequest) { r.DNSNames = append(r.DNSNames, "10.0.0.1") }),
		"foreign address":              request(func(r *x509.CertificateRequest) { r.IPAddresses = append(r.IPAddresses, net.IPv4(10, 0, 0, 1)) }),
		"address of the API's service": request(func(r *x509.CertificateRequest) { r.IPAddresses = append(r.IPAddresses, net.IPv4(172, 30, 0, 1)) }),
		"loopback":                     request(func(r *x509.CertificateRequest) { r.IPAddresses = append(r.IPAddresses, net.IPv6loopback) }),
		"address beside its own":       request(func(r *x509.CertificateRequest) { r.IPAddresses = append(r.IPAddresses, net.IPv4(192, 168, 7, 11)) }),
		"wants to be a CA":             request(func(r *x509.CertificateRequest) { r.ExtraExtensions = []pkix.Extension{basicCA(t)} }),
		"unknown extension": request(func(r *x509.CertificateRequest) {
			r.ExtraExtensions = []pkix.Extension{{Id: asn1.ObjectIdentifier{1, 2, 3, 4}, Value: []byte{5, 0}}}
		}),
		"usage as an extension": request(func(r *x509.CertificateRequest) {
			r.ExtraExtensions = []pkix.Extension{{Id: asn1.ObjectIdentifier{2, 5, 29, 37}, Value: []byte{0x30, 0}}}
		}),
		"other name that Go does not see": request(func(r *x509.CertificateRequest) { r.ExtraExtensions = []pkix.Extension{otherName(t)} }),
		"short RSA key":                   func(a *ask, _ *spec) { a.key = weak },
		"short EC key":                    func(a *ask, _ *spec) { a.key, _ = ecdsa.GenerateKey(elliptic.P224(), rand.Reader) },
		"key of another kind":             func(a *ask, _ *spec) { _, a.key, _ = ed25519.GenerateKey(rand.Reader) },
		"no PEM":                          bytes(func([]byte) []byte { return []byte("hello") }),
		"empty":                           bytes(func([]byte) []byte { return nil }),
		"raw DER":                         bytes(func(b []byte) []byte { p, _ := pem.Decode(b); return p.Bytes }),
		"a certificate's PEM":             bytes(func(b []byte) []byte { return []byte(strings.ReplaceAll(string(b), " REQUEST", "")) }),
		"two requests":                    bytes(func(b []byte) []byte { return append(slices.Clone(b), b...) }),
		"text behind":                     bytes(func(b []byte) []byte { return append(b, "x"...) }),
		"headers": bytes(func(b []byte) []byte {
			p, _ := pem.Decode(b)
			p.Headers = map[string]string{"a": "b"}
			return pem.EncodeToMemory(p)
		}),
		"damaged signature": bytes(damage),
		"approved":          condition(certificatesv1.CertificateApproved),
		"denied":            condition(certificatesv1.CertificateDenied),
		"failed":            condition(certificatesv1.CertificateFailed),
		"issued":            object(func(r *certificatesv1.CertificateSigningRequest) { r.Status.Certificate = []byte("x") }),
	}
}

func TestDecideHostile(t *testing.T) {
	seen := 0
	for name, change := range hostileBoth(t) {
		for kind, make := range map[string]maker{"client": client, "serving": serving} {
			seen++
			t.Run(kind+" "+name, func(t *testing.T) {
				a, spec := make()
				change(&a, &spec)
				if why := csr.Decide(a.build(t, spec), sno()); why == nil {
					t.Error("approved")
				} else {
					t.Log(why)
				}
			})
		}
	}
	for name, make := range map[string]maker{
		"client with names": func() (ask, certificatesv1.CertificateSigningRequestSpec) {
			_, spec := client()
			a, _ := serving()
			return a, spec
		},
		"serving without names": func() (ask, certificatesv1.CertificateSigningRequestSpec) {
			_, spec := serving()
			a, _ := client()
			return a, spec
		},
		"serving asked for by the bootstrapper": func() (ask, certificatesv1.CertificateSigningRequestSpec) {
			_, who := client()
			a, spec := serving()
			spec.Username, spec.Groups = who.Username, who.Groups
			return a, spec
		},
		"client asked for by the node itself": func() (ask, certificatesv1.CertificateSigningRequestSpec) {
			_, who := serving()
			a, spec := client()
			spec.Username, spec.Groups = who.Username, who.Groups
			return a, spec
		},
		"client to be used as a server": func() (ask, certificatesv1.CertificateSigningRequestSpec) {
			a, spec := client()
			spec.Usages[1] = certificatesv1.UsageServerAuth
			return a, spec
		},
		"bootstrapper of another namespace": func() (ask, certificatesv1.CertificateSigningRequestSpec) {
			a, spec := client()
			spec.Username = "system:serviceaccount:default:node-bootstrapper"
			return a, spec
		},
	} {
		seen++
		t.Run(name, func(t *testing.T) {
			a, spec := make()
			if csr.Decide(a.build(t, spec), sno()) == nil {
				t.Error("approved")
			}
		})
	}
	if seen < 60 {
		t.Errorf("only %d hostile requests", seen)
	}
	t.Logf("%d hostile requests", seen)
	a, spec := client()
	if csr.Decide(a.build(t, spec), csr.Expect{}) == nil {
		t.Error("approved without knowing the node's name")
	}
}

func marshal(t *testing.T, v any) []byte {
	t.Helper()
	b, err := asn1.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// twoNames hides the name of an admin in front of the node's.
func twoNames(t *testing.T) []byte {
	name := func(value string) pkix.RelativeDistinguishedNameSET {
		return pkix.RelativeDistinguishedNameSET{{Type: asn1.ObjectIdentifier{2, 5, 4, 3}, Value: value}}
	}
	group := pkix.RelativeDistinguishedNameSET{{Type: asn1.ObjectIdentifier{2, 5, 4, 10}, Value: "system:nodes"}}
	return marshal(t, pkix.RDNSequence{group, name("system:admin"), name("system:node:sno1")})
}

func basicCA(t *testing.T) pkix.Extension {
	return pkix.Extension{Id: asn1.ObjectIdentifier{2, 5, 29, 19}, Critical: true, Value: marshal(t, struct{ CA bool }{true})}
}

// otherName is a list with the node's DNS name and a name of another kind.
func otherName(t *testing.T) pkix.Extension {
	list := marshal(t, []asn1.RawValue{
		{Class: asn1.ClassContextSpecific, Tag: 2, Bytes: []byte("sno1")},
		{Class: asn1.ClassContextSpecific, Tag: 8, Bytes: []byte{42}},
	})
	return pkix.Extension{Id: asn1.ObjectIdentifier{2, 5, 29, 17}, Value: list}
}

func damage(b []byte) []byte {
	p, _ := pem.Decode(b)
	p.Bytes[len(p.Bytes)-1] ^= 1
	return pem.EncodeToMemory(p)
}
