package steps_test

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"touchdown/backend"
	"touchdown/backend/check"
	"touchdown/backend/host/hosttest"
	"touchdown/backend/kube/kubetest"
	"touchdown/backend/kubelet"
	"touchdown/backend/layout"
	"touchdown/backend/problem"
	"touchdown/steps"
	"touchdown/steps/site"
	"touchdown/test/filetools"
	"touchdown/test/wait"
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
	for _, part := range []string{"/var/lib/kubelet/kubeconfig", "/var/lib/kubelet/pki/kubelet-client-1.pem", "/etc/kubernetes/static-pod-resources/etcd-pod-3/x"} {
		m.File(part, "3")
	}
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
	m.File(kubelet.Kept+theDatabase, "of an earlier landing")
	m.must(t, arm.Run(t.Context(), m.node, m))
	if m.Exists(kubelet.Kept) {
		t.Error("a backup of an earlier landing is there")
	}
	if m.up.Load() || !kubelet.Gated(m.Machine) || m.Content(layout.ClusterBackup+theDatabase) != "good" || m.checks["cluster-backup"].Status != check.Pass {
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
	if m.Exists(layout.ClusterBackup) || m.Exists(kubelet.Kept) {
		t.Error("a backup that is out of date is there")
	}
}

// TestArmedNodeIsBakedAgain: nothing has to be changed on it, and nothing asks its API, which is away.
func TestArmedNodeIsBakedAgain(t *testing.T) {
	m := newTorn(t)
	program := filepath.Join(t.TempDir(), "touchdown")
	m.must(t, os.WriteFile(program, []byte("program"), 0o755))
	m.must(t, m.WriteFile(layout.Program, []byte("program"), 0o755))
	m.must(t, (&steps.BakeArm{}).Run(t.Context(), m.node, m))
	m.Forget()
	m.said = nil
	for _, stage := range steps.Bake("1", program, steps.BakeOptions{Arm: true, Armed: true}) {
		for _, s := range stage.Steps {
			m.must(t, s.Run(t.Context(), m.node, m))
		}
	}
	if len(m.said) != 0 || len(m.Calls()) != 0 || !kubelet.Restorable(m.Machine) {
		t.Errorf("it says %q and does %q", m.said, m.Calls())
	}
}

// TestUndoOfArmWaitsForTheAPI: the undo of the steps before needs it. A backup that is out of date is never offered, and lies there for
// support where the cluster does not start.
func TestUndoOfArmWaitsForTheAPI(t *testing.T) {
	m, arm := newTorn(t), &steps.BakeArm{}
	m.must(t, arm.Run(t.Context(), m.node, m))
	m.tear()
	if p := problem.From(arm.Undo(t.Context(), m.node, m)); p.Code != kubelet.Torn || !strings.Contains(p.Fix.String(), kubelet.Kept) {
		t.Errorf("it does not wait: %v", p)
	}
	if m.Exists(layout.ClusterBackup) || m.Content(kubelet.Kept+theDatabase) != "good" {
		t.Error("the backup is offered still, or lost")
	}
}

// TestClusterThatDoesNotStopIsSealed: the node ships all the same, with a warning.
func TestClusterThatDoesNotStopIsSealed(t *testing.T) {
	m := newTorn(t)
	m.On("systemctl stop kubelet.service", "", errors.New("it hangs"))
	m.must(t, (&steps.BakeArm{}).Run(t.Context(), m.node, m))
	if c := m.checks["cluster-backup"]; c.Status != check.Warn || !strings.Contains(c.Observed.String(), "it hangs") {
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
	ctx := wait.Within(t, 10*time.Second)
	for range 2 { // the second finds an open gate
		for _, s := range []steps.Step{&steps.Seal{}, &steps.BakeArm{}} {
			if p := problem.From(s.Run(ctx, m.node, m)); p.Code != kubelet.Torn || kubelet.Gated(m.Machine) || m.Exists(layout.ClusterBackup) {
				t.Errorf("%s: a damaged database is sealed: %v", s.ID(), p)
			}
		}
	}
	m.must(t, m.WriteFile(layout.Armed, nil, 0o600))
	m.File(theDatabase, "good")
	m.must(t, m.Remove(theWords))
	m.must(t, (&steps.Seal{}).Run(ctx, m.node, m))
	if starts := slices.Index(m.Calls(), "systemctl start kubelet.service"); starts < 0 || m.up.Load() || !kubelet.Restorable(m.Machine) {
		t.Errorf("the calls are %q", m.Calls())
	}
}

// TestDatabaseTornAfterTheLanding: a node that people use says what is wrong and where the backup lies. Nothing puts it back, since that
// would take from them what they have done since: no landing, and no undo.
func TestDatabaseTornAfterTheLanding(t *testing.T) {
	m := newTorn(t)
	m.must(t, kubelet.Save(t.Context(), m.Machine))
	m.must(t, kubelet.Keep(t.Context(), m.Machine))
	m.tear()
	m.must(t, kubelet.Release(t.Context(), m.Machine)) // the boot after it
	cfg := site.New()
	var api check.Check
	for _, c := range (&steps.Health{Site: cfg}).Look(t.Context(), m.node) {
		if c.ID == "api" {
			api = c
		}
	}
	fix := api.Fix.String()
	if api.Status != check.Fail || !strings.Contains(api.Observed.String(), "a loss of power has damaged") || !strings.Contains(fix, kubelet.Kept) || !strings.Contains(fix, "/var/lib/etcd/member") {
		t.Errorf("the look says %s: %s (%s)", api.Status, api.Observed, fix)
	}

	s := &steps.Kubelet{Limit: time.Minute}
	m.answer = "restore"
	for _, gate := range []string{"", "closed"} { // closed: by a landing that did not come to its end
		if gate != "" {
			m.must(t, m.Save("gate", []byte(gate)))
		}
		m.must(t, s.PrepareUndo(t.Context(), m.node, m))
		if p := problem.From(s.Run(t.Context(), m.node, m)); p.Code != kubelet.Torn || len(m.asked) != 0 || m.Content(theDatabase) != "torn" {
			t.Errorf("gate %q: %v, asked %+v; the database is %q", gate, p, m.asked, m.Content(theDatabase))
		}
	}
}

// TestNoRoomForTheBackup: the problem names the room, before anybody is asked or anything is noted, and an undo goes on.
func TestNoRoomForTheBackup(t *testing.T) {
	m := newTorn(t)
	m.must(t, (&steps.BakeArm{}).Run(t.Context(), m.node, m))
	m.tear()
	m.On("du", "1152921504606846976\ttotal\n", nil)
	s := &steps.Kubelet{Limit: time.Minute}
	if p := problem.From(s.Run(t.Context(), m.node, m)); p.Code != kubelet.Torn || !strings.Contains(p.Fix.String(), "needs 1099511627840") || len(m.asked) != 0 {
		t.Errorf("without room: %v (%s)", p, p.Fix)
	}
	m.must(t, s.PrepareUndo(t.Context(), m.node, m))
	if _, err := m.Noted("restore"); err == nil || m.Content(theDatabase) != "torn" {
		t.Errorf("something was noted (%v), or the database is %q", err, m.Content(theDatabase))
	}
}

// cut is a node whose power fails after so many commands and notes.
type cut struct {
	*torn
	left int
}

var errPower = errors.New("the power failed")

func (c *cut) power() error {
	if c.left--; c.left < 0 {
		return errPower
	}
	return nil
}

func (c *cut) Note(key string, value []byte) error {
	return errors.Join(c.power(), c.torn.Note(key, value))
}

// newCut is a sealed node whose database was damaged on its road. A note at which the power fails is on the disk.
func newCut(t *testing.T) *cut {
	c := &cut{torn: newTorn(t), left: 1000}
	c.answer = "restore"
	c.must(t, (&steps.BakeArm{}).Run(t.Context(), c.node, c))
	c.tear()
	filetools.Real(t, c.Fake, c.power)
	c.OnFunc("systemctl stop kubelet.service", func([]string, []byte) (string, error) { c.up.Store(false); return "", c.power() })
	c.OnFunc("systemctl start kubelet.service", func([]string, []byte) (string, error) {
		if err := c.power(); err != nil {
			return "", err
		}
		if good := c.Content(theDatabase) == "good"; good {
			c.up.Store(true)
		} else {
			c.File(theWords, "2026-11-21T00:00:00Z stderr F panic: freepages: failed to get all reachable pages\n")
		}
		return "", nil
	})
	return c
}

// TestRestoreCutOff: a loss of power while the backup is put back leaves a node that ends it without asking again, in a landing or an undo,
// and that can be held back as it left the factory.
func TestRestoreCutOff(t *testing.T) {
	for n := 0; ; n += 7 { // each command is cut off by the test of its package
		c := newCut(t)
		s := &steps.Kubelet{Limit: time.Minute}
		c.left = n
		err := s.Run(t.Context(), c.node, c)
		if err == nil {
			if n < 20 {
				t.Errorf("only %d commands: %q", n, c.Calls())
			}
			return
		}
		if n > 60 {
			t.Fatalf("it never ends: %v", err)
		}
		c.left = 1000
		if n%2 == 0 {
			c.must(t, s.PrepareUndo(t.Context(), c.node, c))
		} else {
			c.must(t, s.Run(t.Context(), c.node, c))
		}
		if begun := len(c.asked) > 0; begun && (!c.up.Load() || c.Content(theDatabase) != "good" || len(c.asked) != 1 || c.Content(kubelet.Damaged+"/member/snap/db") != "torn") {
			t.Errorf("cut %d: up: %v; the database is %q, asked %d times", n, c.up.Load(), c.Content(theDatabase), len(c.asked))
		}
		c.must(t, s.Undo(t.Context(), c.node, c))
		if len(c.asked) > 0 && !kubelet.Gated(c.Machine) {
			t.Errorf("cut %d: it is not held back", n)
		}
	}
}
