package network_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"slices"
	"testing"
	"time"

	"touchdown/backend/host"
	"touchdown/backend/network"
	"touchdown/backend/problem"
	"touchdown/test/wait"
)

// The test binary is its own tool inside the bench node: each operation is its own process there, so that nothing is
// carried from one to the next but what a step would have saved. What is asked is on its standard input.

// inside is what the environment names an operation by.
const inside = "TOUCHDOWN_NETWORK_INSIDE"

// decision is where a step of the test notes that settings are kept.
const decision = "/var/lib/network-test/decided"

type request struct {
	Settings  network.Settings
	Rollback  time.Duration
	Originals []byte
	Undecided bool // Keep crashes where the decision would be noted
}

type answer struct {
	Code, Error string
	Current     *network.Current
	Status      *network.Status
	Ports       []network.Port
	Faults      []network.Fault
	Originals   []byte
	Done        bool
	Seconds     float64
}

func TestMain(m *testing.M) {
	if op := os.Getenv(inside); op != "" {
		if err := serve(op); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

func serve(op string) error {
	var q request
	text, err := io.ReadAll(os.Stdin)
	if err == nil {
		err = json.Unmarshal(text, &q)
	}
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), wait.Timeout(time.Minute))
	defer cancel()
	n := network.Open(host.Open(host.Options{NoPower: true}))
	begun := time.Now()
	a := answer{}
	err = a.do(ctx, n, op, q)
	a.Seconds = time.Since(begun).Seconds()
	if err != nil {
		a.Error = err.Error()
		if p, ok := errors.AsType[*problem.Problem](err); ok {
			a.Code = p.Code
		}
	}
	return json.NewEncoder(os.Stdout).Encode(a)
}

// neighbours waits until each port has heard its neighbour: the switch announces itself now and then.
func (a *answer) neighbours(ctx context.Context, n *network.Network, most time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	return wait.For(ctx, "the ports' neighbours", func(ctx context.Context) (err error) {
		a.Ports, err = n.Ports(ctx)
		if err == nil && slices.ContainsFunc(a.Ports, func(p network.Port) bool { return p.Neighbour == network.Neighbour{} }) {
			err = errors.New("one has none")
		}
		return err
	})
}

func (a *answer) do(ctx context.Context, n *network.Network, op string, q request) (err error) {
	plan := func() (*network.Plan, error) {
		if len(q.Originals) == 0 {
			if q.Originals, err = n.Originals(ctx); err != nil {
				return nil, err
			}
		}
		return n.Compile(ctx, q.Settings, q.Originals)
	}
	switch op {
	case "read":
		a.Current, err = n.Read(ctx)
	case "status":
		a.Status, err = n.Status(ctx)
	case "ports":
		if a.Ports, err = n.Ports(ctx); err == nil && q.Rollback > 0 {
			err = a.neighbours(ctx, n, q.Rollback)
		}
	case "validate":
		var facts network.Facts
		if facts.Now, err = n.Read(ctx); err != nil {
			return err
		}
		if facts.Ports, err = n.Ports(ctx); err != nil {
			return err
		}
		facts.Reserved = append([]network.Reserved{{Name: "service", Prefix: netip.MustParsePrefix("172.30.0.0/16")}}, network.OVNDefaults...)
		facts.LeastMTU = network.LeastMTU(1400, false)
		a.Faults = n.Validate(ctx, q.Settings, facts)
	case "originals":
		a.Originals, err = n.Originals(ctx)
	case "apply":
		p, err := plan()
		if err != nil {
			return err
		}
		return n.Apply(ctx, p, q.Rollback)
	case "await":
		p, err := plan()
		if err != nil {
			return err
		}
		_, err = n.Await(ctx, p, q.Rollback)
		return err
	case "keep":
		p, err := plan()
		if err != nil {
			return err
		}
		return n.Keep(ctx, p, func() error {
			if q.Undecided {
				return errors.New("crashed before the decision")
			}
			return host.Open(host.Options{NoPower: true}).WriteFile(decision, []byte("kept"), 0o600)
		})
	case "commit":
		p, err := plan()
		if err != nil {
			return err
		}
		return n.Commit(ctx, p)
	case "inforce":
		p, err := plan()
		if err != nil {
			return err
		}
		a.Done, err = n.InForce(ctx, p)
		a.Done = a.Done && n.Persisted(p)
		return err
	case "putback":
		return n.PutBack(ctx, q.Originals)
	case "takeover":
		return n.TakeOver(ctx)
	case "revive":
		a.Done, err = n.Revive(ctx)
	case "build":
		return n.BuildBridge(ctx, q.Rollback)
	case "blink":
		return n.Blink(ctx, q.Settings.Interface, time.Second)
	default:
		return fmt.Errorf("no operation %q", op)
	}
	return err
}
