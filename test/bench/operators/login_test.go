package operators

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"touchdown/backend/login"
	"touchdown/test/bench"
	"touchdown/test/wait"
)

const (
	factoryPassword = "aaaaa-bbbbb-ccccc-ddddd"
	// challenged is the client for which the login answers a password in the same request; oc logs in as this one.
	challenged = "openshift-challenging-client"
)

func oauth(resource string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "oauth.openshift.io", Version: "v1", Resource: resource}
}

// forLogin plays what the installer and the authentication operator leave for the login.
func (s *seeds) forLogin(b *bench.Cluster) {
	s.t.Helper()
	hash, err := login.Hash(factoryPassword)
	fatal(s.t, err)
	s.patch(schema.GroupVersionResource{Version: "v1", Resource: "secrets"}, metav1.NamespaceSystem, login.User,
		map[string]any{"stringData": map[string]any{login.User: hash}})
	client := map[string]any{
		"apiVersion": "oauth.openshift.io/v1", "kind": "OAuthClient", "metadata": map[string]any{"name": challenged},
		"grantMethod": "auto", "respondWithChallenges": true, "redirectURIs": []any{loginURL(b) + "/oauth/token/implicit"},
	}
	s.put(s.dyn.Resource(oauth("oauthclients")).Create(s.t.Context(), &unstructured.Unstructured{Object: client}, metav1.CreateOptions{}))
}

// loginURL is where the login of the cluster says that it is.
func loginURL(b *bench.Cluster) string { return "https://oauth-openshift.apps." + b.Domain }

// loginAddress is the file with the address on which the login listens.
func loginAddress(b *bench.Cluster) string { return filepath.Join(b.Dir, "oauth-server.address") }

func runOAuthServer(t *testing.T, b *bench.Cluster) {
	t.Helper()
	address, pair := "127.0.0.1:"+port(t), filepath.Join(b.Dir, "pki", "localhost-serving-cert-certkey")
	text := fmt.Sprintf(`apiVersion: osin.config.openshift.io/v1
kind: OsinServerConfig
servingInfo: {bindAddress: %q, bindNetwork: tcp4, certFile: %q, keyFile: %q}
kubeClientConfig: {kubeConfig: %q}
oauthConfig:
  masterCA: ""
  masterURL: %[5]q
  masterPublicURL: %[5]q
  loginURL: %q
  assetPublicURL: %q
  grantConfig: {method: deny, serviceAccountMethod: prompt}
  sessionConfig: {sessionName: ssn, sessionMaxAgeSeconds: 300}
  tokenConfig: {accessTokenMaxAgeSeconds: 86400, authorizeTokenMaxAgeSeconds: 300}
`, address, pair+".crt", pair+".key", operatorConfig(b), loginURL(b), "https://api."+b.Domain+":6443", "https://console-openshift-console.apps."+b.Domain)
	config := filepath.Join(b.Dir, "oauth-server.yaml")
	fatal(t, os.WriteFile(config, []byte(text), 0o600))
	fatal(t, os.WriteFile(loginAddress(b), []byte(address), 0o600))
	run(t, b, "oauth-server", nil, "osinserver", "--config", config, "-v", "2")
}

// person is someone with a browser in front of the login.
type person struct {
	b    *bed
	http *http.Client
	base string
	told string // why the last password was refused
}

// logsIn gives name and password to the form of the login, and says whether that led to where the person wanted to go. Every other answer
// than that or a refusal is waited out: the login starts, or cannot reach the API.
func (b *bed) logsIn(password string) (*person, bool) {
	b.t.Helper()
	address, err := os.ReadFile(loginAddress(b.Cluster))
	fatal(b.t, err)
	jar, err := cookiejar.New(nil)
	fatal(b.t, err)
	p := &person{b: b, base: "https://" + string(address), http: &http.Client{
		Jar: jar, Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	b.t.Cleanup(p.http.CloseIdleConnections)
	accepted := false
	wait.Until(b.t, "the login to take or to refuse a password", func() (err error) {
		accepted, err = p.fillsIn(password)
		return err
	})
	return p, accepted
}

func (p *person) fillsIn(password string) (bool, error) {
	const wanted = "/where/the/person/wants/to/go"
	page, err := p.http.Get(p.base + "/login?then=" + wanted)
	if err != nil {
		return false, err
	}
	_, err = io.Copy(io.Discard, page.Body)
	fatal(p.b.t, errors.Join(err, page.Body.Close()))
	form := url.Values{"then": {wanted}, "username": {login.User}, "password": {password}}
	for _, c := range page.Cookies() {
		form.Set(c.Name, c.Value) // the form has the value of the cookie "csrf" in a field of this name
	}
	answer, err := p.http.PostForm(p.base+"/login", form)
	if err != nil {
		return false, err
	}
	fatal(p.b.t, answer.Body.Close())
	place, err := answer.Location()
	switch {
	case err != nil:
		return false, fmt.Errorf("%s: %w", answer.Status, err)
	case place.Path == wanted:
		return true, nil
	case place.Path == "/login" && place.Query().Get("reason") != "":
		p.told = place.Query().Get("reason")
		p.b.log("refused: %s", p.told)
		return false, nil
	default:
		return false, fmt.Errorf("%s, to %s", answer.Status, place.Path)
	}
}

// in says whether the person is still logged in: without a password a client is told then where its token is, else to bring one. The token
// itself is not made: its name has capitals, which only OpenShift's own API for OAuth stores.
func (p *person) in() bool {
	p.b.t.Helper()
	r, err := http.NewRequestWithContext(p.b.t.Context(), http.MethodGet, p.base+"/oauth/authorize?response_type=token&client_id="+challenged, nil)
	fatal(p.b.t, err)
	r.Header.Set("X-CSRF-Token", "1")
	answer, err := p.http.Do(r)
	fatal(p.b.t, err)
	fatal(p.b.t, answer.Body.Close())
	place, err := answer.Location()
	switch {
	case answer.StatusCode == http.StatusUnauthorized:
		return false
	case err == nil && strings.HasSuffix(place.Path, "/oauth/token/implicit"):
		return true
	}
	p.b.t.Fatalf("%s, to %v: %v", answer.Status, place, err)
	return false
}

// TestOAuthServer: OpenShift's login takes the password of the hand-over and refuses the factory's, without a restart, and whoever was logged
// in with the factory's no longer is; undo turns that round.
func TestOAuthServer(t *testing.T) {
	t.Parallel()
	program(t, "oauth-server")
	b := newBedOf(t, bench.Options{Fresh: true}) // OpenShift refuses a secret that is an hour younger than the cluster
	s := prepare(t, b.Cluster)
	s.forLogin(b.Cluster)
	start["oauth-server"](t, b.Cluster)
	next := login.NewPassword()
	hash, err := login.Hash(next)
	fatal(t, err)
	var last *person
	try := func(when, right, wrong string) {
		t.Helper()
		if last != nil && last.in() {
			t.Errorf("%s: who logged in with the password before is still in", when)
		}
		if p, accepted := b.logsIn(wrong); accepted || p.in() {
			t.Errorf("%s: the wrong password is accepted", when)
		}
		p, accepted := b.logsIn(right)
		if !accepted || !p.in() {
			t.Errorf("%s: the right password is refused", when)
		}
		last = p
	}
	try("before", factoryPassword, next)
	fatal(t, login.Replace(t.Context(), b.c, hash, b.save))
	try("after", next, factoryPassword)
	if p, accepted := b.logsIn(next[:22]); accepted || p.told != "authentication_error" { // one that is only wrong is "access_denied"
		t.Errorf("a password of 22 characters: accepted %t, %s", accepted, p.told)
	}
	_, err = b.c.Restore(t.Context(), b.saved[len(b.saved)-1])
	fatal(t, err)
	try("undone", factoryPassword, next)
}
