package kube

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	utilnet "k8s.io/apimachinery/pkg/util/net"
)

// transport counts the changing calls that went well, and keeps client-go from repeating the others: it would do so for ten
// seconds and longer, and nobody would be told what we are waiting for. Do repeats them.
type transport struct {
	next   http.RoundTripper
	writes *atomic.Int64
}

// interrupted is a call that may go well later. It has no Unwrap: client-go must not recognise what is in it.
type interrupted struct {
	text  string
	busy  bool
	after time.Duration // how long the API asked to be left alone
}

func (e *interrupted) Error() string { return e.text }

// RoundTrip makes one call.
func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := t.next.RoundTrip(r)
	if err != nil {
		if utilnet.IsProbableEOF(err) || utilnet.IsConnectionReset(err) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.EPIPE) {
			return nil, &interrupted{text: "the connection was cut"}
		}
		return nil, err
	}
	if r.URL.Query().Get("watch") == "true" && resp.StatusCode == http.StatusOK {
		return resp, nil // it is read as it comes
	}
	// Read here: client-go would write a connection that ends within an answer over the screen.
	body, err := io.ReadAll(resp.Body)
	resp.Body.Close()
	if err != nil {
		return nil, &interrupted{text: "the connection was cut"}
	}
	resp.Body = io.NopCloser(bytes.NewReader(body))
	if after := resp.Header.Get("Retry-After"); after != "" && (resp.StatusCode == http.StatusTooManyRequests || resp.StatusCode >= 500) {
		seconds, _ := strconv.Atoi(after) // a date instead of seconds only costs the usual pause
		return nil, &interrupted{
			text: fmt.Sprintf("the API answered %s, retry after %s", resp.Status, after),
			busy: resp.StatusCode == http.StatusTooManyRequests, after: time.Duration(seconds) * time.Second,
		}
	}
	asks := r.URL.Query().Has("dryRun") || asksForToken(r)
	if resp.StatusCode < 300 && r.Method != http.MethodGet && !asks {
		t.writes.Add(1)
	}
	return resp, nil
}

// asksForToken tells whether a request has a service account's token made, which is kept nowhere.
func asksForToken(r *http.Request) bool {
	return r.Method == http.MethodPost && strings.Contains(r.URL.Path, "/serviceaccounts/") && strings.HasSuffix(r.URL.Path, "/token")
}
