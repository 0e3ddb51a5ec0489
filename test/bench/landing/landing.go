// Package landing puts a node that left the factory at the end of a site's cable, with the program under test on it.
package landing

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"touchdown/steps/event"
	"touchdown/test/bench/node"
	"touchdown/test/bench/site"
	"touchdown/test/wait"
)

// Options say what lands where. The zero value is a node of the factory, on its way to site.Edge, with stand-ins that
// take no time.
type Options struct {
	Delay   string       // pace of the stand-ins: zero, life or how many times faster than life
	Network site.Network // at the end of the cable; default: site.Edge()
	Node    node.Options // Image and Delay are set here
	Off     bool         // do not boot yet
	Echo    io.Writer    // gets what commands print, as they print it; nil: nobody
}

// Landing is a node at its site.
type Landing struct {
	Node *node.Machine
	Site *site.Site

	echo io.Writer
}

// Start makes a landing for a test. Where a node cannot run the test is skipped; in CI it fails.
func Start(t testing.TB, o Options) *Landing {
	t.Helper()
	wait.Slow(t)
	l, err := Launch(wait.Within(t, 8*time.Minute), o) // the factory's disk may have to be made first
	node.Require(t, err)
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Errorf("ending the landing: %v", err)
		}
	})
	wait.Explain(t, "the bench node", l.Node.Diagnosis)
	return l
}

// Launch makes a landing that ends with Close.
func Launch(ctx context.Context, o Options) (_ *Landing, err error) {
	image, err := node.Factory(ctx)
	if err != nil {
		return nil, err
	}
	o.Node.Image, o.Node.Delay = image, o.Delay
	l := &Landing{echo: o.Echo}
	defer func() {
		if err != nil {
			err = errors.Join(err, l.Close())
		}
	}()
	if l.Node, err = node.New(ctx, o.Node); err != nil {
		return nil, err
	}
	if err := l.Node.Program(); err != nil {
		return nil, err
	}
	if o.Network.Name == "" {
		o.Network = site.Edge()
	}
	if l.Site, err = site.Launch(site.Options{LAN: l.Node.LAN(), Network: o.Network}); err != nil {
		return nil, err
	}
	if o.Off {
		return l, nil
	}
	return l, l.Node.Boot(ctx)
}

// Close ends node and site.
func (l *Landing) Close() error {
	var err error
	if l.Node != nil {
		err = l.Node.Close()
	}
	if l.Site != nil {
		l.Site.Close()
	}
	return err
}

// Touchdown runs the program in the node and returns what it printed, and its exit code.
func (l *Landing) Touchdown(ctx context.Context, args ...string) (printed string, code int, err error) {
	cmd, err := l.Node.Command(ctx, append([]string{"/usr/local/bin/touchdown"}, args...)...)
	if err != nil {
		return "", 0, err
	}
	var text bytes.Buffer
	var out io.Writer = &text
	if l.echo != nil && (args[0] == "apply" || args[0] == "events") {
		out = io.MultiWriter(&text, l.echo)
	}
	cmd.Stdout, cmd.Stderr = out, out
	err = node.Finish(cmd)
	if cmd.ProcessState == nil || ctx.Err() != nil {
		return text.String(), 0, errors.Join(err, context.Cause(ctx))
	}
	return text.String(), cmd.ProcessState.ExitCode(), nil
}

// Waived are the hardware checks that no build machine passes.
var Waived = []string{"hw-cpu", "hw-disk"}

// Apply lands the node headless with a site config, and with more flags of `touchdown apply`.
func (l *Landing) Apply(ctx context.Context, config string, more ...string) (out string, code int, err error) {
	if err := l.Node.WriteFile("/var/tmp/site.yaml", []byte(config), 0o600); err != nil {
		return "", 0, err
	}
	args := append([]string{"apply", "-f", "/var/tmp/site.yaml", "--force", "--by", "the bench"}, more...)
	for _, check := range Waived {
		args = append(args, "--waive", check+"=the bench has the hardware of a build machine")
	}
	return l.Touchdown(ctx, args...)
}

// Status is what `touchdown status -o json` tells, as far as tests ask.
type Status struct {
	Seq     uint64 // of the last event
	State   string
	List    string
	Life    string
	Current string
	Cluster string // the domain that the answers give it
	Notices []string
	Problem *struct{ Code, Summary, Fix, Detail string }
	Stages  []struct {
		Steps []struct {
			ID, Status, Skip string
			Seconds          float64
			Said             []string
			Checks           []struct {
				ID, Status, Observed, Fix string
				Evidence                  []string
			}
		}
	}
}

// Status asks the engine.
func (l *Landing) Status(ctx context.Context) (*Status, error) {
	out, code, err := l.Touchdown(ctx, "status", "-o", "json")
	if err != nil || code != 0 {
		return nil, fmt.Errorf("asking the engine (exit %d): %s: %w", code, strings.TrimSpace(out), err)
	}
	s := &Status{}
	if err := json.Unmarshal([]byte(out), s); err != nil {
		return nil, fmt.Errorf("reading the engine's status: %w", err)
	}
	return s, nil
}

// Await waits until the engine tells what ok wants to hear: it asks after each event. It goes on while the node reboots.
func (l *Landing) Await(ctx context.Context, what string, ok func(*Status) bool) (*Status, error) {
	var last *Status
	for {
		one, cancel := context.WithTimeout(ctx, wait.Timeout(0)) // a question that a reboot swallowed is asked again
		s, err := l.Status(one)
		cancel()
		if err == nil {
			if last = s; ok(s) {
				return s, nil
			}
		}
		if ctx.Err() != nil {
			return last, fmt.Errorf("waiting for %s: %w; last state: %s", what, errors.Join(context.Cause(ctx), err), last.text())
		}
		l.event(ctx, last)
	}
}

// event waits until something has happened since a status, for a second at most: an engine that is away tells nothing, and
// not everything that Status has is an event.
func (l *Landing) event(ctx context.Context, since *Status) {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	session, err := l.Session()
	if err != nil || since == nil {
		<-ctx.Done()
		return
	}
	err = session.Events(ctx, "", since.Seq, func(events []event.Event) error {
		for _, e := range events {
			if e.Kind != event.Progressed {
				return errHeard
			}
		}
		return nil
	})
	if !errors.Is(err, errHeard) {
		<-ctx.Done()
	}
}

// errHeard ends a stream of events.
var errHeard = errors.New("heard")

func (s *Status) text() string {
	if s == nil {
		return "none"
	}
	text := s.State + " at " + s.Current
	if s.Problem != nil {
		text += ": " + s.Problem.Code + " " + s.Problem.Summary + " " + s.Problem.Detail
	}
	return text
}

// Step is the status of a step; empty where the list has none of that name.
func (s *Status) Step(id string) string {
	for _, stage := range s.Stages {
		for _, step := range stage.Steps {
			if step.ID == id {
				return step.Status
			}
		}
	}
	return ""
}

// Landed is for Await: the job came to a good end.
func Landed(s *Status) bool { return s.State == "done" }

// Proof asks the cluster from a laptop on the site's LAN: API and console under domain, which the site's DNS leads to the
// node. Each must answer with a certificate for its name.
func (l *Landing) Proof(ctx context.Context, domain string) error {
	return l.ProofBy(ctx, domain, l.Site.Client().DialContext)
}

// ProofBy is Proof from a laptop that finds names its own way.
func (l *Landing) ProofBy(ctx context.Context, domain string, dial func(context.Context, string, string) (net.Conn, error)) error {
	trust := &tls.Config{InsecureSkipVerify: true, VerifyConnection: forItsName} // the cluster signs itself
	client := &http.Client{Transport: &http.Transport{DialContext: dial, TLSClientConfig: trust, DisableKeepAlives: true}}
	for _, url := range []string{"https://api." + domain + ":6443/readyz", "https://console-openshift-console.apps." + domain + "/"} {
		if err := get(ctx, client, url); err != nil {
			return err
		}
	}
	return nil
}

func forItsName(c tls.ConnectionState) error {
	leaf := c.PeerCertificates[0]
	if err := leaf.VerifyHostname(c.ServerName); err != nil {
		return fmt.Errorf("the certificate of %s: %w", c.ServerName, err)
	}
	if now := time.Now(); now.Before(leaf.NotBefore) || now.After(leaf.NotAfter) {
		return x509.CertificateInvalidError{Cert: leaf, Reason: x509.Expired}
	}
	return nil
}

func get(ctx context.Context, client *http.Client, url string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return err
	}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	text, _ := io.ReadAll(io.LimitReader(response.Body, 1<<10))
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answers %s: %s", url, response.Status, text)
	}
	return nil
}

// Log is the end of the engine's journal.
func (l *Landing) Log(lines int) string {
	return l.Node.Says(fmt.Sprintf("tail -n %d /var/lib/touchdown/engine.log; journalctl -n %d --no-pager -u touchdown-engine", lines, lines))()
}
