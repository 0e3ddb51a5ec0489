// Package filetools lets a fake machine change its files with the real programs.
package filetools

import (
	"os/exec"
	"strings"
	"testing"

	"touchdown/backend/host/hosttest"
)

// Real lets cp, mv, rm, mkdir and du work on the disk of m, below its root. before runs ahead of each, of sync too, which does nothing;
// its error is the program's.
func Real(t testing.TB, m *hosttest.Fake, before func() error) {
	for _, name := range []string{"cp", "mv", "rm", "mkdir", "du", "sync"} {
		m.OnFunc(name, func(argv []string, _ []byte) (string, error) {
			if err := before(); err != nil || name == "sync" {
				return "", err
			}
			args := make([]string, len(argv)-1)
			for i, arg := range argv[1:] {
				args[i] = strings.Replace(strings.TrimPrefix(arg, "/"), "=/", "=", 1)
			}
			cmd := exec.CommandContext(t.Context(), name, args...)
			cmd.Dir = m.Root()
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Errorf("%q: %v: %s", argv, err, out)
			}
			return string(out), err
		})
	}
}
