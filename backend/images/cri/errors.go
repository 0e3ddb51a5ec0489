package cri

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"touchdown/backend/message"
	"touchdown/backend/problem"
)

// textLimit is how much of what CRI-O wrote is passed on; with many mirrors it repeats itself for pages.
const textLimit = 1200

// failed is the code of a call that CRI-O answered with an error.
const failed = "CR-ERR"

// Refused tells whether an error is CRI-O's answer to what was asked: the same question gets the same one again. A CRI-O that is away, or
// that does not answer in time, gives none.
func Refused(err error) bool {
	p, ok := errors.AsType[*problem.Problem](err)
	return ok && p.Code == failed
}

// explain makes what a person sees of a call that failed. ctx is the caller's: when it ended, that is the reason.
func explain(ctx context.Context, doing string, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("%s: %w", doing, context.Cause(ctx))
	}
	said := errors.New(text(err))
	p := &problem.Problem{
		Code: failed, Summary: message.T("CRI-O, which runs the node's containers, failed to carry out a request."),
		Fix: message.T("Look at its log (journalctl -u crio); a clean reboot makes it check its store."), Err: said,
	}
	switch status.Code(err) {
	case codes.Unavailable:
		p.Code, p.Summary = "CR-AWAY", message.T("CRI-O, which runs the node's containers, is not running.")
		p.Fix = message.T("Look at systemctl status crio; a missing folder of an image store stops it.")
	case codes.DeadlineExceeded:
		p.Code, p.Summary = "CR-MUTE", message.T("CRI-O, which runs the node's containers, does not answer.")
		p.Fix = message.T("Wait for what it is busy with, then retry; else restart it with systemctl restart crio.")
	case codes.Unimplemented:
		p.Code, p.Summary = "CR-VERS", message.T("What listens on CRI-O's socket does not speak version 1 of its interface.")
		p.Fix = message.T("Use a node of OpenShift 4.14 or later.")
	case codes.Unknown, codes.Internal:
		if strings.Contains(said.Error(), "layer not known") {
			p.Code, p.Summary = "CR-DUP", message.T("CRI-O's list of images names layers that no store has any more, so it cannot list any.")
			p.Fix = message.T("Put the image store back that storage.conf named before, then restart CRI-O.")
		}
	}
	return fmt.Errorf("%s: %w", doing, p)
}

// text is what CRI-O said, without gRPC's words around it, in one line.
func text(err error) string {
	s := err.Error()
	if st, ok := status.FromError(err); ok {
		s = st.Message()
	}
	s = strings.Join(strings.Fields(s), " ")
	if len(s) > textLimit {
		s = strings.ToValidUTF8(s[:textLimit], "") + " ..."
	}
	return s
}
