package steps

import (
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"strings"
	"testing"
	"time"

	"touchdown/backend"
	"touchdown/backend/certs"
	"touchdown/backend/check"
	"touchdown/backend/host/hosttest"
	"touchdown/backend/message"
	"touchdown/steps/site"
)

// TestOwnCertificatesAreJudgedByTheTimeThatIsKnown: a clock that cannot be right, or that is some hours late, keeps no certificate of the
// site's from its landing, which sets the clock before; one that is days late, or right, does.
func TestOwnCertificatesAreJudgedByTheTimeThatIsKnown(t *testing.T) {
	begins := time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)
	key := curveKey(t)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "x"}, NotBefore: begins, NotAfter: begins.AddDate(1, 0, 0), DNSNames: []string{"api.store.example.com"},
	}
	selfSigned := func(template *x509.Certificate) []byte {
		signed, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
		if err != nil {
			t.Fatal(err)
		}
		return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: signed})
	}
	ours := selfSigned(&x509.Certificate{SerialNumber: big.NewInt(2), NotBefore: begins.AddDate(0, -1, 0), NotAfter: begins.AddDate(10, 0, 0)})
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	pair := certs.Pair{
		Cert: selfSigned(template), Key: pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}),
	}
	for what, test := range map[string]struct {
		now  time.Time
		want check.Status
		says string
	}{
		"right":            {begins.Add(time.Hour), check.Pass, "good until 2027-06-01"},
		"hours late":       {begins.Add(-9 * time.Hour), check.Warn, "The certificate is not valid before 2026-06-01 12:00 UTC, and the clock is set before it is used."},
		"days late":        {begins.AddDate(0, 0, -3), check.Fail, "is not valid before 2026-06-01"},
		"at its beginning": {time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC), check.Pass, "good until 2027-06-01"},
		"after its end":    {begins.AddDate(2, 0, 0), check.Fail, "has expired on 2027-06-01"},
	} {
		fake := hosttest.New(t)
		fake.File("/etc/kubernetes/kubelet-ca.crt", string(ours)) // a month older than the site's
		node := &backend.Node{Host: fake.Machine, Now: func() time.Time { return test.now }}
		c := ownCheck("api-cert", message.T("x"), pair, []string{"api.store.example.com"}, nil, site.New(), node)
		if c.Status != test.want || !strings.Contains(c.Observed.String(), test.says) {
			t.Errorf("%s: %s: %s", what, c.Status, c.Observed)
		}
		if text := planned(&pair, nil, site.New(), node).String(); test.want == check.Fail != strings.Contains(text, "cannot be used") {
			t.Errorf("%s: the review says %q", what, text)
		}
	}
}
