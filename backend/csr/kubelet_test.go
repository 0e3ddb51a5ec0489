package csr_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	certificatesv1 "k8s.io/api/certificates/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"touchdown/backend/csr"
	"touchdown/backend/host/hosttest"
	"touchdown/backend/kube/kubetest"
	"touchdown/test/wait"
)

const pki = "/var/lib/kubelet/pki/"

func ecKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// issued is the kubelet's file of a certificate: the certificate and its key.
func issued(t *testing.T, key *ecdsa.PrivateKey, node string, from, to time.Time) string {
	t.Helper()
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "system:node:" + node}, NotBefore: from, NotAfter: to}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})) + keyFile(t, key)
}

func keyFile(t *testing.T, key *ecdsa.PrivateKey) string {
	t.Helper()
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der}))
}

// Another holder of the bootstrap token asks for the node's certificate: nothing in the request tells it from the kubelet's but
// its key, and that a kubelet with a valid certificate does not use the token.
func TestTokenAloneIsNotEnough(t *testing.T) {
	now := time.Now()
	key := ecKey(t)
	good := func(node string) string { return issued(t, key, node, now.Add(-time.Hour), now.Add(time.Hour)) }
	for name, c := range map[string]struct {
		files map[string]string
		own   string // why the kubelet's own request is refused
		other string // why that of another key is
	}{
		"a valid certificate":             {map[string]string{pki + "kubelet-client-current.pem": good("sno1")}, "valid client certificate", "valid client certificate"},
		"an expired one":                  {map[string]string{pki + "kubelet-client-current.pem": issued(t, key, "sno1", now.Add(-2*time.Hour), now.Add(-time.Hour))}, "", ""},
		"one of the time before a rename": {map[string]string{pki + "kubelet-client-current.pem": good("old")}, "", ""},
		"a damaged one":                   {map[string]string{pki + "kubelet-client-current.pem": "-----BEGIN"}, "", ""},
		"a key in a file": {map[string]string{
			pki + "kubelet-client.key.tmp": keyFile(t, key),
			"/etc/kubernetes/kubelet.conf": "rotateCertificates: false\n",
		}, "", "another key"},
		"a key file of another time": {map[string]string{
			pki + "kubelet-client.key.tmp": keyFile(t, ecKey(t)),
			"/etc/kubernetes/kubelet.conf": "rotateCertificates: true\n",
		}, "", ""},
		"no kubelet": {nil, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			m := hosttest.New(t)
			for path, content := range c.files {
				m.File(path, content)
			}
			e := sno()
			e.Now, e.Kubelet = now, csr.ReadKubelet(m.Machine, e.Node, now)
			if (e.Kubelet == nil) != (c.files == nil) {
				t.Error("the kubelet's files are", e.Kubelet)
			}
			for want, a := range map[string]*ecdsa.PrivateKey{c.own: key, "other" + c.other: ecKey(t)} {
				mine, spec := client()
				mine.key = a
				why := csr.Decide(mine.build(t, spec), e)
				want = strings.TrimPrefix(want, "other")
				if want == "" && why != nil || want != "" && (why == nil || !strings.Contains(why.Error(), want)) {
					t.Errorf("refused with %v, want %q", why, want)
				}
				// A serving certificate is asked for with the node's client certificate, which is proof enough.
				served, spec := serving()
				served.key = a
				if why := csr.Decide(served.build(t, spec), e); why != nil {
					t.Errorf("serving: %v", why)
				}
			}
		})
	}
}

// What a stranger writes into a request does not make our own texts long, nor their judgement slow.
func TestStrangersAreBounded(t *testing.T) {
	long, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	huge := &rsa.PublicKey{N: new(big.Int).Lsh(big.NewInt(1), 200_000), E: 1<<31 - 1}
	for name, change := range map[string]func(*ask, *certificatesv1.CertificateSigningRequestSpec){
		"name": func(a *ask, _ *certificatesv1.CertificateSigningRequestSpec) {
			a.template.Subject.CommonName = strings.Repeat("\x01", 20<<10)
		},
		"groups": func(_ *ask, s *certificatesv1.CertificateSigningRequestSpec) {
			s.Groups = slices.Repeat([]string{"\x1bgroup"}, 10_000)
		},
		"user": func(_ *ask, s *certificatesv1.CertificateSigningRequestSpec) { s.Username = strings.Repeat("u", 1<<20) },
		"signer": func(_ *ask, s *certificatesv1.CertificateSigningRequestSpec) {
			s.SignerName = strings.Repeat("s/", 1<<20)
		},
		"organizations": func(a *ask, _ *certificatesv1.CertificateSigningRequestSpec) {
			a.template.Subject.Organization = slices.Repeat([]string{"o"}, 1000)
		},
		"size": func(a *ask, _ *certificatesv1.CertificateSigningRequestSpec) {
			a.edit = func(r *certificatesv1.CertificateSigningRequest) {
				r.Spec.Request = slices.Repeat(r.Spec.Request, 1000)
			}
		},
		"key": func(a *ask, _ *certificatesv1.CertificateSigningRequestSpec) {
			a.key = long
			a.edit = func(r *certificatesv1.CertificateSigningRequest) { r.Spec.Request = withKey(t, r.Spec.Request, huge) }
		},
	} {
		a, spec := client()
		change(&a, &spec)
		r := a.build(t, spec)
		began := time.Now()
		why := csr.Decide(r, sno())
		if why == nil || len(why.Error()) > 2000 || time.Since(began) > wait.Timeout(10*time.Second) {
			t.Errorf("%s: %.200v after %s", name, why, time.Since(began))
		}
	}
}

// Who was approved while the kubelet had no certificate, and is not the kubelet, is told afterwards.
func TestMisledIsTold(t *testing.T) {
	api, c := kubetest.New(t)
	now := time.Now()
	own, other := ecKey(t), ecKey(t)
	for name, key := range map[string]*ecdsa.PrivateKey{"csr-own": own, "csr-other": other} {
		a, spec := client()
		a.key = key
		r := a.build(t, spec)
		r.TypeMeta = metav1.TypeMeta{APIVersion: "certificates.k8s.io/v1", Kind: "CertificateSigningRequest"}
		r.Name, r.CreationTimestamp, r.Status.Certificate = name, metav1.NewTime(now.Add(-time.Minute)), []byte("x")
		r.Status.Conditions = []certificatesv1.CertificateSigningRequestCondition{{Type: certificatesv1.CertificateApproved, Status: "True", Reason: "TouchdownApprove"}}
		b, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		api.Put("/apis/certificates.k8s.io/v1/certificatesigningrequests/"+name, string(b))
	}
	m := hosttest.New(t)
	e := sno()
	e.Now = now
	m.File(pki+"kubelet-client-2026-01-01-00-00-00.pem", issued(t, own, "sno1", now.Add(-time.Hour), now.Add(time.Hour)))
	if all, err := csr.Misled(t.Context(), c, m.Machine, e); err != nil || len(all) != 0 {
		t.Errorf("without a current certificate: %q, %v", all, err)
	}
	m.File(pki+"kubelet-client-current.pem", issued(t, ecKey(t), "sno1", now.Add(-time.Hour), now.Add(time.Hour)))
	if all, err := csr.Misled(t.Context(), c, m.Machine, e); err != nil || len(all) != 1 || !strings.HasPrefix(all[0].String(), "csr-other") {
		t.Errorf("told of %q, %v", all, err)
	}
}

// withKey puts another key into a request, which makes its signature wrong.
func withKey(t *testing.T, request []byte, key *rsa.PublicKey) []byte {
	t.Helper()
	block, _ := pem.Decode(request)
	r, err := x509.ParseCertificateRequest(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKIXPublicKey(key)
	if err != nil {
		t.Fatal(err)
	}
	info := replaced(t, r.RawTBSCertificateRequest, r.RawSubjectPublicKeyInfo, der)
	all := replaced(t, block.Bytes, r.RawTBSCertificateRequest, info)
	return pem.EncodeToMemory(&pem.Block{Type: block.Type, Bytes: all})
}

// replaced puts new bytes into the place of old ones in a sequence of DER, and corrects its length.
func replaced(t *testing.T, sequence, old, fresh []byte) []byte {
	t.Helper()
	at := strings.Index(string(sequence), string(old))
	if at < 0 {
		t.Fatal("not found")
	}
	content := slices.Concat(sequence[4:at], fresh, sequence[at+len(old):]) // both lengths have two bytes
	if len(content) > 0xffff || sequence[1] != 0x82 {
		t.Fatalf("%d bytes, form %x", len(content), sequence[1])
	}
	return slices.Concat([]byte{sequence[0], 0x82, byte(len(content) >> 8), byte(len(content))}, content)
}
