package factory_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"

	"touchdown/backend/factory"
	"touchdown/backend/host"
	"touchdown/backend/kube"
	"touchdown/backend/layout"
	"touchdown/backend/problem"
	"touchdown/test/bench"
	"touchdown/test/wait"
)

func open(t *testing.T, o bench.Options) (*bench.Cluster, *kube.Cluster) {
	t.Helper()
	b := bench.Start(t, o)
	c, err := kube.Open(b.Kubeconfig, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	c.Pace.Poll = 20 * time.Millisecond
	return b, c
}

func noSave(kube.Ref, []byte) error { return nil }

// TestConfigure bakes a look-alike cluster: one rendering, one reboot, nothing the second time, and all back at the end.
func TestConfigure(t *testing.T) {
	root := t.TempDir()
	b, c := open(t, bench.Options{NodeRoot: root})
	ctx := wait.Within(t, time.Minute)
	wanted, err := factory.Wanted(ctx, c)
	if err != nil {
		t.Fatal(err)
	}
	before, err := kube.Rendered(ctx, c, layout.Pool)
	if err != nil {
		t.Fatal(err)
	}
	changed, err := factory.Configure(ctx, c, pausing(), wanted, noSave)
	if err != nil || !changed {
		t.Fatalf("changed is %v, %v", changed, err)
	}
	if err := factory.WaitConfigured(ctx, c, wanted, before, nil); err != nil {
		t.Fatal(err)
	}
	stats, err := b.State()
	if err != nil {
		t.Fatal(err)
	}
	if stats.Renders != 1 {
		t.Errorf("%d renderings, want 1", stats.Renders)
	}
	for _, m := range wanted {
		for _, f := range m.Files {
			if got, err := os.ReadFile(filepath.Join(root, f.Path)); err != nil || !bytes.Equal(got, f.Data) {
				t.Errorf("%s is not on the node as baked (%v)", f.Path, err)
			}
		}
	}

	writes := c.Writes()
	if changed, err := factory.Configure(ctx, c, pausing(), wanted, noSave); err != nil || changed || c.Writes() != writes {
		t.Errorf("the second bake changed %v, wrote %d times, %v", changed, c.Writes()-writes, err)
	}

	before, _ = kube.Rendered(ctx, c, layout.Pool)
	if changed, err := factory.Remove(ctx, c, pausing(), noSave); err != nil || !changed {
		t.Fatalf("removing: %v, %v", changed, err)
	}
	if err := factory.WaitConfigured(ctx, c, nil, before, nil); err != nil {
		t.Fatal(err)
	}
	for _, m := range wanted {
		for _, f := range m.Files {
			if _, err := os.Stat(filepath.Join(root, f.Path)); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("%s is still on the node (%v)", f.Path, err)
			}
		}
	}
	if changed, err := factory.Remove(ctx, c, pausing(), noSave); err != nil || changed {
		t.Errorf("the second removal changed %v, %v", changed, err)
	}
}

// TestAForeignNameServerStays: the assisted installer's MachineConfig of the same name is neither replaced nor removed.
func TestAForeignNameServerStays(t *testing.T) {
	_, c := open(t, bench.Options{})
	const name = "50-master-dnsmasq-configuration"
	foreign := map[string]any{"ignition": map[string]any{"version": "3.1.0"}}
	_, err := c.Put(t.Context(), kube.MachineConfig(name), kube.New{Kind: "MachineConfig", Labels: map[string]string{
		"machineconfiguration.openshift.io/role": "master",
	}}, func(spec map[string]any) error { spec["config"] = foreign; return nil }, noSave)
	if err != nil {
		t.Fatal(err)
	}
	wanted, err := factory.Wanted(t.Context(), c)
	if err != nil || slices.ContainsFunc(wanted, func(m factory.Manifest) bool { return m.Name == name }) {
		t.Fatalf("it is wanted, %v", err)
	}
	if _, err := factory.Configure(t.Context(), c, pausing(), wanted, noSave); err != nil {
		t.Fatal(err)
	}
	if _, err := factory.Remove(t.Context(), c, pausing(), noSave); err != nil {
		t.Fatal(err)
	}
	if object, err := c.Get(t.Context(), kube.MachineConfig(name)); err != nil || object == nil {
		t.Errorf("it is gone, %v", err)
	}
}

// TestDisruptionPolicies bakes the node disruption policies where there are such, and passes where there are none.
func TestDisruptionPolicies(t *testing.T) {
	for _, older := range []bool{false, true} {
		_, c := open(t, bench.Options{Older: older})
		ref := kube.Ref{Group: "operator.openshift.io", Version: "v1", Resource: "machineconfigurations", Name: "cluster"}
		if _, err := c.Delete(t.Context(), ref, noSave); err != nil {
			t.Fatal(err)
		}
		if set, err := factory.SetDisruptionPolicies(t.Context(), c, noSave); err != nil || set {
			t.Errorf("without the object: it says %v, %v", set, err)
		}
		// The machine config operator of a real cluster makes it.
		_, err := c.Put(t.Context(), ref, kube.New{Kind: "MachineConfiguration"}, func(spec map[string]any) error {
			spec["managementState"] = "Managed"
			return nil
		}, noSave)
		if err != nil {
			t.Fatal(err)
		}
		set, err := factory.SetDisruptionPolicies(t.Context(), c, noSave)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("older %v: set %v", older, set)
		if !set && !older {
			t.Error("today's OpenShift has the field")
		}
		if !set {
			continue
		}
		writes := c.Writes()
		if _, err := factory.SetDisruptionPolicies(t.Context(), c, noSave); err != nil || c.Writes() != writes {
			t.Errorf("the second time it wrote %d times, %v", c.Writes()-writes, err)
		}
		object, _ := c.Get(t.Context(), ref)
		text, _ := json.Marshal(object["spec"])
		for _, want := range []string{`"path":"/etc/chrony.conf"`, `"serviceName":"chronyd.service"`} {
			if !strings.Contains(string(text), want) {
				t.Errorf("%s is not in %s", want, text)
			}
		}
	}
}

// TestAddressesThatCannotBeKept: a node with two addresses of a family is refused before anything is changed; one with IPv6 alone is taken.
func TestAddressesThatCannotBeKept(t *testing.T) {
	_, c := open(t, bench.Options{})
	found, err := factory.Look(t.Context(), c)
	if err != nil || len(found.Own) != 1 {
		t.Fatalf("%+v, %v", found, err)
	}
	give := func(addresses ...string) {
		t.Helper()
		err := retry.RetryOnConflict(retry.DefaultBackoff, func() error {
			node, err := c.Core.Nodes().Get(t.Context(), found.Node, metav1.GetOptions{})
			if err != nil {
				return err
			}
			node.Status.Addresses = nil
			for _, a := range addresses {
				node.Status.Addresses = append(node.Status.Addresses, corev1.NodeAddress{Type: corev1.NodeInternalIP, Address: a})
			}
			_, err = c.Core.Nodes().UpdateStatus(t.Context(), node, metav1.UpdateOptions{})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	give("fd00::5")
	if found, err := factory.Look(t.Context(), c); err != nil || found.Own.String() != "fd00::5" || found.Own.Four() {
		t.Errorf("a node of IPv6 alone: %+v, %v", found, err)
	}
	give("fd00::5", "fd00::6")
	_, err = factory.Precheck(t.Context(), host.Open(host.Options{Root: t.TempDir()}), c, time.Now())
	if p := problem.From(err); p.Code != "FAC-ADDR" || p.Fix.String() == "" || !strings.Contains(p.Summary.String(), "fd00::5, fd00::6") {
		t.Errorf("%v", err)
	}
}
