package delivery

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"touchdown/backend/layout"
)

// TestHostileMonitor: answers without an end, an end to none, and no HTTP at all. Each costs one try of bounded memory, and none is
// taken for an acceptance.
func TestHostileMonitor(t *testing.T) {
	for name, says := range map[string]func(io.Writer) error{
		"header without end":   forever("HTTP/1.1 200 OK\r\n", "X-Nonsense: "+strings.Repeat("n", 1000)+"\r\n"),
		"interim without end":  forever("", "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"),
		"status without end":   forever("HTTP/1.1 200 ", strings.Repeat("n", 1000)),
		"no HTTP":              forever("", "\x1b]0;owned\x07\x00\xff\r\n"),
		"redirects":            forever("HTTP/1.1 307 Away\r\nLocation: http://203.0.113.9/steal\r\nContent-Length: 0\r\n\r\n", ""),
		"500 with escapes":     forever("HTTP/1.1 500 \x1b[2Jowned\r\nRetry-After: 99999999999999999999\r\nContent-Length: 0\r\n\r\n", ""),
		"wait for a century":   forever("HTTP/1.1 503 x\r\nRetry-After: 3153600000\r\nContent-Length: 0\r\n\r\n", ""),
		"waits below nothing":  forever("HTTP/1.1 503 x\r\nRetry-After: -3153600000\r\nContent-Length: 0\r\n\r\n", ""),
		"two lengths":          forever("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", ""),
		"hangs up":             forever("", ""),
		"switches protocols":   forever("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n", ""),
		"status that is none":  forever("HTTP/1.1 20x OK\r\n\r\n", ""),
		"an error of 40 lines": forever(strings.Repeat("nonsense\n", 40), ""),
	} {
		n := newNode(t)
		n.must(n.Aim(Target{URL: "http://" + listen(t, says)}))
		n.must(n.Post(item(1)))
		pause := n.step(t.Context())
		s := n.Status()
		if s.Waiting != 1 || s.Refused != 0 || pause < firstPause/2 || pause > mostPause {
			t.Errorf("%s: %+v, the next try after %s", name, s, pause)
		}
		line := s.Line().String()
		if strings.ContainsAny(line, "\x1b\x07\x00\r\n") || len(line) > 400 || strings.Contains(line, "owned\x07") {
			t.Errorf("%s: %q", name, line)
		}
	}
}

// TestEndlessBody: an acceptance with a body that never ends is one; the body is not read.
func TestEndlessBody(t *testing.T) {
	n := newNode(t)
	n.must(n.Aim(Target{URL: "http://" + listen(t, forever("HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n", strings.Repeat("n", 1000)))}))
	n.must(n.Post(item(1)))
	n.until(1)
}

// forever says something first, and something else until the other side hangs up; with nothing to repeat it hangs up itself.
func forever(first, then string) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, first)
		for err == nil && then != "" {
			_, err = io.WriteString(w, then)
		}
		return err
	}
}

// listen serves one way of answering, and returns where.
func listen(t *testing.T, says func(io.Writer) error) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	t.Cleanup(func() { l.Close(); <-ended })
	go func() {
		defer close(ended)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			if r, err := http.ReadRequest(bufio.NewReader(c)); err == nil {
				_, _ = io.Copy(io.Discard, r.Body)
				_ = says(c)
			}
			c.Close()
		}
	}()
	return l.Addr().String()
}

// TestEcho: a monitor that answers with the token that it got, in something that is not HTTP, puts it on no screen and in no log.
func TestEcho(t *testing.T) {
	for _, answer := range []string{token + "\r\n\r\n", "HTTP/1.1 200 OK\r\n" + token + "\r\n\r\n", "HTTP/1.1 200 OK\r\n" + token[:3] + "\x00" + token[3:] + "\r\n\r\n"} {
		n := newNode(t)
		n.connect = func(target Target) (http.RoundTripper, error) { // dial sends no token in the clear
			target.Token = ""
			return dial(target)
		}
		n.must(n.Aim(Target{URL: "http://" + listen(t, forever(answer, "")), Token: token}))
		n.must(n.Post(item(1)))
		n.step(t.Context())
		if s := n.Status(); s.Waiting != 1 || s.Why.String() == "" || strings.Contains(s.Line().String()+n.log.String(), token) {
			t.Errorf("%q: %q, log %q", answer, s.Line(), n.log.String())
		}
	}
}

const token = "t0ken-of-the-m0nitor"

// TestTokenStays: the token goes to the monitor's own address, over TLS that the site's CA vouches for, and nowhere else: no log, no
// status, no file but one of mode 0600.
func TestTokenStays(t *testing.T) {
	asked := &seen{}
	server := quiet(httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		asked.add(r.Header.Get("Authorization"))
	})))
	server.StartTLS()
	defer server.Close()
	open := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { asked.add(r.Header.Get("Authorization")) }))
	defer open.Close()
	ca := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}))
	n := newNode(t)
	for _, target := range []Target{
		{URL: server.URL, Token: token},                                                                // nobody vouches for it
		{URL: open.URL, Token: token},                                                                  // in the clear
		{URL: server.URL + "/?%zz=" + token, Token: token, CA: "no PEM"},                               // nothing to trust
		{URL: "https://user:" + token + "@127.0.0.1:1/", Token: token, CA: ca},                         // refused, with the address in the error
		{URL: server.URL, Token: token, CA: ca, Cert: "x", Key: "y"},                                   // a pair that is none
		{URL: "https://monitor.example.com", HTTPSProxy: "http://u:" + token + "@127.0.0.1:1", CA: ca}, // no such proxy
	} {
		n.must(n.Aim(target))
		n.must(n.Post(item(1)))
		n.step(t.Context())
		if s := n.Status(); s.Waiting != 1 || s.Why.String() == "" || strings.Contains(s.Line().String(), token) {
			t.Errorf("%s: %+v", s.Line(), s)
		}
	}
	if got := asked.texts(); len(got) > 0 {
		t.Errorf("asked without trust: %q", got)
	}
	n.must(n.Aim(Target{URL: server.URL, Token: token, CA: ca}))
	n.until(1)
	if got := asked.texts(); !slices.Equal(got, []string{"Bearer " + token}) {
		t.Errorf("asked with %q", got)
	}
	if strings.Contains(n.log.String(), token) {
		t.Errorf("the log has the token: %s", n.log.String())
	}
	info, err := os.Stat(filepath.Join(n.root, layout.Outbox, targetFile))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

// quiet keeps a server's words about refused handshakes off the test's output.
func quiet(s *httptest.Server) *httptest.Server {
	s.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	return s
}

// TestOldTLS: a monitor that speaks TLS 1.1 gets nothing.
func TestOldTLS(t *testing.T) {
	server := quiet(httptest.NewUnstartedServer(http.NotFoundHandler()))
	server.TLS = &tls.Config{MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11}
	server.StartTLS()
	defer server.Close()
	n := newNode(t)
	n.must(n.Aim(Target{URL: server.URL, CA: string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}))}))
	n.must(n.Post(item(1)))
	n.step(t.Context())
	if s := n.Status(); !strings.Contains(s.Why.String(), "protocol version") {
		t.Errorf("%+v", s)
	}
}

// TestOwnCertificate: a monitor that wants to know who sends sees the node's certificate.
func TestOwnCertificate(t *testing.T) {
	cert, key := pair(t)
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM([]byte(cert))
	server := quiet(httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})))
	server.TLS = &tls.Config{ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: pool}
	server.StartTLS()
	defer server.Close()
	ca := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}))
	n := newNode(t)
	n.must(n.Post(item(1)))
	n.must(n.Aim(Target{URL: server.URL, CA: ca}))
	n.step(t.Context())
	if n.Status().Waiting != 1 {
		t.Error("taken without a certificate")
	}
	n.must(n.Aim(Target{URL: server.URL, CA: ca, Cert: cert, Key: key}))
	n.until(1)
}

func pair(t *testing.T) (cert, key string) {
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(24 * time.Hour), IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, k.Public(), k)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := x509.MarshalPKCS8PrivateKey(k)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})), string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: raw}))
}

// TestProxy: the site's proxy is asked where one is set, and not for what is reached without it.
func TestProxy(t *testing.T) {
	asked := &seen{}
	proxy := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { asked.add(r.URL.String()) }))
	defer proxy.Close()
	n := newNode(t)
	n.must(n.Aim(Target{URL: "http://monitor.example.com/take", HTTPProxy: proxy.URL}))
	n.must(n.Post(item(1)))
	n.until(1)
	if got := asked.texts(); !slices.Equal(got, []string{"http://monitor.example.com/take"}) {
		t.Errorf("asked for %q", got)
	}
	transport, err := dial(Target{URL: "https://monitor.example.com", HTTPSProxy: proxy.URL, NoProxy: ".example.com"})
	n.must(err)
	direct, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://monitor.example.com", nil)
	n.must(err)
	if via, err := transport.(*http.Transport).Proxy(direct); via != nil || err != nil {
		t.Errorf("through %v, %v", via, err)
	}
}
