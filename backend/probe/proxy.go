package probe

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"golang.org/x/net/http/httpproxy"
)

// Proxy is how the site lets its machines out, with the names of install-config. Both may be empty.
type Proxy struct {
	HTTPS   string // URL; may hold a password, which is shown nowhere
	NoProxy string // comma separated, as in the environment
}

// target returns the proxy for a host, nil when it is reached directly.
func (p Proxy) target(endpoint string) *url.URL {
	if p.HTTPS == "" || endpoint == "" {
		return nil
	}
	config := httpproxy.Config{HTTPSProxy: p.HTTPS, NoProxy: p.NoProxy}
	u, err := config.ProxyFunc()(&url.URL{Scheme: "https", Host: endpoint})
	if err != nil {
		return nil // validated with the site config, which can say where it is wrong
	}
	return u
}

// host is the proxy's host and port for an endpoint, empty when it is reached directly.
func (p Proxy) host(endpoint string) string {
	u := p.target(endpoint)
	if u == nil {
		return ""
	}
	if u.Port() != "" {
		return u.Host
	}
	return net.JoinHostPort(u.Hostname(), map[string]string{"https": "443"}[u.Scheme]+map[string]string{"http": "80"}[u.Scheme])
}

// splitPort is net.SplitHostPort with a default.
func splitPort(endpoint string, port uint16) (string, uint16, error) {
	if endpoint == "" {
		return "", port, nil
	}
	if a, err := netip.ParseAddr(endpoint); err == nil {
		return a.String(), port, nil
	}
	host, text, err := net.SplitHostPort(endpoint)
	if err != nil {
		// Only a missing port is fine.
		if host, _, err = net.SplitHostPort(endpoint + ":0"); err != nil {
			return "", 0, fmt.Errorf("reading %q: %w", endpoint, err)
		}
		return host, port, nil
	}
	n, err := strconv.ParseUint(text, 10, 16)
	if err != nil {
		return "", 0, fmt.Errorf("reading %q: %w", endpoint, err)
	}
	return host, uint16(n), nil
}

// refused is the proxy's own answer: its code, in the words of the standard. Whatever else it says is not repeated.
type refused struct{ status string }

// Error tells the status line.
func (e refused) Error() string { return "the proxy answered " + e.status }

// longestAnswer is how much of a proxy's answer is read before what is tunnelled: far more than a status line and headers have.
const longestAnswer = 64 << 10

// unquoted is an error of reading HTTP without what the other end said, which net/http repeats.
func unquoted(err error) error {
	var network net.Error
	for _, known := range []error{io.EOF, io.ErrUnexpectedEOF, context.Canceled, context.DeadlineExceeded} {
		if errors.Is(err, known) {
			return known
		}
	}
	if errors.As(err, &network) {
		return err
	}
	return errors.New("it is not HTTP")
}

// connect asks the proxy for a connection to endpoint, over a connection to the proxy.
func connect(ctx context.Context, c net.Conn, proxy *url.URL, endpoint string, config *tls.Config) (net.Conn, error) {
	if proxy.Scheme == "https" {
		secure := tls.Client(c, config)
		if err := secure.HandshakeContext(ctx); err != nil {
			return nil, fmt.Errorf("talking to the proxy: %w", err)
		}
		c = secure
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodConnect, "", nil)
	if err != nil {
		return nil, errors.New("making a request to the proxy") // the cause may repeat the URL
	}
	request.Host, request.URL = endpoint, &url.URL{Host: endpoint, Opaque: endpoint}
	if u := proxy.User; u != nil {
		password, _ := u.Password()
		basic := http.Request{Header: http.Header{}}
		basic.SetBasicAuth(u.Username(), password)
		request.Header.Set("Proxy-Authorization", basic.Header.Get("Authorization"))
	}
	if err := request.Write(c); err != nil {
		return nil, fmt.Errorf("asking the proxy: %w", err)
	}
	reader := bufio.NewReader(io.LimitReader(c, longestAnswer))
	answer, err := http.ReadResponse(reader, request)
	if err != nil {
		return nil, fmt.Errorf("reading the proxy's answer: %w", unquoted(err))
	}
	if answer.StatusCode != http.StatusOK {
		return nil, refused{strings.TrimSpace(strconv.Itoa(answer.StatusCode) + " " + http.StatusText(answer.StatusCode))}
	}
	// The registry speaks only after the client has: nothing of it can be in the reader.
	return c, nil
}
