package kubelet_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"touchdown/backend/host/hosttest"
	"touchdown/backend/kube"
	"touchdown/backend/kube/kubetest"
	"touchdown/backend/kubelet"
	"touchdown/backend/layout"
	"touchdown/backend/problem"
	"touchdown/test/wait"
)

func code(err error) string {
	if p, ok := errors.AsType[*problem.Problem](err); ok {
		return p.Code
	}
	return ""
}

func TestReleaseAndHold(t *testing.T) {
	m := hosttest.New(t)
	m.File(layout.Armed, "")
	// systemd finds the gate open when it starts the unit.
	m.OnFunc("systemctl start", func([]string, []byte) (string, error) {
		if kubelet.Gated(m.Machine) {
			t.Error("started behind a closed gate")
		}
		return "", nil
	})
	for range 2 {
		if err := kubelet.Release(t.Context(), m.Machine); err != nil {
			t.Fatal(err)
		}
	}
	m.Forget()
	// The gate is closed before the kubelet stops: a cut in between leaves a node that does not start it.
	m.OnFunc("systemctl stop kubelet.service", func([]string, []byte) (string, error) {
		if !kubelet.Gated(m.Machine) {
			t.Error("stopped with an open gate")
		}
		return "", nil
	})
	if err := kubelet.Hold(t.Context(), m.Machine); err != nil {
		t.Fatal(err)
	}
	const list = "systemctl list-units --plain --no-legend --state=active crio-*.scope"
	if got := m.Calls(); !slices.Equal(got, []string{"systemctl stop kubelet.service", "systemctl stop crio-*.scope", list}) {
		t.Errorf("calls are %q", got)
	}
	m.File("/usr/bin/crictl", "")
	m.Forget()
	if err := kubelet.Stop(t.Context(), m.Machine); err != nil || m.Calls()[1] != "/usr/bin/crictl rmp --force --all" {
		t.Errorf("calls are %q (%v)", m.Calls(), err)
	}
	// One more container comes up while the others are stopped.
	m.Forget()
	late := "crio-1.scope loaded active running"
	m.OnFunc("systemctl list-units", func([]string, []byte) (string, error) {
		was := late
		late = ""
		return was, nil
	})
	if err := kubelet.Stop(t.Context(), m.Machine); err != nil || len(m.Calls()) != 5 {
		t.Errorf("calls are %q (%v)", m.Calls(), err)
	}
	m.On("/usr/bin/crictl", "", errors.New("exit status 1"))
	if err := kubelet.Stop(t.Context(), m.Machine); code(err) != "KBL-PDS" {
		t.Errorf("err is %v", err)
	}
	m.On("systemctl start crio.service", "", errors.New("exit status 1"))
	if err := kubelet.Release(t.Context(), m.Machine); code(err) != "KBL-STRT" {
		t.Errorf("err is %v", err)
	}
}

// TestContainersStopSlowly: a busy node takes as long as it needs, and one where nothing moves is given up.
func TestContainersStopSlowly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := hosttest.New(t)
		left := 30
		m.OnFunc("systemctl list-units", func([]string, []byte) (string, error) {
			left--
			time.Sleep(20 * time.Second)
			return strings.Repeat("crio-1.scope loaded active running\n", max(left, 0)), nil
		})
		if err := kubelet.Stop(t.Context(), m.Machine); err != nil || left > 0 {
			t.Errorf("%v, %d left", err, left)
		}
		m.On("systemctl list-units", "crio-1.scope loaded active running", nil)
		begun := time.Now()
		if err := kubelet.Stop(t.Context(), m.Machine); code(err) != "KBL-PDS" || time.Since(begun) > 3*time.Minute {
			t.Errorf("%v after %s", err, time.Since(begun))
		}
	})
}

func TestAwait(t *testing.T) {
	m := hosttest.New(t)
	m.File("/var/lib/kubelet/x", "")
	api, c := kubetest.New(t)
	looks := 0
	api.Fault = func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path != "/readyz" {
			return false
		}
		if looks++; looks < 4 {
			return kubetest.Refuse(w, 500, "InternalError", "etcd failed")
		}
		_, _ = w.Write([]byte("ok"))
		return true
	}
	var told []string
	ctx, stop := context.WithCancelCause(t.Context())
	heard := errors.New("heard")
	c = c.WithProgress(func(p kube.Progress) {
		if told = append(told, p.Waiting.String()); strings.Contains(told[len(told)-1], "server ended") {
			stop(heard)
		}
	})
	m.OnFunc("systemctl is-active", func([]string, []byte) (string, error) {
		if looks < 2 {
			return "", errors.New("exit status 3")
		}
		return "", nil
	})
	if err := kubelet.Await(t.Context(), m.Machine, c, wait.Timeout(5*time.Second)); err != nil {
		t.Fatal(err)
	}
	all := strings.Join(told, "\n")
	if !strings.Contains(all, "the kubelet, which does not run") || !strings.Contains(all, "the cluster's API: ") {
		t.Errorf("told: %s", all)
	}
	// It never comes, and says why.
	api.Fault = func(w http.ResponseWriter, _ *http.Request) bool {
		return kubetest.Refuse(w, 500, "InternalError", "etcd failed")
	}
	if err := kubelet.Await(t.Context(), m.Machine, c, 50*time.Millisecond); code(err) != "KAS-LATE" || !strings.Contains(err.Error(), "Not finished within 50ms: the start of the cluster's API") {
		t.Errorf("err is %v", err)
	}
	m.File("/var/log/pods/openshift-kube-apiserver_kube-apiserver-n_1/kube-apiserver/0.log", "2026-11-21T00:00:00Z stderr F I1121 fine\n"+
		`2026-11-21T00:00:01Z stderr F Error: failed to load SNI cert and key: open user-serving-cert-000/tls.crt: no such file`+"\n2026-11-21T00:00:02Z stderr F I1121 bye\n")
	err := kubelet.Await(t.Context(), m.Machine, c, 50*time.Millisecond)
	if p := problem.From(err); p.Code != "KAS-LATE" || !strings.Contains(p.Error(), "user-serving-cert-000") {
		t.Errorf("err is %v", err)
	}
	// Someone who waits is told as soon as it ends again and again, by the newest log: the tenth is not before the ninth.
	told = nil
	m.OnFunc("systemctl is-active", func([]string, []byte) (string, error) {
		n := len(told) + 8
		m.File(fmt.Sprintf("/var/log/pods/openshift-kube-apiserver_kube-apiserver-n_1/kube-apiserver/%d.log", n),
			fmt.Sprintf("2026-11-21T00:00:01Z stderr F Error: bad for the %dth time\n", n))
		return "", nil
	})
	if err := kubelet.Await(ctx, m.Machine, c, wait.Timeout(10*time.Second)); !errors.Is(err, heard) {
		t.Errorf("err is %v", err)
	}
	if last := told[len(told)-1]; !strings.Contains(last, fmt.Sprintf("bad for the %dth time", len(told)+7)) {
		t.Errorf("told %q", told)
	}
}

// TestTheComplaintOfTheNewestRevision: a pod of a new revision is counted from zero again, beside the logs of the old one.
func TestTheComplaintOfTheNewestRevision(t *testing.T) {
	m := hosttest.New(t)
	const pod = "/var/log/pods/openshift-kube-apiserver_kube-apiserver-n_"
	m.File(pod+"old/kube-apiserver/7.log", "2026-11-21T00:00:01Z stderr F Error: of the old revision\n")
	m.File(pod+"new/kube-apiserver/0.log", "2026-11-21T00:00:02Z stderr F Error: of the new revision\n")
	if got := kubelet.Complaint(m.Machine); got != "Error: of the new revision" {
		t.Errorf("%q", got)
	}
}

// torn is what etcd 3.6.4 wrote of files that were torn on purpose: pages of zeros, a database without content, a log with other bytes.
var torn = []string{
	`panic: assertion failed: Page expected to be: 294, but self identifies as 0`,
	`{"level":"panic","caller":"etcdserver/bootstrap.go:420","msg":"failed to recover v3 backend from snapshot","error":"failed to find database snapshot file (snap: snapshot file doesn't exist)","stacktrace":"` + strings.Repeat("x", 900) + `"}`,
	`{"level":"panic","caller":"backend/backend.go:205","msg":"failed to open database","path":"/var/lib/etcd/member/snap/db","error":"invalid database"}`,
	`{"level":"error","caller":"etcdserver/server.go:309","msg":"bootstrap failed","error":"walpb: crc mismatch: expected: a1fc01be computed: c3750146: in file '0-0.wal' at position: 19136"}`,
}

// TestADamagedDatabaseIsToldAtOnce: nobody waits for an etcd that cannot start, and for a repaired one the wait begins again.
func TestADamagedDatabaseIsToldAtOnce(t *testing.T) {
	for _, line := range torn {
		m := hosttest.New(t)
		api, c := kubetest.New(t)
		api.Fault = func(w http.ResponseWriter, _ *http.Request) bool {
			return kubetest.Refuse(w, 500, "InternalError", "etcd failed")
		}
		await := func() error {
			return kubelet.Await(t.Context(), m.Machine, c, 50*time.Millisecond)
		}
		log := func(pod string, n, second int, text string) {
			m.File(fmt.Sprintf("/var/log/pods/openshift-etcd_etcd-n_%s/etcd/%d.log", pod, n), fmt.Sprintf("2026-11-21T00:00:%02dZ stderr F %s\n", second, text))
		}
		log("1", 6, 1, `{"level":"info","msg":"ready to serve client requests"}`)
		if err := await(); code(err) != "KAS-LATE" {
			t.Errorf("before: %v", err)
		}
		log("1", 7, 2, line)
		if p := problem.From(await()); p.Code != "ETC-RENT" || p.Err == nil || len(p.Err.Error()) > 310 {
			t.Errorf("%q: %v", line, p)
		}
		log("2", 0, 3, `{"level":"info","msg":"starting an etcd server"}`)
		if err := await(); code(err) != "KAS-LATE" {
			t.Errorf("repaired, and slow: %v", err)
		}
	}
}

// TestWhichWordsOfEtcdCount: the end of the newest log alone tells whether etcd ended by damage, however much there is to read.
func TestWhichWordsOfEtcdCount(t *testing.T) {
	const (
		good  = `{"msg":"ready to serve client requests"}`
		slow  = `{"msg":"starting an etcd server"}`
		ended = "panic: freepages: failed to get all reachable pages"
		pod   = "/var/log/pods/openshift-etcd_etcd-n_"
	)
	line := func(second int, text string) string {
		return fmt.Sprintf("2026-11-21T00:00:%02dZ stderr F %s\n", second, text)
	}
	long := strings.Repeat(line(2, slow), 20_000)
	for what, c := range map[string]struct {
		logs map[string]string
		torn bool
	}{
		"none":                           {},
		"ended":                          {map[string]string{"1/etcd/0.log": line(1, good), "1/etcd/1.log": line(2, slow) + line(2, ended)}, true},
		"ended after it had served":      {map[string]string{"1/etcd/0.log": line(1, good) + line(2, ended)}, true},
		"ended, with much said before":   {map[string]string{"1/etcd/0.log": line(1, slow) + long + line(3, ended)}, true},
		"slow after it had ended":        {map[string]string{"1/etcd/9.log": line(1, ended), "1/etcd/10.log": line(2, slow)}, false},
		"slow, in a new pod":             {map[string]string{"1/etcd/9.log": line(1, ended), "2/etcd/0.log": line(2, slow)}, false},
		"serves after an earlier damage": {map[string]string{"1/etcd/0.log": line(1, ended) + line(2, good)}, false},
		"rotated":                        {map[string]string{"1/etcd/0.log.20261121-000000": line(1, ended), "1/etcd/0.log": line(2, slow)}, false},
		"empty":                          {map[string]string{"1/etcd/0.log": line(1, ended), "1/etcd/1.log": ""}, false},
		"the clock was set back":         {map[string]string{"1/etcd/0.log": line(9, ended), "1/etcd/1.log": line(2, slow)}, false},
		"emptied by the loss of power":   {map[string]string{"1/etcd/9.log": "", "2/etcd/0.log": line(1, ended)}, true},
	} {
		m := hosttest.New(t)
		for name, text := range c.logs {
			m.File(pod+name, text)
			if c.torn && text == "" {
				before := time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)
				if err := os.Chtimes(m.Path(pod+name), before, before); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := kubelet.Damage(m.Machine); (err != nil) != c.torn {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func TestUnready(t *testing.T) {
	now := time.Now().UTC().Truncate(time.Second)
	node := func(status string, beat time.Time) string {
		return fmt.Sprintf(`{"status":{"conditions":[{"type":"Ready","status":%q,"message":"m","lastHeartbeatTime":%q}]}}`, status, beat.Format(time.RFC3339))
	}
	lease := func(at time.Time) string {
		return fmt.Sprintf(`{"spec":{"renewTime":%q}}`, at.Format("2006-01-02T15:04:05.000000Z07:00"))
	}
	for _, c := range []struct{ what, node, lease, why string }{
		{"no node", "", "", "register"},
		{"says nothing", `{"status":{}}`, "", "whether"},
		{"not ready", node("False", now), "", "become ready: m"},
		{"unknown", node("Unknown", now), "", "become ready"},
		{"from before the cut", node("True", now.Add(-time.Hour)), lease(now.Add(-time.Hour)), "fresh"},
		{"from before the clock was set back", node("True", now.Add(time.Hour)), lease(now.Add(24 * time.Hour)), "fresh"},
		{"with a lease since", node("True", now.Add(time.Hour)), lease(now), ""},
		{"fresh", node("True", now.Add(-time.Minute)), "", ""},
		{"quiet, with a fresh lease", node("True", now.Add(-4*time.Minute)), lease(now), ""},
	} {
		api, cluster := kubetest.New(t)
		if c.node != "" {
			api.Put("/api/v1/nodes/n", c.node)
		}
		if c.lease != "" {
			api.Put("/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/n", c.lease)
		}
		why, err := kubelet.Unready(t.Context(), cluster, "n", now)
		if err != nil || (why.String() == "") != (c.why == "") || !strings.Contains(why.String(), c.why) {
			t.Errorf("%s: %q (%v)", c.what, why, err)
		}
	}
}

func TestRename(t *testing.T) {
	m := hosttest.New(t)
	api, c := kubetest.New(t)
	api.Put("/api/v1/nodes/old", `{"metadata":{"labels":{"a":"1"}}}`)
	m.File("/etc/hostname", "old\n")
	m.File("/var/lib/kubelet/pki/kubelet-client-current.pem", "x")
	m.File("/var/lib/kubelet/kubeconfig", "x")
	m.File("/var/lib/kubelet/config.json", "credentials")
	m.OnFunc("systemctl stop kubelet.service", func([]string, []byte) (string, error) {
		if api.Get("/api/v1/nodes/old") != "" {
			t.Error("the kubelet stops before its Node is gone")
		}
		return "", nil
	})
	m.OnFunc("hostnamectl hostname", func(argv []string, _ []byte) (string, error) {
		m.File("/etc/hostname", argv[2]+"\n")
		return "", nil
	})
	saved := 0
	if err := kubelet.Rename(t.Context(), m.Machine, c, "old", "new", func(kube.Ref, []byte) error { saved++; return nil }); err != nil {
		t.Fatal(err)
	}
	if m.Exists("/var/lib/kubelet/kubeconfig") || m.Exists("/var/lib/kubelet/pki/kubelet-client-current.pem") || !m.Exists("/var/lib/kubelet/config.json") {
		t.Error("the kubelet has still its identity, or lost its credentials")
	}
	if name, err := kubelet.StaticName(m.Machine); err != nil || name != "new" || saved != 1 {
		t.Errorf("name is %q (%v), %d saved", name, err, saved)
	}
	// Cut off after the kubelet was stopped: the API is away, and nothing of it is asked.
	m.On("systemctl is-active", "", errors.New("exit status 3"))
	api.Fault = func(w http.ResponseWriter, _ *http.Request) bool {
		return kubetest.Refuse(w, 500, "InternalError", "away")
	}
	if err := kubelet.Rename(t.Context(), m.Machine, c, "old", "new", func(kube.Ref, []byte) error { return nil }); err != nil {
		t.Error(err)
	}
	m.On("hostnamectl", "", errors.New("exit status 1"))
	if err := kubelet.Rename(t.Context(), m.Machine, c, "old", "new", nil); code(err) != "HST-SET" {
		t.Errorf("err is %v", err)
	}
}

func TestRelabel(t *testing.T) {
	api, c := kubetest.New(t)
	api.Put("/api/v1/nodes/new", `{"metadata":{"labels":{"kubernetes.io/hostname":"new"}}}`)
	for i := range 2 {
		api.Changes()
		err := kubelet.Relabel(t.Context(), c, "new", map[string]string{"kubernetes.io/hostname": "old", "site": "store1"})
		if n := len(api.Changes()); err != nil || n != 1-i {
			t.Errorf("run %d: %d changes (%v)", i, n, err)
		}
	}
	if got := api.Get("/api/v1/nodes/new", "metadata", "labels"); got != `{"kubernetes.io/hostname":"new","site":"store1"}` {
		t.Errorf("labels are %s", got)
	}
}
