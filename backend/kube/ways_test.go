package kube_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"touchdown/backend/kube"
	"touchdown/backend/message"
	"touchdown/backend/problem"
)

const recoveryToken = "the-token-of-the-recovery-account"

// guarded is a node whose API server wants to know who asks: a client certificate of its CA, or the recovery account's token.
type guarded struct {
	t      testing.TB
	root   string // static-pod-resources
	ca     tls.Certificate
	server *httptest.Server

	mu     sync.Mutex
	shown  map[string]tls.Certificate // by server name; "" is what is shown for any other
	url    string
	token  string
	bodies []string // of the changing requests that were accepted
	now    time.Time
}

func newGuarded(t testing.TB) *guarded {
	g := &guarded{t: t, root: t.TempDir(), shown: map[string]tls.Certificate{}, token: recoveryToken}
	g.ca = g.sign("the CA", 99*time.Hour, true)
	g.shown[""], g.shown["localhost-recovery"] = g.sign("localhost", time.Hour, false), g.sign("localhost-recovery", time.Hour, false)
	g.server = httptest.NewUnstartedServer(http.HandlerFunc(g.answer))
	g.server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	g.server.TLS = &tls.Config{ClientAuth: tls.RequestClientCert, GetCertificate: func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
		g.mu.Lock()
		defer g.mu.Unlock()
		cert, named := g.shown[hello.ServerName]
		if !named {
			cert = g.shown[""]
		}
		return &cert, nil
	}}
	g.server.StartTLS()
	g.url = strings.Replace(g.server.URL, "127.0.0.1", "localhost", 1)
	t.Cleanup(g.server.Close)
	for _, revision := range []string{"6", "7"} {
		g.write("kube-apiserver-pod-"+revision+"/configmaps/kube-apiserver-cert-syncer-kubeconfig/kubeconfig", fmt.Sprintf(`{apiVersion: v1, kind: Config,
current-context: a, contexts: [{name: a, context: {cluster: a, user: a}}],
clusters: [{name: a, cluster: {server: %q, tls-server-name: localhost-recovery, certificate-authority: /etc/kubernetes/static-pod-resources/configmaps/kube-apiserver-server-ca/ca-bundle.crt}}],
users: [{name: a, user: {tokenFile: /etc/kubernetes/static-pod-resources/secrets/localhost-recovery-client-token/token}}]}`, g.url))
		g.write("kube-apiserver-pod-"+revision+"/configmaps/kube-apiserver-server-ca/ca-bundle.crt", string(g.pem()))
		g.write("kube-apiserver-pod-"+revision+"/secrets/localhost-recovery-client-token/token", recoveryToken)
	}
	g.renew(time.Hour)
	return g
}

func (g *guarded) sign(name string, life time.Duration, authority bool) tls.Certificate {
	g.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		g.t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name}, DNSNames: []string{name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(life), IsCA: authority, BasicConstraintsValid: true,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth},
	}
	parent, signer := template, any(key)
	if !authority {
		parent, signer = g.ca.Leaf, g.ca.PrivateKey
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, signer)
	if err != nil {
		g.t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		g.t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}
}

func (g *guarded) pem() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: g.ca.Certificate[0]})
}

func (g *guarded) own(name string) string {
	return filepath.Join(g.root, "kube-apiserver-certs/secrets/node-kubeconfigs", name+".kubeconfig")
}

func (g *guarded) write(path, content string) {
	g.t.Helper()
	path = filepath.Join(g.root, path)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		g.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		g.t.Fatal(err)
	}
}

// renew writes the node's kubeconfigs with a new client certificate.
func (g *guarded) renew(life time.Duration) {
	g.t.Helper()
	cert := g.sign("system:admin", life, false)
	key, err := x509.MarshalECPrivateKey(cert.PrivateKey.(*ecdsa.PrivateKey))
	if err != nil {
		g.t.Fatal(err)
	}
	encode := base64.StdEncoding.EncodeToString
	for name, sni := range map[string]string{"localhost": "", "localhost-recovery": ", tls-server-name: localhost-recovery"} {
		g.write("kube-apiserver-certs/secrets/node-kubeconfigs/"+name+".kubeconfig", fmt.Sprintf(`{apiVersion: v1, kind: Config, current-context: a,
contexts: [{name: a, context: {cluster: a, user: a}}], clusters: [{name: a, cluster: {server: %q, certificate-authority-data: %q%s}}],
users: [{name: a, user: {client-certificate-data: %q, client-key-data: %q}}]}`, g.url, encode(g.pem()), sni,
			encode(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert.Certificate[0]})),
			encode(pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: key}))))
	}
}

func (g *guarded) answer(w http.ResponseWriter, r *http.Request) {
	g.mu.Lock()
	defer g.mu.Unlock()
	roots := x509.NewCertPool()
	roots.AddCert(g.ca.Leaf)
	known := g.token != "" && r.Header.Get("Authorization") == "Bearer "+g.token
	if peers := r.TLS.PeerCertificates; len(peers) > 0 && !known {
		_, err := peers[0].Verify(x509.VerifyOptions{Roots: roots, CurrentTime: g.now, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}})
		known = err == nil
	}
	w.Header().Set("Content-Type", "application/json")
	if !known {
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = io.WriteString(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","message":"Unauthorized","reason":"Unauthorized","code":401}`)
		return
	}
	body, _ := io.ReadAll(r.Body)
	if r.Method != http.MethodGet {
		g.bodies = append(g.bodies, string(body))
	}
	_, _ = io.WriteString(w, `{"kind":"Namespace","apiVersion":"v1","metadata":{"name":"x"}}`)
}

// later moves the API server's clock, so that it refuses what the client still takes for valid.
func (g *guarded) later(d time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.now = time.Now().Add(d)
}

func read(t testing.TB, c *kube.Cluster) error {
	t.Helper()
	return c.Do(t.Context(), "reading a namespace", func(ctx context.Context) error {
		_, err := c.Core.Namespaces().Get(ctx, "x", metav1.GetOptions{})
		return err
	})
}

func open(t testing.TB, g *guarded, log io.Writer) *kube.Cluster {
	t.Helper()
	c, err := kube.Open(g.own("localhost"), slog.New(slog.NewTextHandler(log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	c.Pace = kube.Pace{Limit: time.Second, Pause: 50 * time.Millisecond}
	if err := read(t, c); err != nil || c.Detour().String() != "" {
		t.Fatal(err, c.Detour())
	}
	return c
}

func detour(t testing.TB, c *kube.Cluster, words ...string) {
	t.Helper()
	if err := read(t, c); err != nil {
		t.Fatal(err)
	}
	said := c.Detour()
	if (len(words) == 0) != (said == message.Text{}) {
		t.Errorf("it says %q", said)
	}
	for _, word := range words {
		if !strings.Contains(said.String(), word) {
			t.Errorf("%q lacks %q", said, word)
		}
	}
}

func TestClientCertificateExpires(t *testing.T) {
	g, log := newGuarded(t), &strings.Builder{}
	const life = 5 * time.Second // a starved machine opens the cluster within it
	g.renew(life)
	expires := time.Now().Add(life)
	c := open(t, g, log)
	time.Sleep(time.Until(expires.Add(100 * time.Millisecond)))
	// A change is sent again whole, and arrives once.
	err := c.Do(t.Context(), "making a namespace", func(ctx context.Context) error {
		_, err := c.Core.Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "sent-again"}}, metav1.CreateOptions{})
		return err
	})
	if err != nil || len(g.bodies) != 1 || !strings.Contains(g.bodies[0], "sent-again") || c.Writes() != 1 {
		t.Fatal(err, g.bodies, c.Writes())
	}
	detour(t, c, "client certificate expired on", "recovery account")
	g.write("kube-apiserver-pod-7/secrets/localhost-recovery-client-token/token", "") // a power cut; what is read already goes on
	detour(t, c, "recovery account")
	g.renew(time.Hour)
	detour(t, c)
	g.later(2 * time.Hour) // the API server's clock: the file looks good and is refused
	detour(t, c, "does not accept the client certificate", "recovery account")
	if strings.Contains(log.String(), recoveryToken) {
		t.Errorf("the log holds the token: %s", log)
	}
}

func TestServingCertificateExpires(t *testing.T) {
	g := newGuarded(t)
	c := open(t, g, io.Discard)
	g.mu.Lock()
	g.shown[""] = g.sign("localhost", -time.Minute, false)
	g.mu.Unlock()
	g.server.CloseClientConnections()
	detour(t, c, "the API's certificate for localhost has expired", "recovery kubeconfig")
}

func TestKubeconfigIsReadAgain(t *testing.T) {
	g := newGuarded(t)
	whole, err := os.ReadFile(g.own("localhost"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(g.root); err != nil {
		t.Fatal(err)
	}
	if _, err := kube.Open(g.own("localhost"), nil); err == nil {
		t.Fatal("opened without any file")
	}
	c := kube.Shut(g.own("localhost"), slog.New(slog.DiscardHandler))
	c.Pace = kube.Pace{Limit: time.Second, Pause: 50 * time.Millisecond}
	if err := read(t, c); problem.From(err).Code != "CLU-KCFG" {
		t.Error(err)
	}
	g.write("kube-apiserver-certs/secrets/node-kubeconfigs/localhost.kubeconfig", string(whole))
	detour(t, c)
	// Rotated by the cluster, and the old one is no longer accepted.
	g.renew(3 * time.Hour)
	g.later(2 * time.Hour)
	detour(t, c)
}

func TestNothingIsAccepted(t *testing.T) {
	g, log := newGuarded(t), &strings.Builder{}
	c := open(t, g, log)
	g.later(2 * time.Hour)
	g.token = "another"
	err := read(t, c)
	var p *problem.Problem
	if !errors.As(err, &p) || p.Code != "CLU-AUTH" || c.Detour().String() != "" {
		t.Error(err, c.Detour())
	}
	if strings.Contains(fmt.Sprintf("%+v %s", err, log), recoveryToken) {
		t.Errorf("the token is told: %v %s", err, log)
	}
	g.server.Close()
	if err := read(t, c); problem.From(err).Code != "CLU-AWAY" {
		t.Error(err)
	}
}
