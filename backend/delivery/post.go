package delivery

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode"

	"golang.org/x/net/http/httpproxy"

	"touchdown/backend/message"
)

// What one try may cost. Chosen, but for what a header holds.
const (
	perTry     = 30 * time.Second
	slowest    = 8 << 10  // bytes a second of a line that still brings a large report through
	mostHeader = 16 << 10 // bytes of an answer's header, where Go would take 10 MiB; the body is not read at all
	mostError  = 160      // characters of an error that a person reads
)

// outcome is what came of a try; none of its fields: it is worth another one.
type outcome struct {
	done    bool
	lost    error // there is nothing to deliver
	refused bool  // it would be the same again
	why     message.Text
	after   time.Duration // that the monitor asks to wait
}

// post sends an item once. The key lets the monitor tell a repeat, whose first answer was lost, from something new
// (draft-ietf-httpapi-idempotency-key-header).
func (o *Outbox) post(ctx context.Context, t Target, i Item, key string) outcome {
	ctx, cancel := context.WithTimeout(ctx, perTry+time.Duration(len(i.Body)/slowest)*time.Second)
	defer cancel()
	transport, err := o.connect(t)
	if err != nil {
		return outcome{refused: true, why: message.F("its settings cannot be used: %s", short(err))}
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, t.URL, bytes.NewReader(i.Body))
	if err != nil {
		return outcome{refused: true, why: message.T("its address cannot be used")}
	}
	sum := sha256.Sum256(i.Body)
	for name, value := range map[string]string{
		"Content-Type": i.Type, "User-Agent": o.agent, "Touchdown-Kind": i.Kind, "Idempotency-Key": `"` + key + `"`,
		"Content-Digest": "sha-256=:" + base64.StdEncoding.EncodeToString(sum[:]) + ":", // RFC 9530
	} {
		request.Header.Set(name, value)
	}
	if t.Token != "" {
		request.Header.Set("Authorization", "Bearer "+t.Token)
	}
	// A redirect is not followed: who answers may not choose who gets the token and the report.
	client := http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	answer, err := client.Do(request)
	if err != nil {
		return outcome{why: message.F("it cannot be reached: %s", short(err, t.Secrets()...))}
	}
	defer answer.Body.Close() // the status is all of the answer that counts
	return judge(answer)
}

// judge tells what an answer means.
func judge(answer *http.Response) outcome {
	code := answer.StatusCode
	said := strings.TrimSpace(strconv.Itoa(code) + " " + http.StatusText(code)) // not the monitor's own words
	switch {
	case code/100 == 2:
		return outcome{done: true}
	case code/100 == 3:
		return outcome{why: message.F("it answered %s, and redirects are not followed", said)}
	case code/100 == 4 && !passing(code):
		return outcome{refused: true, why: message.F("it answered %s", said)}
	}
	after, _ := strconv.Atoi(answer.Header.Get("Retry-After"))
	return outcome{why: message.F("it answered %s", said), after: time.Duration(min(max(after, 0), int(mostPause/time.Second))) * time.Second}
}

// passing tells whether a status of 4xx gets better without another request: a time-out, a conflict with a first try that is still
// being worked on (so the draft on idempotency keys), a lock, a replay that comes too early, too many requests, a proxy that wants
// someone to log in.
func passing(code int) bool {
	switch code {
	case http.StatusRequestTimeout, http.StatusConflict, http.StatusLocked, http.StatusTooEarly, http.StatusTooManyRequests, http.StatusProxyAuthRequired:
		return true
	}
	return false
}

// dial makes what reaches a monitor. Each try opens a new connection: deliveries are rare.
func dial(t Target) (http.RoundTripper, error) {
	u, err := url.Parse(t.URL)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return nil, errors.New("the address is not a URL of HTTP or HTTPS") // its text may hold a password
	}
	if u.Scheme == "http" && (t.Token != "" || t.Key != "") {
		return nil, errors.New("a token or a certificate needs an address with https")
	}
	secure := &tls.Config{MinVersion: tls.VersionTLS12}
	if t.CA != "" {
		if secure.RootCAs, err = x509.SystemCertPool(); err != nil {
			secure.RootCAs = x509.NewCertPool()
		}
		if !secure.RootCAs.AppendCertsFromPEM([]byte(t.CA)) {
			return nil, errors.New("the CA bundle has no certificate")
		}
	}
	if t.Cert != "" {
		pair, err := tls.X509KeyPair([]byte(t.Cert), []byte(t.Key))
		if err != nil {
			return nil, errors.New("the node's certificate and its key do not belong together")
		}
		secure.Certificates = []tls.Certificate{pair}
	}
	proxy := (&httpproxy.Config{HTTPProxy: t.HTTPProxy, HTTPSProxy: t.HTTPSProxy, NoProxy: t.NoProxy}).ProxyFunc()
	return &http.Transport{
		Proxy:           func(r *http.Request) (*url.URL, error) { return proxy(r.URL) },
		TLSClientConfig: secure, DisableKeepAlives: true, DisableCompression: true, MaxResponseHeaderBytes: mostHeader,
		ResponseHeaderTimeout: perTry, // who took minutes for a body may not take as long again to answer
	}, nil
}

// short is an error for a person. That of net/http names the address, which may be secret; what a server wrote may be hostile, and may
// repeat a secret that it was sent.
func short(err error, secrets ...string) message.Text {
	if e, ok := errors.AsType[*url.Error](err); ok {
		err = e.Err
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return message.F("no answer within %s", perTry)
	}
	said := strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, err.Error())
	for _, secret := range secrets {
		said = strings.ReplaceAll(said, secret, "<secret>")
	}
	text := []rune(said)
	return message.Data(string(text[:min(len(text), mostError)]))
}
