package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"touchdown/steps/session"
	"touchdown/steps/view"
	"touchdown/test/bench"
	"touchdown/test/bench/landing"
	"touchdown/test/wait"
)

// calls is what the site of these tests brings: enough for every step to have something to do.
const calls = `  sshKeys: [ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAgpdVji54vtwFvgW9svAJpsfg2PXjzzuo1e4AVQukoh admin@store.example]
  nodeLabels: {example.com/store: "0051", node-role.kubernetes.io/edge: ""}
`

// trip is a node on its way, with what tests of faults ask of it.
type trip struct {
	*landing.Landing
	t   *testing.T
	ctx context.Context //nolint:containedctx // the time that the test has; ends with it
}

func newTrip(t *testing.T, limit time.Duration, o landing.Options) *trip {
	t.Helper()
	o.Network = edge()
	return &trip{landing.Start(t, o), t, wait.Within(t, limit)}
}

func (f *trip) must(err error) {
	f.t.Helper()
	if err != nil {
		f.t.Fatal(err)
	}
}

func (f *trip) shell(script string) string {
	f.t.Helper()
	out, err := f.Node.Shell(f.ctx, script)
	if err != nil {
		f.t.Fatalf("%s: %v\n%s", script, err, out)
	}
	return strings.TrimSpace(out)
}

func (f *trip) is(what string, ok func(*landing.Status) bool) *landing.Status {
	f.t.Helper()
	s, err := f.Await(f.ctx, what, ok)
	f.must(err)
	return s
}

func (f *trip) collecting() {
	f.t.Helper()
	f.is("the form", func(s *landing.Status) bool { return s.State == "collecting" })
}

// working waits until a step is at work, or the job has ended.
func (f *trip) working(step string) {
	f.t.Helper()
	s := f.is("the step "+step, func(s *landing.Status) bool { return s.Current == step || s.State == "failed" || s.State == "done" })
	if s.State != "working" {
		f.t.Fatalf("the job is %s at %s before %s: %+v", s.State, s.Current, step, s.Problem)
	}
}

// fails waits for a failure that tells what it was and what to do.
func (f *trip) fails(says ...string) *landing.Status {
	f.t.Helper()
	s := f.is("a failure", func(s *landing.Status) bool { return s.State == "failed" || s.State == "done" })
	if s.State != "failed" || s.Problem == nil || s.Problem.Summary == "" || s.Problem.Fix == "" {
		f.t.Fatalf("the job is %s: %+v", s.State, s.Problem)
	}
	f.t.Logf("%s failed with %s: %s Try: %s (%s)", s.Current, s.Problem.Code, s.Problem.Summary, s.Problem.Fix, s.Problem.Detail)
	all := s.Problem.Code + " " + s.Problem.Summary + " " + s.Problem.Detail
	for _, want := range says {
		if !strings.Contains(all, want) {
			f.t.Errorf("the problem does not say %q: %s", want, all)
		}
	}
	return s
}

func (f *trip) retry() { f.t.Helper(); f.must(f.Do(f.ctx, session.Action{Verb: session.Retry})) }

// lands waits for the good end, and looks from outside.
func (f *trip) lands() {
	f.t.Helper()
	if s := f.is("the end", func(s *landing.Status) bool { return s.State == "done" || s.State == "failed" }); s.State != "done" {
		f.t.Fatalf("failed at %s: %+v", s.Current, s.Problem)
	}
	f.lives("landed")
	f.must(f.Proof(f.ctx, domain))
}

func (f *trip) lives(life string) {
	f.t.Helper()
	s, err := f.Status(f.ctx)
	f.must(err)
	if s.Life != life {
		f.t.Errorf("the node's life is %q instead of %q", s.Life, life)
	}
}

// apply lands headless.
func (f *trip) apply(config string) string {
	f.t.Helper()
	out, code, err := f.Apply(f.ctx, config)
	if err != nil || code != 0 {
		f.t.Fatalf("apply: exit %d, %v\n%s", code, err, out)
	}
	f.lives("landed")
	f.must(f.Proof(f.ctx, domain))
	return out
}

// factoryAgain is what an undo has to reach: the address by DHCP, the gate closed, nothing of the cluster at work, and the
// site's domain nowhere but where its DHCP server brings it.
func (f *trip) factoryAgain() {
	f.t.Helper()
	f.lives("returned")
	f.must(f.Node.Wait(wait.Within(f.t, 30*time.Second), "ip -4 address show br-ex | grep -q 'inet 198.51.100.10/24.* dynamic'"))
	if out := f.shell(`ls /var/lib/touchdown/armed; systemctl is-active kubelet || true; systemctl list-units --plain --no-legend "crio-*.scope"; grep -rl ` + domain + ` /etc --exclude=resolv.conf || true`); out != "/var/lib/touchdown/armed\ninactive" {
		f.t.Errorf("after undo: %s", out)
	}
}

func (f *trip) client() dynamic.Interface {
	f.t.Helper()
	config, err := f.Node.Kubernetes()
	f.must(err)
	client, err := dynamic.NewForConfig(config)
	f.must(err)
	return client
}

// objects reads what the wizard changes, with a control plane that runs for that alone.
func (f *trip) objects() map[string]string {
	f.t.Helper()
	f.shell("systemctl reset-failed controlplane; systemctl start controlplane")
	client := f.client()
	all := map[string]string{}
	for _, r := range []schema.GroupVersionResource{
		{Group: "config.openshift.io", Version: "v1", Resource: "apiservers"},
		{Group: "config.openshift.io", Version: "v1", Resource: "ingresses"},
		{Group: "config.openshift.io", Version: "v1", Resource: "images"},
		{Group: "config.openshift.io", Version: "v1", Resource: "proxies"},
		{Group: "config.openshift.io", Version: "v1", Resource: "imagedigestmirrorsets"},
		{Group: "operator.openshift.io", Version: "v1", Resource: "ingresscontrollers"},
		{Group: "machineconfiguration.openshift.io", Version: "v1", Resource: "machineconfigpools"},
		{Group: "machineconfiguration.openshift.io", Version: "v1", Resource: "machineconfigs"},
		{Version: "v1", Resource: "nodes"},
	} {
		var list *unstructured.UnstructuredList
		wait.Until(f.t, "a list of "+r.Resource, func(ctx context.Context) (err error) {
			list, err = client.Resource(r).List(ctx, metav1.ListOptions{})
			return err
		})
		for _, o := range list.Items {
			// A rendered configuration stays as long as a pool might go back to it.
			if strings.HasPrefix(o.GetName(), "rendered-") {
				continue
			}
			spec, err := json.Marshal(o.Object["spec"])
			f.must(err)
			all[r.Resource+" "+o.GetName()] = string(spec) + text(o.GetLabels())
		}
	}
	f.shell("systemctl stop controlplane")
	return all
}

// TestALifeOnTheNode takes a node that was in store for so long that its certificates ended to a site whose time server is
// off by three days, back to the factory's identity, to the site again with what that gives (DHCP, IPv6 by its router), and
// through the hand-over.
func TestALifeOnTheNode(t *testing.T) {
	f := newTrip(t, 8*time.Minute, landing.Options{Off: true})
	f.must(f.Node.ExpireKubeletCertificates(f.ctx, time.Now().Add(-48*time.Hour)))
	f.must(f.Node.Boot(f.ctx))
	f.Site.NTP.Offset(72 * time.Hour)
	f.collecting()
	f.lives("armed")
	before := f.objects()
	f.lives("armed")

	out := f.apply(static(calls))
	for _, want := range []string{"Approved the node's own certificate request", "The clock stays unchanged"} {
		if !strings.Contains(out, want) {
			t.Errorf("apply does not tell %q:\n%s", want, out)
		}
	}
	if strings.Contains(out, "a key that the kubelet does not have") {
		t.Errorf("the kubelet's own requests are taken for a stranger's:\n%s", out)
	}
	if out := f.shell("openssl x509 -checkend 0 -noout -in /var/lib/kubelet/pki/kubelet-client-current.pem && openssl x509 -checkend 0 -noout -in /var/lib/kubelet/pki/kubelet-server-current.pem"); strings.Contains(out, "will expire") {
		t.Errorf("the kubelet's certificates: %s", out)
	}

	out, code, err := f.Touchdown(f.ctx, "undo", "--force")
	if err != nil || code != 0 {
		t.Fatalf("undo: exit %d, %v\n%s", code, err, out)
	}
	f.factoryAgain()
	for name, spec := range f.objects() {
		if before[name] != spec {
			t.Errorf("%s was\n%s\nand is\n%s", name, before[name], spec)
		}
		delete(before, name)
	}
	for name := range before {
		t.Errorf("%s is gone", name)
	}

	f.Site.NTP.Offset(0)
	f.Site.RA.On()
	f.apply(given(calls))
	if has := f.shell("ip -o address show dev br-ex scope global"); !strings.Contains(has, "198.51.100.10/24") || !strings.Contains(has, "2001:db8:51:") {
		t.Errorf("the site gave other addresses:\n%s", has)
	}
	f.handsOver()
}

// handsOver accepts the hand-over. From then on nothing changes before someone types the node's name.
func (f *trip) handsOver() {
	f.t.Helper()
	f.must(f.Do(f.ctx, session.Action{Verb: session.HandOver}))
	if out, code, err := f.Apply(f.ctx, static("")); err != nil || code != 1 || !strings.Contains(out, "locked") {
		f.t.Errorf("apply on a landed node: exit %d, %v\n%s", code, err, out)
	}
	if out, code, err := f.Touchdown(f.ctx, "undo", "--force"); err != nil || code != 1 || !strings.Contains(out, "locked") {
		f.t.Errorf("undo on a landed node: exit %d, %v\n%s", code, err, out)
	}
	if left := f.shell("find /var/lib/touchdown/saved /var/lib/touchdown/secrets -type f"); left != "" {
		f.t.Errorf("after the hand-over there is still %s", left)
	}
	if err := f.Do(f.ctx, session.Action{Verb: session.Unlock, Value: "another"}); !errors.Is(err, session.ErrInvalid) {
		f.t.Errorf("unlocked by a wrong name: %v", err)
	}
	f.must(f.Do(f.ctx, session.Action{Verb: session.Unlock, Value: f.shell("hostname")}, session.Action{Verb: session.Edit}))
	f.collecting()
}

// TestFaultsOnTheWay has a clock that cannot be set, a disk that fills up and a pool that does not get on, one after the
// other on one node, which lands in the end.
func TestFaultsOnTheWay(t *testing.T) {
	f := newTrip(t, 8*time.Minute, landing.Options{})
	f.Site.NTP.Offset(72 * time.Hour)
	f.collecting()
	f.must(f.Begin(f.ctx, static(calls)))

	// The bench takes the right to set the clock away from its nodes: the kernel's is that of the machine below.
	f.question("clock-jump", "set")
	f.fails("CLK-SET")

	f.retry()
	f.asks("clock-jump")
	f.shell(`n=0; for size in 1073741824 67108864 1048576 4096; do
			while fallocate -l "$size" /var/ballast.$n 2>/dev/null; do n=$((n+1)); done; rm -f /var/ballast.$n
		done; df /var`)
	f.question("clock-jump", "keep")
	f.fails("FULL")
	if half := f.shell(`find /var/lib/touchdown /etc/NetworkManager/system-connections /etc/dnsmasq.d -type f -size 0 ! -name lock ! -name armed; find /var/lib/touchdown -name '*.tmp*'`); half != "" {
		t.Errorf("half-written: %s", half)
	}
	f.shell("rm -f /var/ballast.*")
	f.Site.NTP.Offset(0)
	f.retry()

	f.sticks("machine-config")
	f.working("node-config")
	time.Sleep(15 * time.Second) // nothing moves, and the screen tells for how long
	t.Log("the screen says: " + f.waiting("node-config"))
	f.must(f.Do(f.ctx, session.Action{Verb: session.Cancel}))
	f.is("the work to stop", func(s *landing.Status) bool { return s.State == "failed" })
	pools := schema.GroupVersionResource{Group: "machineconfiguration.openshift.io", Version: "v1", Resource: "machineconfigpools"}
	master, err := f.client().Resource(pools).Get(f.ctx, "master", metav1.GetOptions{})
	f.must(err)
	if paused, _, _ := unstructured.NestedBool(master.Object, "spec", "paused"); paused {
		t.Error("the pool is left paused")
	}
	cluster, err := f.Cluster()
	f.must(err)
	f.must(cluster.ClearFaults())
	f.retry()
	f.lands()
}

// sticks has the roll-outs of an operator never end, from the start of the cluster on.
func (f *trip) sticks(operator string) {
	f.t.Helper()
	wait.Until(f.t, "the start of the cluster", func() error {
		cluster, err := f.Cluster()
		if err != nil {
			return err
		}
		return cluster.SetFault(bench.Fault{Kind: bench.Stuck, Operator: operator})
	})
}

// asks waits for a question.
func (f *trip) asks(id string) {
	f.t.Helper()
	if s := f.is("the question "+id, func(s *landing.Status) bool { return s.State == "question" || s.State == "failed" || s.State == "done" }); s.State != "question" {
		f.t.Fatalf("the job is %s at %s: %+v", s.State, s.Current, s.Problem)
	}
}

// question waits for a question and answers it.
func (f *trip) question(id, answer string) {
	f.t.Helper()
	f.asks(id)
	f.must(f.Do(f.ctx, session.Action{Verb: session.Reply, Question: id, Value: answer}))
}

// podLog has the bench's control plane, which is a service, write its last words where a static pod's are.
const podLog = `[Service]
ExecStopPost=/bin/bash -c 'dir=$(ls -d /var/log/pods/openshift-kube-apiserver_kube-apiserver-*/kube-apiserver 2>/dev/null | tail -1); \
	dir=$${dir:-/var/log/pods/openshift-kube-apiserver_kube-apiserver-sno-factory_bench/kube-apiserver}; mkdir -p $$dir; \
	n=$(ls $$dir | grep -c .); echo "$(date -uIns) stderr F Error: $(journalctl -u controlplane -o cat --no-pager -n 50 | grep ^controlplane: | tail -1)" > $$dir/$$n.log'
`

// TestAnAPIThatNeverComes breaks the API server's certificate by hand before the landing. The screen tells it; undo needs no
// API; and the node lands once the certificate is fixed.
func TestAnAPIThatNeverComes(t *testing.T) {
	f := newTrip(t, 6*time.Minute, landing.Options{})
	f.collecting()
	f.must(f.Node.WriteFile("/etc/systemd/system/controlplane.service.d/20-pod-log.conf", []byte(podLog), 0o644))
	const broken = "/var/lib/bench/controlplane/pki/localhost-serving-cert-certkey.crt"
	f.shell("systemctl daemon-reload; cp -p " + broken + " /var/tmp/good.crt; sed -i 's/^M/N/' " + broken)
	f.must(f.Begin(f.ctx, static(calls)))
	f.working("kubelet")
	wait.Until(t, "the screen to say that the API server ended", func() error {
		if says := f.waiting("kubelet"); !strings.Contains(says, "server ended") {
			return fmt.Errorf("it says %q", says)
		}
		return nil
	})
	t.Log("the screen says: " + f.waiting("kubelet"))
	f.must(f.Do(f.ctx, session.Action{Verb: session.Cancel}))
	f.is("the work to stop", func(s *landing.Status) bool { return s.State == "failed" })
	if out, code, err := f.Touchdown(f.ctx, "undo", "--force"); err != nil || code != 0 {
		t.Fatalf("undo: exit %d, %v\n%s", code, err, out)
	}
	f.factoryAgain()
	f.shell("cp -p /var/tmp/good.crt " + broken + "; rm -r /etc/systemd/system/controlplane.service.d; systemctl daemon-reload")
	f.apply(static(calls))
}

// waiting is what a step says that it waits for.
func (f *trip) waiting(step string) string {
	f.t.Helper()
	engine, err := f.Session()
	f.must(err)
	s, err := engine.Snapshot(f.ctx)
	f.must(err)
	if s.Current != step || s.State != view.Working {
		f.t.Fatalf("the job is %s at %s: %+v", s.State, s.Current, s.Problem)
	}
	for _, stage := range s.Stages {
		for _, v := range stage.Steps {
			if v.ID == step && v.Progress != nil {
				return v.Progress.Waiting.String()
			}
		}
	}
	return ""
}
