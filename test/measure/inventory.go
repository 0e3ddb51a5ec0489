package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/jaypipes/ghw/pkg/snapshot"

	"touchdown/backend/hardware"
	"touchdown/backend/host"
	"touchdown/test/bench/figures"
)

// inventory measures the inventory as a person waits for it: the whole command on this machine, and the look alone at a server
// with two sockets and 82 PCI devices, whose snapshot lies in ghw's module.
func inventory(ctx context.Context, s setup) (map[string]figures.Figure, error) {
	rounds := 11
	if s.small {
		rounds = 1
	}
	here, err := timed(rounds, func() error {
		out, err := exec.CommandContext(ctx, s.binary, "inventory", "-o", "json").CombinedOutput()
		if err != nil {
			return fmt.Errorf("touchdown inventory: %w: %s", err, out)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	server, err := recordedServer(ctx, s.dir)
	if err != nil {
		return nil, err
	}
	there, err := timed(rounds, func() error {
		if i := hardware.Inspect(ctx, server, hardware.Options{All: true}); len(i.PCI) != 82 {
			return fmt.Errorf("the server has %d PCI devices: %v", len(i.PCI), i.Errors)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return map[string]figures.Figure{
		"touchdown inventory on this machine": figures.Goal(here, "ms", 1000),
		"a recorded server with two sockets":  figures.Goal(there, "ms", 1000),
	}, nil
}

// recordedServer unpacks the snapshot. None of its programs are here.
func recordedServer(ctx context.Context, dir string) (*host.Machine, error) {
	out, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", "github.com/jaypipes/ghw").Output()
	if err != nil {
		return nil, fmt.Errorf("finding ghw's module: %w", err)
	}
	file := filepath.Join(strings.TrimSpace(string(out)), "testdata", "snapshots", "linux-amd64-8581cf3a529e5d8b97ea876eade2f60d.tar.gz")
	if err := snapshot.UnpackInto(file, dir); err != nil {
		return nil, fmt.Errorf("unpacking %s: %w", file, err)
	}
	none := func(context.Context, host.Command) ([]byte, []byte, error) { return nil, nil, errors.New("not here") }
	return host.Open(host.Options{Root: dir, NoPower: true, Log: slog.New(slog.DiscardHandler), Exec: none}), nil
}

// timed is how long something takes, in milliseconds.
func timed(rounds int, do func() error) (float64, error) {
	var took []float64
	for range rounds {
		began := time.Now()
		if err := do(); err != nil {
			return 0, err
		}
		took = append(took, float64(time.Since(began).Microseconds())/1000)
	}
	return median(took), nil
}
