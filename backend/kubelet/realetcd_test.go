package kubelet_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"

	"touchdown/backend/kube"
	"touchdown/backend/kubelet"
	"touchdown/backend/problem"
	"touchdown/test/bench"
	"touchdown/test/wait"
)

// TestRealEtcdThatIsTorn: a real etcd does not start from torn files and says so in words that are recognised; from the backup it
// starts, with what was in it. etcd's issue 16596 tells how the files are torn: of a write to member/snap/db that is longer than a page,
// the kernel flushed some pages and not others.
func TestRealEtcdThatIsTorn(t *testing.T) {
	d := newDisk(t)
	dir, err := os.MkdirTemp("", "bench-") // the path of a socket is short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	first := bench.Start(t, bench.Options{Dir: dir})
	configMaps := func(b *bench.Cluster) corev1client.ConfigMapInterface {
		c, err := kube.Open(b.Kubeconfig, nil)
		if err != nil {
			t.Fatal(err)
		}
		return c.Core.ConfigMaps("openshift-config")
	}
	kept := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "from-the-factory"}}
	if _, err := configMaps(first).Create(t.Context(), kept, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := first.Stop(); err != nil {
		t.Fatal(err)
	}
	d.holds(dir)
	if err := kubelet.Save(t.Context(), d.Machine); err != nil {
		t.Fatal(err)
	}
	said := filepath.Join(dir, "logs", "serve.log")
	for _, lost := range []struct {
		what        string
		first, most int64
	}{{"both meta pages", 0, 2}, {"all but the meta pages", 2, 1 << 20}} {
		d.tearPages(lost.first, lost.most)
		if err := os.Truncate(said, 0); err != nil {
			t.Fatal(err)
		}
		if _, err := bench.Launch(wait.Within(t, time.Minute), bench.Options{Dir: dir}); err == nil {
			t.Fatalf("%s: it starts", lost.what)
		}
		log := podLog(t, said)
		d.File("/var/log/pods/openshift-etcd_etcd-n_1/etcd/0.log", log)
		if err := kubelet.Damage(d.Machine); err == nil || problem.From(err).Code != kubelet.Torn {
			t.Errorf("%s: not recognised (%v) in:\n%s", lost.what, err, log)
		}
		if err := kubelet.Restore(t.Context(), d.Machine); err != nil {
			t.Fatal(err)
		}
	}
	again := bench.Start(t, bench.Options{Dir: dir})
	if _, err := configMaps(again).Get(t.Context(), kept.Name, metav1.GetOptions{}); err != nil {
		t.Errorf("what was in the backup: %v", err)
	}
}

// holds puts the database of the bench's cluster in dir onto the disk, where etcd's is.
func (d *disk) holds(dir string) {
	d.t.Helper()
	d.factory()
	if err := os.RemoveAll(d.Path("/var/lib/etcd/member")); err != nil {
		d.t.Fatal(err)
	}
	d.File("/var/lib/etcd/revision.json", "{}")
	there, here := d.Path("/var/lib/etcd/member"), filepath.Join(dir, "etcd", "member")
	if err := os.CopyFS(there, os.DirFS(here)); err != nil {
		d.t.Fatal(err)
	}
	if err := os.RemoveAll(here); err != nil {
		d.t.Fatal(err)
	}
	if err := os.Symlink(there, here); err != nil {
		d.t.Fatal(err)
	}
}

// tearPages empties pages of the database from number first on, at most so many.
func (d *disk) tearPages(first, most int64) {
	d.t.Helper()
	name, page := d.Path("/var/lib/etcd/member/snap/db"), int64(os.Getpagesize())
	data, err := os.ReadFile(name)
	if err != nil {
		d.t.Fatal(err)
	}
	clear(data[first*page : min((first+most)*page, int64(len(data)))])
	if err := os.WriteFile(name, data, 0o600); err != nil {
		d.t.Fatal(err)
	}
}

// podLog is what a program wrote, in the container runtime's format.
func podLog(t *testing.T, file string) string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var log strings.Builder
	for line := range strings.Lines(string(data)) {
		log.WriteString("2026-11-21T00:00:00Z stderr F " + strings.TrimSuffix(line, "\n") + "\n")
	}
	return log.String()
}
