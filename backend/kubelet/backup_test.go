package kubelet_test

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"touchdown/backend/host/hosttest"
	"touchdown/backend/kubelet"
	"touchdown/backend/layout"
)

// disk is a machine whose commands for files are real ones, below its root. They fail when the power is gone.
type disk struct {
	*hosttest.Fake
	t    *testing.T
	left int // commands until the power fails; negative: it stays
}

var errCut = errors.New("the power failed")

func newDisk(t *testing.T) *disk {
	d := &disk{Fake: hosttest.New(t), t: t, left: -1}
	for _, name := range []string{"cp", "mv", "rm", "mkdir", "du", "sync"} {
		d.OnFunc(name, d.run)
	}
	d.OnFunc("systemctl", func([]string, []byte) (string, error) { return "", d.power() })
	d.File("/etc/hostname", "sno-042\n")
	d.File("/var/lib/touchdown/armed", "")
	return d
}

func (d *disk) power() error {
	if d.left == 0 {
		return errCut
	}
	d.left--
	return nil
}

func (d *disk) run(argv []string, _ []byte) (string, error) {
	if err := d.power(); err != nil || argv[0] == "sync" {
		return "", err
	}
	args := make([]string, len(argv)-1)
	for i, arg := range argv[1:] {
		args[i] = strings.Replace(strings.TrimPrefix(arg, "/"), "=/", "=", 1)
	}
	cmd := exec.Command(argv[0], args...)
	cmd.Dir = d.Root()
	out, err := cmd.CombinedOutput()
	if err != nil {
		d.t.Errorf("%q: %v: %s", argv, err, out)
	}
	return string(out), err
}

// tree is every file below the folders that belong to the cluster, with its content and mode.
func (d *disk) tree() map[string]string {
	d.t.Helper()
	all := map[string]string{}
	for _, dir := range []string{"/var/lib/etcd", "/etc/kubernetes", "/var/lib/kubelet"} {
		err := filepath.WalkDir(d.Path(dir), func(path string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() {
				return err
			}
			info, err := e.Info()
			if err != nil {
				return err
			}
			name := strings.TrimPrefix(path, d.Root())
			if info.Mode()&fs.ModeSymlink != 0 {
				all[name], err = os.Readlink(path)
				return err
			}
			data, err := os.ReadFile(path)
			all[name] = info.Mode().String() + " " + string(data)
			return err
		})
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			d.t.Fatal(err)
		}
	}
	return all
}

// factory is a cluster as it left the factory.
func (d *disk) factory() {
	for name, text := range map[string]string{
		"/var/lib/etcd/member/snap/db": "good", "/var/lib/etcd/member/wal/0.wal": "log",
		"/etc/kubernetes/manifests/etcd-pod.yaml": "revision 3", "/etc/kubernetes/static-pod-resources/etcd-pod-3/x": "3",
		"/etc/kubernetes/kubeconfig": "bootstrap", "/var/lib/kubelet/config.json": "pull secret",
		"/var/lib/kubelet/kubeconfig": "kubelet", "/var/lib/kubelet/pki/kubelet-client-1.pem": "key",
	} {
		d.File(name, text)
		_ = os.Chmod(d.Path(name), 0o600)
	}
	if err := os.Symlink("kubelet-client-1.pem", d.Path("/var/lib/kubelet/pki/kubelet-client-current.pem")); err != nil {
		d.t.Fatal(err)
	}
}

// land is what a landing changes before the power fails in it.
func (d *disk) land() {
	d.File("/var/lib/etcd/member/snap/db", "torn")
	d.File("/var/lib/etcd/revision.json", "9")
	d.File("/etc/kubernetes/manifests/etcd-pod.yaml", "revision 4")
	d.File("/etc/kubernetes/static-pod-resources/etcd-pod-4/x", "4")
	d.File("/var/lib/kubelet/pki/kubelet-client-2.pem", "newer key")
	d.File("/var/log/pods/openshift-etcd_etcd-n_1/etcd/0.log", "2026-11-21T00:00:00Z stderr F invalid database\n")
	if err := d.Remove(layout.Armed); err != nil {
		d.t.Fatal(err)
	}
}

// TestBackupThroughCuts cuts the power before each command of the backup and of its way back: done again, each is as without a cut.
func TestBackupThroughCuts(t *testing.T) {
	t.Parallel()
	cuts := 0
	for cut := range 50 {
		d := newDisk(t)
		d.factory()
		want := d.tree()
		d.left = cut
		err := kubelet.Save(t.Context(), d.Machine)
		if kubelet.Restorable(d.Machine) && d.Content(layout.ClusterBackup+"/var/lib/kubelet/pki/kubelet-client-1.pem") != "key" { // the last of them
			t.Errorf("cut %d: half a backup counts", cut)
		}
		for d.left = -1; err != nil; err = kubelet.Save(t.Context(), d.Machine) {
			cuts++
		}
		d.land()
		d.left = cut
		for err := kubelet.Restore(t.Context(), d.Machine); err != nil; err = kubelet.Restore(t.Context(), d.Machine) {
			if cuts++; !kubelet.Gated(d.Machine) {
				t.Errorf("cut %d: the kubelet would start what is half there", cut)
			}
			d.left = -1
		}
		same(t, cut, d.tree(), want)
		if torn := d.Content(kubelet.Damaged + "/member/snap/db"); torn != "torn" {
			t.Errorf("cut %d: the damaged database is %q", cut, torn)
		}
		if !d.Exists(kubelet.Damaged+"/0.log") || kubelet.Damage(d.Machine) != nil {
			t.Errorf("cut %d: the next start is judged by the old log", cut)
		}
	}
	if cuts < 40 {
		t.Errorf("%d cuts are too few", cuts)
	}
}

func same(t *testing.T, cut int, got, want map[string]string) {
	t.Helper()
	for name, text := range want {
		if got[name] != text {
			t.Errorf("cut %d: %s is %q, want %q", cut, name, got[name], text)
		}
	}
	for name := range got {
		if _, known := want[name]; !known {
			t.Errorf("cut %d: %s is too much", cut, name)
		}
	}
}

// TestBackupOfAnotherNode: the database knows the node by its name.
func TestBackupOfAnotherNode(t *testing.T) {
	d := newDisk(t)
	d.factory()
	if kubelet.Restorable(d.Machine) {
		t.Error("no backup can be put back")
	}
	if err := kubelet.Save(t.Context(), d.Machine); err != nil || !kubelet.Restorable(d.Machine) {
		t.Fatalf("it cannot be put back: %v", err)
	}
	d.File("/etc/hostname", "shop-7\n")
	if kubelet.Restorable(d.Machine) {
		t.Error("after the node was renamed its backup can be put back")
	}
	d.File("/etc/hostname", "sno-042\n")
	for range 2 { // and nothing to keep is no error
		if err := kubelet.Keep(t.Context(), d.Machine); err != nil || kubelet.Restorable(d.Machine) || !d.Exists(kubelet.Kept) {
			t.Errorf("in use: %v", err)
		}
	}
}
