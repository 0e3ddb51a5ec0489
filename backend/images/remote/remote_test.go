package remote

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"touchdown/backend/host/hosttest"
	"touchdown/backend/images/auth"
	"touchdown/backend/images/ref"
	"touchdown/backend/problem"
)

func sum(b string) string {
	s := sha256.Sum256([]byte(b))
	return "sha256:" + hex.EncodeToString(s[:])
}

// served is a registry's content: path behind /v2/ to body.
type served struct {
	*httptest.Server
	host  string
	files map[string]string
	asked atomic.Int32
}

func serve(t *testing.T, tls bool, guard func(w http.ResponseWriter, r *http.Request) bool) *served {
	t.Helper()
	s := &served{files: map[string]string{}}
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.asked.Add(1)
		if guard != nil && !guard(w, r) {
			return
		}
		body, ok := s.files[strings.TrimPrefix(r.URL.Path, "/v2/")]
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.Write([]byte(body))
	})
	if tls {
		s.Server = httptest.NewTLSServer(h)
	} else {
		s.Server = httptest.NewServer(h)
	}
	t.Cleanup(s.Close)
	s.host = s.Listener.Addr().String()
	return s
}

// trust lays the registry's authority where the node looks for it.
func (s *served) trust(m *hosttest.Fake, dir string) {
	m.File(dir+"/"+s.host+"/ca.crt", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})))
}

// put lays an image of two layers behind an index into a repository, and returns the index's digest.
func (s *served) put(repo string) string {
	config, one, two := sum("config"), sum("one"), sum("two")
	m := fmt.Sprintf(`{"schemaVersion":2,"config":{"digest":%q,"size":100},"layers":[{"digest":%q,"size":2000},{"digest":%q,"size":30000}]}`, config, one, two)
	index := fmt.Sprintf(`{"schemaVersion":2,"manifests":[{"digest":%q,"size":1,"platform":{"architecture":"s390x","os":"linux"}},{"digest":%q,"size":1,"platform":{"architecture":%q,"os":"linux"}}]}`,
		sum("other"), sum(m), runtime.GOARCH)
	s.files[repo+"/manifests/"+sum(m)] = m
	s.files[repo+"/manifests/"+sum(index)] = index
	s.files[repo+"/manifests/v1"] = index
	return sum(index)
}

func reader(t *testing.T, m *hosttest.Fake) *Reader {
	t.Helper()
	logins, err := auth.Read(m.Machine)
	if err != nil {
		t.Fatal(err)
	}
	r, err := New(m.Machine, logins)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestSizesOfAnIndexByDigestAndTag(t *testing.T) {
	for _, dir := range certDirs {
		s, m := serve(t, true, nil), hosttest.New(t)
		s.trust(m, dir)
		digest := s.put("a/b")
		r := reader(t, m)
		for _, name := range []string{s.host + "/a/b@" + digest, s.host + "/a/b:v1"} {
			i, err := r.Image(t.Context(), name)
			if err != nil || i.Digest != digest || i.Size() != 32100 || len(i.Blobs) != 3 {
				t.Errorf("%s, authority in %s: %+v, %v", name, dir, i, err)
			}
		}
	}
	s := serve(t, true, nil)
	if _, err := reader(t, hosttest.New(t)).Image(t.Context(), s.host+"/a/b@"+s.put("a/b")); err == nil || !strings.Contains(err.Error(), "x509") {
		t.Errorf("a registry that nobody trusts: %v", err)
	}
}

// The mirrors are asked first and under their own name; what is blocked is not asked.
func TestMirrors(t *testing.T) {
	source, mirror := serve(t, true, nil), serve(t, false, nil)
	m := hosttest.New(t)
	digest := mirror.put("copy/b")
	m.File(confFile, fmt.Sprintf(`
unqualified-search-registries = ["x.example"]
[[registry]]
  prefix = ""
  location = "%[1]s/a"
  blocked = true
  [[registry.mirror]]
    location = "%[2]s/none"
    insecure = true
    pull-from-mirror = "tag-only"
  [[registry.mirror]]
    location = "%[2]s/copy"
    insecure = true
    pull-from-mirror = "digest-only"
`, source.host, mirror.host))
	r := reader(t, m)
	if i, err := r.Image(t.Context(), source.host+"/a/b@"+digest); err != nil || i.Size() != 32100 {
		t.Errorf("from the mirror: %+v, %v", i, err)
	}
	if source.asked.Load() != 0 {
		t.Error("a blocked source was asked")
	}
	if _, err := r.Image(t.Context(), source.host+"/a/b:v1"); err == nil || !strings.Contains(err.Error(), "404") {
		t.Errorf("a tag went to the mirror for digests: %v", err)
	}
	m.File("/etc/containers/registries.conf.d/50.conf", fmt.Sprintf("[[registry]]\nlocation = \"%s/a\"\nblocked = true\n", source.host))
	if _, err := reader(t, m).Image(t.Context(), source.host+"/a/b@"+digest); err == nil || !strings.Contains(err.Error(), "block") {
		t.Errorf("the later file does not replace: %v", err)
	}
}

func TestPrefixes(t *testing.T) {
	all := mirrors{}
	for _, p := range []string{"quay.io", "quay.io/team", "*.example.com"} {
		all = all.put(registry{Prefix: p, endpoint: endpoint{Location: map[string]string{"*.example.com": ""}[p] + strings.TrimPrefix(p, "*.example.com")}})
	}
	for name, want := range map[string]string{
		"quay.io/a": "quay.io", "quay.io/team/x": "quay.io/team", "quay.io/teamster": "quay.io", "quay.iox/a": "",
		"r.example.com/a": "*.example.com", "r.x.example.com:5000/a": "*.example.com", "other.io/r.example.com/a": "", "example.com/a": "",
	} {
		got := ""
		if r := all.find(name); r != nil {
			got = r.Prefix
		}
		if got != want {
			t.Errorf("%s is under %q, want %q", name, got, want)
		}
	}
	r, _ := ref.Parse("r.example.com/a:1")
	if s := all.sources(r); len(s) != 1 || s[0].ref != r {
		t.Errorf("a wildcard without a location: %+v", s)
	}
}

// A registry with tokens gets the credentials at its realm only, and nobody else does.
func TestTokens(t *testing.T) {
	const password = "hunter2-secret"
	pair := base64.StdEncoding.EncodeToString([]byte("me:" + password))
	var realm string
	s := serve(t, true, func(w http.ResponseWriter, r *http.Request) bool {
		switch {
		case r.URL.Path == "/token":
			if r.Header.Get("Authorization") != "Basic "+pair || r.URL.Query().Get("scope") != "repository:a/b:pull" || r.URL.Query().Get("service") != "svc" {
				w.WriteHeader(http.StatusForbidden)
				return false
			}
			w.Write([]byte(`{"token":"t0ken"}`))
			return false
		case r.Header.Get("Authorization") != "Bearer t0ken":
			w.Header().Set("WWW-Authenticate", fmt.Sprintf(`Bearer realm="%s",service="svc",scope="repository:a/b:pull,push"`, realm))
			w.WriteHeader(http.StatusUnauthorized)
			return false
		}
		return true
	})
	realm = s.URL + "/token"
	m := hosttest.New(t)
	s.trust(m, certDirs[0])
	digest := s.put("a/b")
	name := s.host + "/a/b@" + digest
	if _, err := reader(t, m).Image(t.Context(), name); err == nil || !strings.Contains(err.Error(), "403") {
		t.Errorf("without credentials: %v", err)
	}
	m.File(auth.File, `{"auths":{"`+s.host+`":{"auth":"`+pair+`"}}}`)
	if i, err := reader(t, m).Image(t.Context(), name); err != nil || i.Size() != 32100 {
		t.Errorf("with it: %+v, %v", i, err)
	}
	for _, bad := range []string{"http://" + s.host + "/token", "ftp://x/", "", "https://"} {
		realm = bad
		if _, err := reader(t, m).Image(t.Context(), name); err == nil || strings.Contains(err.Error(), password) || strings.Contains(err.Error(), pair) {
			t.Errorf("realm %q: %v", bad, err)
		}
	}
}

// Whatever a hostile registry sends is bounded, checked and named.
func TestHostileAnswers(t *testing.T) {
	good := sum("x")
	for what, c := range map[string]struct{ body, says string }{
		"lies about a digest": {`{"schemaVersion":2}`, "PUL-DGST"},
		"never ends":          {strings.Repeat("x", manifestLimit+10), "larger than"},
	} {
		s, m := serve(t, true, nil), hosttest.New(t)
		s.trust(m, certDirs[0])
		s.files["a/manifests/"+good] = c.body
		_, err := reader(t, m).Image(t.Context(), s.host+"/a@"+good)
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %.300v", what, err)
		}
		if c.says == "PUL-DGST" && !strings.Contains(problem.From(err).Summary.String(), s.host) {
			t.Errorf("the liar is not named: %v", err)
		}
	}
	var many strings.Builder
	for range blobs + 1 {
		fmt.Fprintf(&many, `{"digest":%q,"size":1},`, good)
	}
	for _, body := range []string{
		"", "[]", "<html>", `{"schemaVersion":1}`, `{"schemaVersion":2,"layers":[{"digest":"../../etc","size":1}]}`,
		`{"schemaVersion":2,"config":{"digest":"` + good + `","size":-5}}`, `{"schemaVersion":2,"config":{"digest":"` + good + `","size":9999999999999}}`,
		`{"schemaVersion":2,"manifests":[{"digest":"sha256:0","platform":{"architecture":"` + runtime.GOARCH + `","os":"linux"}}]}`,
		`{"schemaVersion":2,"manifests":[{"digest":"` + good + `","platform":{"architecture":"pdp11","os":"linux"}}]}`,
		`{"schemaVersion":2,"config":{"digest":"` + good + `","size":1},"layers":[` + strings.TrimSuffix(many.String(), ",") + `]}`,
	} {
		s, m := serve(t, true, nil), hosttest.New(t)
		s.trust(m, certDirs[0])
		s.files["a/manifests/"+sum(body)] = body
		if i, err := reader(t, m).Image(t.Context(), s.host+"/a@"+sum(body)); err == nil {
			t.Errorf("%.80s was taken: %+v", body, i)
		}
	}
}

// A registry that nobody reaches is asked once, not once for each image; and the end of ctx ends all.
func TestDeadRegistryIsAskedOnce(t *testing.T) {
	s, m := serve(t, true, nil), hosttest.New(t)
	var names []string
	for i := range 50 {
		names = append(names, fmt.Sprintf("%s/i%d:v1", s.host, i))
	}
	r := reader(t, m) // does not trust it
	failed := 0
	r.Images(t.Context(), names, func(_ string, _ *Image, err error) {
		if err != nil {
			failed++
		}
	})
	if n := s.asked.Load(); failed != 50 || n > workers {
		t.Errorf("%d of 50 failed, %d requests", failed, n)
	}
	slow := serve(t, false, func(_ http.ResponseWriter, r *http.Request) bool { <-r.Context().Done(); return false })
	m.File(confFile, fmt.Sprintf("[[registry]]\nlocation=%q\ninsecure=true\n", slow.host))
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond) // no answer comes
	defer cancel()
	begun := time.Now()
	reader(t, m).Images(ctx, []string{slow.host + "/a:1", slow.host + "/b:1"}, func(_ string, _ *Image, err error) {
		if err == nil {
			t.Error("a silent registry answered")
		}
	})
	if took := time.Since(begun); took > time.Minute {
		t.Errorf("ended after %s", took)
	}
}

func TestSettingsThatAreNone(t *testing.T) {
	m := hosttest.New(t)
	for _, content := range []string{"[[registry", strings.Repeat("#", confLimit+1), "registry = 5"} {
		m.File(confFile, content)
		if r, err := New(m.Machine, auth.Logins{}); err == nil || r == nil {
			t.Errorf("%.20s: %v", content, err)
		}
	}
	m.File(confFile, "")
	m.File(proxyFile, "HTTP_PROXY=http://p.example:3128\nHTTPS_PROXY=\"http://p.example:3129\"\nNO_PROXY=.site.example\n")
	p := readProxy(m.Machine)
	for host, want := range map[string]string{"https://quay.io/": "http://p.example:3129", "https://r.site.example/": "<nil>"} {
		req, _ := http.NewRequest(http.MethodGet, host, http.NoBody)
		if got, err := p(req.URL); err != nil || fmt.Sprint(got) != want {
			t.Errorf("%s goes by %v, %v", host, got, err)
		}
	}
}
