package steps_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"touchdown/backend/host/hosttest"
	"touchdown/backend/problem"
	"touchdown/steps"
	"touchdown/steps/site"
)

// filesOf is all that lies on a machine, apart from what the kernel shows.
func filesOf(t *testing.T, m *hosttest.Fake) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(m.Root(), func(path string, d os.DirEntry, err error) error {
		name := strings.TrimPrefix(path, m.Root())
		if err == nil && !d.IsDir() && !strings.HasPrefix(name, "/proc/") {
			files[name] = m.Content(name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// undone is a step that can be undone.
type undone interface {
	steps.Step
	steps.Undoer
}

// TestAFullDiskOfTheNode: whatever room a step finds on the file systems of the node, outside of the state folder, it fails with a problem that
// names the file, leaves each file old or new and no other, and goes on once there is room. So does its undo.
func TestAFullDiskOfTheNode(t *testing.T) {
	cfg := site.New()
	cfg.Spec.ClusterName, cfg.Spec.BaseDomain = "store1", "site.example"
	cfg.Spec.AdditionalTrustBundle = authority(t, "site")
	cfg.Spec.RegistryCerts = []site.RegistryCert{{RegistryHostname: "reg.site.example", RegistryPort: 5000, Certificate: authority(t, "reg")}}
	cfg.Spec.PullSecret = `{"auths":{"reg.site.example":{"auth":"dTpw"}}}`
	machine := func() *hosttest.Fake {
		m := hosttest.New(t)
		m.File("/etc/dnsmasq.d/single-node.conf", "address=/apps.old.example/192.168.127.10\naddress=/api-int.old.example/192.168.127.10\naddress=/api.old.example/192.168.127.10\n")
		m.File("/etc/resolv.conf", "nameserver 192.168.127.10\n")
		m.File("/etc/pki/ca-trust/source/anchors/touchdown-site.crt", "an older authority")
		m.File("/var/lib/kubelet/config.json", `{"auths":{"reg.factory.example":{"auth":"dTpm"}}}`)
		return m
	}
	for name, of := range map[string]func(m *hosttest.Fake) undone{
		"names": func(m *hosttest.Fake) undone {
			return &steps.LocalNames{Site: cfg, Server: dnsmasq(t, m), Answers: time.Millisecond}
		},
		"trust": func(*hosttest.Fake) undone {
			return &steps.Trust{Site: cfg}
		},
	} {
		t.Run(name, func(t *testing.T) {
			whole := machine()
			before := filesOf(t, whole)
			if err := of(whole).Run(t.Context(), node(whole, nil), newReport()); err != nil {
				t.Fatal(err)
			}
			after, failed := filesOf(t, whole), 0
			m := machine()
			step, r := of(m), newReport()
			try := func(what string, do func() error) {
				for room := 0; ; room += 50 {
					m.Fill(room)
					err := do()
					for file, has := range filesOf(t, m) {
						if has != before[file] && has != after[file] {
							t.Fatalf("%s with room for %d bytes left %s as %.60q", what, room, file, has)
						}
					}
					if err == nil {
						return
					}
					failed++
					if p := problem.From(err); p.Code != "DSK-FULL" || !strings.Contains(p.Summary.String(), "/etc/") && !strings.Contains(p.Summary.String(), "/var/") {
						t.Fatalf("%s with room for %d bytes: %v", what, room, err)
					}
				}
			}
			try("the work", func() error { return step.Run(t.Context(), node(m, nil), r) })
			try("undo", func() error { return step.Undo(t.Context(), node(m, nil), r) })
			m.Fill(-1)
			for file, has := range filesOf(t, m) {
				if has != before[file] {
					t.Errorf("undo left %s as %.60q", file, has)
				}
			}
			if failed < 3 {
				t.Errorf("it failed %d times", failed)
			}
		})
	}
}
