package e2e

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"touchdown/test/bench/landing"
	"touchdown/test/wait"
)

// laptop is a machine on the LAN of a site without a name server. Its hosts file has the lines that the report has for it.
type laptop struct {
	*testing.T
	landing *landing.Landing
	hosts   string // its file
}

// newLaptop puts the lines of the report that was handed over behind those that a machine has anyway.
func newLaptop(ctx context.Context, t *testing.T, l *landing.Landing) *laptop {
	t.Helper()
	text, code, err := l.Touchdown(ctx, "report", "hosts")
	if err != nil || code != 0 {
		t.Fatalf("exit %d, %v: %s", code, err, text)
	}
	t.Logf("## touchdown report hosts\n%s", text)
	c := &laptop{t, l, filepath.Join(t.TempDir(), "hosts")}
	if err := os.WriteFile(c.hosts, []byte("127.0.0.1\tlocalhost\n"+text), 0o644); err != nil {
		t.Fatal(err)
	}
	return c
}

// lookup asks the C library, as all programs of the laptop do.
func (c *laptop) lookup(ctx context.Context, name string) (address string, err error) {
	const files = `mount --bind "$1" /etc/hosts; mount --bind /dev/null /etc/resolv.conf; getent ahostsv4 "$2"`
	out, err := c.landing.Site.Client().Output(ctx, "unshare", "--mount", "sh", "-ec", files, "lookup", c.hosts, name)
	address, _, _ = strings.Cut(out, " ")
	if err == nil && net.ParseIP(address) == nil {
		err = fmt.Errorf("not an address: %q", out)
	}
	if err != nil {
		return "", fmt.Errorf("looking up %s by the hosts lines of the report: %w", name, err)
	}
	return address, nil
}

func (c *laptop) dial(ctx context.Context, network, address string) (net.Conn, error) {
	name, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("reading the address: %w", err)
	}
	found, err := c.lookup(ctx, name)
	if err != nil {
		return nil, err
	}
	return c.landing.Site.Client().DialContext(ctx, network, net.JoinHostPort(found, port))
}

// browses opens what a person there opens: the console, and the login page to which it leads. A name without a line is not found.
func (c *laptop) browses(ctx context.Context) {
	c.Helper()
	for _, name := range []string{"console-openshift-console.apps." + domain, "oauth-openshift.apps." + domain} {
		var told string
		if err := wait.For(ctx, "https://"+name+"/ from a client", func() (err error) {
			told, err = c.opens(ctx, name)
			return err
		}); err != nil {
			c.Error(err)
		}
		c.Log(told)
	}
	if address, err := c.lookup(ctx, "nobody.apps."+domain); err == nil {
		c.Errorf("a name without a line leads to %s", address)
	}
}

// opens asks for the first page of a host, and tells who answered.
func (c *laptop) opens(ctx context.Context, name string) (told string, err error) {
	address, err := c.lookup(ctx, name)
	if err != nil {
		return "", err
	}
	trust := &tls.Config{InsecureSkipVerify: true} // the cluster signs itself; its name is looked at below
	client := &http.Client{Transport: &http.Transport{DialContext: c.dial, TLSClientConfig: trust, DisableKeepAlives: true}}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+name+"/", http.NoBody)
	if err != nil {
		return "", err
	}
	response, err := client.Do(request)
	if err != nil {
		return "", err
	}
	_ = response.Body.Close()
	leaf := response.TLS.PeerCertificates[0]
	told = fmt.Sprintf("a client opens https://%s/\n  found at %s, certificate for %s, answer: %s", name, address, strings.Join(leaf.DNSNames, ", "), response.Status)
	if response.StatusCode != http.StatusOK {
		return told, errors.New(told)
	}
	return told, leaf.VerifyHostname(name)
}
