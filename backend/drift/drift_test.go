package drift_test

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"testing"

	"github.com/vincent-petithory/dataurl"

	"touchdown/backend/drift"
	"touchdown/backend/host/hosttest"
	"touchdown/backend/kube"
	"touchdown/backend/kube/kubetest"
)

const configs = "/apis/machineconfiguration.openshift.io/v1/machineconfigs/"

// config is what a rendered configuration lays: content by path. Of a unit that has a drop-in, the path names both.
type config map[string]string

const (
	chrony = "/etc/chrony.conf"
	store  = "/etc/containers/storage.conf"
	secret = "/var/lib/kubelet/config.json"
	hosts  = "/etc/dnsmasq.d/site.conf"
	unit   = "/etc/systemd/system/site.service"
	dropin = "/etc/systemd/system/crio.service.d/10-site.conf"
	proxy  = "/etc/systemd/system/kubelet.service.d/10-proxy.conf" // empty where the cluster has none
	noted  = "/etc/machine-config-daemon/currentconfig"
)

func (c config) put(api *kubetest.API, name string) {
	var files, units []any
	for path, content := range c {
		switch path {
		case unit:
			units = append(units, map[string]any{"name": "site.service", "contents": content})
		case dropin:
			units = append(units, map[string]any{"name": "crio.service", "dropins": []any{map[string]any{"name": "10-site.conf", "contents": content}}})
		case proxy:
			units = append(units, map[string]any{"name": "kubelet.service", "dropins": []any{map[string]any{"name": "10-proxy.conf", "contents": content}}})
		default:
			files = append(files, map[string]any{"path": path, "mode": 0o600, "contents": map[string]any{"source": dataurl.EncodeBytes([]byte(content))}})
		}
	}
	b, _ := json.Marshal(map[string]any{"spec": map[string]any{"config": map[string]any{
		"ignition": map[string]any{"version": "3.2.0"}, "storage": map[string]any{"files": files}, "systemd": map[string]any{"units": units},
	}}})
	api.Put(configs+name, string(b))
}

func mode(path string) os.FileMode {
	if path == unit || path == dropin || path == proxy {
		return 0o644
	}
	return 0o600
}

func lay(t *testing.T, m *hosttest.Fake, path, content string) {
	t.Helper()
	if err := m.WriteFile(path, []byte(content), mode(path)); err != nil {
		t.Fatal(err)
	}
}

// TestACutWhileTheDaemonWrites: it stops behind each of its changes, in the order of its writeFiles, writeUnits and deleteStaleData. The files
// are then those of the configuration from before, and what the operating system shipped can be put back once more.
func TestACutWhileTheDaemonWrites(t *testing.T) {
	old := config{chrony: "server a", store: "old store", secret: "old secret", unit: "[Unit]", dropin: "[Service]", proxy: ""}
	next := config{store: "new store", secret: "new secret", hosts: "new", unit: "[Unit]\nDescription=new\n", proxy: "[Service]\nUser=root\n"}
	const shipped, orig = "pool shipped", "/etc/machine-config-daemon/orig/etc/chrony.conf.mcdorig"
	changes := []func(*testing.T, *hosttest.Fake){
		func(t *testing.T, m *hosttest.Fake) { lay(t, m, store, next[store]) },
		func(t *testing.T, m *hosttest.Fake) { lay(t, m, secret, next[secret]) },
		func(t *testing.T, m *hosttest.Fake) { lay(t, m, hosts, next[hosts]) },
		func(t *testing.T, m *hosttest.Fake) { lay(t, m, unit, next[unit]) },
		func(t *testing.T, m *hosttest.Fake) { lay(t, m, proxy, next[proxy]) },
		func(t *testing.T, m *hosttest.Fake) { lay(t, m, chrony, shipped) },
		func(_ *testing.T, m *hosttest.Fake) { _ = m.Remove(orig) },
		func(_ *testing.T, m *hosttest.Fake) { _ = m.Remove(dropin) },
	}
	for cut := range len(changes) + 1 {
		t.Run(fmt.Sprint(cut), func(t *testing.T) {
			api, c := kubetest.New(t)
			old.put(api, "rendered-master-1")
			next.put(api, "rendered-master-2")
			config{store: "of workers"}.put(api, "rendered-worker-1")
			m := hosttest.New(t)
			m.File(noted, `{"metadata":{"name":"rendered-master-1"}}`)
			for path, content := range old {
				if content != "" {
					lay(t, m, path, content)
				}
			}
			lay(t, m, "/usr"+chrony, shipped)
			lay(t, m, orig, shipped)
			for _, change := range changes[:cut] {
				change(t, m)
			}
			done := putBack(t, c, m)
			for path, content := range old {
				if content == "" && !m.Exists(path) {
					continue
				}
				if info, err := os.Stat(m.Path(path)); m.Content(path) != content || err != nil || info.Mode().Perm() != mode(path) {
					t.Errorf("%s is %q, %v: put back were %v", path, m.Content(path), err, done)
				}
			}
			if got := m.Content(orig); got != shipped {
				t.Errorf("the operating system's file is kept as %q", got)
			}
			if again := putBack(t, c, m); len(again) > 0 || cut > 0 && len(done) == 0 {
				t.Errorf("put back were %v, and then %v", done, again)
			}
		})
	}
}

func putBack(t *testing.T, c *kube.Cluster, m *hosttest.Fake) []string {
	t.Helper()
	half, err := drift.Find(t.Context(), c, m.Machine, "rendered-master-1")
	if err != nil {
		t.Fatal(err)
	}
	done, err := half.PutBack(m.Machine)
	if err != nil || half.Empty() != (len(done) == 0) {
		t.Fatal(done, err)
	}
	return done
}

// TestWhatOthersWroteStays: an owner's own change of a file, a link, a file that only other machines have, and one that has the right content.
func TestWhatOthersWroteStays(t *testing.T) {
	api, c := kubetest.New(t)
	config{chrony: "server a", store: "old store", secret: "old secret", unit: "[Unit]"}.put(api, "rendered-master-1")
	config{store: "new store", secret: "new secret"}.put(api, "rendered-master-2")
	config{store: "of workers"}.put(api, "rendered-worker-1")
	api.Put(configs+"rendered-master-3", `{"spec":{"config":{"storage":{"files":[{"path":"/etc/passwd","contents":{"source":"https://x.example/"}}]}}}}`)
	m := hosttest.New(t)
	m.File(noted, `{"metadata":{"name":"rendered-master-1"}}`)
	lay(t, m, chrony, "server of the owner")
	lay(t, m, "/usr"+chrony, "pool shipped")
	lay(t, m, store, "of workers")
	lay(t, m, "/etc/elsewhere", "new secret")
	if err := os.MkdirAll(m.Path("/var/lib/kubelet"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(m.Path("/etc/elsewhere"), m.Path(secret)); err != nil {
		t.Fatal(err)
	}
	if done := putBack(t, c, m); !slices.Equal(done, []string{unit}) {
		t.Errorf("put back were %v", done)
	}
	if m.Content(chrony) != "server of the owner" || m.Content(store) != "of workers" || m.Content("/etc/elsewhere") != "new secret" {
		t.Error("files of others have changed")
	}
	lay(t, m, chrony, "of the next")
	config{chrony: "of the next"}.put(api, "rendered-master-4")
	for _, name := range []string{"rendered-master-4", "rendered-master-9"} {
		m.File(noted, fmt.Sprintf(`{"metadata":{"name":%q}}`, name)) // the daemon has ended its update, and does not say so yet
		if half, err := drift.Find(t.Context(), c, m.Machine, "rendered-master-1"); err != nil || !half.Empty() {
			t.Errorf("of a node that has %s: %v", name, err)
		}
	}
	if _, err := drift.Find(t.Context(), c, m.Machine, "rendered-master-9"); err == nil {
		t.Error("a configuration that the cluster does not have")
	}
	m.File(noted, "{")
	if _, err := drift.Find(t.Context(), c, m.Machine, "rendered-master-1"); err == nil {
		t.Error("a note that is damaged")
	}
}
