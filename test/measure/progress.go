package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"touchdown/steps/view"
	"touchdown/test/bench/figures"
)

// watched is how long a console is watched while it shows work.
const watched = 30 * time.Second

// progress measures what a console of 9600 baud writes while the node's operators work at the pace of life and the engine waits for them.
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
	step, err := l.waits(ctx)
	if err != nil {
		return nil, err
	}
	long := watched
	if l.small {
		long = watched / 10
	}
	begin, before := time.Now(), s.written()
	time.Sleep(long)
	now, err := l.running(ctx)
	if err != nil {
		return nil, fmt.Errorf("asking whether the step %s still works: %w", step, err)
	}
	if now != step {
		return nil, fmt.Errorf("the step %s became %q meanwhile", step, now)
	}
	rate := float64(s.written()-before) / time.Since(begin).Seconds()
	return map[string]figures.Figure{"steady_progress_b_per_s": figures.Goal(rate, "bytes/s", 25)}, nil
}

// waits returns the step that has run alone for a while: the node's operators work, and the engine waits for them.
func (l *lab) waits(ctx context.Context) (string, error) {
	step, since := "", time.Now()
	for end := time.Now().Add(5 * time.Minute); time.Now().Before(end); time.Sleep(time.Second) {
		now, err := l.running(ctx)
		switch {
		case err != nil:
			return "", err
		case now != step:
			step, since = now, time.Now()
		case step != "" && time.Since(since) > 10*time.Second:
			return step, nil
		}
	}
	return "", errors.New("no step lasted")
}

// running is the step that is at work, or "".
func (l *lab) running(ctx context.Context) (string, error) {
	snapshot, err := l.snapshot(ctx)
	if err != nil {
		return "", err
	}
	for _, stage := range snapshot.Stages {
		for _, step := range stage.Steps {
			if step.Status == view.Running {
				return step.ID, nil
			}
		}
	}
	return "", nil
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
