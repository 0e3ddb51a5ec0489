package operators

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vincent-petithory/dataurl"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/clientcmd"

	"touchdown/backend/kube"
	"touchdown/backend/layout"
	"touchdown/backend/nodeconfig"
	"touchdown/backend/problem"
	"touchdown/test/bench"
	"touchdown/test/wait"
)

// machineBed is a cluster with a real machine-config-controller.
type machineBed struct {
	*bed
	dyn   dynamic.Interface
	batch nodeconfig.Batch
}

// newMachineBed starts it. The node's files are below root, where there is one.
func newMachineBed(t *testing.T, root string) *machineBed {
	t.Helper()
	b := &machineBed{bed: newBedOf(t, bench.Options{Real: []string{"machine-config"}, NodeRoot: root})}
	fatal(t, b.SetDelay("zero"))
	config, err := clientcmd.BuildConfigFromFlags("", b.Kubeconfig)
	fatal(t, err)
	b.dyn, err = dynamic.NewForConfig(config)
	fatal(t, err)
	pause := kube.Pause{Pool: layout.Pool}
	b.batch = nodeconfig.Batch{Cluster: b.c, Save: b.save, Timeouts: nodeconfig.Usual()}
	pause.Note = func(paused bool) error { b.batch.Pause.Ours = paused; return nil }
	b.batch.Pause = pause
	b.rests()
	return b
}

// rests waits until the node has what the controller renders now, and returns its name.
func (b *machineBed) rests() string {
	b.t.Helper()
	name, since := "", time.Now()
	wait.Until(b.t, "the node to have what the controller renders", func() error {
		p, _, err := b.c.Pool(b.t.Context(), layout.Pool)
		if err != nil {
			return err
		}
		now := p.Spec.Configuration.Name
		mc, err := b.c.Get(b.t.Context(), kube.MachineConfig(now))
		if err != nil {
			return err
		}
		annotations, _, _ := unstructured.NestedStringMap(mc, "metadata", "annotations")
		if annotations[machineConfigs+"release-image-version"] != release || p.Status.Configuration.Name != now || p.Status.UpdatedMachineCount != 1 {
			name, since = "", time.Now()
			return fmt.Errorf("%s of %s, %d machines", p.Status.Configuration.Name, now, p.Status.UpdatedMachineCount)
		}
		if now != name {
			name, since = now, time.Now()
		}
		if time.Since(since) < 8*time.Second { // its renderDelay is 5 s
			return fmt.Errorf("at rest for %v", time.Since(since))
		}
		return nil
	})
	return name
}

// renderings are the MachineConfigs that the controller has made for the pool.
func (b *machineBed) renderings() (all []string) {
	b.t.Helper()
	list, err := b.dyn.Resource(machineKind("machineconfigs")).List(b.t.Context(), metav1.ListOptions{})
	fatal(b.t, err)
	for _, mc := range list.Items {
		if strings.HasPrefix(mc.GetName(), "rendered-master-") {
			all = append(all, mc.GetName())
		}
	}
	return all
}

func (b *machineBed) create(resource, object string) {
	b.t.Helper()
	u := &unstructured.Unstructured{}
	fatal(b.t, json.Unmarshal([]byte(object), &u.Object))
	_, err := b.dyn.Resource(machineKind(resource)).Create(b.t.Context(), u, metav1.CreateOptions{})
	fatal(b.t, err)
}

func (b *machineBed) rendered(name string) string {
	b.t.Helper()
	mc, err := b.dyn.Resource(machineKind("machineconfigs")).Get(b.t.Context(), name, metav1.GetOptions{})
	fatal(b.t, err)
	text, err := mc.MarshalJSON()
	fatal(b.t, err)
	return string(text)
}

func (b *machineBed) change(want nodeconfig.Want) error {
	b.t.Helper()
	changes, err := nodeconfig.Changes(b.t.Context(), b.c, want)
	fatal(b.t, err)
	for _, ch := range changes {
		b.log("%s: %q -> %q, pending %v", ch.What, ch.Old, ch.New, ch.Pending)
	}
	return b.batch.Run(b.t.Context(), changes)
}

// TestMachineConfigController has the real controller render what the product writes, on a cluster whose owner has a FIPS
// installation, a ContainerRuntimeConfig and a key: one rendering, all of the owner's kept, and the one before by the same name after undo.
func TestMachineConfigController(t *testing.T) {
	t.Parallel()
	b := newMachineBed(t, "")
	b.templates()
	b.create("machineconfigs", `{"apiVersion":"machineconfiguration.openshift.io/v1","kind":"MachineConfig",
		"metadata":{"name":"98-master-owner","labels":{"machineconfiguration.openshift.io/role":"master"}},"spec":{"config":{"ignition":{"version":"3.2.0"},
		"passwd":{"users":[{"name":"core","sshAuthorizedKeys":["ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIA owner@plant.example"]}]}}}}`)
	b.create("containerruntimeconfigs", `{"apiVersion":"machineconfiguration.openshift.io/v1","kind":"ContainerRuntimeConfig","metadata":{"name":"theirs"},
		"spec":{"machineConfigPoolSelector":{"matchLabels":{"pools.operator.machineconfiguration.openshift.io/master":""}},"containerRuntimeConfig":{"overlaySize":"20G"}}}`)
	wait.Until(t, "the owner's storage.conf", func() bool {
		return strings.Contains(b.file(b.rests(), "/etc/containers/storage.conf"), `size = "20G"`)
	})
	before := b.rests()
	have := b.renderings()
	want := nodeconfig.Want{
		SSHKeys:    []string{"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIB technician@site.example"},
		NTPSources: []string{"ntp.site.example"}, Chrony: "pool 2.rhel.pool.ntp.org iburst\n",
		DigestMirrors: []nodeconfig.Mirror{{Source: "registry.example.com/a", Mirrors: []string{"mirror.site.example/a"}}},
		TagMirrors:    []nodeconfig.Mirror{{Source: "registry.example.com/b", Mirrors: []string{"mirror.site.example/b"}}},
		ImageStore:    "/var/lib/shared/touchdown",
	}
	fatal(t, b.change(want))
	after := b.rests()
	made := len(b.renderings()) - len(have)
	b.log("%d renderings: %s", made, after)
	if made != 1 {
		t.Errorf("%d renderings for one batch", made)
	}
	storage := b.file(after, "/etc/containers/storage.conf")
	for _, part := range []string{`size = "20G"`, "/var/lib/shared/touchdown"} {
		if !strings.Contains(storage, part) {
			t.Errorf("storage.conf lacks %s:\n%s", part, storage)
		}
	}
	for _, part := range []string{`"fips":true`, "owner@plant.example", "technician@site.example"} {
		if !strings.Contains(b.rendered(after), part) {
			t.Errorf("the rendering lacks %s", part)
		}
	}
	if conf := b.file(after, "/etc/containers/registries.conf"); !strings.Contains(conf, "mirror.site.example/a") || !strings.Contains(conf, "mirror.site.example/b") {
		t.Errorf("registries.conf:\n%s", conf)
	}
	if err := b.change(want); err != nil || len(b.renderings()) != len(have)+1 {
		t.Errorf("the second time: %v, %d renderings", err, len(b.renderings())-len(have))
	}
	b.heldByTheOwner(want)
	fatal(t, b.batch.Undo(t.Context(), before, func(ctx context.Context) (bool, error) { b.backwards(b.saved); return true, nil }))
	if back := b.rests(); back != before {
		t.Errorf("after undo the node has %s, before %s", back, before)
	}
	b.unreadable()
}

// file is the content of a file in a rendering.
func (b *machineBed) file(rendering, path string) string {
	b.t.Helper()
	var mc struct {
		Spec struct {
			Config struct {
				Storage struct {
					Files []struct {
						Path     string
						Contents struct{ Source, Compression string }
					}
				}
			}
		}
	}
	fatal(b.t, json.Unmarshal([]byte(b.rendered(rendering)), &mc))
	for _, f := range mc.Spec.Config.Storage.Files {
		if f.Path == path {
			return decoded(b.t, f.Contents.Source, f.Contents.Compression)
		}
	}
	return ""
}

// templates looks for the files that the product knows the operator to make of the cluster's objects.
func (b *machineBed) templates() {
	b.t.Helper()
	now := b.rests()
	for path, holds := range map[string]string{
		"/etc/mco/proxy.env":              "HTTP_PROXY=" + plantProxy + "\n",
		"/var/lib/kubelet/config.json":    "auths",
		"/etc/containers/storage.conf":    "[storage]",
		"/etc/containers/registries.conf": "unqualified-search-registries",
		"/etc/pki/ca-trust/source/anchors/openshift-config-user-ca-bundle.crt": "BEGIN CERTIFICATE",
	} {
		if text := b.file(now, path); !strings.Contains(text, holds) {
			b.t.Errorf("%s holds no %q: %q", path, holds, text)
		}
	}
	if !strings.Contains(b.rendered("00-master"), "/etc/containers/storage.conf") {
		b.t.Error("00-master holds no storage.conf")
	}
	for _, unit := range []string{"crio.service", "kubelet.service", "rpm-ostreed.service"} {
		if !strings.Contains(b.rendered(now), unit) {
			b.t.Errorf("no drop-in for %s", unit)
		}
	}
}

// heldByTheOwner pauses the pool as its owner would: the real controller goes on rendering and moves no machine, so what needs it is refused
// before anything is written.
func (b *machineBed) heldByTheOwner(want nodeconfig.Want) {
	b.t.Helper()
	undo := b.bed.change(kube.MachineConfigPool(layout.Pool), func(spec map[string]any) { spec["paused"] = true })
	writes := b.c.Writes()
	want.SSHKeys = append(slices.Clone(want.SSHKeys), "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIC late@site.example")
	if err := b.change(want); outcome(err) != "NCF-HELD" || b.c.Writes() != writes {
		b.t.Errorf("a pool that its owner has paused: %v, %d writes", err, b.c.Writes()-writes)
	}
	undo()
	b.rests()
}

// unreadable adds a MachineConfig that no rendering can be made of: the product tells the controller's words.
func (b *machineBed) unreadable() {
	b.t.Helper()
	b.create("machineconfigs", `{"apiVersion":"machineconfiguration.openshift.io/v1","kind":"MachineConfig",
		"metadata":{"name":"99-master-theirs","labels":{"machineconfiguration.openshift.io/role":"master"}},"spec":{"config":{"ignition":{"version":"9.9.9"}}}}`)
	err := b.change(nodeconfig.Want{SSHKeys: []string{"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAID last@site.example"}})
	if outcome(err) != "NCF-BAD" || !strings.Contains(problem.From(err).Err.Error(), "unknown version") {
		b.t.Errorf("a MachineConfig that cannot be read: %v", err)
	}
}

// decoded is what a file's source holds.
func decoded(t *testing.T, source, compression string) string {
	t.Helper()
	url, err := dataurl.DecodeString(source)
	fatal(t, err)
	if compression != "gzip" {
		return string(url.Data)
	}
	r, err := gzip.NewReader(bytes.NewReader(url.Data))
	fatal(t, err)
	text, err := io.ReadAll(r)
	fatal(t, err)
	return string(text)
}
