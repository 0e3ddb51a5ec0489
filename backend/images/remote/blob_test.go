package remote

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"touchdown/backend/host/hosttest"
)

// A blob comes from the first place that has what its digest says; what is wrong, too large or missing is said of each.
func TestBlobIsWhatItsDigestSays(t *testing.T) {
	const content = "the layer"
	asked := ""
	lying, right := serve(t, false, nil), serve(t, true, func(_ http.ResponseWriter, r *http.Request) bool { asked = r.URL.Path; return true })
	m := hosttest.New(t)
	right.trust(m, certDirs[0])
	m.File(confFile, fmt.Sprintf("[[registry]]\nlocation = %q\n[[registry.mirror]]\nlocation = \"%s/copy\"\ninsecure = true\n", right.host+"/a", lying.host))
	digest := sum(content)
	lying.files["copy/b/blobs/"+digest] = "the liar and more than that"
	right.files["a/b/blobs/"+digest] = content
	right.files["a/b/manifests/"+digest] = content
	r := reader(t, m)
	file, err := os.Create(filepath.Join(t.TempDir(), "blob"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	fetch := func(limit int64) (string, error) {
		err := r.Blob(t.Context(), right.host+"/a/b:v1", digest, limit, file)
		data, _ := os.ReadFile(file.Name())
		return string(data), err
	}
	if got, err := fetch(100); err != nil || got != content || lying.asked.Load() != 1 {
		t.Errorf("%q, %v; the mirror was asked %d times", got, err, lying.asked.Load())
	}
	if err := r.Manifest(t.Context(), right.host+"/a/b:v1", digest, file); err != nil || asked != "/v2/a/b/manifests/"+digest {
		t.Errorf("a manifest: %v, asked for %s", err, asked)
	}
	if _, err := fetch(3); err == nil || strings.Count(err.Error(), "larger than 3 bytes") != 2 {
		t.Errorf("a blob that is too large: %v", err)
	}
	right.files["a/b/blobs/"+digest] = "the liar"
	if _, err := fetch(100); err == nil || strings.Count(err.Error(), "not what the digest says") != 2 {
		t.Errorf("two liars: %v", err)
	}
	delete(right.files, "a/b/blobs/"+digest)
	if _, err := fetch(100); err == nil || !strings.Contains(err.Error(), "404") {
		t.Errorf("missing: %v", err)
	}
	if err := r.Blob(t.Context(), "b:v1", digest, 100, file); err == nil || !strings.Contains(err.Error(), "no registry") {
		t.Errorf("a name without a registry: %v", err)
	}
}
