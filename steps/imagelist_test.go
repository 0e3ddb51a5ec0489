package steps_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"touchdown/backend"
	"touchdown/backend/host"
	"touchdown/backend/images"
	"touchdown/backend/images/cri/critest"
	"touchdown/backend/kube/kubetest"
	"touchdown/backend/problem"
	"touchdown/backend/progress"
	"touchdown/steps"
	"touchdown/steps/site"
	"touchdown/test/wait"
)

const lateImage = "registry.example/late:v1"

// slowAPI lets the API answer in full once it is told that someone waits for it.
type slowAPI struct {
	*clusterReport
	answers *atomic.Bool
}

func (r slowAPI) Progress(p progress.Progress) {
	if strings.Contains(p.Waiting.String(), "not read yet: deployments") {
		r.answers.Store(true)
	}
	r.clusterReport.Progress(p)
}

// starting is a seeded node whose API refuses one kind of objects, as it does right after a boot, until the report has told of the wait.
func starting(t *testing.T) (*backend.Node, slowAPI) {
	t.Helper()
	crio := critest.Start(t)
	for name, text := range map[string]string{
		images.StoreDir + "/generations/1/manifest.json": `{"generation":1}`, "/proc/sys/kernel/random/boot_id": "one\n", "/etc/crio/crio.conf": "",
	} {
		name = filepath.Join(crio.Root, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("generations/1", filepath.Join(crio.Root, images.StoreDir, "current")); err != nil {
		t.Fatal(err)
	}
	api, cluster := kubetest.New(t)
	cluster.Pace.Limit = wait.Timeout(time.Minute)
	api.Put("/apis/apps/v1/namespaces/plant/deployments/late", `{"metadata":{"name":"late","namespace":"plant"},"spec":{"template":{"spec":{"containers":[{"name":"a","image":"`+lateImage+`"}]}}}}`)
	r := slowAPI{newReport(), &atomic.Bool{}}
	api.Fault = func(w http.ResponseWriter, q *http.Request) bool {
		return strings.HasSuffix(q.URL.Path, "/deployments") && !r.answers.Load() && kubetest.Refuse(w, http.StatusForbidden, "Forbidden", "not yet")
	}
	m := host.Open(host.Options{Root: crio.Root, Exec: func(context.Context, host.Command) (stdout, both []byte, err error) { return nil, nil, nil }})
	return &backend.Node{Host: m, Kube: cluster, Now: time.Now, Log: slog.New(slog.DiscardHandler)}, r
}

// TestRehearsalWaitsForTheWholeList: what the API does not tell yet has to come back too.
func TestRehearsalWaitsForTheWholeList(t *testing.T) {
	node, report := starting(t)
	err := (&steps.Rehearsal{}).Run(t.Context(), node, report)
	if _, ok := errors.AsType[*steps.Reboot](err); !ok {
		t.Fatal(err)
	}
	r, err := images.LoadRehearsal(node.Host)
	if err != nil || !slices.ContainsFunc(r.Needs, func(n images.Need) bool { return n.Image == lateImage }) {
		t.Errorf("%v, asked for %+v", err, r.Needs)
	}
}

// TestRehearsalRefusesHalfAList: an API that does not answer in full for long is told, and Retry asks again.
func TestRehearsalRefusesHalfAList(t *testing.T) {
	node, report := starting(t)
	node.Kube.Pace.Limit = 0
	if err := (&steps.Rehearsal{}).Run(t.Context(), node, report); problem.From(err).Code != "CTR-UNRD" {
		t.Errorf("%v", err)
	}
	if r, err := images.LoadRehearsal(node.Host); err == nil {
		t.Errorf("it was asked for all the same: %+v", r)
	}
}

// TestSeedingWaitsForTheWholeList: what the API does not tell yet is pinned and pulled too.
func TestSeedingWaitsForTheWholeList(t *testing.T) {
	node, report := starting(t)
	if err := (&steps.Images{Site: site.New()}).Run(t.Context(), node, report); problem.From(err).Code != "STR-MSNG" {
		t.Fatalf("on a node without CRI-O's store: %v", err)
	}
	if pins, err := node.Host.ReadFile("/etc/crio/crio.conf.d/60-touchdown-pins.conf"); err != nil || !strings.Contains(string(pins), lateImage) {
		t.Errorf("%v, pinned: %s", err, pins)
	}
}
