package wanted_test

import (
	"encoding/json"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"touchdown/backend/host/hosttest"
	"touchdown/backend/images/cri/critest"
	"touchdown/backend/images/wanted"
	"touchdown/backend/kube"
	"touchdown/test/bench"
)

// A real API: every kind is asked for by its real path, those that it lacks are not a fault, and nothing is written.
func TestRealAPI(t *testing.T) {
	b := bench.Start(t, bench.Options{})
	c, err := kube.Open(b.Kubeconfig, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	s := critest.Start(t)
	s.Pause = "localhost/pause:1"
	begun := time.Now()
	r, err := wanted.List(t.Context(), wanted.Place{Host: hosttest.New(t).Machine, Kube: c, Runtime: s.Client(t)}, wanted.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d images in %s, %+v", len(r.Images), time.Since(begun).Round(time.Millisecond), r.Summary)
	if len(r.Unread) != 1 || r.Unread[0].Source != "release" {
		t.Errorf("unread: %+v", r.Unread)
	}
	var release, system *wanted.Image
	for k, i := range r.Images {
		for _, n := range i.Needers {
			switch {
			case n.Who == "ClusterVersion version":
				release = &r.Images[k]
			case strings.HasPrefix(n.Who, "MachineConfig rendered-master-"):
				system = &r.Images[k]
			}
		}
	}
	if release == nil || !release.BootCritical || len(release.Needers) < 10 || !slices.ContainsFunc(release.Needers, func(n wanted.Needer) bool { return strings.HasPrefix(n.Who, "Deployment ") }) {
		t.Errorf("the release's image: %+v", release)
	}
	if system == nil || system.Need != wanted.Spare {
		t.Errorf("the operating system's image: %+v", system)
	}
	if n := c.Writes(); n != 0 {
		t.Errorf("%d changing calls", n)
	}
	if _, err := json.Marshal(r); err != nil {
		t.Error(err)
	}
	t.Run("API away", func(t *testing.T) {
		c := c.Within(2 * time.Second)
		if err := b.KillAPI(15 * time.Second); err != nil {
			t.Fatal(err)
		}
		begun := time.Now()
		r, err := wanted.List(t.Context(), wanted.Place{Host: hosttest.New(t).Machine, Kube: c, Runtime: s.Client(t)}, wanted.Options{})
		if err != nil || len(r.Images) != 1 || len(r.Unread) != 1 || r.Unread[0].Source != "cluster" {
			t.Errorf("%v, %+v", err, r)
		}
		if took := time.Since(begun); took > time.Minute {
			t.Errorf("waited %s for an API that is away", took)
		}
	})
}
