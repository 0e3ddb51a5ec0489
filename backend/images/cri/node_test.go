package cri_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/miekg/dns"

	"touchdown/backend/host"
	"touchdown/backend/images/cri"
	"touchdown/backend/images/ref"
	"touchdown/test/bench/node"
	"touchdown/test/bench/site"
	"touchdown/test/wait"
)

// registry serves images to a node. What the first part of a repository's name says it does wrong.
type registry struct {
	mu    sync.Mutex
	files map[string][]byte // "repo/manifests/x", "repo/blobs/x"
	cuts  map[string]int
}

func sha(b []byte) string {
	s := sha256.Sum256(b)
	return "sha256:" + hex.EncodeToString(s[:])
}

// put makes an image of one layer of random bytes and returns its digest.
func (r *registry) put(t *testing.T, repo string, size int) string {
	t.Helper()
	content := make([]byte, size)
	rand.Read(content)
	var layer bytes.Buffer
	zip := gzip.NewWriter(&layer)
	out := tar.NewWriter(zip)
	plain := sha256.New()
	raw := tar.NewWriter(plain)
	for _, w := range []*tar.Writer{out, raw} {
		if err := errors.Join(w.WriteHeader(&tar.Header{Name: "data", Size: int64(size), Mode: 0o644}), write(w, content), w.Close()); err != nil {
			t.Fatal(err)
		}
	}
	zip.Close()
	config := fmt.Appendf(nil, `{"architecture":"amd64","os":"linux","config":{},"rootfs":{"type":"layers","diff_ids":["sha256:%x"]}}`, plain.Sum(nil))
	const kind = "application/vnd.oci.image."
	manifest := fmt.Appendf(nil, `{"schemaVersion":2,"mediaType":"%[1]smanifest.v1+json","config":{"mediaType":"%[1]sconfig.v1+json","digest":"%[2]s","size":%[3]d},"layers":[{"mediaType":"%[1]slayer.v1.tar+gzip","digest":"%[4]s","size":%[5]d}]}`,
		kind, sha(config), len(config), sha(layer.Bytes()), layer.Len())
	r.mu.Lock()
	defer r.mu.Unlock()
	digest := sha(manifest)
	r.files[repo+"/manifests/"+digest], r.files[repo+"/blobs/"+sha(config)], r.files[repo+"/blobs/"+sha(layer.Bytes())] = manifest, config, layer.Bytes()
	if strings.HasPrefix(repo, "foreign/") {
		index := fmt.Appendf(nil, `{"schemaVersion":2,"mediaType":"%[1]sindex.v1+json","manifests":[{"mediaType":"%[1]smanifest.v1+json","digest":%[2]q,"size":%[3]d,"platform":{"architecture":"s390x","os":"linux"}}]}`, kind, digest, len(manifest))
		digest = sha(index)
		r.files[repo+"/manifests/"+digest] = index
	}
	return digest
}

// want is a pull of an image with its sizes, as far as the registry has them.
func (r *registry) want(name string) cri.Want {
	w := cri.Want{Name: name}
	_, path, _ := strings.Cut(strings.Replace(name, "@", "/manifests/", 1), "/")
	var m struct {
		Config ref.Blob
		Layers []ref.Blob
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if body := r.files[path]; body != nil && json.Unmarshal(body, &m) == nil && m.Layers != nil {
		w.Blobs = append(m.Layers, m.Config)
	}
	return w
}

func write(w *tar.Writer, b []byte) error {
	_, err := w.Write(b)
	return err
}

func (r *registry) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	path := strings.TrimPrefix(req.URL.Path, "/v2/")
	fault, _, _ := strings.Cut(path, "/")
	blob := strings.Contains(path, "/blobs/")
	r.mu.Lock()
	body, there := r.files[path]
	r.mu.Unlock()
	complain := func(code int, what string) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(code)
		json.NewEncoder(w).Encode(map[string]any{"errors": []any{map[string]string{"code": what, "message": strings.ToLower(strings.ReplaceAll(what, "_", " "))}}})
	}
	switch {
	case path == "":
		w.WriteHeader(http.StatusOK)
	case fault == "denied":
		w.Header().Set("WWW-Authenticate", `Basic realm="x"`)
		complain(http.StatusUnauthorized, "UNAUTHORIZED")
	case fault == "busy":
		w.Header().Set("Retry-After", "1") // CRI-O would wait for half a minute
		complain(http.StatusTooManyRequests, "TOOMANYREQUESTS")
	case fault == "down":
		w.WriteHeader(http.StatusServiceUnavailable)
	case !there:
		complain(http.StatusNotFound, "MANIFEST_UNKNOWN")
	case fault == "lied" && !blob:
		w.Header().Set("Content-Type", "application/vnd.oci.image.manifest.v1+json")
		w.Write(bytes.Replace(body, []byte(`"size":`), []byte(`"size": `), 1))
	case fault == "lieblob" && blob && len(body) > 10000:
		body = bytes.Clone(body)
		body[len(body)/2] ^= 1
		w.Write(body)
	case fault == "cut" && blob && len(body) > 10000 && r.cut(path):
		w.Header().Set("Content-Length", fmt.Sprint(len(body)))
		w.Write(body[:len(body)/2])
	case (fault == "endless" || fault == "silent") && blob && len(body) > 10000 && (fault == "endless" || r.cut(path)):
		w.Header().Set("Content-Length", fmt.Sprint(len(body)))
		w.Write(body[:len(body)/2])
		w.(http.Flusher).Flush()
		<-req.Context().Done()
	default:
		if !blob {
			var m struct{ MediaType string }
			json.Unmarshal(body, &m)
			w.Header().Set("Content-Type", m.MediaType)
			w.Header().Set("Docker-Content-Digest", sha(body))
		}
		w.Header().Set("Content-Length", fmt.Sprint(len(body)))
		w.Write(body)
	}
}

// cut tells whether a blob is to stop in the middle: twice.
func (r *registry) cut(path string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cuts[path]++
	return r.cuts[path] <= 2
}

const registriesConf = `
short-name-mode = "disabled"
[[registry]]
location = "127.0.0.1:5000"
insecure = true
[[registry]]
location = "source.invalid"
[[registry.mirror]]
location = "127.0.0.1:5000"
insecure = true
`

// onNode boots a node whose own loopback has the registry, and returns it as a machine whose CRI-O can be reached.
func onNode(t *testing.T) (*node.Machine, *registry, *host.Machine) {
	t.Helper()
	m := node.Start(t, node.Options{})
	if err := m.WriteFile("/etc/containers/registries.conf", []byte(registriesConf), 0o644); err != nil {
		t.Fatal(err)
	}
	shell(t, m, "ip address add 192.0.2.77/32 dev lo; echo nameserver 127.0.0.1 > /etc/resolv.conf; systemctl restart --job-mode=ignore-dependencies crio") // there is no network that it could wait for
	inside := root(t, m)
	ns, err := site.OpenNamespace(filepath.Join(filepath.Dir(inside), "ns", "net"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(ns.Close)
	r := &registry{files: map[string][]byte{}, cuts: map[string]int{}}
	// CRI-O takes any certificate of 127.0.0.0/8.
	for address, secure := range map[string]bool{"127.0.0.1:5000": false, "192.0.2.77:5001": true} {
		listener, err := ns.Listen("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		server := httptest.NewUnstartedServer(r)
		server.Listener.Close()
		server.Listener = listener
		server.Config.ErrorLog = log.New(io.Discard, "", 0)
		if secure {
			server.StartTLS()
		} else {
			server.Start()
		}
		t.Cleanup(func() { server.CloseClientConnections(); server.Close() })
	}
	asked, err := ns.ListenPacket("udp", "127.0.0.1:53")
	if err != nil {
		t.Fatal(err)
	}
	names := &dns.Server{PacketConn: asked, Handler: dns.HandlerFunc(func(w dns.ResponseWriter, q *dns.Msg) { w.WriteMsg(new(dns.Msg).SetRcode(q, dns.RcodeNameError)) })}
	go names.ActivateAndServe()
	t.Cleanup(func() { names.Shutdown() })
	// The node's /var/run is a link that would lead out of the node when it is followed from here.
	way, err := os.MkdirTemp("", "cri-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(way) })
	if err := errors.Join(os.MkdirAll(filepath.Join(way, "var/run"), 0o755), os.Symlink(filepath.Join(inside, "run/crio"), filepath.Join(way, "var/run/crio"))); err != nil {
		t.Fatal(err)
	}
	return m, r, host.Open(host.Options{Root: way})
}

// root is the node's root folder as it is seen from here.
func root(t *testing.T, m *node.Machine) string {
	t.Helper()
	inside, err := m.Path("/")
	if err != nil {
		t.Fatal(err)
	}
	return inside
}

func shell(t *testing.T, m *node.Machine, script string) string {
	t.Helper()
	out, err := m.Shell(wait.Within(t, 30*time.Second), script)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(out)
}

// Real CRI-O: what it says of each fault is understood, and what can be pulled is there afterwards.
func TestRealCRIO(t *testing.T) {
	m, r, machine := onNode(t)
	c, err := cri.Open(machine)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if v, err := c.Version(t.Context()); err != nil || v.Name != "cri-o" {
		t.Fatalf("%+v, %v", v, err)
	}
	const at = "127.0.0.1:5000/"
	var wants []cri.Want
	expect := map[string]cri.Class{}
	add := func(name string, class cri.Class) {
		wants = append(wants, r.want(name))
		expect[name] = class
	}
	for i := range 6 {
		repo := fmt.Sprintf("ok/i%d", i)
		add(at+repo+"@"+r.put(t, repo, 3<<20), "")
	}
	add("source.invalid/ok/m@"+r.put(t, "ok/m", 1<<20), "")
	add(at+"cut/a@"+r.put(t, "cut/a", 1<<20), "")
	add(at+"gone/a@"+digest("0"), cri.Gone)
	add("source.invalid/gone/a@"+digest("0"), cri.Gone)
	add(at+"denied/a@"+digest("0"), cri.Denied)
	add(at+"busy/a@"+digest("0"), cri.Busy)
	add(at+"down/a@"+digest("0"), cri.Broken)
	add("127.0.0.1:1/a@"+digest("0"), cri.Away)
	add("nobody.invalid/a@"+digest("0"), cri.NoName)
	add("192.0.2.77:5001/ok/a@"+digest("0"), cri.BadCert)
	add(at+"lied/a@"+r.put(t, "lied/a", 1<<16), cri.Lied)
	add(at+"lieblob/a@"+r.put(t, "lieblob/a", 1<<16), cri.Lied)
	add(at+"foreign/a@"+r.put(t, "foreign/a", 1<<10), cri.Foreign)
	disk := host.Open(host.Options{Root: root(t, m)})
	var told []cri.Pulled
	p := cri.Pull{
		Client: c, Workers: 4, Pause: func(time.Duration) bool { return true }, Tell: func(p cri.Pulled) { told = append(told, p) },
		Used: func() (int64, error) { free, all, err := disk.Space("/var/lib/containers"); return all - free, err },
	}
	outcomes, err := p.Run(t.Context(), wants)
	if err == nil {
		t.Error("nothing failed")
	}
	for _, o := range outcomes {
		if o.Class != expect[o.Name] {
			t.Errorf("%s: class %q, want %q: %v", o.Name, o.Class, expect[o.Name], o.Err)
		}
		there, err := c.Status(t.Context(), o.Name)
		if err != nil || (there != nil) != (o.Err == nil) {
			t.Errorf("%s: %v there, %v", o.Name, there != nil, err)
		}
		t.Logf("%-60.60s %-9s %d tries, %4d ms", o.Name, o.Class, o.Tries, o.Took.Milliseconds())
	}
	if last := told[len(told)-1]; last.Done != 8 || last.Failed != 11 || last.Bytes != last.Total || last.Total < 20<<20 || last.Unsized != 9 {
		t.Errorf("progress: %+v", last)
	}
	t.Run("cancel", func(t *testing.T) { realCancel(t, r, c) })
	t.Run("full disk", func(t *testing.T) { realFull(t, m, r, c) })
	t.Run("restart", func(t *testing.T) {
		shell(t, m, "systemctl restart --job-mode=ignore-dependencies crio")
		if all, err := c.List(t.Context()); err != nil || len(all) < 8 {
			t.Errorf("after CRI-O was restarted: %d images, %v", len(all), err)
		}
	})
}

// A pull that hangs ends with ctx, and leaves nothing behind that stops the next one.
func realCancel(t *testing.T, r *registry, c *cri.Client) {
	name := "127.0.0.1:5000/endless/a@" + r.put(t, "endless/a", 1<<20)
	ctx, cancel := context.WithTimeoutCause(t.Context(), 2*time.Second, errors.New("enough")) // in the middle of a pull that never ends
	defer cancel()
	begun := time.Now()
	if _, err := (cri.Pull{Client: c}).Run(ctx, []cri.Want{{Name: name}}); err == nil || !strings.Contains(err.Error(), "enough") || time.Since(begun) > wait.Timeout(time.Minute) {
		t.Errorf("%v after %s", err, time.Since(begun))
	}
	silent := []cri.Want{{Name: "127.0.0.1:5000/silent/a@" + r.put(t, "silent/a", 1<<20)}}
	still := func() (int64, error) { return 1, nil }
	if out, err := (cri.Pull{Client: c, Used: still, Stall: 2 * time.Second}).Run(t.Context(), silent); err != nil || out[0].Tries != 3 {
		t.Errorf("a registry that went silent twice: %+v, %v", out, err)
	}
	if out, err := (cri.Pull{Client: c}).Run(t.Context(), []cri.Want{{Name: "127.0.0.1:5000/ok/later@" + r.put(t, "ok/later", 1<<16)}}); err != nil {
		t.Errorf("the next pull: %+v, %v", out, err)
	}
}

// A full disk has its own name, and nothing more is begun.
func realFull(t *testing.T, m *node.Machine, r *registry, c *cri.Client) {
	shell(t, m, "fallocate -l $(( $(df --output=avail -B1 /var | tail -1) - 3000000 )) /var/fill")
	wants := []cri.Want{{Name: "127.0.0.1:5000/ok/big@" + r.put(t, "ok/big", 16<<20), Boot: true}, {Name: "127.0.0.1:5000/ok/next@" + r.put(t, "ok/next", 8<<20)}}
	out, err := cri.Pull{Client: c, Workers: 1}.Run(t.Context(), wants)
	if err == nil || out[0].Class != cri.NoSpace || out[1].Class != cri.NotTried {
		t.Errorf("%+v, %v", out, err)
	}
	shell(t, m, "rm /var/fill")
	if out, err := (cri.Pull{Client: c}).Run(t.Context(), wants); err != nil {
		t.Errorf("with space again: %+v, %v", out, err)
	}
}
