// Package problem is what a person sees when something fails: what is wrong, and one thing to try.
package problem

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"touchdown/backend/message"
)

// Problem is made where the cause is known, in the backend, and travels as an error.
type Problem struct {
	Code    string       // at most 8 characters out of A-Z 2-9 and "-": read over the phone, so no 0 or 1 to be taken for O or I
	Summary message.Text // one sentence: what is wrong
	Fix     message.Text // one thing to try
	Err     error        // the cause, for an engineer
	Correct bool         // a person chose to fix the answers, and nothing is left of what was tried: the engine goes back to them
}

// Error gives the code, the summary, and the cause when there is one, as one sentence in English.
func (p *Problem) Error() string { return p.Message().String() }

// Message is what Error says, as a message: where a problem is the reason of something else.
func (p *Problem) Message() message.Text {
	if p.Err == nil {
		return message.F("%s: %s", p.Code, p.Summary)
	}
	return message.F("%s: %s: %s", p.Code, p.Summary, message.Detail(p.Err))
}

// Unwrap returns the cause.
func (p *Problem) Unwrap() error { return p.Err }

// From finds the Problem in err; an error without one becomes a Problem, so that no
// failure reaches a person without a code and a way on.
func From(err error) *Problem {
	if p, ok := errors.AsType[*Problem](err); ok {
		return p
	}
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return full(err)
	}
	if errors.Is(err, syscall.EROFS) {
		return ReadOnly(message.Text{}, err)
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return &Problem{Code: "ANS-LATE", Summary: message.T("Timed out waiting for a response."), Fix: message.T("Wait a minute and retry: the machine may be busy. If it stays so, make a support bundle and call support."), Err: err}
	}
	return &Problem{
		Code:    "ERR-UNKN",
		Summary: message.T("Something failed that Touchdown has no explanation for."),
		Fix:     message.T("Retry once; if it fails again, make a support bundle and call support."),
		Err:     err,
	}
}

// OnlyRoot is the problem of a person who has not root's rights. sudo finds no program in /usr/local/bin on RHEL (secure_path in its
// /etc/sudoers), so the advice has the whole path.
func OnlyRoot(err error) *Problem {
	program, _ := os.Executable() // Linux always tells it, with /proc
	return &Problem{
		Code: "HND-RGHT", Summary: message.T("Only root may do this."),
		Fix: message.F("Run the same command as root, with the program's whole path: sudo %s", message.Data(cmp.Or(program, "touchdown"))), Err: err,
	}
}

// ReadOnly is the problem of a file system that takes no writes; the summary is optional. Linux makes one read-only when its disk fails or
// its structure is damaged (ext4(5), errors=remount-ro), and CoreOS has some that always are, such as /usr; nothing that was written before is
// lost by that.
func ReadOnly(summary message.Text, err error) *Problem {
	p := &Problem{
		Code: "DSK-READ", Summary: message.T("A file system of the node is read-only."),
		Fix: message.T("Reboot the node, which checks its file systems, then retry. If it comes back, the disk fails: make a support bundle, and have the disk replaced."), Err: err,
	}
	if path := place(err); path != "" {
		p.Summary = message.F("The file system that holds %s is read-only.", message.Data(path))
		p.Fix = message.F("Reboot the node, which checks its file systems, then retry. If it comes back, `findmnt --target %s` names the disk: make a support bundle, and have that disk replaced.", message.Data(filepath.Dir(path)))
	}
	if summary.String() != "" {
		p.Summary = summary
	}
	return p
}

// full is the problem of a file system without space.
func full(err error) *Problem {
	p := &Problem{Code: "DSK-FULL", Summary: message.T("The disk is full."), Fix: message.T("Free some space on /var, then retry."), Err: err}
	if path := place(err); path != "" {
		p.Summary = message.F("The file system that holds %s is full.", message.Data(path))
		p.Fix = message.F("Free some space there, then retry. `df %s` shows how much it has.", message.Data(filepath.Dir(path)))
	}
	return p
}

// place is the file that an error of the file system is about; "" where it does not tell, or only a part of the path.
func place(err error) string {
	path := ""
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		path = e.Path
	} else if e, ok := errors.AsType[*os.LinkError](err); ok {
		path = e.New
	}
	if !filepath.IsAbs(path) {
		return ""
	}
	return path
}
