package kubelet_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"touchdown/backend/host/hosttest"
	"touchdown/backend/kubelet"
	"touchdown/backend/layout"
	"touchdown/test/filetools"
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
	filetools.Real(t, d.Fake, d.power)
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
	for cut := range 60 {
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
		for name, want := range map[string]string{
			"member/snap/db": "torn", "revision.json": "9", "manifests/etcd-pod.yaml": "revision 4", "static-pod-resources/etcd-pod-4/x": "4",
			"pki/kubelet-client-2.pem": "newer key",
		} {
			if got := d.Content(kubelet.Damaged + "/" + name); got != want {
				t.Errorf("cut %d: %s is %q in what was replaced, want %q", cut, name, got, want)
			}
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

// TestNoDamagedDatabaseIsLost: what lies in /var/lib/etcd-backup from an earlier time stays, and the second damaged database lies beside
// the first.
func TestNoDamagedDatabaseIsLost(t *testing.T) {
	d := newDisk(t)
	d.factory()
	if err := kubelet.Save(t.Context(), d.Machine); err != nil {
		t.Fatal(err)
	}
	d.File(kubelet.Damaged+"/member/snap/db", "of OpenShift's own cluster-restore.sh")
	for _, torn := range []string{"torn", "torn again"} {
		d.File("/var/lib/etcd/member/snap/db", torn)
		if err := kubelet.Restore(t.Context(), d.Machine); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]string{"member": "of OpenShift's own cluster-restore.sh", "member-2": "torn", "member-3": "torn again"} {
		if got := d.Content(kubelet.Damaged + "/" + name + "/snap/db"); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}

// TestDropThroughCuts cuts the power before each command that removes a backup or ends its use: what is left is whole or no backup.
func TestDropThroughCuts(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*disk) error{
		"drop": func(d *disk) error { return kubelet.Drop(d.t.Context(), d.Machine) },
		"keep": func(d *disk) error { return kubelet.Keep(d.t.Context(), d.Machine) },
	} {
		for cut, whole := 0, false; !whole; cut++ {
			d := newDisk(t)
			d.factory()
			for _, folder := range []string{layout.ClusterBackup, kubelet.Kept} {
				for _, part := range []string{"/etc/hostname", "/last"} {
					d.File(folder+part, folder)
				}
			}
			d.left = cut
			err := end(d)
			whole = err == nil
			for _, folder := range []string{layout.ClusterBackup, kubelet.Kept} {
				if d.Exists(folder) && (!d.Exists(folder+"/etc/hostname") || !d.Exists(folder+"/last")) {
					t.Errorf("%s, cut %d: half of %s is left", name, cut, folder)
				}
			}
			d.left = -1
			if err := end(d); err != nil {
				t.Fatal(err)
			}
			if left := d.Content(kubelet.Kept + "/last"); d.Exists(layout.ClusterBackup) || d.Exists(layout.ClusterBackup+".old") || d.Exists(kubelet.Kept+".old") ||
				name == "keep" && left != layout.ClusterBackup || name == "drop" && left != "" {
				t.Errorf("%s, cut %d: what is left is %q", name, cut, left)
			}
			if cut > 20 {
				t.Fatal("it never ends")
			}
		}
	}
}

// TestHalfABackup is never put back, and takes nothing away: a part that is missing in it is not part to remove.
func TestHalfABackup(t *testing.T) {
	for _, part := range []string{"/var/lib/etcd/member", "/etc/kubernetes/manifests", "/etc/kubernetes/static-pod-resources", "/var/lib/kubelet/pki", "/var/lib/kubelet/kubeconfig"} {
		d := newDisk(t)
		d.factory()
		if err := kubelet.Save(t.Context(), d.Machine); err != nil {
			t.Fatal(err)
		}
		if err := os.RemoveAll(d.Path(layout.ClusterBackup + part)); err != nil {
			t.Fatal(err)
		}
		want := d.tree()
		if err := kubelet.Restore(t.Context(), d.Machine); err == nil || kubelet.Restorable(d.Machine) {
			t.Errorf("without %s it counts as whole: %v", part, err)
		}
		same(t, 0, d.tree(), want)
		if err := os.RemoveAll(d.Path(part)); err != nil {
			t.Fatal(err)
		}
		if err := kubelet.Save(t.Context(), d.Machine); err == nil || kubelet.Restorable(d.Machine) {
			t.Errorf("a cluster without %s has a backup: %v", part, err)
		}
	}
}

// TestRoomForABackup: a disk that is too full is told before anything is changed.
func TestRoomForABackup(t *testing.T) {
	d := newDisk(t)
	d.factory()
	if err := kubelet.Save(t.Context(), d.Machine); err != nil {
		t.Fatal(err)
	}
	if err := kubelet.Room(t.Context(), d.Machine); err != nil {
		t.Errorf("with room: %v", err)
	}
	d.On("du", "1152921504606846976\ttotal\n", nil)
	if err := kubelet.Room(t.Context(), d.Machine); err == nil || !strings.Contains(err.Error(), "needs 1099511627840") {
		t.Errorf("without room: %v", err)
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
	for range 2 { // and nothing to keep is not an error
		if err := kubelet.Keep(t.Context(), d.Machine); err != nil || kubelet.Restorable(d.Machine) || !d.Exists(kubelet.Kept) {
			t.Errorf("in use: %v", err)
		}
	}
}
