package main

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"touchdown/steps/event"
	"touchdown/test/bench/figures"
	"touchdown/test/bench/landing"
	"touchdown/test/bench/node"
	"touchdown/test/bench/site"
	"touchdown/test/wait"
)

// shopStore is a site with fixed addresses that brings all that a baked node takes without a reboot: time servers, an SSH key,
// a mirror and its authority.
const shopStore = `apiVersion: touchdown.dev/v1alpha1
kind: SiteConfig
metadata: {name: store-0051}
spec:
  clusterName: store0051
  baseDomain: retail.example.com
  network:
    interface: enp1s0
    ipv4: {method: static, address: %s, prefixLength: 24, gateway: 198.51.100.1}
    ipv6: {method: disabled}
    dnsServers: [198.51.100.53]
  additionalNTPSources: [198.51.100.123]
  sshKeys: [ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAgpdVji54vtwFvgW9svAJpsfg2PXjzzuo1e4AVQukoh admin@store.example]
  imageDigestMirrors:
    - {source: images.factory.example/release, mirrors: [` + site.RegistryName + `/release]}
  registryCerts:
    - registryHostname: ` + site.RegistryName + `
      certificate: |
        %s
  policy: {stabilityWindow: %s, keepGoingOnWarnings: true, keepNetworkWhenProbesPass: %t}
`

const storeDomain = "store0051.retail.example.com"

// relocation measures a node of the factory on its way to a site: with stand-ins that take no time, and at the pace of life.
func relocation(ctx context.Context, s setup) (map[string]figures.Figure, error) {
	zero, err := relocate(ctx, "zero", (*journey).land)
	if err != nil {
		return nil, fmt.Errorf("with stand-ins at zero delay: %w", err)
	}
	pace := "life"
	if s.small {
		pace = "20"
	}
	life, err := relocate(ctx, pace, (*journey).putBackAndLand)
	if err != nil {
		return nil, fmt.Errorf("at the pace of life: %w", err)
	}
	return map[string]figures.Figure{
		"move_zero_delay_s":       figures.Goal(zero.seconds, "s", 60),
		"move_life_pace_s":        figures.Goal(life.seconds, "modelled s", 720),
		"kube_apiserver_restarts": figures.Goal(float64(life.restarts), "modelled restarts", 1),
		"pool_renders":            figures.Goal(float64(max(zero.renders, life.renders)), "modelled renders", 1),
		"reboots":                 figures.None(float64(zero.reboots+life.reboots), "reboots"),
		"api_writes":              figures.Beside(float64(zero.writes), "requests", "reads of the same job", float64(max(zero.reads, 1))),
		"network_apply_s":         figures.Goal(max(zero.network, life.network), "s", 10),
		"put_back_s":              figures.Goal(life.putBack, "s", 5),
	}, nil
}

// journey is one node on its way.
type journey struct {
	*landing.Landing
	seconds, network, putBack                 float64
	restarts, renders, reboots, writes, reads int
}

// relocate makes a node and has work done with it.
func relocate(ctx context.Context, delay string, work func(*journey, context.Context) error) (_ *journey, err error) {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Minute)
	defer cancel()
	edge := site.Edge()
	edge.Domain = storeDomain
	l, err := landing.Launch(ctx, landing.Options{Delay: delay, Network: edge})
	if errors.Is(err, node.ErrUnable) {
		return nil, fmt.Errorf("%w; make bench-factory as root", err)
	}
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	m := &journey{Landing: l}
	if _, err := l.Await(ctx, "the form of the node", func(s *landing.Status) bool { return s.State == "collecting" }); err != nil {
		return nil, err
	}
	return m, work(m, ctx)
}

func (m *journey) config(address, window string, trust bool) string {
	ca := strings.ReplaceAll(strings.TrimSpace(string(m.Site.Registry.CA())), "\n", "\n        ")
	return fmt.Sprintf(shopStore, address, ca, window, trust)
}

// land moves the node and reads what it took. The stability window, which a person sets, is not part of the pace.
func (m *journey) land(ctx context.Context) error {
	boots := m.Node.Boots()
	out, code, err := m.Apply(ctx, m.config("198.51.100.10", "1s", true))
	if err != nil || code != 0 {
		return fmt.Errorf("touchdown apply ended with %d: %w\n%s\n%s", code, err, out, m.Log(30))
	}
	if err := m.Proof(ctx, storeDomain); err != nil {
		return fmt.Errorf("from outside: %w", err)
	}
	session, err := m.Session()
	if err != nil {
		return err
	}
	s, err := session.Snapshot(ctx)
	if err != nil {
		return fmt.Errorf("reading how it went: %w", err)
	}
	m.seconds = s.Ended.Sub(s.Started).Seconds()
	for _, stage := range s.Stages {
		for _, step := range stage.Steps {
			if step.ID == "network" {
				m.network = step.Seconds
			}
		}
	}
	cluster, err := m.Cluster()
	if err != nil {
		return err
	}
	state, err := cluster.State() // counts from the start of the cluster, which is a part of the move
	if err != nil {
		return err
	}
	m.restarts = state.RollOuts["kube-apiserver"].Done + state.RollOuts["kube-apiserver"].Failed
	m.reboots = m.Node.Boots() - boots
	m.writes, m.reads = state.WriteTotal, state.ReadTotal
	m.renders, err = m.rendered(ctx, s.Started)
	return err
}

// rendered counts the configurations that were made for the node's pool since then. The pool of workers, which has no
// node here, gets its own of what is meant for all.
func (m *journey) rendered(ctx context.Context, since time.Time) (int, error) {
	config, err := m.Node.Kubernetes()
	if err != nil {
		return 0, err
	}
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return 0, fmt.Errorf("making a client: %w", err)
	}
	configs := schema.GroupVersionResource{Group: "machineconfiguration.openshift.io", Version: "v1", Resource: "machineconfigs"}
	list, err := client.Resource(configs).List(ctx, metav1.ListOptions{})
	if err != nil {
		return 0, fmt.Errorf("listing machine configurations: %w", err)
	}
	n := 0
	for _, c := range list.Items {
		if strings.HasPrefix(c.GetName(), "rendered-master-") && c.GetCreationTimestamp().After(since) {
			n++
		}
	}
	return n, nil
}

// Where the node is before it is moved, by the site's DHCP, and where nobody confirms that it should be.
var (
	oldAddress = netip.MustParseAddr("198.51.100.10")
	newAddress = netip.MustParseAddr("198.51.100.77")
)

// putBackAndLand lets a question about new addresses go unanswered first, and looks from outside when the old one is back.
func (m *journey) putBackAndLand(ctx context.Context) error {
	if err := m.hears(ctx, oldAddress, time.Minute); err != nil {
		return err
	}
	if err := m.Begin(ctx, m.config(newAddress.String(), "1s", false)); err != nil {
		return err
	}
	_, err := m.Await(ctx, "the question about the network", func(s *landing.Status) bool { return s.State == "question" })
	if err != nil {
		return err
	}
	if err := m.hears(ctx, newAddress, wait.Timeout(10*time.Second)); err != nil {
		return err
	}
	if err := m.Site.Client().Ping(ctx, oldAddress); err == nil {
		return errors.New("the old address answers while the new one is tried")
	}
	unanswered, err := m.unanswered(ctx)
	if err != nil {
		return err
	}
	if err := m.hears(ctx, oldAddress, time.Minute); err != nil {
		return err
	}
	m.putBack = time.Since(unanswered).Seconds()
	if _, err := m.Await(ctx, "the failure", func(s *landing.Status) bool { return s.State == "failed" }); err != nil {
		return err
	}
	return m.land(ctx)
}

// unanswered returns when the open question was given up, as the journal has it.
func (m *journey) unanswered(ctx context.Context) (time.Time, error) {
	session, err := m.Session()
	if err != nil {
		return time.Time{}, err
	}
	var at time.Time
	enough := errors.New("answered")
	err = session.Events(ctx, "", 0, func(events []event.Event) error {
		for _, e := range events {
			if e.Kind == event.Answered && e.Step == "network" {
				at = e.Time
				return enough
			}
		}
		return nil
	})
	if !errors.Is(err, enough) {
		return at, fmt.Errorf("waiting for the question's end: %w", err)
	}
	return at, nil
}

// hears waits until an address answers the laptop at the site.
func (m *journey) hears(ctx context.Context, address netip.Addr, limit time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	for {
		one, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
		err := m.Site.Client().Ping(one, address)
		cancel()
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return err
		}
		time.Sleep(20 * time.Millisecond)
	}
}
