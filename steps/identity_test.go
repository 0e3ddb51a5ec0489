package steps

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"log/slog"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"touchdown/backend"
	"touchdown/backend/check"
	"touchdown/backend/factory"
	"touchdown/backend/host/hosttest"
	"touchdown/backend/kube/kubetest"
	"touchdown/backend/ledger"
	"touchdown/backend/media"
	"touchdown/backend/problem"
	"touchdown/test/stick"
)

// keyPair makes a CA's certificate, and a public SSH key.
func keyPair(t *testing.T) (cert, public string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	login, err := ssh.NewPublicKey(key.Public())
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})), string(ssh.MarshalAuthorizedKey(login))
}

// shipped is a node on the bench line: its machine, and what its disk brings.
func shipped(t *testing.T, serial, cluster, ca, hostKey string) *backend.Node {
	t.Helper()
	api, c := kubetest.New(t)
	api.Put("/apis/config.openshift.io/v1/clusterversions/version", `{"kind":"ClusterVersion","apiVersion":"config.openshift.io/v1","spec":{"clusterID":"`+cluster+`"}}`)
	api.Put("/api/v1/namespaces/openshift-ingress-operator/secrets/router-ca", `{"data":{"tls.crt":"`+base64.StdEncoding.EncodeToString([]byte(ca))+`"}}`)
	h := hosttest.New(t)
	for path, text := range map[string]string{
		"/sys/class/dmi/id/product_serial": serial, "/etc/ssh/ssh_host_ecdsa_key.pub": hostKey,
		"/sys/class/net/enp1s0/address": "52:54:00:00:00:" + serial[len(serial)-2:], "/sys/class/net/enp1s0/device/x": "",
	} {
		file := h.Machine.Path(path)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := factory.OpenLine(h.Machine, time.Now()); err != nil {
		t.Fatal(err)
	}
	return &backend.Node{Host: h.Machine, Kube: c, Now: time.Now, Log: slog.New(slog.DiscardHandler)}
}

// TestASealRefusesCopies: a node made from the disk of one in the ledger is not sealed, but for a reason that was given with the
// ledger, in this stay on the bench line; the report has the reason. One that was sealed before is sealed again.
func TestASealRefusesCopies(t *testing.T) {
	file := filepath.Join(t.TempDir(), "ledger.jsonl")
	if _, err := ledger.Prepare(file); err != nil {
		t.Fatal(err)
	}
	ca, hostKey := keyPair(t)
	otherCA, otherKey := keyPair(t)
	seal := func(node *backend.Node, shared string) (*keptReport, error) {
		t.Helper()
		r := newKept()
		if err := (ledger.Choice{File: file, Shared: shared, Stay: factory.Stay(node.Host)}).Keep(node.Host); err != nil {
			t.Fatal(err)
		}
		if err := (&copyCheck{}).Run(t.Context(), node, r); err != nil {
			return r, err
		}
		return r, (&Seal{}).Run(t.Context(), node, r)
	}
	for serial, node := range map[string]*backend.Node{"SN01": shipped(t, "SN01", "one", ca, hostKey), "SN02": shipped(t, "SN02", "two", otherCA, otherKey)} {
		for range 2 { // a power cut came after the first time
			r, err := seal(node, "")
			if err != nil || r.checks["copy"].Status != check.Pass {
				t.Fatalf("%s: %+v, %v", serial, r.checks["copy"], err)
			}
			if _, err := factory.OpenLine(node.Host, time.Now()); err != nil {
				t.Fatal(err)
			}
		}
	}
	if text, err := os.ReadFile(file); err != nil || strings.Count(string(text), "\n") != 2 {
		t.Fatalf("the ledger is\n%s%v", text, err)
	}
	for what, node := range map[string]*backend.Node{
		"the cluster id":            shipped(t, "SN03", "one", "", otherKeyOf(t)),
		"the CA key router-ca":      shipped(t, "SN04", "four", ca, otherKeyOf(t)),
		"the SSH host key ssh_host": shipped(t, "SN05", "five", "", hostKey),
	} {
		_, err := seal(node, "")
		if p := problem.From(err); p.Code != "FAC-TWN" || !strings.Contains(p.Summary.String(), "SN SN01") || !strings.Contains(p.Summary.String(), what) {
			t.Errorf("%s: %v", what, err)
		}
		if !factory.OnLine(node.Host) || node.Host.Exists("/var/lib/touchdown/armed") {
			t.Errorf("%s: the node is sealed", what)
		}
		// Two that pass the look at the same time meet in the ledger itself.
		if err := (&Seal{}).Run(t.Context(), node, newKept()); problem.From(err).Code != "FAC-TWN" {
			t.Errorf("%s: the seal alone: %v", what, err)
		}
	}
	node := shipped(t, "SN06", "one", ca, hostKey)
	r, err := seal(node, "a cold spare for SN01")
	if ch := r.checks["copy"]; err != nil || ch.Status != check.Warn || !strings.Contains(ch.Observed.String(), "Allowed: a cold spare for SN01") {
		t.Errorf("with a reason: %+v, %v", ch, err)
	}
	if text, _ := os.ReadFile(file); !strings.Contains(string(text), `"sharedIdentity":"a cold spare for SN01"`) {
		t.Errorf("the ledger does not tell the reason:\n%s", text)
	}
	if _, err := factory.OpenLine(node.Host, time.Now().Add(time.Hour)); err != nil { // another stay
		t.Fatal(err)
	}
	if err := (&copyCheck{}).Run(t.Context(), node, newKept()); problem.From(err).Code != "FAC-TWN" {
		t.Errorf("a reason of another stay holds: %v", err)
	}
}

func otherKeyOf(t *testing.T) string {
	_, public := keyPair(t)
	return public
}

// TestASealWithoutALedger says that nobody has checked.
func TestASealWithoutALedger(t *testing.T) {
	ca, hostKey := keyPair(t)
	node, r := shipped(t, "SN01", "one", ca, hostKey), newKept()
	if err := (&copyCheck{}).Run(t.Context(), node, r); err != nil {
		t.Fatal(err)
	}
	stick.Plug(t, node.Host.Root(), "sdb", make([]byte, 1<<20))
	if err := os.Remove(node.Host.Path("/dev/sdb")); err != nil { // a drive that does not open
		t.Fatal(err)
	}
	if err := (&Seal{}).Run(t.Context(), node, r); err != nil {
		t.Fatal(err)
	}
	if ch := r.checks["copy"]; ch.Status != check.Skip || ch.Observed.String() != "not checked: no ledger was given" || !strings.Contains(fmt.Sprint(r.said), "No ledger was given") {
		t.Errorf("%+v, %q", ch, r.said)
	}
	if n := strings.Count(fmt.Sprint(r.said), "Drive sdb was not readable: The volume cannot be opened."); n != 1 {
		t.Errorf("a drive that does not open is noted %d times: %q", n, r.said)
	}
	if err := os.WriteFile(node.Host.Path("/var/lib/touchdown/factory/ledger.json"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := (&copyCheck{}).Run(t.Context(), node, r); err == nil {
		t.Error("a choice that cannot be read is none")
	}
}

// TestASealNamesTheSiteConfig: the plan and the seal name the document in the node, and a node that lost it is not sealed.
func TestASealNamesTheSiteConfig(t *testing.T) {
	ca, hostKey := keyPair(t)
	node, r := shipped(t, "SN01", "one", ca, hostKey), newKept()
	if p, err := (&Seal{}).Plan(t.Context(), node); err != nil || len(p.Changes) > 0 {
		t.Errorf("without a site config: %+v, %v", p, err)
	}
	known := media.Of(node.Host)
	d, err := known.Bake([]byte("spec: {}"), false)
	if err != nil {
		t.Fatal(err)
	}
	if p, err := (&Seal{}).Plan(t.Context(), node); err != nil || len(p.Changes) != 1 || !strings.Contains(p.Changes[0].New.String(), d.ID) {
		t.Errorf("%+v, %v", p, err)
	}
	if err := known.DropBaked(); err != nil {
		t.Fatal(err)
	}
	if _, err := (&Seal{}).Plan(t.Context(), node); problem.From(err).Code != "MED-BAKE" {
		t.Errorf("the plan of a node that lost it: %v", err)
	}
	if err := (&Seal{}).Run(t.Context(), node, r); problem.From(err).Code != "MED-BAKE" || !factory.OnLine(node.Host) || node.Host.Exists("/var/lib/touchdown/armed") {
		t.Errorf("a node that lost it is sealed: %v", err)
	}
	if d, err = known.Bake([]byte("spec: {}"), true); err != nil {
		t.Fatal(err)
	}
	if p, err := (&Seal{}).Plan(t.Context(), node); err != nil || !strings.Contains(fmt.Sprint(p.Changes), "WITHOUT A PERSON") {
		t.Errorf("the plan does not tell that the node starts: %+v, %v", p, err)
	}
	if err := (&Seal{}).Run(t.Context(), node, r); err != nil || !strings.Contains(fmt.Sprint(r.said), d.ID) || factory.OnLine(node.Host) {
		t.Errorf("%q, %v", r.said, err)
	}
	if !strings.Contains(fmt.Sprint(r.said), "WITHOUT A PERSON") || media.StartOf(node.Host, d.ID).Shipped() {
		t.Errorf("%q, shipped before a boot: %t", r.said, media.StartOf(node.Host, d.ID).Shipped())
	}
}
