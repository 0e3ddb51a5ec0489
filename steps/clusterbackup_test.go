package steps_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"touchdown/backend"
	"touchdown/backend/host/hosttest"
	"touchdown/backend/kube/kubetest"
	"touchdown/backend/kubelet"
	"touchdown/backend/layout"
	"touchdown/backend/problem"
	"touchdown/steps"
	"touchdown/steps/site"
	"touchdown/test/filetools"
)

const (
	theDatabase = "/var/lib/etcd/member/snap/db"
	theWords    = "/var/log/pods/openshift-etcd_etcd-n_1/etcd/0.log"
)

// torn is a node on a disk whose cluster starts only from a database that says "good".
type torn struct {
	*hosttest.Fake
	*clusterReport
	node   *backend.Node
	up     atomic.Bool
	answer string           // to each question
	asked  []steps.Question // by the step, in the goroutine of the test
}

func newTorn(t *testing.T) *torn {
	m := &torn{Fake: hosttest.New(t), clusterReport: newReport()}
	api, c := kubetest.New(t)
	m.node = node(m.Fake, c)
	api.Fault = func(w http.ResponseWriter, _ *http.Request) bool {
		if !m.up.Load() {
			return kubetest.Refuse(w, 503, "ServiceUnavailable", "its database is away")
		}
		_, _ = w.Write([]byte("ok"))
		return true
	}
	filetools.Real(t, m.Fake, func() error { return nil })
	m.OnFunc("systemctl start kubelet.service", func([]string, []byte) (string, error) {
		if good := m.Content(theDatabase) == "good"; good {
			m.up.Store(true)
		} else {
			m.File(theWords, "2026-11-21T00:00:00Z stderr F panic: freepages: failed to get all reachable pages\n")
		}
		return "", nil
	})
	m.OnFunc("systemctl stop kubelet.service", func([]string, []byte) (string, error) { m.up.Store(false); return "", nil })
	m.File("/etc/hostname", "sno-042\n")
	m.File("/var/lib/kubelet/kubeconfig", "kubelet")
	m.File("/etc/kubernetes/manifests/etcd-pod.yaml", "revision 3")
	m.File(theDatabase, "good")
	m.up.Store(true)
	return m
}

func (m *torn) Ask(_ context.Context, q steps.Question) (string, error) {
	m.asked = append(m.asked, q)
	return m.answer, nil
}

// tear damages the database, as a disk does that loses what it had promised to keep.
func (m *torn) tear() {
	m.up.Store(false)
	m.File(theDatabase, "torn")
}

func (m *torn) must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestSealedNodeRests: the cluster of an armed node is stopped and has a backup from before its road. What storage does to the
// database is put right at the site with it, and the landing does not write a backup of the damage over it.
func TestSealedNodeRests(t *testing.T) {
	m, arm := newTorn(t), &steps.BakeArm{}
	m.File(layout.ClusterBackup+theDatabase, "of an earlier seal")
	m.File(layout.ClusterBackup+"/etc/hostname", "sno-042\n")
	m.must(t, arm.Run(t.Context(), m.node, m))
	if m.up.Load() || !kubelet.Gated(m.Machine) || m.Content(layout.ClusterBackup+theDatabase) != "good" || m.checks["cluster-backup"].Status != steps.Pass {
		t.Fatalf("the cluster runs: %v; gated: %v; the backup has %q", m.up.Load(), kubelet.Gated(m.Machine), m.Content(layout.ClusterBackup+theDatabase))
	}
	m.Forget()
	m.must(t, arm.Run(t.Context(), m.node, m))
	if calls := m.Calls(); len(calls) > 0 {
		t.Errorf("the second run does %q", calls)
	}

	m.tear()
	land := &steps.Kubelet{Limit: time.Minute}
	m.answer = "restore"
	m.must(t, land.Run(t.Context(), m.node, m))
	if !m.up.Load() || m.Content(theDatabase) != "good" || m.Content(kubelet.Damaged+"/member/snap/db") != "torn" || len(m.asked) != 1 || m.asked[0].ID != "cluster-restore" {
		t.Errorf("up: %v; the database is %q; asked: %+v", m.up.Load(), m.Content(theDatabase), m.asked)
	}
	m.must(t, arm.Undo(t.Context(), m.node, m))
	if m.Exists(layout.ClusterBackup) {
		t.Error("a backup that is out of date is there")
	}
}

// TestClusterThatDoesNotStopIsSealed: the node ships all the same, with a warning.
func TestClusterThatDoesNotStopIsSealed(t *testing.T) {
	m := newTorn(t)
	m.On("systemctl stop kubelet.service", "", errors.New("it hangs"))
	m.must(t, (&steps.BakeArm{}).Run(t.Context(), m.node, m))
	if c := m.checks["cluster-backup"]; c.Status != steps.Warn || !strings.Contains(c.Observed.String(), "it hangs") {
		t.Errorf("the check is %+v", c)
	}
	if !kubelet.Gated(m.Machine) || m.Exists(layout.ClusterBackup) {
		t.Error("it is not armed, or has a backup of a cluster that runs")
	}
}

// TestSealAfterACut: a seal whose power failed before the cluster was at rest lets it start once more, since nobody would see in
// storage that the cut damaged its database.
func TestSealAfterACut(t *testing.T) {
	m := newTorn(t)
	m.File(layout.FactoryState+"/open", "")
	m.File(layout.Armed, "")
	m.tear()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if p := problem.From((&steps.Seal{}).Run(ctx, m.node, m)); p.Code != kubelet.Torn {
		t.Errorf("a damaged database is sealed: %v", p)
	}
	m.must(t, m.WriteFile(layout.Armed, nil, 0o600))
	m.File(theDatabase, "good")
	m.must(t, m.Remove(theWords))
	m.must(t, (&steps.Seal{}).Run(ctx, m.node, m))
	if starts := slices.Index(m.Calls(), "systemctl start kubelet.service"); starts < 0 || m.up.Load() || !kubelet.Restorable(m.Machine, layout.ClusterBackup) {
		t.Errorf("the calls are %q", m.Calls())
	}
}

// TestDatabaseTornAfterTheLanding: a node that people use says what is wrong, and goes back to before its landing only when they say
// so: not by default, and not by an undo.
func TestDatabaseTornAfterTheLanding(t *testing.T) {
	m := newTorn(t)
	m.must(t, kubelet.Save(t.Context(), m.Machine))
	m.must(t, kubelet.Keep(t.Context(), m.Machine))
	m.tear()
	m.must(t, kubelet.Release(t.Context(), m.Machine)) // the boot after it
	cfg := site.New()
	var api steps.Check
	for _, c := range (&steps.Health{Site: cfg}).Look(t.Context(), m.node) {
		if c.ID == "api" {
			api = c
		}
	}
	if api.Status != steps.Fail || !strings.Contains(api.Observed.String(), "a loss of power has damaged") || !strings.Contains(api.Fix.String(), kubelet.Kept) {
		t.Errorf("the look says %s: %s (%s)", api.Status, api.Observed, api.Fix)
	}

	s := &steps.Kubelet{Limit: time.Minute}
	m.must(t, s.PrepareUndo(t.Context(), m.node, m))
	if m.Content(theDatabase) != "torn" {
		t.Fatal("an undo put the backup back")
	}
	m.answer = "stop"
	if p := problem.From(s.Run(t.Context(), m.node, m)); p.Code != kubelet.Torn {
		t.Errorf("after the answer no: %v", p)
	}
	if q := m.asked[0]; q.ID != "cluster-reset" || q.Default != "stop" || q.Deadline != 0 || m.Content(theDatabase) != "torn" {
		t.Errorf("asked %+v; the database is %q", q, m.Content(theDatabase))
	}
	m.answer = "restore"
	m.must(t, s.Run(t.Context(), m.node, m))
	if m.Content(theDatabase) != "good" || m.Content(kubelet.Damaged+"/member/snap/db") != "torn" || !m.Exists(kubelet.Kept) {
		t.Errorf("after the answer yes the database is %q", m.Content(theDatabase))
	}
}

// TestResetCutOff: a loss of power while the cluster goes back to before its landing leaves a node that starts nothing, and the rest is
// done without asking again.
func TestResetCutOff(t *testing.T) {
	for cut := 0; cut < 60; cut += 5 { // each command is cut off by the test of its package
		m := newTorn(t)
		m.must(t, kubelet.Save(t.Context(), m.Machine))
		m.must(t, kubelet.Keep(t.Context(), m.Machine))
		m.tear()
		m.must(t, kubelet.Release(t.Context(), m.Machine))
		left := cut
		filetools.Real(t, m.Fake, func() error {
			if left--; left < 0 {
				return errors.New("the power failed")
			}
			return nil
		})
		m.answer = "restore"
		s := &steps.Kubelet{Limit: time.Minute}
		err := s.Run(t.Context(), m.node, m)
		if err == nil {
			if cut < 10 {
				t.Errorf("only %d commands: %q", cut, m.Calls())
			}
			return
		}
		if !kubelet.Gated(m.Machine) {
			t.Errorf("cut %d: the kubelet would start what is half there", cut)
		}
		left = 1000
		m.must(t, s.Run(t.Context(), m.node, m))
		if m.Content(theDatabase) != "good" || m.Content(kubelet.Damaged+"/member/snap/db") != "torn" || len(m.asked) != 1 {
			t.Errorf("cut %d: the database is %q, asked %d times", cut, m.Content(theDatabase), len(m.asked))
		}
	}
	t.Error("it never ends")
}
