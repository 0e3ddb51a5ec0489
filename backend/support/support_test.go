package support

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"touchdown/backend/host"
	"touchdown/backend/host/hosttest"
	"touchdown/backend/kube"
)

func asking(m *host.Machine, c *kube.Cluster) Asking {
	return Asking{Host: m, Kube: c, Mask: func(text string) string { return strings.ReplaceAll(text, "kn@wn,secret", hidden) }, Tail: mostTail}
}

// TestSecretsAreTakenOut: what other programs wrote down of keys and tokens, and nothing of what an engineer needs.
func TestSecretsAreTakenOut(t *testing.T) {
	const planted = "pl4ntedSecretValue"
	for _, line := range []string{
		"-----BEGIN RSA PRIVATE KEY-----\n" + planted + "\n-----END RSA PRIVATE KEY-----", "cut: -----BEGIN PRIVATE KEY-----\n" + planted,
		"Authorization: Bearer " + planted, "authorization: basic " + planted, "token eyJhbGciOiJSUzI1NiIs." + planted + ".abc",
		"login with sha256~" + planted + planted, "proxy http://user:" + planted + "@proxy.example.com:3128 failed", `{"auth":"` + planted + `"}`,
		`"password": "` + planted + `"`, "password=" + planted, "PASSWORD: " + planted, "psk=" + planted + ";", "api_key=" + planted,
		`password="` + planted + ` and more"`, "psk='" + planted + "'", `msg="body {\"auth\":\"` + planted + `\"}"`, "REGISTRY_PASSWORD=" + planted, `"client_secret":"` + planted + `"`,
		"bindPassword: " + planted, "client-key-data: " + planted, "podman login --password " + planted, planted + "\n-----END PRIVATE KEY-----\nmore",
	} {
		if got := Scrub(line); strings.Contains(got, planted) || !strings.Contains(got, hidden) {
			t.Errorf("%q stays as %q", line, got)
		}
	}
	for _, line := range []string{
		"E1124 09:00:00 kubelet.go:2902] \"Container runtime network not ready\"", "Pulled quay.io/openshift/release@sha256:" + strings.Repeat("0a", 32),
		"GET https://api.example.com:6443/readyz: dial tcp 198.51.100.10:6443: connection refused", "state change: disconnected -> prepare (reason 'none')",
		"secret \"openshift-config/pull-secret\" not found", "basic checks passed", "pull secret is fine",
	} {
		if got := Scrub(line); got != line {
			t.Errorf("%q became %q", line, got)
		}
	}
}

// TestAPartThatFailsLosesNoOther: a node without some of the programs, and without a cluster.
func TestAPartThatFailsLosesNoOther(t *testing.T) {
	h := hosttest.New(t)
	h.On("journalctl --no-pager --quiet --output=short-iso --lines=10000 --unit=kubelet", "kubelet: password=pl4nted; proxy http://u:kn@wn,secret@proxy\n", nil)
	h.On("journalctl --no-pager --quiet --output=short-iso --lines=10000 --unit=crio", "half a log\n", errors.New("signal: killed"))
	h.On("nmcli device show", "", errors.New("NetworkManager is not running, token=pl4nted"))
	got := map[string]string{}
	for _, p := range Collect(t.Context(), asking(h.Machine, nil)) {
		got[p.Name] = string(p.Data)
	}
	if got["kubelet.txt"] != "kubelet: password=<secret>; proxy http://u:<secret>@proxy\n" || got["crio.txt"] != "half a log\n" {
		t.Errorf("%q", got)
	}
	if missing := got["missing.txt"]; !strings.Contains(missing, "crio.txt: ") || !strings.Contains(missing, "nmcli-devices.txt: ") || strings.Contains(missing, "pl4nted") || strings.Count(missing, "\n") != 2 {
		t.Errorf("missing.txt: %q", missing)
	}
	if calls := h.Calls(); len(calls) != len(commands) {
		t.Errorf("%d commands for %d parts: %q", len(calls), len(commands), calls)
	}
	if parts := Collect(t.Context(), asking(nil, nil)); len(parts) > 0 {
		t.Errorf("of nothing: %v", parts)
	}
}

// TestObjects: how each kind is, and no word of what it was told to be; a kind that the cluster lacks is named, an API that is away once.
// The API is a stand-in: what is judged is what is kept of its answers.
func TestObjects(t *testing.T) {
	const secrets = `"metadata":{"name":"one","namespace":"n","uid":"u","annotations":{"last":"pl4nted"},"managedFields":[{}]},"spec":{"env":"pl4nted"},"data":{"k":"pl4nted"}`
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		resource := path.Base(r.URL.Path)
		if resource == "machineconfigpools" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"kind":"List","apiVersion":"v1","metadata":{},"items":[{"kind":"X","apiVersion":"v1",%s,"status":{"of":%q,"certificate":"pl4nted"},"message":"token=pl4nted"}]}`, secrets, resource)
	}))
	file := filepath.Join(t.TempDir(), "kubeconfig")
	config := fmt.Sprintf("apiVersion: v1\nkind: Config\nclusters: [{name: c, cluster: {server: %q}}]\nusers: [{name: u, user: {}}]\ncontexts: [{name: x, context: {cluster: c, user: u}}]\ncurrent-context: x\n", api.URL)
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := kube.Open(file, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, p := range Collect(t.Context(), asking(nil, c)) {
		got[p.Name] = string(p.Data)
	}
	for _, kind := range kinds {
		want := fmt.Sprintf(`{"message":"token=<secret>","metadata":{"name":"one","namespace":"n"},"status":{"of":%q}}`+"\n", kind.Resource)
		if kind.Resource == "machineconfigpools" {
			want = ""
		}
		if name := "cluster-" + kind.Resource + ".jsonl"; got[name] != want {
			t.Errorf("%s: %q, not %q", name, got[name], want)
		}
	}
	if missing := got["missing.txt"]; strings.Count(missing, "\n") != 1 || !strings.Contains(missing, "machineconfigpools") {
		t.Errorf("missing.txt: %q", missing)
	}
	api.Close()
	parts := Collect(t.Context(), asking(nil, c))
	if len(parts) != 1 || parts[0].Name != "missing.txt" || bytes.Count(parts[0].Data, []byte("\n")) != 1 {
		t.Errorf("an API that is away: %v", parts)
	}
}

// TestSerial: what went over the wire comes back to the byte, from the midst of other output, with the line ends of a terminal, and from
// two damaged tries; what is lost is named.
func TestSerial(t *testing.T) {
	archive := make([]byte, 150<<10)
	random := rand.NewChaCha8([32]byte{1})
	if _, err := random.Read(archive); err != nil {
		t.Fatal(err)
	}
	print := func(archive []byte, lines string) string {
		text, err := Serial(archive, lines)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	text := print(archive, "")
	if len(text) > MaxSerial+(4<<10) || len(text) < len(archive) {
		t.Errorf("%d bytes of text", len(text))
	}
	lines := strings.SplitAfter(text, "\n")
	damaged := func(n int) string {
		with := append([]string{}, lines...)
		with[n] = strings.Replace(with[n], with[n][10:12], "~~", 1)
		return strings.Join(with, "")
	}
	for name, record := range map[string]string{
		"alone":                   text,
		"on a screen":             "[core@node ~]$ sudo touchdown report bundle --serial\r\n" + strings.ReplaceAll(text, "\n", "\r\n") + "[core@node ~]$ ",
		"in two tries":            damaged(7) + "[core@node ~]$ again\n" + damaged(900),
		"behind another one":      strings.Join(strings.SplitAfter(print(archive[:9000], ""), "\n")[:100], "") + text,
		"before half another one": text + strings.Join(strings.SplitAfter(print(archive[:9000], ""), "\n")[:100], ""),
		"a few lines again":       damaged(7) + print(archive, "7"),
		"without its last line":   strings.Join(lines[:1000], "") + print(archive, "1000-3414"),
		"with a kernel's message": strings.Replace(text, lines[40], "[ 12.3] eno1: link is down\n"+lines[40], 1),
	} {
		if got, err := Unserial([]byte(record)); err != nil || !bytes.Equal(got, archive) {
			t.Errorf("%s: %d bytes, %v", name, len(got), err)
		}
	}
	for record, want := range map[string]string{
		damaged(7): "1 of 3414 lines are missing or damaged; print them again with touchdown report bundle --serial=7 within", strings.Join(lines[:50], ""): "the last line of a summary", "": "the last line",
		strings.Join(lines[:100], "") + strings.Join(lines[len(lines)-4:], ""): "lines are missing", "lines 999999999 sha256 00\n": "the last line",
		strings.Replace(text, "sha256 ", "sha256 0", 1): "two different summaries",
	} {
		if got, err := Unserial([]byte(record)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60q...: %d bytes, %v, not %q", record, len(got), err, want)
		}
	}
	if _, err := Unserial(bytes.Repeat([]byte("x"), 1<<20)); err == nil {
		t.Error("a line of a mebibyte is a summary")
	}
}

// TestLinesAgain: missing lines are named as numbers and ranges, the same can be asked for, and other texts are refused.
func TestLinesAgain(t *testing.T) {
	if text, more := ranges([]int{1, 2, 3, 7, 9, 10}); text != "1-3,7,9-10" || more {
		t.Errorf("%q, %t", text, more)
	}
	var many []int
	for n := range mostRanges + 1 {
		many = append(many, 2*n+1)
	}
	if text, more := ranges(many); strings.Count(text, ",") != mostRanges-1 || !more {
		t.Errorf("%q, %t", text, more)
	}
	for _, text := range []string{"0", "4", "2-1", "x", "1,", "-1", "1-4", "1-99999999999999999999"} {
		if got, err := numbers(text, 3); err == nil {
			t.Errorf("%q: %v", text, got)
		}
	}
	if got, err := numbers("1,2-3", 3); err != nil || len(got) != 3 {
		t.Errorf("%v, %v", got, err)
	}
}
