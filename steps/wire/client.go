package wire

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"strconv"

	"touchdown/backend/problem"
	"touchdown/steps/event"
	"touchdown/steps/handout"
	"touchdown/steps/idle"
	"touchdown/steps/records"
	"touchdown/steps/session"
	"touchdown/steps/view"
)

// maxAnswer bounds what a client reads in one answer: a support bundle is the largest.
const maxAnswer = 256 << 20

// Client implements Session over the engine's socket.
type Client struct {
	http   *http.Client
	socket string
}

var _ session.Session = (*Client)(nil)

// Dial makes a client of the engine that listens on socket. It connects at the first call, and again after
// the engine was restarted.
func Dial(socket string) *Client {
	transport := &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", socket)
		},
		MaxIdleConnsPerHost: 2,
	}
	return &Client{http: &http.Client{Transport: transport}, socket: socket}
}

// Snapshot implements Session.
func (c *Client) Snapshot(ctx context.Context) (*view.Snapshot, error) {
	var out view.Snapshot
	if err := c.call(ctx, http.MethodGet, "/snapshot", "", nil, &out); err != nil {
		return nil, err
	}
	return &out, nil
}

// Set implements Session.
func (c *Client) Set(ctx context.Context, token, path, value string) error {
	return c.call(ctx, http.MethodPut, "/site/"+url.PathEscape(path), token, wireValue{value}, nil)
}

// Load implements Session.
func (c *Client) Load(ctx context.Context, token string, values map[string]string, source string) error {
	return c.call(ctx, http.MethodPut, "/site", token, wireValues{values, source}, nil)
}

// Do implements Session.
func (c *Client) Do(ctx context.Context, token string, action session.Action) error {
	return c.call(ctx, http.MethodPost, "/actions", token, action, nil)
}

// TakeControl implements Session.
func (c *Client) TakeControl(ctx context.Context, console string, force bool) (string, error) {
	var out wireControl
	err := c.call(ctx, http.MethodPost, "/control", "", wireControl{Console: console, Force: force}, &out)
	return out.Control, err
}

// Present implements Session.
func (c *Client) Present(ctx context.Context, pin string) error {
	return c.call(ctx, http.MethodPost, "/presence", "", wirePresence{PIN: pin}, nil)
}

// ReleaseControl implements Session.
func (c *Client) ReleaseControl(ctx context.Context, token string) error {
	return c.call(ctx, http.MethodDelete, "/control", token, nil, nil)
}

// Events implements Session. It fails with ErrNoEngine when the engine goes away; the caller may call again.
func (c *Client) Events(ctx context.Context, token string, from uint64, each func([]event.Event) error) error {
	response, err := c.send(ctx, http.MethodGet, "/events?from="+strconv.FormatUint(from, 10), token, nil)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	decoder := json.NewDecoder(response.Body)
	for {
		var e event.Event
		if err := decoder.Decode(&e); err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return fmt.Errorf("%w: the event stream ended: %w", session.ErrNoEngine, err)
		}
		if err := each([]event.Event{e}); err != nil {
			return err
		}
	}
}

// Log implements Session.
func (c *Client) Log(ctx context.Context, ask records.Ask) ([]string, error) {
	var out wireLog
	which := url.Values{"lines": {strconv.Itoa(ask.Lines)}, "node": {strconv.FormatBool(ask.Node)}, "grave": {strconv.FormatBool(ask.Grave)}}
	err := c.call(ctx, http.MethodGet, "/log?"+which.Encode(), "", nil, &out)
	return out.Lines, err
}

// Export implements Session.
func (c *Client) Export(ctx context.Context, what session.Document) ([]byte, error) {
	response, err := c.send(ctx, http.MethodGet, "/documents/"+url.PathEscape(string(what)), "", nil)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	data, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	if err != nil {
		return nil, fmt.Errorf("reading the document: %w", err)
	}
	return data, nil
}

// Shown implements Session.
func (c *Client) Shown(ctx context.Context, text string) error {
	return c.call(ctx, http.MethodPost, "/shown", "", wireShown{Text: text}, nil)
}

// Give implements Session.
func (c *Client) Give(ctx context.Context, token string, ask handout.Ask) (*handout.LogIn, error) {
	var out handout.LogIn
	if err := c.call(ctx, http.MethodPost, "/credentials", token, ask, &out); err != nil {
		return nil, err
	}
	return &out, nil
}

// call sends one request and decodes its answer into out, which may be nil.
func (c *Client) call(ctx context.Context, method, path, token string, body, out any) error {
	response, err := c.send(ctx, method, path, token, body)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if out == nil {
		_, err := io.Copy(io.Discard, response.Body)
		return err
	}
	if err := json.NewDecoder(io.LimitReader(response.Body, maxAnswer)).Decode(out); err != nil {
		return fmt.Errorf("reading the engine's answer: %w", err)
	}
	return nil
}

// send makes a request; an answer that is an error becomes one.
func (c *Client) send(ctx context.Context, method, path, token string, body any) (*http.Response, error) {
	var content io.Reader
	if body != nil {
		data, err := json.Marshal(body)
		if err != nil {
			return nil, fmt.Errorf("encoding the request: %w", err)
		}
		content = bytes.NewReader(data)
	}
	request, err := http.NewRequestWithContext(ctx, method, "http://engine"+apiPrefix+path, content)
	if err != nil {
		return nil, fmt.Errorf("making the request: %w", err)
	}
	if token != "" {
		request.Header.Set(controlHeader, token)
	}
	if console := idle.Console(ctx); console != "" {
		request.Header.Set(consoleHeader, console)
	}
	response, err := c.http.Do(request)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if errors.Is(err, fs.ErrPermission) { // the engine may well run: nothing is to be started, and nothing given up
			return nil, problem.OnlyRoot(err)
		}
		return nil, fmt.Errorf("%w on %s: %w", session.ErrNoEngine, c.socket, err)
	}
	if response.StatusCode < http.StatusBadRequest {
		return response, nil
	}
	defer response.Body.Close()
	data, _ := io.ReadAll(io.LimitReader(response.Body, maxBody)) // a cut answer still has a status
	return nil, fromWire(response.StatusCode, data)
}
