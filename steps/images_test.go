package steps_test

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"touchdown/backend"
	"touchdown/backend/host"
	"touchdown/backend/images/cri/critest"
	"touchdown/backend/problem"
	"touchdown/steps"
	"touchdown/steps/site"
	"touchdown/test/bench"
)

// TestUndoneImagesLeaveNoPins: what a seeding that failed has written for CRI-O goes again, and CRI-O is told.
func TestUndoneImagesLeaveNoPins(t *testing.T) {
	l := newLand(t, bench.Options{})
	crio := critest.Start(t)
	crio.Images = append(crio.Images, critest.Image("a1", 1000, "registry.example/a:v1"))
	const before, pins = "/etc/crio/crio.conf.d/10-other.conf", "/etc/crio/crio.conf.d/60-touchdown-pins.conf"
	if err := errors.Join(os.MkdirAll(filepath.Join(crio.Root, filepath.Dir(before)), 0o755), os.WriteFile(filepath.Join(crio.Root, before), nil, 0o644)); err != nil {
		t.Fatal(err)
	}
	var ran []string
	m := host.Open(host.Options{Root: crio.Root, Exec: func(_ context.Context, c host.Command) (stdout, both []byte, err error) {
		ran = append(ran, strings.Join(c.Argv, " "))
		return nil, nil, nil
	}})
	node := &backend.Node{Host: m, Kube: l.node.Kube, Now: time.Now, Log: slog.New(slog.DiscardHandler)}
	step, report := &steps.Images{Site: site.New()}, newReport()
	if err := step.Run(t.Context(), node, report); problem.From(err).Code != "STR-MSNG" {
		t.Fatalf("on a node without CRI-O's store: %v", err)
	}
	if text, err := m.ReadFile(pins); err != nil || !strings.Contains(string(text), "registry.example/a:v1") {
		t.Fatalf("the pins: %s, %v", text, err)
	}
	ran = nil
	if err := step.Undo(t.Context(), node, report); err != nil {
		t.Fatal(err)
	}
	if _, err := m.ReadFile(pins); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the pins are left: %v", err)
	}
	if _, err := m.ReadFile(before); err != nil {
		t.Errorf("someone else's file is gone: %v", err)
	}
	if strings.Join(ran, ", ") != "systemctl reload crio.service" {
		t.Errorf("ran %v", ran)
	}
}
