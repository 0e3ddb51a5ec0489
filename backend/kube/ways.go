package kube

import (
	"bytes"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"sync"
	"time"

	"k8s.io/client-go/rest"

	"touchdown/backend/message"
	"touchdown/backend/problem"
)

// wayAgain is how often a better way is tried again while another one is used.
const wayAgain = time.Minute

// ways is the transport into the cluster. It keeps to the way that went well last. When the API refuses to know us there, or
// shows a certificate that does not hold, it reads the files again and takes the first way that the API accepts: a request that
// ended like that has changed nothing, so it may be sent again.
type ways struct {
	all    []way
	adjust func(*rest.Config) // what is the same for all ways
	log    *slog.Logger

	mu    sync.Mutex
	used  *link
	why   message.Text // what is wrong with the best way while another one is used
	tried time.Time    // when the best way was last tried
	stamp string       // of the best way's file then
}

// link is a way whose files have been read.
type link struct {
	rank   int
	config *rest.Config
	server *url.URL
	next   http.RoundTripper
}

func (w *ways) open(rank int) (*link, error) {
	config, err := w.all[rank].read()
	if err != nil {
		return nil, err
	}
	w.adjust(config)
	server, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return nil, fmt.Errorf("reading the server of %s: %w", w.all[rank].file, err)
	}
	next, err := rest.TransportFor(config)
	if err != nil {
		return nil, fmt.Errorf("making the API's client of %s: %w", w.all[rank].file, err)
	}
	return &link{rank, config, server, next}, nil
}

// same tells whether two links would be refused alike.
func (l *link) same(o *link) bool {
	return o != nil && l.config.Host == o.config.Host && l.config.ServerName == o.config.ServerName &&
		l.config.BearerToken == o.config.BearerToken && bytes.Equal(l.config.CertData, o.config.CertData) && bytes.Equal(l.config.CAData, o.config.CAData)
}

// send makes the request over the link.
func (l *link) send(r *http.Request) (*http.Response, error) {
	again := r.Clone(r.Context())
	if r.GetBody != nil {
		body, err := r.GetBody()
		if err != nil {
			return nil, fmt.Errorf("repeating a request: %w", err)
		}
		again.Body = body
	}
	again.URL.Scheme, again.URL.Host, again.Host = l.server.Scheme, l.server.Host, ""
	return l.next.RoundTrip(again)
}

// RoundTrip implements http.RoundTripper.
func (w *ways) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil && r.GetBody == nil {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, fmt.Errorf("reading a request: %w", err)
		}
		r = r.Clone(r.Context())
		r.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	}
	used, best := w.current()
	if used != nil && best {
		resp, err := used.send(r)
		why := unknown(resp, err)
		if why == (message.Text{}) {
			return resp, err
		}
		return w.search(r, used, refusal{resp, err, why})
	}
	return w.search(r, nil, refusal{})
}

// refusal is how the API refused to know us.
type refusal struct {
	resp *http.Response
	err  error
	why  message.Text
}

// search tries each way, best first, after refused was refused with that answer.
func (w *ways) search(r *http.Request, refused *link, first refusal) (*http.Response, error) {
	var faults []message.Text
	var unread []error
	for rank, way := range w.all {
		l, err := w.open(rank)
		switch {
		case err != nil:
			unread = append(unread, err)
			faults = append(faults, message.T("it cannot be read"))
			continue
		case l.same(refused):
			faults = append(faults, fault(l, first.why, time.Now()))
			continue
		}
		resp, err := l.send(r)
		why := unknown(resp, err)
		if why == (message.Text{}) {
			if err == nil {
				w.take(l, faults)
			}
			discard(first.resp)
			return resp, err
		}
		w.log.Warn("the cluster's API refuses a way in", "way", way.name, "why", why.String())
		faults = append(faults, fault(l, why, time.Now()))
		if first.why == (message.Text{}) {
			first = refusal{resp, err, why}
		} else {
			discard(resp)
		}
	}
	if first.why == (message.Text{}) {
		return nil, &lasting{unreadable(errors.Join(unread...))}
	}
	return first.resp, first.err
}

// current is the link in use, and whether it is still the one to use: not when a better one is worth a try.
func (w *ways) current() (used *link, best bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.used == nil || w.used.rank == 0 {
		return w.used, true
	}
	if stamp := stampOf(w.all[0].file); stamp != w.stamp || time.Since(w.tried) >= wayAgain {
		w.stamp, w.tried = stamp, time.Now()
		return w.used, false
	}
	return w.used, true
}

func (w *ways) take(l *link, faults []message.Text) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(faults) > 0 || w.used != nil && w.used.rank != l.rank {
		w.log.Warn("another way into the cluster", "way", w.all[l.rank].name, "faults", faults)
	}
	w.used, w.why = l, message.Text{}
	if l.rank == 0 {
		return
	}
	w.why, w.tried, w.stamp = faults[0], time.Now(), stampOf(w.all[0].file)
}

// unknown tells how an answer shows that the way is at fault: the API does not know us, or we do not know it.
func unknown(resp *http.Response, err error) message.Text {
	var invalid x509.CertificateInvalidError
	var authority x509.UnknownAuthorityError
	var name x509.HostnameError
	switch {
	case err == nil && resp.StatusCode == http.StatusUnauthorized:
		return message.T("the API does not accept the client certificate")
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return message.T("the API's certificate for localhost has expired or is not yet valid")
	case errors.As(err, &invalid), errors.As(err, &authority), errors.As(err, &name):
		return message.T("the API's certificate for localhost is not trusted")
	}
	return message.Text{}
}

// fault says it of a link whose own certificate may tell more.
func fault(l *link, why message.Text, now time.Time) message.Text {
	if on, is := expired(l.config, now); is {
		return message.F("its client certificate expired on %s", on.UTC().Format(time.DateOnly))
	}
	return why
}

func discard(resp *http.Response) {
	if resp != nil {
		_ = resp.Body.Close()
	}
}

func stampOf(file string) string {
	info, err := os.Stat(file)
	if err != nil {
		return ""
	}
	return fmt.Sprint(info.ModTime().UnixNano(), info.Size())
}

// authorities are the CAs of the way in use.
func (w *ways) authorities(otherwise []byte) []byte {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.used == nil {
		return otherwise
	}
	return w.used.config.CAData
}

func unreadable(why error) *problem.Problem {
	return &problem.Problem{
		Code:    "CLU-KCFG",
		Summary: message.T("The node's kubeconfig cannot be read."),
		Fix:     message.T("Switch the node off and on once. If it comes to this again, call support: that file has to be put back."),
		Err:     why,
	}
}

// Detour says why the node's own kubeconfig is not what the cluster is reached with; no text when it is.
func (c *Cluster) Detour() message.Text {
	w := c.ways
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.used == nil || w.used.rank == 0 {
		return message.Text{}
	}
	if w.all[w.used.rank].name == recoveryAccount {
		return message.F("The node's own kubeconfig does not work: %s. Touchdown uses the cluster's recovery account.", w.why)
	}
	return message.F("The node's own kubeconfig does not work: %s. Touchdown uses the cluster's recovery kubeconfig.", w.why)
}
