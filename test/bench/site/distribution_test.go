package site

import (
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"io"
	"net/http"
	"os"
	"testing"
	"time"

	"touchdown/test/bench/images"
)

// puller asks the registry as a container runtime does: over few connections.
type puller struct {
	t      *testing.T
	client *http.Client
}

func newPuller(t *testing.T, s *Site) *puller {
	t.Helper()
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(s.Registry.CA())
	client := s.Client().HTTP(&tls.Config{RootCAs: roots})
	client.Transport.(*http.Transport).DisableKeepAlives = false
	t.Cleanup(client.CloseIdleConnections)
	return &puller{t, client}
}

// get asks for a part of the registry; the digest is of what came until an error.
func (p *puller) get(method, path, from string) (status int, header http.Header, digest images.Digest, size int, err error) {
	p.t.Helper()
	request, err := http.NewRequestWithContext(p.t.Context(), method, "https://"+RegistryName+"/v2/"+path, http.NoBody)
	must(p.t, err)
	if from != "" {
		request.Header.Set("Range", "bytes="+from+"-")
	}
	answer, err := p.client.Do(request)
	must(p.t, err)
	defer answer.Body.Close()
	data, err := io.ReadAll(answer.Body)
	sum := sha256.Sum256(data)
	return answer.StatusCode, answer.Header, images.Digest("sha256:" + hex.EncodeToString(sum[:])), len(data), err
}

func tinyImages(t *testing.T) *images.Folder {
	t.Helper()
	dir := t.TempDir() + "/images"
	must(t, images.Make(t.Context(), dir, images.Options{Size: images.Size{Name: "tiny", Bytes: 8 << 20, Inodes: 2000}, Program: make([]byte, 1000)}))
	f, err := images.Open(dir)
	must(t, err)
	return f
}

func TestRegistryHandsOutImages(t *testing.T) {
	t.Parallel()
	if images.Host != RegistryName {
		t.Fatalf("the images are of %s, the registry is %s", images.Host, RegistryName)
	}
	s, folder := New(t, Options{Network: Edge()}), tinyImages(t)
	p := newPuller(t, s)
	if status, _, _, _, _ := p.get(http.MethodGet, "plant/deep/manifests/45", ""); status != http.StatusNotFound {
		t.Errorf("a registry without images: %d", status)
	}
	s.Registry.Serve(folder)
	for _, n := range []int{0, 31, 59} {
		i := folder.Images[n]
		status, header, digest, _, err := p.get(http.MethodGet, i.Repository()+"/manifests/"+string(i.Digest), "")
		if err != nil || status != http.StatusOK || digest != i.Digest || header.Get("Content-Type") != i.MediaType {
			t.Errorf("image %d: %d %s %s %v", n, status, digest, header, err)
		}
		status, header, _, size, _ := p.get(http.MethodHead, i.Repository()+"/manifests/"+string(i.Manifest), "")
		if status != http.StatusOK || header.Get("Docker-Content-Digest") != string(i.Manifest) || size != 0 {
			t.Errorf("HEAD of image %d: %d %s", n, status, header)
		}
		for _, l := range i.Layers {
			status, _, digest, size, err := p.get(http.MethodGet, i.Repository()+"/blobs/"+string(l.Digest), "")
			if err != nil || status != http.StatusOK || digest != l.Digest || int64(size) != l.Size {
				t.Errorf("layer %s: %d %s %v", l.Digest, status, digest, err)
			}
		}
	}
	layer := folder.Images[0].Layers[0]
	status, _, _, size, _ := p.get(http.MethodGet, "any/blobs/"+string(layer.Digest), "1000")
	if status != http.StatusPartialContent || int64(size) != layer.Size-1000 {
		t.Errorf("the rest of a blob: %d, %d bytes of %d", status, size, layer.Size)
	}
	for _, path := range []string{"plant/deep/manifests/46", "plant/deep/blobs/sha256:" + layer.DiffID.Encoded(), "plant/deep/blobs/..%2f..%2findex.json", "../images.json"} {
		if status, _, _, _, _ := p.get(http.MethodGet, path, ""); status != http.StatusNotFound {
			t.Errorf("%s: %d", path, status)
		}
	}
	if status, _, _, _, _ := p.get(http.MethodPut, "plant/deep/manifests/45", ""); status != http.StatusMethodNotAllowed {
		t.Errorf("PUT: %d", status)
	}
	if got := s.Registry.Served(); got.Manifests != 3 || got.Blobs != 16 || got.Requests < 25 {
		t.Errorf("counted: %+v", got)
	}
}

func TestRegistryFaults(t *testing.T) {
	t.Parallel()
	s, folder := New(t, Options{Network: Edge()}), tinyImages(t)
	s.Registry.Serve(folder)
	p := newPuller(t, s)
	deep, _ := folder.Named(images.Host + "/" + images.DeepName)
	layer := deep.Layers[0]
	blob, manifest := "plant/deep/blobs/"+string(layer.Digest), "plant/deep/manifests/45"

	s.Registry.Break(Fault{Kind: Changed, Of: string(layer.Digest)})
	if status, _, digest, size, err := p.get(http.MethodGet, blob, ""); err != nil || status != http.StatusOK || digest == layer.Digest || int64(size) != layer.Size {
		t.Errorf("changed: %d %s, %d bytes, %v", status, digest, size, err)
	}
	s.Registry.ClearFaults()
	s.Registry.Break(Fault{Kind: Stops, Of: AnyLayer, Times: 2})
	for range 2 {
		if _, _, _, size, err := p.get(http.MethodGet, blob, ""); err == nil || int64(size) > layer.Size*6/10 || size == 0 {
			t.Errorf("stopped: %d of %d bytes, %v", size, layer.Size, err)
		}
	}
	s.Registry.Break(Fault{Kind: Unavailable, Of: AnyLayer, Times: 1})
	if status, _, digest, _, _ := p.get(http.MethodGet, "plant/deep/blobs/"+string(deep.ID), ""); status != http.StatusOK || digest != deep.ID {
		t.Errorf("a fault of layers hit the configuration: %d", status)
	}
	if status, _, _, _, _ := p.get(http.MethodGet, blob, ""); status != http.StatusServiceUnavailable {
		t.Errorf("a layer that is unavailable: %d", status)
	}
	s.Registry.Break(Fault{Kind: Unavailable, Of: AnyManifest, Times: 3})
	s.Registry.Break(Fault{Kind: Unknown, Of: "plant/deep:45", Times: 1})
	for n, want := range []int{503, 503, 503, 404, 200} {
		if status, _, _, _, _ := p.get(http.MethodGet, manifest, ""); status != want {
			t.Errorf("question %d for a manifest: %d, want %d", n, status, want)
		}
	}
	if status, _, digest, _, err := p.get(http.MethodGet, blob, ""); err != nil || status != http.StatusOK || digest != layer.Digest {
		t.Errorf("after all faults: %d %s %v", status, digest, err)
	}
	s.Registry.Break(Fault{Kind: Changed, Of: AnyManifest})
	if _, _, digest, _, _ := p.get(http.MethodGet, manifest, ""); digest == deep.Digest {
		t.Error("the changed manifest is the right one")
	}
}

// TestRegistryFarAway measures the model of the line with one large blob and with several at a time.
func TestRegistryFarAway(t *testing.T) {
	t.Parallel()
	s, folder := New(t, Options{Network: Edge()}), tinyImages(t)
	big := folder.Images[0].Layers[0]
	must(t, os.WriteFile(folder.Blob(big.Digest), make([]byte, 4e6), 0o600))
	s.Registry.Serve(folder)
	s.Registry.Lay(Line{RTT: 50 * time.Millisecond, PerConnection: 8e6, Total: 16e6})
	p := newPuller(t, s)
	begun := time.Now()
	p.get(http.MethodHead, "plant/deep/manifests/45", "")
	// One round trip each for TCP, TLS and the question.
	if took := time.Since(begun); took < 145*time.Millisecond {
		t.Errorf("the first question took %s", took)
	}
	begun = time.Now()
	p.get(http.MethodHead, "plant/deep/manifests/45", "")
	if took := time.Since(begun); took < 48*time.Millisecond {
		t.Errorf("the second question took %s", took)
	}
	begun = time.Now()
	p.get(http.MethodGet, "a/blobs/"+string(big.Digest), "")
	if took := time.Since(begun); took < 480*time.Millisecond {
		t.Errorf("4 MB at 8 MB a second took %s", took)
	}
	begun = time.Now()
	done := make(chan bool)
	for range 4 {
		go func() { p.get(http.MethodGet, "a/blobs/"+string(big.Digest), ""); done <- true }()
	}
	for range 4 {
		<-done
	}
	if took := time.Since(begun); took < 950*time.Millisecond {
		t.Errorf("4 times 4 MB at 16 MB a second took %s", took)
	}
}
