package steps_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"touchdown/backend/check"
	"touchdown/backend/kube"
	"touchdown/backend/nodeconfig"
	"touchdown/steps"
	"touchdown/steps/site"
	"touchdown/test/bench"
	"touchdown/test/wait"
)

// outfit is a cluster of which only the node's configuration is changed.
func outfit(t *testing.T, policy bool) (*land, *steps.NodeConfig) {
	t.Helper()
	l := newLand(t, bench.Options{})
	if policy { // as the bake leaves it
		ref := kube.Ref{Group: "operator.openshift.io", Version: "v1", Resource: "machineconfigurations", Name: "cluster"}
		_, err := l.node.Kube.Put(t.Context(), ref, kube.New{Kind: "MachineConfiguration"}, func(spec map[string]any) error {
			spec["managementState"] = "Managed"
			spec["nodeDisruptionPolicy"] = map[string]any{"files": []any{map[string]any{
				"path":    "/etc/chrony.conf",
				"actions": []any{map[string]any{"type": "Restart", "restart": map[string]any{"serviceName": "chronyd.service"}}},
			}}}
			return nil
		}, func(kube.Ref, []byte) error { return nil })
		if err != nil {
			t.Fatal(err)
		}
		wait.Until(t, "the policies are in force", func() bool {
			mc, err := l.node.Kube.Get(t.Context(), ref)
			return err == nil && mc["status"] != nil
		})
	}
	p := &l.site.Spec
	p.SSHKeys = []string{"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIBx technician@site.example"}
	p.AdditionalNTPSources = []string{"198.51.100.123"}
	p.ImageDigestMirrors = []site.Mirror{{Source: "quay.io/openshift-release-dev/ocp-release", Mirrors: []string{"registry.site.example:5000/ocp"}}}
	p.RegistryCerts = []site.RegistryCert{{RegistryHostname: "registry.site.example", RegistryPort: 5000, Certificate: authority(t, "registry")}}
	p.AdditionalTrustBundle, p.IngressCert.CA = authority(t, "site"), authority(t, "apps")
	p.PullSecret = `{"auths":{"registry.site.example:5000":{"auth":"dTpw"}}}`
	s := &steps.NodeConfig{Site: l.site, Timeouts: nodeconfig.Timeouts{Render: wait.Timeout(20 * time.Second), Rest: time.Second, Roll: wait.Timeout(time.Minute)}}
	l.steps = []steps.Step{s, &steps.PullSecret{Site: l.site}}
	for _, step := range l.steps {
		l.reports[step.ID()] = newReport()
	}
	return l, s
}

func authority(t *testing.T, name string) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	cert := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, cert, cert, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
}

// rendered returns the configurations that were made for the node's pool so far, and the one of now.
func (l *land) rendered(t *testing.T) (all []string, now string) {
	t.Helper()
	configs, _, err := l.node.Kube.List(t.Context(), kube.MachineConfig(""))
	if err != nil {
		t.Fatal(err)
	}
	for _, mc := range configs {
		if name, _ := mc["metadata"].(map[string]any)["name"].(string); strings.HasPrefix(name, "rendered-master-") {
			all = append(all, name)
		}
	}
	pool, _, err := l.node.Kube.Pool(t.Context(), "master")
	if err != nil {
		t.Fatal(err)
	}
	if pool.Spec.Paused {
		t.Error("the pool is paused")
	}
	return all, pool.Status.Configuration.Name
}

// The node takes keys, time servers, mirrors, authorities, trust bundle and pull secret as one configuration, without a reboot.
func TestNodeConfigIsOneRenderingAndBack(t *testing.T) {
	l, s := outfit(t, true)
	l.site.Spec.Policy.AllowReboot = false
	before, first := l.rendered(t)
	plan, err := s.Plan(t.Context(), l.node)
	if err != nil || len(plan.Disturbances) != 0 || len(plan.Changes) < 6 {
		t.Fatalf("plan is %+v (%v)", plan, err)
	}
	for _, ch := range plan.Changes {
		t.Logf("%s: %q -> %q", ch.What, ch.Old, ch.New)
	}
	if err := l.run(t); err != nil {
		t.Fatal(err)
	}
	after, now := l.rendered(t)
	state, err := l.cluster.State()
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("renderings of the node's pool: %d, roll-outs %+v, writes %d", len(after)-len(before), state.RollOuts["machine-config-master"], state.WriteTotal)
	if n := state.RollOuts["machine-config-master"].Done; n != 1 || now == first {
		t.Errorf("%d roll-outs to the node, now at %s", n, now)
	}
	if len(after)-len(before) != 1 || state.Reboots != 0 {
		t.Errorf("%d renderings, want 1, and %d reboots", len(after)-len(before), state.Reboots)
	}
	writes := l.node.Kube.Writes()
	if err := l.run(t); err != nil {
		t.Fatal(err)
	}
	if n := l.node.Kube.Writes() - writes; n != 0 {
		t.Errorf("the second run writes %d times", n)
	}
	l.heldByTheOwner(t, s)
	if err := l.undo(t); err != nil {
		t.Fatal(err)
	}
	// The seed's own first rendering has no content, so that it cannot come again by name.
	_, back := l.rendered(t)
	config, err := l.node.Kube.Get(t.Context(), kube.MachineConfig(back))
	if text := fmt.Sprint(config); err != nil || strings.Contains(text, "technician@") || strings.Contains(text, "/etc/chrony.conf") {
		t.Errorf("after undo the node has %s (%v)", text, err)
	}
	mc, err := l.node.Kube.Get(t.Context(), kube.MachineConfig("99-master-touchdown-ssh"))
	if err != nil || mc != nil {
		t.Errorf("undo left a MachineConfig: %v %v", mc, err)
	}
}

// heldByTheOwner pauses the pool as its owner would, after our own pause is over: neither a run nor an undo ends it.
func (l *land) heldByTheOwner(t *testing.T, s *steps.NodeConfig) {
	t.Helper()
	pause := func(paused bool) {
		t.Helper()
		_, err := l.node.Kube.ChangeSpec(t.Context(), kube.MachineConfigPool("master"), func(spec map[string]any) error {
			spec["paused"] = paused
			return nil
		}, func(kube.Ref, []byte) error { return nil })
		if err != nil {
			t.Fatal(err)
		}
	}
	pause(true)
	defer pause(false)
	if err := l.run(t); err != nil { // the node has all that it needs
		t.Errorf("a node that has all is refused: %v", err)
	}
	for _, step := range l.steps {
		err := step.(steps.Undoer).Undo(t.Context(), l.node, l.reports[step.ID()])
		if s.ID() == step.ID() && (err == nil || !strings.Contains(err.Error(), "NCF-HELD")) {
			t.Errorf("undo of %s: %v", step.ID(), err)
		}
	}
	l.site.Spec.SSHKeys = append(l.site.Spec.SSHKeys, "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIBy late@site.example")
	defer func() { l.site.Spec.SSHKeys = l.site.Spec.SSHKeys[:1] }()
	report := newReport()
	if err := s.Inspect(t.Context(), l.node, report); err != nil || report.checks["node-config-taken"].Status != check.Fail {
		t.Errorf("before the review: %+v (%v)", report.checks["node-config-taken"], err)
	}
	if err := s.Run(t.Context(), l.node, l.reports[s.ID()]); err == nil || !strings.Contains(err.Error(), "NCF-HELD") {
		t.Errorf("a change for a paused pool: %v", err)
	}
	if p, _, err := l.node.Kube.Pool(t.Context(), "master"); err != nil || !p.Spec.Paused {
		t.Errorf("the owner's pause was ended (%v)", err)
	}
}

// Without a policy for the file the node would reboot: told before, refused where it is not allowed, survived where it is.
func TestNodeConfigTellsOfTheReboot(t *testing.T) {
	l, s := outfit(t, false)
	l.site.Spec.Policy.AllowReboot = false
	report := l.reports[s.ID()]
	if err := s.Inspect(t.Context(), l.node, report); err != nil || report.checks["node-config-reboot"].Status != check.Fail {
		t.Errorf("check is %+v (%v)", report.checks["node-config-reboot"], err)
	}
	writes := l.node.Kube.Writes()
	if err := s.Run(t.Context(), l.node, report); err == nil || !strings.Contains(err.Error(), "NCF-RBT") {
		t.Errorf("err is %v", err)
	}
	if l.node.Kube.Writes() != writes {
		t.Error("something was written all the same")
	}
	l.site.Spec.Policy.AllowReboot = true
	plan, err := s.Plan(t.Context(), l.node)
	if err != nil || !slices.ContainsFunc(plan.Disturbances, func(d steps.Disturbance) bool { return d.What.String() == "reboot" }) {
		t.Errorf("plan is %+v (%v)", plan, err)
	}
	// The engine goes down with the node, whose roll-out hangs meanwhile, and comes back.
	if err := l.cluster.SetFault(bench.Fault{Kind: bench.Stuck, Operator: "machine-config"}); err != nil {
		t.Fatal(err)
	}
	ctx, down := context.WithCancel(t.Context())
	reboots, soon := make(chan error, 1), wait.Within(t, 20*time.Second)
	go func() {
		defer down()
		reboots <- wait.For(soon, "the node to reboot", func() bool {
			state, err := l.cluster.State()
			return err == nil && state.Reboots > 0
		})
	}()
	if err := s.Run(ctx, l.node, report); err == nil {
		t.Fatal("the run ended although the roll-out hangs")
	}
	if err := <-reboots; err != nil {
		t.Error(err)
	}
	if err := l.cluster.ClearFaults(); err != nil {
		t.Fatal(err)
	}
	if err := s.Run(t.Context(), l.node, report); err != nil {
		t.Fatal(err)
	}
	l.rendered(t)
}

// While the cluster does not run yet the review tells what the site brings all the same.
func TestNodeConfigPlansWithoutAnAPI(t *testing.T) {
	l, s := outfit(t, false)
	if err := l.cluster.Stop(); err != nil {
		t.Fatal(err)
	}
	l.host.File("/etc/chrony.conf", "server ntp.factory.example iburst\n")
	plan, err := s.Plan(t.Context(), l.node)
	if err != nil || len(plan.Disturbances) != 1 {
		t.Fatalf("plan is %+v (%v)", plan, err)
	}
	l.host.File("/var/lib/touchdown/factory.json", "{}")
	plan, err = s.Plan(t.Context(), l.node)
	if err != nil || len(plan.Disturbances) != 0 {
		t.Fatalf("plan of a baked node is %+v (%v)", plan, err)
	}
	i := slices.IndexFunc(plan.Changes, func(c steps.Change) bool { return c.What.String() == "Time servers" })
	if i < 0 || plan.Changes[i].Old.String() != "ntp.factory.example" || plan.Changes[i].New.String() != "ntp.factory.example, 198.51.100.123" {
		t.Errorf("plan is %+v", plan.Changes)
	}
}
