package problem_test

import (
	"context"
	"errors"
	"fmt"
	"os"
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
