package nodeconfig_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"sync"
	"testing"
	"time"

	"touchdown/backend/kube/kubetest"
	"touchdown/backend/nodeconfig"
	"touchdown/backend/problem"
)

var made sync.Map

// pemText is a certificate authority of that name, the same one each time.
func pemText(t *testing.T, name string) string {
	t.Helper()
	if text, ok := made.Load(name); ok {
		return text.(string)
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	cert := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, cert, cert, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	text := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
	made.Store(name, text)
	return text
}

func TestMergePEM(t *testing.T) {
	a, b := pemText(t, "a"), pemText(t, "b")
	commented := "# the factory's\n" + a[:len(a)-1] // without its last line end
	if got := nodeconfig.MergePEM(commented, a); got != commented {
		t.Errorf("a bundle that lacks none was changed: %q", got)
	}
	if got, want := nodeconfig.MergePEM(commented, a+b, b), commented+"\n"+b; got != want {
		t.Errorf("merged to %q, want %q", got, want)
	}
	if got := nodeconfig.MergePEM("", "no certificate"); got != "" {
		t.Errorf("made %q of nothing", got)
	}
}

// TestNoAuthorityIsLost: authorities of which one cannot be read are refused whole, before the cluster is asked to change anything.
func TestNoAuthorityIsLost(t *testing.T) {
	a, b, c := pemText(t, "a"), pemText(t, "b"), pemText(t, "c")
	for name, bundle := range map[string]string{"no line end": a + b[:len(b)-1] + c, "cut off": a + b[:100] + "\n" + c, "cut off at the end": a + b + c[:100]} {
		for what, w := range map[string]nodeconfig.Want{
			"trust": {Trust: []string{c, bundle}}, "registry": {RegistryCAs: []nodeconfig.RegistryCA{{Host: "reg.site.example", PEM: bundle}}},
		} {
			_, cluster := kubetest.New(t)
			changes, err := nodeconfig.Changes(t.Context(), cluster, w)
			if code := problem.From(err).Code; err == nil || code != "CA-BAD" {
				t.Errorf("%s with one that has its lines wrong (%s): %d changes, %v", what, name, len(changes), err)
			}
		}
	}
}

func TestSources(t *testing.T) {
	conf := "# x\npool a iburst\nserver b\n server c minpoll 4\nserver b\nmakestep 1 3\n"
	if got := nodeconfig.Sources(conf); len(got) != 3 || got[2] != "c" {
		t.Errorf("sources are %v", got)
	}
	if got, err := nodeconfig.AddSources(conf, []string{"b", "d", "d"}); err != nil || got != conf+"server d iburst\n" {
		t.Errorf("with b and d it is %q", got)
	}
	if got, err := nodeconfig.AddSources("", []string{"d"}); err != nil || len(nodeconfig.Sources(got)) != 1 {
		t.Errorf("without a file it is %q", got)
	}
}

// TestARegistryAtTheUsualPort is named in both ways in which an image can be written.
func TestARegistryAtTheUsualPort(t *testing.T) {
	for port, want := range map[int]string{0: "reg.example, reg.example:443", 443: "reg.example, reg.example:443", 5000: "reg.example:5000"} {
		_, c := newOperator(t)
		changes, err := nodeconfig.Changes(t.Context(), c, nodeconfig.Want{RegistryCAs: []nodeconfig.RegistryCA{{Host: "reg.example", Port: port, PEM: pemText(t, "ca")}}})
		if err != nil {
			t.Fatal(err)
		}
		if got := changes[0].New.String(); got != "added for "+want {
			t.Errorf("port %d: %s", port, got)
		}
	}
}
