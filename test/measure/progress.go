package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"touchdown/test/bench/figures"
)

// watched is how long a console is watched while it shows work.
const watched = 30 * time.Second

// progress measures what a console writes while the node's operators work at the pace of life: a picture each three seconds at 9600 baud.
func progress(ctx context.Context, set setup) (map[string]figures.Figure, error) {
	l, err := newLab(ctx, set, "life")
	if err != nil {
		return nil, err
	}
	defer l.close()
	args, err := l.applies()
	if err != nil {
		return nil, err
	}
	apply := exec.CommandContext(ctx, l.binary, args...)
	if err := apply.Start(); err != nil {
		return nil, err
	}
	defer func() {
		_ = apply.Process.Kill() // it only follows the engine's work
		_ = apply.Wait()
	}()
	s, err := openScreen(l, slowLine)
	if err != nil {
		return nil, err
	}
	defer s.close()
	if err := s.until("Waiting for", 2*time.Minute); err != nil {
		return nil, err
	}
	long := watched
	if l.small {
		long = watched / 10
	}
	begin, before := time.Now(), s.written()
	time.Sleep(long)
	rate := float64(s.written()-before) / time.Since(begin).Seconds()
	return map[string]figures.Figure{"steady_progress_b_per_s": figures.Goal(rate, "bytes/s", 25)}, nil
}

// applies is the command that lands the node at the shop.
func (l *lab) applies() ([]string, error) {
	file := filepath.Join(l.dir, "site.yaml")
	if err := os.WriteFile(file, []byte(shop), 0o600); err != nil {
		return nil, fmt.Errorf("writing the site config: %w", err)
	}
	args := []string{"--socket", l.socket, "apply", "-f", file, "--by", "measure"}
	for _, c := range []string{"hw-cpu", "hw-memory", "hw-disk", "hw-nics", "hw-link"} {
		args = append(args, "--waive", c+"=a build machine is measured")
	}
	return args, nil
}
