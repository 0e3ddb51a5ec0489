package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"touchdown/steps/session"
	"touchdown/steps/view"
	"touchdown/test/bench"
)

// own is a certificate that a site brings, and its key.
type own struct{ cert, key string }

// ownCert makes a certificate of the site's own authority for names.
func ownCert(t testing.TB, until time.Time, names ...string) own {
	t.Helper()
	key := func() *ecdsa.PrivateKey {
		k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	caKey, leafKey := key(), key()
	from := until.AddDate(-1, 0, 0)
	ca := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "site CA"}, NotBefore: from, NotAfter: until.AddDate(1, 0, 0),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	leaf := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: names[0]}, DNSNames: names, NotBefore: from, NotAfter: until,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}, KeyUsage: x509.KeyUsageDigitalSignature,
	}
	var chain strings.Builder
	for _, c := range []struct {
		cert *x509.Certificate
		key  *ecdsa.PrivateKey
	}{{leaf, leafKey}, {ca, caKey}} {
		der, err := x509.CreateCertificate(rand.Reader, c.cert, ca, &c.key.PublicKey, caKey)
		if err != nil {
			t.Fatal(err)
		}
		_ = pem.Encode(&chain, &pem.Block{Type: "CERTIFICATE", Bytes: der})
	}
	der, err := x509.MarshalPKCS8PrivateKey(leafKey)
	if err != nil {
		t.Fatal(err)
	}
	return own{chain.String(), string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))}
}

// withAPI is the shop with its own certificate for the API.
func (o own) withAPI() string {
	indent := func(s string) string { return strings.ReplaceAll(strings.TrimSpace(s), "\n", "\n      ") }
	return shop + "  apiCert:\n    cert: |\n      " + indent(o.cert) + "\n    key: |\n      " + indent(o.key) + "\n"
}

// token is the pull secret's login; nobody may ever read it anywhere.
const token = "planted-token-Tz81Qw"

// TestALife takes one cluster through all that a site does with it: a dry run, the move with the site's own secrets,
// the same again, another site, and back to the factory's state.
func TestALife(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	kubelet := ownCert(t, time.Now().AddDate(1, 0, 0), "kubelet")
	for path, content := range map[string]string{
		"proc/sys/kernel/hostname":                       "sno-factory\n",
		"var/lib/kubelet/pki/kubelet-client-current.pem": kubelet.cert,
		"var/lib/kubelet/pki/kubelet-server-current.pem": kubelet.cert,
	} {
		file := filepath.Join(root, path)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(content), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	n := newNodeWith(t, bench.Options{NodeRoot: root})
	n.env = []string{rootFolder + "=" + root} // where the machine config operator puts the pull secret
	before := n.specs()
	engineRun := n.start(0)
	n.lives()
	mine := ownCert(t, time.Now().AddDate(1, 0, 0), "api.shop.example.org")
	first := mine.withAPI() + `  pullSecret: '{"auths":{"mirror.shop.example.org":{"auth":"` + b64("robot:"+token) + `"}}}'` + "\n"
	planted := []string{token, b64("robot:" + token)}
	for line := range strings.Lines(mine.key) {
		if line = strings.TrimSpace(line); !strings.HasPrefix(line, "-----") && len(line) > 20 {
			planted = append(planted, line)
		}
	}
	var outputs []string
	apply := func(site string, more ...string) string {
		t.Helper()
		code, out := n.apply(site, more...)
		if outputs = append(outputs, out); code != exitOK {
			t.Fatalf("apply %v ended with %d:\n%s", more, code, out)
		}
		return out
	}
	t.Run("a dry run changes nothing", func(t *testing.T) {
		out := apply(first, "--dry-run")
		if !strings.Contains(out, "api.shop.example.org") || !strings.Contains(out, "the site's own") {
			t.Errorf("the plan lacks the new name or the own certificate:\n%s", out)
		}
		if n.writes() != 0 {
			t.Errorf("a dry run made %d changes", n.writes())
		}
		same(t, before, n.specs())
	})
	t.Run("the move, told in JSON lines", func(t *testing.T) {
		out := apply(first, "-o", "json")
		kinds := map[string]int{}
		for line := range strings.Lines(out) {
			var event struct{ Kind string }
			if err := json.Unmarshal([]byte(line), &event); err != nil || event.Kind == "" {
				t.Fatalf("not an event: %s", line)
			}
			kinds[event.Kind]++
		}
		if kinds["started"] < 10 || kinds["done"] < 10 || kinds["check"] < 10 {
			t.Errorf("events: %v", kinds)
		}
		t.Logf("the move made %d changes and %d events", n.writes(), len(n.journal()))
		for host, port := range map[string]string{"api." + n.cluster.Domain: "6443", "console-openshift-console.apps.shop.example.org": "443"} {
			if err := n.trusted(host, port); err != nil {
				t.Errorf("%s: %v", host, err)
			}
		}
		if leaf, err := n.cluster.Leaf(t.Context(), "6443", "api.shop.example.org"); err != nil || leaf.Issuer.CommonName != "site CA" {
			t.Errorf("the API serves no certificate of the site: %v", err)
		}
	})
	t.Run("the same site again changes nothing but the copy of the report", func(t *testing.T) {
		moved, specs := n.writes(), n.specs()
		apply(first)
		if again := n.writes() - moved; again > 1 {
			t.Errorf("the second run made %d changes", again)
		}
		same(t, specs, n.specs())
	})
	t.Run("secrets stay where they belong", func(t *testing.T) {
		for _, args := range [][]string{{"answers"}, {"status", "-o", "json"}, {"events"}, {"events", "-o", "json"}, {"report", "show"}, {"report", "show", "-o", "json"}} {
			code, out := n.touchdown(args...)
			if outputs = append(outputs, strings.Join(args, " ")+"\n"+out); code != exitOK {
				t.Errorf("%v ended with %d:\n%s", args, code, out)
			}
		}
		_, bundle := n.touchdown("report", "bundle")
		outputs = append(outputs, unpacked(t, bundle))
		argv, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", engineRun.cmd.Process.Pid))
		outputs = append(outputs, string(argv), n.onDisk(t))
		if err != nil {
			t.Error(err)
		}
		kept, err := os.ReadFile(filepath.Join(n.state(), "secrets", "spec.pullSecret"))
		if all := strings.Join(outputs, ""); err != nil || !strings.Contains(string(kept), planted[1]) || strings.Count(all, "api.shop.example.org") < 10 {
			t.Errorf("the secrets were not planted, or nothing was looked at: %v", err)
		}
		for _, secret := range planted {
			for _, out := range outputs {
				if i := strings.Index(out, secret); i >= 0 {
					t.Errorf("a secret shows: %s", out[max(0, i-200):i])
				}
			}
		}
	})
	t.Run("a certificate that expires is replaced, one that does not fit changes nothing", func(t *testing.T) {
		dir := t.TempDir()
		replace := func(o own, more ...string) (int, string) {
			t.Helper()
			cert, key := filepath.Join(dir, "api.pem"), filepath.Join(dir, "api.key")
			if err := errors.Join(os.WriteFile(cert, []byte(o.cert), 0o600), os.WriteFile(key, []byte(o.key), 0o600)); err != nil {
				t.Fatal(err)
			}
			code, out := n.touchdown(append([]string{"certificates", "replace", "--api-cert", cert, "--api-key", key}, more...)...)
			outputs = append(outputs, out)
			return code, out
		}
		was, specs := n.writes(), n.specs()
		if code, out := replace(ownCert(t, time.Now().AddDate(1, 0, 0), "api.other.example.org")); code != exitUsage || !strings.Contains(out, "api.shop.example.org") {
			t.Errorf("exit %d:\n%s", code, out)
		}
		fresh := ownCert(t, time.Now().AddDate(0, 10, 0), "api.shop.example.org") // the one that is there has twelve months
		if code, out := replace(fresh, "--dry-run"); code != exitOK || !strings.Contains(out, "fit shop.example.org") {
			t.Errorf("exit %d:\n%s", code, out)
		}
		if n.writes() != was {
			t.Errorf("before anything was replaced there were %d writes", n.writes()-was)
		}
		same(t, specs, n.specs())
		if code, out := replace(fresh); code != exitOK {
			t.Fatalf("exit %d:\n%s", code, out)
		}
		if until := n.servedUntil(t, "api.shop.example.org"); until.After(time.Now().AddDate(0, 11, 0)) {
			t.Errorf("the API serves a certificate until %s", until)
		}
	})
	t.Run("another site", func(t *testing.T) {
		apply(strings.ReplaceAll(shop, "shop", "store2"))
		for host, port := range map[string]string{
			"api.store2.example.org": "6443", "console-openshift-console.apps.store2.example.org": "443",
			"api." + n.cluster.Domain: "6443", "console-openshift-console.apps." + n.cluster.Domain: "443",
		} {
			if err := n.trusted(host, port); err != nil {
				t.Errorf("%s: %v", host, err)
			}
		}
	})
	t.Run("undo puts every byte back", func(t *testing.T) {
		if code, out := n.touchdown("undo", "--force"); code != exitOK || !strings.Contains(out, "domain") {
			t.Errorf("undo ended with %d:\n%s", code, out)
		}
		n.is(view.IsUndone, n.lives())
		same(t, before, n.specs())
	})
}

// unpacked is the text of a .tar.gz.
func unpacked(t *testing.T, archive string) string {
	t.Helper()
	zip, err := gzip.NewReader(strings.NewReader(archive))
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	files := tar.NewReader(zip)
	for {
		h, err := files.Next()
		if errors.Is(err, io.EOF) {
			return out.String()
		}
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(&out, h.Name)
		if _, err := io.Copy(&out, files); err != nil {
			t.Fatal(err)
		}
	}
}

// onDisk is the content of the state folder without the places for secrets. It checks who may read each file.
func (n *node) onDisk(t *testing.T) string {
	t.Helper()
	var out bytes.Buffer
	err := filepath.WalkDir(n.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		switch rel, _ := filepath.Rel(n.dir, path); {
		case rel == ".", rel == "site.yaml": // the test's own
			return nil
		case d.IsDir():
			if info.Mode().Perm() != 0o700 {
				t.Errorf("folder %s is %v", rel, info.Mode())
			}
			return nil
		case info.Mode().Perm() != 0o600:
			t.Errorf("%s is %v", rel, info.Mode())
			return nil
		case !info.Mode().IsRegular() || strings.Contains(rel, "/secrets/") || strings.Contains(rel, "/saved/"):
			return nil
		}
		data, err := os.ReadFile(path)
		out.Write(data)
		return err
	})
	if err != nil {
		t.Error(err)
	}
	return out.String()
}

// TestOwnCertificatesThatDoNotFit are refused before anything is begun: there is not even an engine.
func TestOwnCertificatesThatDoNotFit(t *testing.T) {
	t.Parallel()
	year := time.Now().AddDate(1, 0, 0)
	good, other := ownCert(t, year, "api.shop.example.org"), ownCert(t, year, "api.shop.example.org")
	for what, c := range map[string]struct {
		own  own
		says []string
	}{
		"other names": {ownCert(t, year, "api.other.example.org"), []string{"spec.apiCert.cert: ", "api.shop.example.org"}},
		"expired":     {ownCert(t, time.Now().AddDate(0, 0, -2), "api.shop.example.org"), []string{"spec.apiCert.cert: ", "expired"}},
		"wrong key":   {own{good.cert, other.key}, []string{"spec.apiCert.key: ", "certificate"}},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			n := &node{t: t, dir: t.TempDir()}
			code, out := n.apply(c.own.withAPI())
			if code != exitUsage {
				t.Errorf("apply ended with %d", code)
			}
			for _, want := range append(c.says, "site.yaml:") {
				if !strings.Contains(out, want) {
					t.Errorf("%q is not in:\n%s", want, out)
				}
			}
			if strings.Count(out, "\n") > 2 || strings.Contains(out, "BEGIN") {
				t.Errorf("too much is said:\n%s", out)
			}
		})
	}
}

// actions of a person who looked at the problem.
var (
	retry = session.Action{Verb: session.Retry}
	undo  = session.Action{Verb: session.Undo}
)
