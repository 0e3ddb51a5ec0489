package kube_test

import (
	"crypto/tls"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"touchdown/backend/kube"
)

// The clients and the probes get through to servers of each TLS profile, and to those of a FIPS cluster. A profile sets the least version
// and the ciphers of TLS 1.2; no server of the cluster has a highest version (openshift/api config/v1, TLSProfiles;
// openshift/cluster-ingress-operator acca9642a, pkg/operator/controller/ingress/deployment.go: SSL_MIN_VERSION).
func TestProfilesOfTLS(t *testing.T) {
	for name, config := range map[string]*tls.Config{
		"Modern": {MinVersion: tls.VersionTLS13},
		"Custom, one cipher": {
			MinVersion: tls.VersionTLS12, CipherSuites: []uint16{tls.TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384},
		},
		"one cipher, no TLS 1.3": {
			MinVersion: tls.VersionTLS12, MaxVersion: tls.VersionTLS12, CipherSuites: []uint16{tls.TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384},
		},
		"FIPS": {
			MinVersion: tls.VersionTLS12, CurvePreferences: []tls.CurveID{tls.CurveP384},
			CipherSuites: []uint16{tls.TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256},
		},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("ok")) }))
			server.TLS = config
			server.StartTLS()
			t.Cleanup(server.Close)
			address := strings.TrimPrefix(server.URL, "https://")
			path := filepath.Join(t.TempDir(), "kubeconfig")
			text := fmt.Sprintf(`{apiVersion: v1, kind: Config, current-context: a, contexts: [{name: a, context: {cluster: a, user: a}}], users: [{name: a, user: {}}],
clusters: [{name: a, cluster: {server: %q, certificate-authority-data: %s}}]}`, server.URL, base64PEM(server))
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			c, err := kube.Open(path, slog.New(slog.DiscardHandler))
			if err != nil {
				t.Fatal(err)
			}
			if ready, why := c.Ready(t.Context()); !ready {
				t.Errorf("the client: %s", why)
			}
			served, err := kube.Probe(t.Context(), address, "example.com", c.Roots(), time.Now())
			if err != nil || served.Trust != nil {
				t.Errorf("the probe: %v %v", err, served.Trust)
			}
			if status, _, err := kube.Get(t.Context(), address, "example.com", "/"); err != nil || status != http.StatusOK {
				t.Errorf("the page: %d %v", status, err)
			}
		})
	}
}

func base64PEM(server *httptest.Server) string {
	return base64.StdEncoding.EncodeToString(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}))
}
