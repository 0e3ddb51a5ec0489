package main

import (
	"context"
	_ "embed" // for the list of faults
	"fmt"
	"regexp"
	"slices"
	"time"

	"sigs.k8s.io/yaml"

	"touchdown/steps/view"
	"touchdown/test/bench"
	"touchdown/test/bench/landing"
	"touchdown/test/wait"
)

// faultList is one line for each fault; the Makefile prints it when a name is wrong, before anything is built.
//
//go:embed faults.txt
var faultList string

// fault is something that goes wrong in a demonstration, on purpose.
type fault struct {
	name    string
	story   string                                 // for who sits at the console; printed with the sheet
	gateway string                                 // that the sheet has in place of the right one
	site    string                                 // site config of a headless run that names none
	strike  func(context.Context, *scene) error    // runs beside the landing, waits for its moment and makes it happen
	land    func(context.Context, *headless) error // headless; nil: the site config is applied once
}

// What goes wrong, and for how long.
const (
	wrongGateway = "198.51.100.99" // nobody on the site's LAN has it
	apiSlow      = 1500 * time.Millisecond
	apiAway      = 45 * time.Second
	powerAway    = 3 * time.Second
)

func faults() []fault {
	return []fault{
		{
			name: "gateway", gateway: wrongGateway, site: "test/sites/network.yaml", land: landDespiteGateway,
			story: `The sheet has a mistake: nobody has the gateway's address. Type it as it is.
The page of checks tells it before anything is changed. Insist (Waive) and
start: the settings are tried in memory only, you are asked, and without a
yes the old ones come back. Then fix the answer: 198.51.100.1 is right.`,
		},
		{
			name: "slow-api", strike: slowAPI,
			story: `When the certificates' turn comes, each answer of the cluster's API takes
1.5 s, and when the operators roll out, the API goes away for 45 s. Do
nothing: the screen says what it waits for, and goes on.`,
		},
		{
			name: "power", strike: cutPower, land: landOverCut,
			story: `When the operators roll out, the power is cut: what was not synced to the
disk is lost. After 3 s it comes back. Do nothing: the node boots, the wizard
comes back, and the work goes on where it was.`,
		},
	}
}

// findFault looks a fault up by its name.
func findFault(name string) (*fault, error) {
	all := faults()
	n := slices.IndexFunc(all, func(f fault) bool { return f.name == name })
	if n < 0 {
		return nil, fmt.Errorf("no fault %q; there are:\n%s", name, faultList)
	}
	return &all[n], nil
}

// scene is where a fault strikes.
type scene struct {
	*landing.Landing
	tell func(format string, args ...any) // to who watches
	dark func(text string)                // the console shows text until the wizard is back
}

// working waits until the engine has begun a step. It returns false when the work ended without it.
func (s *scene) working(ctx context.Context, step string) (bool, error) {
	working := false
	err := wait.For(ctx, "the step "+step, func(ctx context.Context) error {
		session, err := s.Session()
		if err != nil {
			return err
		}
		one, cancel := context.WithTimeout(ctx, wait.Timeout(0)) // an engine that goes down is asked again
		defer cancel()
		now, err := session.Snapshot(one)
		switch {
		case err != nil:
			return err
		case now.State == view.IsDone:
			return nil
		}
		if working = now.State == view.Working && begun(now, step); !working {
			return fmt.Errorf("the job is %s at %q", now.State, now.Current)
		}
		return nil
	})
	return working, err
}

func begun(s *view.Snapshot, step string) bool {
	for _, stage := range s.Stages {
		for _, one := range stage.Steps {
			if one.ID == step {
				return one.Status == view.Running || one.Status == view.StepDone
			}
		}
	}
	return false
}

// slowAPI makes the API slow, then takes it away.
func slowAPI(ctx context.Context, s *scene) error {
	if on, err := s.working(ctx, "certificates"); !on {
		return err
	}
	cluster, err := s.Cluster()
	if err != nil {
		return err
	}
	s.tell("each answer of the API takes %s from here on", apiSlow)
	if err := cluster.SetFault(bench.Fault{Kind: bench.Slow, Millis: int(apiSlow.Milliseconds())}); err != nil {
		return err
	}
	on, err := s.working(ctx, "rollouts")
	if !on {
		return err
	}
	s.tell("the API is killed; it comes back after %s", apiAway)
	if err := cluster.ClearFaults(); err != nil {
		return err
	}
	return cluster.KillAPI(apiAway)
}

// cutPower takes the power away in the middle of the work, and gives it back.
func cutPower(ctx context.Context, s *scene) error {
	if on, err := s.working(ctx, "rollouts"); !on {
		return err
	}
	s.tell("the power is cut, while the operators roll out")
	s.dark("The power is cut. It comes back in 3 s, and the node boots: wait.")
	if err := s.Node.PowerCut(ctx, false); err != nil {
		return err
	}
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(powerAway):
	}
	s.tell("the power is back; the node boots, and nobody tells it anything")
	return s.Node.Boot(ctx)
}

// landDespiteGateway shows what becomes of a wrong gateway: refused, insisted on, fixed.
func landDespiteGateway(ctx context.Context, h *headless) error {
	wrong, err := withGateway(h.config, wrongGateway)
	if err != nil {
		return err
	}
	for n, act := range []struct {
		says, config string
		waive        []string
		code         int
		then         string
	}{
		{"someone wrote a gateway that nobody has", wrong, nil, 1, "nothing was changed"},
		{"someone insists", wrong, []string{"--waive", "net-gateway=the router is not connected yet"}, 1, "the old settings are back"},
		{"the answer is fixed", h.config, nil, 0, "landed"},
	} {
		h.tell("%d of 3: %s", n+1, act.says)
		_, code, err := h.Apply(ctx, act.config, act.waive...)
		if err != nil {
			return err
		}
		if code != act.code {
			return fmt.Errorf("touchdown apply ended with exit code %d, not %d", code, act.code)
		}
		h.tell("exit code %d: %s", code, act.then)
	}
	return nil
}

// withGateway is a site config with another IPv4 gateway.
func withGateway(config, gateway string) (string, error) {
	var c struct {
		Spec struct {
			Network struct{ IPv4 struct{ Gateway string } }
		}
	}
	if err := yaml.Unmarshal([]byte(config), &c); err != nil {
		return "", fmt.Errorf("reading the site config: %w", err)
	}
	right := c.Spec.Network.IPv4.Gateway
	if right == "" {
		return "", fmt.Errorf("FAULT=gateway needs a site config with spec.network.ipv4.gateway, such as test/sites/network.yaml")
	}
	line := regexp.MustCompile(`(gateway:\s*["']?)` + regexp.QuoteMeta(right) + `\b`)
	return line.ReplaceAllString(config, "${1}"+gateway), nil
}

// landOverCut applies the site config; the client goes with the power, the work does not.
func landOverCut(ctx context.Context, h *headless) error {
	boots := h.Node.Boots()
	_, code, err := h.Apply(ctx, h.config)
	if err != nil {
		return err
	}
	if err := h.struck(ctx); err != nil {
		return err
	}
	if h.Node.Boots() == boots {
		return h.landed(code)
	}
	return h.watch(ctx)
}
