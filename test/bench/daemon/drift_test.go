package daemon

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/vincent-petithory/dataurl"

	"touchdown/backend/drift"
	"touchdown/backend/host/hosttest"
	"touchdown/backend/kube/kubetest"
	"touchdown/test/wait"
)

// TestTheDaemonStartsOver: the daemon's own code refuses a node on which it was cut off behind any of its files, and takes it once they were put
// back. What a person changed it goes on refusing.
func TestTheDaemonStartsOver(t *testing.T) {
	wait.Slow(t)
	wait.Root(t) // it changes the root of a program
	paths := []string{"/etc/chrony.conf", "/etc/containers/registries.conf", "/var/lib/kubelet/config.json"}
	const unit = "/etc/systemd/system/site.service"
	configuration := func(text string) string {
		files := make([]any, len(paths))
		for i, path := range paths {
			files[i] = map[string]any{"path": path, "mode": 0o644, "contents": map[string]any{"source": dataurl.EncodeBytes([]byte(text))}}
		}
		b, err := json.Marshal(map[string]any{"metadata": map[string]any{"name": "rendered-master-" + text}, "spec": map[string]any{"config": map[string]any{
			"ignition": map[string]any{"version": "3.2.0"}, "storage": map[string]any{"files": files},
			"systemd": map[string]any{"units": []any{map[string]any{"name": "site.service", "contents": "[Unit]\nDescription=" + text + "\n"}}},
		}}})
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	api, c := kubetest.New(t)
	for _, text := range []string{"old", "new"} {
		api.Put("/apis/machineconfiguration.openshift.io/v1/machineconfigs/rendered-master-"+text, configuration(text))
	}
	program, err := os.ReadFile("../../../.cache/bench/bin/decide")
	if err != nil {
		wait.Unable(t, "%v: run make bench-daemon", err)
	}
	m := hosttest.New(t)
	lay := func(path, content string, mode os.FileMode) {
		if err := m.WriteFile(path, []byte(content), mode); err != nil {
			t.Fatal(err)
		}
	}
	lay("/decide", string(program), 0o755)
	lay("/etc/machine-config-daemon/currentconfig", configuration("old"), 0o600)
	refuses := func() string {
		cmd := exec.CommandContext(t.Context(), "/decide", "-validate", "/etc/machine-config-daemon/currentconfig")
		cmd.Dir, cmd.SysProcAttr = "/", &syscall.SysProcAttr{Chroot: m.Root()}
		out, err := cmd.CombinedOutput()
		if err != nil && len(out) == 0 {
			t.Fatal(err)
		}
		return strings.TrimSpace(string(out))
	}
	putBack := func() []string {
		half, err := drift.Find(t.Context(), c, m.Machine, "rendered-master-old")
		if err != nil {
			t.Fatal(err)
		}
		done, err := half.PutBack(m.Machine)
		if err != nil {
			t.Fatal(err)
		}
		return done
	}
	for cut := range len(paths) + 2 {
		for i, path := range paths {
			lay(path, map[bool]string{true: "new", false: "old"}[i < cut], 0o644)
		}
		lay(unit, fmt.Sprintf("[Unit]\nDescription=%s\n", map[bool]string{true: "new", false: "old"}[cut > len(paths)]), 0o644)
		if why := refuses(); (why == "") != (cut == 0) || cut > 0 && !strings.Contains(why, "content mismatch for file") {
			t.Errorf("cut off behind %d files, the daemon says %q", cut, why)
		}
		done := putBack()
		if why := refuses(); why != "" {
			t.Errorf("cut off behind %d files, with %v put back, the daemon says %q", cut, done, why)
		}
	}
	lay(paths[0], "a person's", 0o644)
	if done := putBack(); len(done) > 0 || refuses() == "" {
		t.Errorf("put back were %v", done)
	}
}
