package nodeconfig

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"touchdown/backend/kube"
	"touchdown/test/wait"
)

// factoryProxy is a cluster without a proxy.
type factoryProxy struct{ Unread }

func (factoryProxy) Get(context.Context, kube.Ref) (map[string]any, error) {
	return map[string]any{"spec": map[string]any{}}, nil
}

// FuzzProxy has a shell source the file that the operator makes of a proxy: it reads the values that were given and runs nothing, or
// the proxy is refused.
func FuzzProxy(f *testing.F) {
	for _, url := range []string{
		"http://proxy.example.com:3128", "http://u:p%24%28id%29@[2001:db8::7]:3128", "http://u:$(id)@p", "http://u:`id`@p", "http://u:p;id@p", "http://u:p&id@p",
		"http://u:p'@p", `http://u:"@p`, `http://u:\@p`, "http://u:!!@p", "http://u:(x)@p", "http://u:a b@p", "http://u:a\nid@p", "http://u:~:@p", "http://u:*@p",
		"http://u:a\tb@p", "http://u:a\rb@p", "http://u:<x@p", "http://u:>/tmp/x@p", "http://u:a|id@p", "http://u:{a,b}@p", "http://u:a#b@p", "http://ü@p", "http://u:a\u00a0b@p", "http://u:^@p",
	} {
		f.Add(url, ".example.com")
		f.Add("http://proxy.example.com", url)
	}
	shell := wait.Program(f, "bash")
	f.Fuzz(func(t *testing.T, url, skip string) {
		w := Want{Proxy: Proxy{HTTP: url, HTTPS: url, NoProxy: []string{skip}}}
		if url == "" || strings.ContainsRune(url+skip, 0) {
			return
		}
		changes, err := w.proxy(t.Context(), factoryProxy{})
		if err != nil {
			if len(url) > 8 && strings.Contains(err.Error(), url) {
				t.Errorf("%q is repeated: %v", url, err)
			}
			return
		}
		if len(changes) != 1 {
			t.Fatalf("%d changes", len(changes))
		}
		file := filepath.Join(t.TempDir(), "proxy.env")
		if err := os.WriteFile(file, []byte("HTTP_PROXY="+url+"\nHTTPS_PROXY="+url+"\nNO_PROXY="+skip+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		run := exec.CommandContext(t.Context(), shell, "-c", `source "$1"; printf '%s\0%s\0%s' "$HTTP_PROXY" "$HTTPS_PROXY" "$NO_PROXY"`, "sh", file)
		run.Env, run.Dir = []string{"HOME=/home/other", "PATH="}, t.TempDir()
		out, err := run.CombinedOutput()
		if got := strings.Split(string(out), "\x00"); err != nil || !slices.Equal(got, []string{url, url, skip}) {
			t.Errorf("%q, %q are read as %q: %v", url, skip, got, err)
		}
	})
}
