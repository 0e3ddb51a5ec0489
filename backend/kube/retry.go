package kube

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	utilnet "k8s.io/apimachinery/pkg/util/net"

	"touchdown/backend/message"
	"touchdown/backend/problem"
)

// conflicts is how often a change is repeated because someone else changed the object in between.
const conflicts = 20

// lasting marks our own error that no repeat would cure, however much it looks like the network's.
type lasting struct{ err error }

func (e *lasting) Error() string { return e.err.Error() }
func (e *lasting) Unwrap() error { return e.err }

// Do calls the API. An API that is away or busy is called again until Pace.Limit or ctx ends; a refusal comes back at
// once as a Problem. What call does must be safe to repeat. The error is wrapped once, with doing.
func (c *Cluster) Do(ctx context.Context, doing string, call func(context.Context) error) error {
	t, races := tries{Cluster: c, doing: doing, start: time.Now()}, 0
	for {
		err := t.once(ctx, call)
		var pause time.Duration
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return fmt.Errorf("%s: %w", doing, context.Cause(ctx))
		case apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err):
			if races++; races > conflicts {
				return racing(doing, err)
			}
			pause = c.Pace.Pause / 20
		case !transient(err):
			return refused(doing, err)
		case time.Since(t.start) >= c.Pace.Limit:
			return away(doing, time.Since(t.start), err)
		default:
			pause = t.backOff(err)
		}
		if err := sleep(ctx, pause); err != nil {
			return fmt.Errorf("%s: %w", doing, err)
		}
	}
}

// tries are the calls of one Do.
type tries struct {
	*Cluster
	doing string
	start time.Time
}

// once makes one call. An API that takes the connection and says nothing must not outlast the limit by far: a form asks for many things, one after
// the other.
func (t tries) once(ctx context.Context, call func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, min(30*time.Second, max(5*time.Second, t.Pace.Limit)))
	defer cancel()
	return call(ctx)
}

// backOff tells what we are waiting for and how long the API asked to be left alone.
func (t tries) backOff(err error) time.Duration {
	waiting := message.T("the cluster's API, which does not answer")
	if busy(err) {
		waiting = message.T("the cluster's API, which is busy")
	}
	t.log.Warn("the cluster's API gave no answer that helps; asking it again", "doing", t.doing, "for", time.Since(t.start).Round(time.Millisecond).String(), "err", err)
	t.tell(Progress{Waiting: waiting, Usual: 60})
	pause := t.Pace.Pause
	if e, ok := errors.AsType[*interrupted](err); ok {
		pause = max(pause, e.after)
	}
	return min(pause, max(time.Millisecond, t.Pace.Limit-time.Since(t.start)))
}

func busy(err error) bool {
	e, ok := errors.AsType[*interrupted](err)
	return ok && e.busy || apierrors.IsTooManyRequests(err)
}

// transient tells whether the same call could go well later.
func transient(err error) bool {
	var own *lasting
	var status apierrors.APIStatus
	var reach *url.Error
	var network *net.OpError
	switch {
	case errors.As(err, &own):
		return false
	case errors.As(err, &status):
		code := status.Status().Code
		return notReady(err) || code >= 500 || code == 429 || apierrors.IsTimeout(err) || apierrors.IsServerTimeout(err)
	case errors.As(err, &reach), errors.As(err, &network):
		return true
	}
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, context.DeadlineExceeded) ||
		utilnet.IsConnectionReset(err) || utilnet.IsProbableEOF(err) || strings.Contains(err.Error(), "http2:")
}

// arrived tells whether a change may have been made, from the answer to it. Only a refusal says that it was not: an answer may be lost of one
// that was.
func arrived(err error) bool {
	var status apierrors.APIStatus
	if busy(err) {
		return false
	}
	if !errors.As(err, &status) {
		return true
	}
	code := status.Status().Code
	return code < 400 || code >= 500 || code == 408
}

// notReady tells whether an API server that just started refuses a change because its admission plugins have not read what they
// judge by. It answers 403 with these texts: k8s.io/apiserver v0.34.1, pkg/admission/plugin/namespace/lifecycle/admission.go
// and webhook/generic/webhook.go; OpenShift's own plugins, github.com/openshift/cluster-version-operator issue 119.
func notReady(err error) bool {
	text := err.Error()
	return apierrors.IsForbidden(err) &&
		(strings.Contains(text, "not yet ready to handle request") || strings.Contains(text, "caches not synchronized"))
}

// refused explains an answer that will not change by asking again.
func refused(doing string, err error) error {
	switch {
	case apierrors.IsForbidden(err):
		return fmt.Errorf("%s: %w", doing, &problem.Problem{
			Code:    "CLU-DENY",
			Summary: denied(err),
			Fix:     message.T("Give Touchdown the node's own administrator kubeconfig."),
			Err:     err,
		})
	case apierrors.IsUnauthorized(err):
		return fmt.Errorf("%s: %w", doing, &problem.Problem{
			Code:    "CLU-AUTH",
			Summary: message.T("The cluster does not accept Touchdown's client certificate."),
			Fix:     message.T("Check the node's clock; a certificate of the factory may have expired."),
			Err:     err,
		})
	}
	return fmt.Errorf("%s: %w", doing, err)
}

// denied tells what the cluster does not let Touchdown do, in the API's own words, such as "create secrets".
func denied(err error) message.Text {
	what := permission(err)
	if what == "" {
		return message.T("The cluster does not let Touchdown do this.")
	}
	return message.F("The cluster does not let Touchdown %s.", what)
}

// permission cuts "create secrets" out of `... User "x" cannot create resource "secrets" in API group ...`.
func permission(err error) string {
	_, what, found := strings.Cut(err.Error(), " cannot ")
	if !found {
		return ""
	}
	words := strings.Fields(what)
	if len(words) >= 3 && words[1] == "resource" {
		return words[0] + " " + strings.Trim(words[2], `":`)
	}
	var status apierrors.APIStatus
	if errors.As(err, &status) && status.Status().Details != nil && len(words) > 0 {
		return words[0] + " " + status.Status().Details.Kind
	}
	return strings.TrimRight(what, ".:")
}

func away(doing string, after time.Duration, err error) error {
	p := &problem.Problem{
		Code:    "CLU-AWAY",
		Summary: message.F("The cluster's API did not answer for %s.", after.Round(time.Second)),
		Fix:     message.T("Wait a few minutes and retry; the API restarts automatically after a change of its certificates."),
		Err:     err,
	}
	var unknown x509.UnknownAuthorityError
	var invalid x509.CertificateInvalidError
	switch {
	case busy(err):
		p.Code, p.Summary = "CLU-BUSY", message.F("The cluster's API was too busy for %s.", after.Round(time.Second))
	case errors.As(err, &unknown), errors.As(err, &invalid):
		p.Code, p.Summary = "CLU-CERT", message.T("The cluster's API shows a certificate that the node's kubeconfig does not trust.")
		p.Fix = message.T("Check the node's clock.")
	}
	return fmt.Errorf("%s: %w", doing, p)
}

func racing(doing string, err error) error {
	return fmt.Errorf("%s: %w", doing, &problem.Problem{
		Code:    "CLU-RACE",
		Summary: message.T("Something else in the cluster keeps changing the same object."),
		Fix:     message.T("Stop whatever manages this object, for example a GitOps agent, and retry."),
		Err:     err,
	})
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
