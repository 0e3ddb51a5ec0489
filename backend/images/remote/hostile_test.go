package remote

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"touchdown/backend/host/hosttest"
)

// shortest is the least time for an answer in a test: a busy machine needs it for a connection with TLS.
const shortest = 3 * time.Second

// A registry that is hostile or broken costs seconds, kilobytes and nothing else, whatever it answers.
func TestHostileRegistryCostsLittle(t *testing.T) {
	digest := sum("x")
	redirect := func(to string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", to)
			w.WriteHeader(http.StatusFound)
		}
	}
	var packed bytes.Buffer
	zip := gzip.NewWriter(&packed)
	_, _ = io.CopyN(zip, zeros{}, 64<<20)
	_ = zip.Close()
	silent := []string{"a body byte by byte", "a head that never ends"}
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		want   string
	}{
		"a body byte by byte": {func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				_, _ = w.Write([]byte(" "))
				_ = http.NewResponseController(w).Flush()
				time.Sleep(20 * time.Millisecond)
			}
			panic(http.ErrAbortHandler) // as below
		}, "deadline exceeded"},
		"a head that never ends": {func(_ http.ResponseWriter, r *http.Request) {
			<-r.Context().Done()
			panic(http.ErrAbortHandler) // a handler that returns ends its answer regularly, and a client that is about to close may still read that
		}, "awaiting"},
		"large headers":         {func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("X", strings.Repeat("x", 1<<20)) }, "exceeded"},
		"a body without an end": {func(w http.ResponseWriter, _ *http.Request) { _, _ = io.CopyN(w, zeros{}, 1<<30) }, "larger than"},
		"zeros that were packed": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(packed.Bytes())
		}, "PUL-DGST"},
		"a page of a portal": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			_, _ = w.Write([]byte("<html>log in</html>"))
		}, "PUL-DGST"},
		"a way out of TLS":        {redirect("http://127.0.0.1:1/"), "302"},
		"a way to a file":         {redirect("file:///etc/passwd"), "302"},
		"a way to another scheme": {redirect("gopher://127.0.0.1/"), "302"},
		"a way that is none":      {redirect("https://"), ""},
		"a way in circles":        {func(w http.ResponseWriter, r *http.Request) { redirect(r.URL.String()+"x")(w, r) }, "302"},
		"a status with text": {func(w http.ResponseWriter, _ *http.Request) {
			c, _, err := http.NewResponseController(w).Hijack()
			if err == nil {
				_, _ = fmt.Fprintf(c, "HTTP/1.1 \x1b[2J%s\r\n\r\n", strings.Repeat("y", 20<<10))
				_ = c.Close()
			}
		}, "malformed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, m := serve(t, true, func(w http.ResponseWriter, r *http.Request) bool { c.answer(w, r); return false }), hosttest.New(t)
			s.trust(m, certDirs[0])
			r := reader(t, m)
			if slices.Contains(silent, name) { // these reach the limits; the others must not on a busy machine
				r.timeouts = timeouts{answer: shortest, quiet: time.Second, slowest: 1 << 10}
			}
			_, err := r.Image(t.Context(), s.host+"/a@"+digest)
			if err == nil || !strings.Contains(err.Error(), c.want) || len(err.Error()) > 4<<10 {
				t.Errorf("%.300v, want %q", err, c.want)
			}
			file, second := os.Create(filepath.Join(t.TempDir(), "blob"))
			if second != nil {
				t.Fatal(second)
			}
			defer file.Close()
			if err := r.Blob(t.Context(), s.host+"/a:1", digest, 1<<20, file); err == nil || len(err.Error()) > 4<<10 {
				t.Errorf("a blob: %.300v", err)
			}
			if st, err := file.Stat(); err != nil || st.Size() > 1<<20+1 {
				t.Errorf("%d bytes were kept, %v", st.Size(), err)
			}
		})
	}
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) { clear(b); return len(b), nil }

// A layer may take longer than a short answer as long as it comes; one that does not come is given up.
func TestBlobTakesItsTime(t *testing.T) {
	content := strings.Repeat("a layer ", 4096)
	const answer, pause = shortest, 250 * time.Millisecond // the pauses together are longer than an answer may take
	s, m := serve(t, true, func(w http.ResponseWriter, _ *http.Request) bool {
		for n := range 16 {
			_, _ = w.Write([]byte(content[n*2048 : (n+1)*2048]))
			_ = http.NewResponseController(w).Flush()
			time.Sleep(pause)
		}
		return false
	}), hosttest.New(t)
	s.trust(m, certDirs[0])
	r := reader(t, m)
	file, err := os.Create(filepath.Join(t.TempDir(), "blob"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	r.timeouts = timeouts{answer: answer, quiet: time.Minute, slowest: 1}
	if err := r.Blob(t.Context(), s.host+"/a:1", sum(content), 1<<20, file); err != nil {
		t.Errorf("slow, but it comes: %v", err)
	}
	r.timeouts.quiet, r.timeouts.slowest = 500*time.Millisecond, 100<<10
	if err := r.Blob(t.Context(), s.host+"/a:1", sum(content), 1<<20, file); err == nil || !strings.Contains(err.Error(), "too slow") {
		t.Errorf("too slow: %v", err)
	}
}
