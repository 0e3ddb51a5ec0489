package main

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"touchdown/backend/layout"
	"touchdown/steps/session"
	"touchdown/steps/view"
)

// tardy is an engine whose first answer comes at some time, or when it was restarted.
type tardy struct {
	hostile
	at       time.Time
	restarts func() int
}

func (l tardy) Snapshot(context.Context) (*view.Snapshot, error) {
	if time.Now().Before(l.at) && l.restarts() == 0 {
		return nil, session.ErrNoEngine
	}
	return &view.Snapshot{}, nil
}

// TestAConsoleWaitsForAnEngineThatStarts instead of restarting it, so that a busy machine's engine comes to its first answer, or to the end of
// a wipe. One that does not run is started, and so is one that says nothing for minutes.
func TestAConsoleWaitsForAnEngineThatStarts(t *testing.T) {
	const never = 24 * time.Hour
	for name, c := range map[string]struct {
		show     string // what systemctl show prints, in a shell
		wipe     bool
		after    time.Duration // the engine's first answer
		restarts int
		within   time.Duration
		says     string
		fails    error
	}{
		"slow":        {show: "echo ActiveState=active; echo InvocationID=1", after: 2 * time.Minute, within: 2*time.Minute + time.Second, says: "The engine is starting"},
		"at a wipe":   {show: "echo ActiveState=active; echo InvocationID=1", wipe: true, after: 20 * time.Minute, within: 20*time.Minute + time.Second, says: "interrupted"},
		"to begin":    {show: "echo ActiveState=activating; echo InvocationID=1", after: time.Minute, within: time.Minute + time.Second, says: "The engine is starting"},
		"stopped":     {show: "echo ActiveState=inactive", after: never, restarts: 1, within: time.Second, says: "does not run; starting it"},
		"failed":      {show: "echo ActiveState=failed", wipe: true, after: never, restarts: 1, within: time.Second, says: "does not run; starting it"},
		"no systemd":  {show: "exit 1", after: never, restarts: 1, within: time.Second, says: "does not run; starting it"},
		"silent":      {show: "echo ActiveState=active; echo InvocationID=1", after: never, restarts: 1, within: silentLimit + 2*unitLook, says: "not answered for 3 minutes; restarting it"},
		"ever ending": {show: "echo ActiveState=activating; echo InvocationID=$$", after: never, within: 4 * unitLook, says: "The engine is starting", fails: errEnds},
	} {
		t.Run(name, func(t *testing.T) {
			r := toWipe(t, atWork)
			r.write("/etc/systemd/system/"+engineUnit, "")
			if c.wipe {
				r.write(layout.State+"/wipe-under-way", "")
			}
			restarted := filepath.Join(r.root, "restarted")
			r.write("/bin/systemctl", "#!/bin/sh\nif test $1 = show; then "+c.show+"; else echo $1 >> "+restarted+"; fi\n")
			if err := os.Chmod(filepath.Join(r.root, "bin/systemctl"), 0o700); err != nil {
				t.Fatal(err)
			}
			t.Setenv("PATH", filepath.Join(r.root, "bin")+":"+os.Getenv("PATH"))
			synctest.Test(t, func(t *testing.T) {
				begun := time.Now()
				restarts := func() int {
					text, err := os.ReadFile(restarted)
					if err != nil && !errors.Is(err, os.ErrNotExist) {
						t.Error(err)
					}
					return strings.Count(string(text), "restart")
				}
				conn := &connection{target: target{hooks: hooks{root: r.root}}}
				var said strings.Builder
				before := slog.Default()
				slog.SetDefault(slog.New(slog.NewTextHandler(&said, nil)))
				defer slog.SetDefault(before)
				err := conn.wake(t.Context(), &said, tardy{at: begun.Add(c.after), restarts: restarts})
				if took := time.Since(begun); !errors.Is(err, c.fails) || restarts() != c.restarts || took > c.within || !strings.Contains(said.String(), c.says) || strings.Contains(said.String(), "argv") {
					t.Errorf("%v after %s, %d restarts: %s", err, took, restarts(), said.String())
				}
			})
		})
	}
}
