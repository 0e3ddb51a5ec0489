package operators

import (
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"touchdown/backend"
	"touchdown/backend/check"
	"touchdown/backend/host/hosttest"
	"touchdown/backend/kube"
	"touchdown/backend/message"
	"touchdown/backend/progress"
	"touchdown/backend/report"
	"touchdown/steps"
	siteconfig "touchdown/steps/site"
	"touchdown/test/wait"
)

const anchors = "/etc/pki/ca-trust/source/anchors/openshift-config-user-ca-bundle.crt"

// journal keeps what a step saves; of the rest of a report these steps need only someone who listens.
type journal struct {
	steps.Report
	mu    sync.Mutex
	saved map[string][]byte
}

func (*journal) Progress(progress.Progress) {}
func (*journal) Check(check.Check)          {}
func (*journal) Say(message.Text)           {}
func (*journal) Job() report.Job            { return report.Job{} }

func (j *journal) Save(key string, original []byte) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if _, there := j.saved[key]; !there {
		j.saved[key] = slices.Clone(original)
	}
	return nil
}

func (j *journal) Saved(key string) ([]byte, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if b, there := j.saved[key]; there {
		return b, nil
	}
	return nil, fs.ErrNotExist
}

func (j *journal) Note(key string, value []byte) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.saved["note-"+key] = slices.Clone(value)
	return nil
}

func (j *journal) Noted(key string) ([]byte, error) { return j.Saved("note-" + key) }

// TestNodeConfigSteps lands the node's configuration, steps and all, where the real machine-config-controller renders: once for the whole
// batch, what it renders is on the node, a second run writes nothing, and undo brings back the old rendering, by its name.
func TestNodeConfigSteps(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	b := newMachineBed(t, h.Root())
	node := &backend.Node{Host: h.Machine, Kube: b.c, Now: time.Now, Log: slog.New(slog.DiscardHandler)}
	cfg := siteconfig.New()
	p := &cfg.Spec
	p.SSHKeys = []string{"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIBx technician@site.example"}
	p.AdditionalNTPSources = []string{"198.51.100.123"}
	p.ImageDigestMirrors = []siteconfig.Mirror{{Source: "quay.io/openshift-release-dev/ocp-release", Mirrors: []string{"registry.site.example:5000/ocp"}}}
	p.AdditionalTrustBundle = authority(t, b, "loadbalancer-serving-signer.crt")
	p.PullSecret = `{"auths":{"registry.site.example:5000":{"auth":"dTpw"}}}`
	p.Proxy.HTTPProxy = "http://proxy.site.example:3128"
	p.Policy.AllowReboot = true // no policies here: a reboot is the daemon's to decide
	list := wizardSteps(t, cfg, "node-config", "pull-secret")
	journals := map[string]*journal{}
	for _, s := range list {
		journals[s.ID()] = &journal{saved: map[string][]byte{}}
	}
	run := func() {
		t.Helper()
		for _, s := range list {
			fatal(t, s.Run(t.Context(), node, journals[s.ID()]))
		}
	}
	b.trustsThePlant()
	before, have := b.rests(), b.renderings()
	was := onNode(t, h)
	run()
	after := b.rests()
	if made := len(b.renderings()) - len(have); made != 1 || after == before {
		t.Errorf("%d renderings: from %s to %s", made, before, after)
	}
	anchor, err := h.ReadFile(anchors)
	if err != nil || !strings.HasPrefix(string(anchor), was[anchors]) {
		t.Errorf("the owner's authorities are gone (%v): %s", err, anchor)
	}
	for path, holds := range map[string]string{
		"/etc/chrony.conf":                "198.51.100.123",
		"/etc/containers/registries.conf": "registry.site.example:5000/ocp",
		"/etc/mco/proxy.env":              "HTTP_PROXY=http://proxy.site.example:3128\n",
		"/var/lib/kubelet/config.json":    "registry.site.example:5000",
		anchors:                           strings.TrimSpace(p.AdditionalTrustBundle),
	} {
		text, err := h.ReadFile(path)
		if err != nil || !strings.Contains(string(text), holds) || strings.Contains(was[path], holds) {
			t.Errorf("%s holds no %q (%v): %s", path, holds, err, text)
		}
	}
	writes := b.c.Writes()
	run()
	if n := b.c.Writes() - writes; n != 0 {
		t.Errorf("the second run writes %d times", n)
	}
	for _, s := range slices.Backward(list) {
		fatal(t, s.Undo(t.Context(), node, journals[s.ID()]))
	}
	if back := b.rests(); back != before {
		t.Errorf("after undo the node has %s, before %s", back, before)
	}
	if now := onNode(t, h); !maps.Equal(now, was) {
		t.Errorf("after undo the node has other files: %v, before %v", now, was)
	}
}

// onNode are the files that the site's answers change.
func onNode(t *testing.T, h *hosttest.Fake) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, path := range []string{
		"/etc/chrony.conf", "/etc/containers/registries.conf", "/etc/mco/proxy.env", "/var/lib/kubelet/config.json", anchors,
	} {
		if text, err := h.ReadFile(path); err == nil {
			all[path] = string(text)
		}
	}
	return all
}

// trustsThePlant has the cluster's proxy name a bundle of the owner's, beside the installer's, and waits until the node trusts both.
func (b *machineBed) trustsThePlant() {
	b.t.Helper()
	plant := authority(b.t, b, "kubelet-client.crt")
	const name = "plant-ca"
	_, err := b.c.Put(b.t.Context(), kube.ConfigMap("openshift-config", name), kube.New{Kind: "ConfigMap"}, func(data map[string]any) error {
		data["ca-bundle.crt"] = plant
		return nil
	}, func(kube.Ref, []byte) error { return nil })
	fatal(b.t, err)
	b.bed.change(kube.Config("proxies"), func(spec map[string]any) { spec["trustedCA"] = map[string]any{"name": name} })
	installers := authority(b.t, b, "router-ca.crt")
	wait.Until(b.t, "the node to trust the plant", func() bool {
		text := b.file(b.rests(), anchors)
		return strings.Contains(text, strings.TrimSpace(plant)) && strings.Contains(text, strings.TrimSpace(installers))
	})
}

// authority is a certificate of the bench's, in the place of another.
func authority(t *testing.T, b *machineBed, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(b.Dir, "pki", name))
	fatal(t, err)
	return string(text)
}

// undoable is a step that can be undone.
type undoable interface {
	steps.Step
	steps.Undoer
}

// wizardSteps are steps of the real list.
func wizardSteps(t *testing.T, cfg *siteconfig.Config, ids ...string) (found []undoable) {
	t.Helper()
	for _, stage := range steps.Site(cfg, steps.Wiring{NodeNet: &steps.NodeNetwork{}}) {
		for _, step := range stage.Steps {
			if s, undoes := step.(undoable); undoes && slices.Contains(ids, s.ID()) {
				found = append(found, s)
			}
		}
	}
	if len(found) != len(ids) {
		t.Fatalf("of %v the list has %d", ids, len(found))
	}
	return found
}
