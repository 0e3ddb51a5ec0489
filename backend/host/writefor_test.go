package host_test

import (
	"context"
	"errors"
	"slices"
	"syscall"
	"testing"

	"touchdown/backend/host"
	"touchdown/backend/host/hosttest"
)

// TestAFileThatItsProgramDoesNotRead: it is again as it was, the program was told so, and a later run finds the work undone.
func TestAFileThatItsProgramDoesNotRead(t *testing.T) {
	const path = "/etc/a.conf"
	for name, before := range map[string]string{"a new file": "", "another one": "old"} {
		m := hosttest.New(t)
		if before != "" {
			m.File(path, before)
		}
		var read []string
		refused := errors.New("refused")
		reads := func(ctx context.Context) error {
			if read = append(read, m.Content(path)); len(read) == 1 {
				return refused
			}
			return ctx.Err()
		}
		if err := (host.File{Path: path, Data: []byte("new"), Perm: 0o644}).WriteFor(t.Context(), m.Machine, reads); !errors.Is(err, refused) || m.Exists(path) != (before != "") || !slices.Equal(read, []string{"new", before}) {
			t.Errorf("%s: %v, read %q", name, err, read)
		}
		if err := (host.File{Path: path, Data: []byte("new"), Perm: 0o644}).WriteFor(t.Context(), m.Machine, reads); err != nil || m.Content(path) != "new" || len(read) != 3 {
			t.Errorf("%s, again: %v, read %q", name, err, read)
		}
		m.Fill(0)
		if err := (host.File{Path: path, Data: []byte("newer"), Perm: 0o644}).WriteFor(t.Context(), m.Machine, reads); !errors.Is(err, syscall.ENOSPC) || m.Content(path) != "new" || len(read) != 3 {
			t.Errorf("%s, on a full disk: %v, read %q", name, err, read)
		}
	}
}
