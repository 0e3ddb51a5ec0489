package problem_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"

	"touchdown/backend/message"
	"touchdown/backend/problem"
)

func TestEveryFailureHasACode(t *testing.T) {
	full := fmt.Errorf("writing: %w", &os.PathError{Op: "write", Path: "/etc/x", Err: syscall.ENOSPC})
	known := &problem.Problem{Code: "KNOWN", Summary: message.T("It is known."), Err: full}
	for _, c := range []struct {
		err  error
		want string
	}{
		{errors.New("anything"), "ERR-UNKN"},
		{full, "DSK-FULL"},
		{&os.PathError{Op: "write", Path: "/etc/x", Err: syscall.EROFS}, "DSK-READ"},
		{fmt.Errorf("at work: %w", known), "KNOWN"},
		{fmt.Errorf("asking: %w", context.DeadlineExceeded), "ANS-LATE"},
	} {
		if p := problem.From(c.err); p.Code != c.want || p.Summary.String() == "" {
			t.Errorf("%v is %+v", c.err, p)
		}
	}
	if p := problem.From(full); p.Fix.String() == "" || !errors.Is(p, syscall.ENOSPC) {
		t.Errorf("a full disk is %+v", p)
	}
}

// TestWhichFileSystem: of an error that names a file, the problem says which file system takes no writes and how to find its disk; of one
// that names none, or a part of a path, it invents nothing.
func TestWhichFileSystem(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{
		{&os.PathError{Op: "writing", Path: "/etc/chrony.conf", Err: syscall.EROFS}, "DSK-READ: The file system that holds /etc/chrony.conf is read-only: writing /etc/chrony.conf: read-only file system"},
		{fmt.Errorf("at work: %w", &os.LinkError{Op: "rename", Old: "/tmp/x", New: "/boot/x", Err: syscall.ENOSPC}), "DSK-FULL: The file system that holds /boot/x is full: at work: rename /tmp/x /boot/x: no space left on device"},
		{&os.PathError{Op: "openat", Path: ".x.7", Err: syscall.EROFS}, "DSK-READ: A file system of the node is read-only: openat .x.7: read-only file system"},
		{syscall.EDQUOT, "DSK-FULL: The disk is full: disk quota exceeded"},
	} {
		if got := problem.From(c.err).Error(); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
	p := problem.ReadOnly(message.T("It is known."), &os.PathError{Op: "write", Path: "/var/lib/touchdown/journal.jsonl", Err: syscall.EROFS})
	if p.Summary.String() != "It is known." || !strings.Contains(p.Fix.String(), "findmnt --target /var/lib/touchdown`") {
		t.Errorf("%+v", p)
	}
}
