package trust_test

import (
	"errors"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"

	"touchdown/backend/host/hosttest"
	"touchdown/backend/problem"
	"touchdown/backend/trust"
)

const anchor = "/etc/pki/ca-trust/source/anchors/touchdown-site.crt"

func want() trust.Want {
	return trust.Want{
		Bundle:     "BUNDLE",
		Registries: []trust.Registry{{Host: "reg.site.example", Port: 5000, PEM: "CA"}, {Host: "quay.site.example", PEM: "CB"}},
		PullSecret: func(now []byte) ([]byte, error) { return append(now, "+site"...), nil },
	}
}

func TestWriteAndRestore(t *testing.T) {
	m := hosttest.New(t)
	m.File("/var/lib/kubelet/config.json", "factory")
	files, err := trust.Pending(m.Machine, want())
	if err != nil || len(files) != 5 {
		t.Fatal(files, err)
	}
	var originals []trust.File
	refresh, err := trust.Write(m.Machine, files, func(f trust.File) error {
		if m.Content(f.Path) != string(f.Content) {
			t.Errorf("%s was written before it was saved", f.Path)
		}
		originals = append(originals, f)
		return nil
	})
	if err != nil || !refresh {
		t.Fatal(refresh, err)
	}
	for path, content := range map[string]string{
		anchor: "BUNDLE", "/etc/docker/certs.d/reg.site.example:5000/ca.crt": "CA", "/etc/docker/certs.d/quay.site.example/ca.crt": "CB",
		"/etc/docker/certs.d/quay.site.example:443/ca.crt": "CB",
		"/var/lib/kubelet/config.json":                     "factory+site",
	} {
		if m.Content(path) != content {
			t.Errorf("%s holds %q", path, m.Content(path))
		}
	}
	if st, err := os.Stat(m.Path("/var/lib/kubelet/config.json")); err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("the credentials are readable: %v %v", st.Mode(), err)
	}
	anchors := 0
	for range 2 {
		for _, f := range slices.Backward(originals) {
			was, err := trust.Restore(m.Machine, f)
			if err != nil {
				t.Fatal(err)
			}
			if was {
				anchors++
			}
		}
	}
	if m.Exists(anchor) || m.Content("/var/lib/kubelet/config.json") != "factory" || anchors != 2 {
		t.Errorf("restored: anchor %v, credentials %q, %d anchors", m.Exists(anchor), m.Content("/var/lib/kubelet/config.json"), anchors)
	}
}

// The operator's own files are left alone, even when its list cannot be read.
func TestTheOperatorsFilesAreLeftToIt(t *testing.T) {
	for what, list := range map[string]string{
		"listed": `{"spec":{"config":{"storage":{"files":[{"path":"/var/lib/kubelet/config.json"}]}}}}`, "torn": `{"spec":`,
	} {
		m := hosttest.New(t)
		m.File("/var/lib/kubelet/config.json", "factory")
		m.File("/etc/machine-config-daemon/currentconfig", list)
		files, err := trust.Pending(m.Machine, want())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := trust.Write(m.Machine, files, func(trust.File) error { return nil }); err != nil {
			t.Fatal(err)
		}
		if got := m.Content("/var/lib/kubelet/config.json"); got != "factory" {
			t.Errorf("%s: the credentials are %q", what, got)
		}
		if m.Exists(anchor) != (what == "listed") {
			t.Errorf("%s: the anchor exists: %v", what, m.Exists(anchor))
		}
	}
}

func TestTroubleIsTold(t *testing.T) {
	m := hosttest.New(t)
	files, err := trust.Pending(m.Machine, want())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := trust.Write(m.Machine, files, func(trust.File) error { return errors.New("disk full") }); err == nil || m.Exists(anchor) {
		t.Errorf("written although nothing could be saved: %v", err)
	}
	m.Fill(2)
	if _, err := trust.Write(m.Machine, files, func(trust.File) error { return nil }); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("err is %v", err)
	}
	m.On("update-ca-trust", "", errors.New("exit status 1"))
	if p := problem.From(trust.Refresh(t.Context(), m.Machine)); p.Code != "CA-TRUST" {
		t.Errorf("problem is %v", p)
	}
	w := want()
	w.PullSecret = func([]byte) ([]byte, error) { return nil, errors.New("no JSON") }
	if _, err := trust.Pending(m.Machine, w); err == nil || !strings.Contains(err.Error(), "no JSON") {
		t.Errorf("err is %v", err)
	}
}

// TestARegistryAtTheUsualPort has its authorities under both names by which an image can be written, and after the undo under neither.
func TestARegistryAtTheUsualPort(t *testing.T) {
	const below = "/etc/docker/certs.d/"
	for port, want := range map[int][]string{0: {"reg.site.example", "reg.site.example:443"}, 443: {"reg.site.example", "reg.site.example:443"}, 5000: {"reg.site.example:5000"}} {
		m := hosttest.New(t)
		files, err := trust.Pending(m.Machine, trust.Want{Registries: []trust.Registry{{Host: "reg.site.example", Port: port, PEM: "CA"}}})
		if err != nil {
			t.Fatal(err)
		}
		var originals []trust.File
		if _, err := trust.Write(m.Machine, files, func(f trust.File) error { originals = append(originals, f); return nil }); err != nil {
			t.Fatal(err)
		}
		there := func() (names []string) {
			for _, name := range []string{"reg.site.example", "reg.site.example:443", "reg.site.example:5000"} {
				if m.Exists(below + name + "/ca.crt") {
					names = append(names, name)
				}
			}
			return names
		}
		if got := there(); !slices.Equal(got, want) {
			t.Errorf("port %d: %q", port, got)
		}
		for _, f := range originals {
			if _, err := trust.Restore(m.Machine, f); err != nil {
				t.Fatal(err)
			}
		}
		if got := there(); len(got) > 0 {
			t.Errorf("port %d, after the undo: %q", port, got)
		}
	}
}

// TestARegistryNamesNoOtherFolder: what a document calls a registry never leads out of the folder of registries.
func TestARegistryNamesNoOtherFolder(t *testing.T) {
	for _, name := range []string{"../../../etc/pki/tls", "..", "reg/../../x", "a\nb", ""} {
		m := hosttest.New(t)
		files, err := trust.Pending(m.Machine, trust.Want{Registries: []trust.Registry{{Host: name, PEM: "CA"}}})
		if err == nil {
			t.Errorf("%q: writes %q", name, files[0].Path)
		}
	}
}
