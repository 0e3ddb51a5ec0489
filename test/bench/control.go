package bench

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"touchdown/test/wait"
)

// Kinds of Fault.
const (
	Slow      = "slow"      // requests are held up by Millis
	Forbidden = "forbidden" // 403
	Conflict  = "conflict"  // 409, on writes
	Throttled = "throttled" // 429 with a Retry-After of Millis, in whole seconds rounded up
	Down      = "down"      // the server is killed and comes back after Seconds
	Degraded  = "degraded"  // Operator reports Degraded=True
	Stuck     = "stuck"     // a roll-out of Operator never ends; machine-config-daemon: between the node's files and their note; machine-config-done: between that and the word that the node has it
)

// Fault is something that goes wrong. The first four hit only requests whose User-Agent begins with "touchdown".
type Fault struct {
	Kind     string  `json:"kind"`
	Verb     string  `json:"verb,omitempty"`     // only this API verb: get, list, watch, create, update, patch, delete
	Resource string  `json:"resource,omitempty"` // only this resource, in the plural
	Millis   int     `json:"millis,omitempty"`
	Times    int     `json:"times,omitempty"` // how many requests; 0: until ClearFaults
	Operator string  `json:"operator,omitempty"`
	Seconds  float64 `json:"seconds,omitempty"`
}

// State is what has happened in the cluster since it was started.
type State struct {
	Up       bool               `json:"up"`       // kube-apiserver is ready
	Restarts int                `json:"restarts"` // of kube-apiserver: roll-outs, outages, crashes
	Revision Revision           `json:"revision"` // of kube-apiserver
	RollOuts map[string]RollOut `json:"rollOuts"` // by operator
	Renders  int                `json:"renders"`  // of machine configurations, both pools
	Reboots  int                `json:"reboots"`  // that the machine config operator ordered
	// Requests whose User-Agent begins with "touchdown", as "PATCH apiservers" and "LIST routes".
	Writes     map[string]int `json:"writes"`
	Reads      map[string]int `json:"reads"`
	WriteTotal int            `json:"writeTotal"`
	ReadTotal  int            `json:"readTotal"`
}

// Revision is where kube-apiserver is between revisions; at rest Current is Latest and Target is 0.
type Revision struct{ Current, Target, Latest int }

// RollOut counts the roll-outs of one operator.
type RollOut struct{ Running, Done, Failed int }

// Attach returns a cluster that someone else runs, such as a bench node, by its control socket: for its state and faults only.
func Attach(socket string) *Cluster { return &Cluster{socket: socket} }

// State asks what has happened so far.
func (c *Cluster) State() (State, error) {
	var s State
	return s, c.ask(http.MethodGet, "/state", nil, &s)
}

// SetFault adds a fault.
func (c *Cluster) SetFault(f Fault) error { return c.ask(http.MethodPost, "/fault", f, nil) }

// ClearFaults ends all faults but an outage, which ends automatically.
func (c *Cluster) ClearFaults() error { return c.SetFault(Fault{Kind: "clear"}) }

// KillAPI kills kube-apiserver and etcd without warning; they come back after d.
func (c *Cluster) KillAPI(d time.Duration) error {
	return c.SetFault(Fault{Kind: Down, Seconds: d.Seconds()})
}

// SetDelay changes the pace of roll-outs, those under way too.
func (c *Cluster) SetDelay(delay string) error {
	err := c.ask(http.MethodPost, "/speed", map[string]string{"delay": delay}, nil)
	if err == nil {
		c.life.Store(delay == "life")
	}
	return err
}

// Life tells whether SetDelay has given it the pace of life.
func (c *Cluster) Life() bool { return c.life.Load() }

// RouterIs tells the bench what the pod of a real router does: that it "ends", is "away", or "serves" with the default certificate of a
// Secret, as the pod of a generation of its Deployment.
func (c *Cluster) RouterIs(phase string, generation int64, secret string) error {
	return c.ask(http.MethodPost, "/router", map[string]any{"phase": phase, "generation": generation, "secret": secret}, nil)
}

func (c *Cluster) ask(method, path string, body, into any) error {
	data, err := json.Marshal(body)
	if err != nil {
		return fmt.Errorf("encoding a question to the bench: %w", err)
	}
	client := http.Client{Timeout: wait.Timeout(10 * time.Second), Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", c.socket)
		},
	}}
	req, err := http.NewRequest(method, "http://bench"+path, bytes.NewReader(data))
	if err != nil {
		return fmt.Errorf("making a question to the bench: %w", err)
	}
	resp, err := client.Do(req)
	if err != nil {
		return fmt.Errorf("asking the bench: %w", err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(resp.Body)
		return fmt.Errorf("asking the bench: %s", strings.TrimSpace(string(text)))
	}
	if into == nil {
		return nil
	}
	if err := json.NewDecoder(resp.Body).Decode(into); err != nil {
		return fmt.Errorf("reading the bench's answer: %w", err)
	}
	return nil
}

// Leaf returns the certificate that a port of the node serves for a name, whoever signed it.
func (c *Cluster) Leaf(ctx context.Context, port, name string) (*x509.Certificate, error) {
	dialer := tls.Dialer{Config: &tls.Config{ServerName: name, InsecureSkipVerify: true}}
	conn, err := dialer.DialContext(ctx, "tcp", net.JoinHostPort(c.Address, port))
	if err != nil {
		return nil, fmt.Errorf("asking port %s for the certificate of %s: %w", port, name, err)
	}
	defer conn.Close()
	return conn.(*tls.Conn).ConnectionState().PeerCertificates[0], nil
}

// Get asks the router for a page of a host and returns the status and the text.
func (c *Cluster) Get(ctx context.Context, host, path string) (int, string, error) {
	client := http.Client{Timeout: wait.Timeout(5 * time.Second), Transport: &http.Transport{
		DisableKeepAlives: true,
		TLSClientConfig:   &tls.Config{ServerName: host, InsecureSkipVerify: true},
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "tcp", net.JoinHostPort(c.Address, "443"))
		},
	}}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+host+path, nil)
	if err != nil {
		return 0, "", fmt.Errorf("making a request to %s: %w", host, err)
	}
	resp, err := client.Do(req)
	if err != nil {
		return 0, "", fmt.Errorf("asking the router for %s: %w", host, err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0, "", fmt.Errorf("reading the page of %s: %w", host, err)
	}
	return resp.StatusCode, string(text), nil
}
