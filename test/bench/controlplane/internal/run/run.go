// Package run supervises one look-alike of a single-node OpenShift: its server process, its stand-ins and its router.
package run

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"time"

	"k8s.io/klog/v2"

	"touchdown/test/bench/controlplane/internal/cluster"
	"touchdown/test/bench/controlplane/internal/crds"
	"touchdown/test/bench/controlplane/internal/operators"
	"touchdown/test/bench/controlplane/internal/pki"
	"touchdown/test/bench/controlplane/internal/router"
	"touchdown/test/bench/controlplane/internal/seed"
)

// Options say what cluster to run and where.
type Options struct {
	State      string    // folder of everything; one that holds a seeded cluster goes on with it
	CRDs       string    // folder of definitions
	Domain     string    // cluster name and base domain
	Delay      string    // zero, life or a factor
	SeededFrom string    // a seeded, stopped state folder to copy
	Cache      string    // folder of seeded states by their inputs
	Address    string    // of the node; empty: a free loopback address
	Listen     string    // where the servers listen; empty: at the node's address
	NodeRoot   string    // where the node's files are; empty: nowhere
	Release    string    // reference of the release image; empty: one that is nowhere
	RealNode   bool      // a kubelet keeps the Node object
	Real       []string  // operators that someone runs for real: their stand-ins stay away
	Out        io.Writer // the one line of JSON
}

// ready is what the one line says.
type ready struct {
	Ready      bool   `json:"ready"`
	Kubeconfig string `json:"kubeconfig"`
	Address    string `json:"address"`
	Control    string `json:"control"`
}

// bench is a running look-alike.
type bench struct {
	Options
	log      *slog.Logger
	id       identity
	listener net.Listener // of the router; holds the address
	child    *child
	clients  *cluster.Clients
	pace     *operators.Pace
	stats    *operators.Stats
	faults   *operators.Faults
}

// Run works until ctx ends.
func Run(ctx context.Context, o Options) error {
	speed, err := operators.ParsePace(o.Delay)
	if err != nil {
		return err
	}
	if err := operators.CheckReal(o.Real); err != nil {
		return err
	}
	if o.State, err = filepath.Abs(o.State); err != nil {
		return fmt.Errorf("finding the state folder: %w", err)
	}
	if err := os.MkdirAll(filepath.Join(o.State, "logs"), 0o700); err != nil {
		return fmt.Errorf("making the state folder: %w", err)
	}
	file, err := os.OpenFile(filepath.Join(o.State, "logs", "run.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("opening the log: %w", err)
	}
	defer file.Close()
	b := &bench{
		Options: o, pace: &operators.Pace{}, stats: operators.NewStats(), faults: operators.NewFaults(),
		log: slog.New(slog.NewJSONHandler(file, nil)),
	}
	klog.SetSlogLogger(b.log)
	slog.SetDefault(b.log)
	b.pace.Set(speed)
	return b.run(ctx)
}

func (b *bench) run(ctx context.Context) (err error) {
	release, err := b.prepare(ctx)
	if err != nil {
		return err
	}
	defer release()
	defer b.child.stop()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	node := seed.Node
	if b.RealNode { // by its host name, which a wizard may change
		if node, err = os.Hostname(); err != nil {
			return fmt.Errorf("reading the node's name: %w", err)
		}
	}
	own, err := b.ownClientCAs()
	if err != nil {
		return err
	}
	env := &operators.Env{
		ClientCAs: own,
		Clients:   b.clients, API: b.child, Pace: b.pace, Stats: b.stats, Faults: b.faults, Log: b.log,
		Router: router.Serve(ctx, b.listener, b.log), Domain: b.id.Domain, Node: node,
		CertDir: filepath.Join(b.State, "certs"), NodeRoot: b.NodeRoot, RealNode: b.RealNode, Real: b.Real,
	}
	if b.RealNode && b.NodeRoot == "/" {
		if err := b.clusterDNS(ctx); err != nil {
			return err
		}
	}
	failed := make(chan error, 1)
	go func() { failed <- operators.Run(ctx, env) }()
	control, err := b.control(ctx, env)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, control.Close()) }()
	if err := env.Ready(ctx); err != nil {
		return fmt.Errorf("waiting for the stand-ins: %w", err)
	}
	line := ready{Ready: true, Kubeconfig: filepath.Join(b.State, "kubeconfig"), Address: b.id.Address, Control: b.controlPath()}
	if err := json.NewEncoder(b.Out).Encode(line); err != nil {
		return fmt.Errorf("announcing the bench: %w", err)
	}
	select {
	case <-ctx.Done():
		return nil
	case err := <-failed:
		return err
	}
}

// prepare brings up a seeded server, by the shortest way there is.
func (b *bench) prepare(ctx context.Context) (release func(), err error) {
	release = func() {}
	id, err := loadIdentity(b.State)
	switch {
	case err == nil && id.Seeded:
		if b.listener, err = claim(b.listen(id.Address)); err != nil {
			return release, fmt.Errorf("going on with the state in %s: %w", b.State, err)
		}
		b.id = id
		return release, b.startServer(ctx)
	case b.SeededFrom != "":
		if b.adopt(b.SeededFrom) == nil {
			return release, b.startServer(ctx)
		}
	case b.Cache != "":
		return b.fromCache(ctx)
	}
	return release, b.seed(ctx)
}

// adopt copies a seeded state whose address is free.
func (b *bench) adopt(from string) error {
	id, err := loadIdentity(from)
	if err != nil {
		return err
	}
	if b.Address != "" && b.Address != id.Address || id.Domain != b.Domain || !id.Seeded {
		return errors.New("the seeded state is of another cluster")
	}
	l, err := claim(id.Address)
	if err != nil {
		return err
	}
	if err := copyState(from, b.State); err != nil {
		return errors.Join(err, l.Close())
	}
	b.id, b.listener = id, l
	return nil
}

// seed makes a cluster from nothing.
func (b *bench) seed(ctx context.Context) (err error) {
	begun := time.Now()
	b.id = identity{Address: b.Address, Domain: b.Domain}
	if b.Address == "" {
		b.id.Address, b.listener, err = freeAddress()
	} else {
		b.listener, err = claim(b.listen(b.Address))
	}
	if err != nil {
		return err
	}
	pairs, err := makeState(b.State, b.id, local(b.listen(b.id.Address)))
	if err != nil {
		return err
	}
	b.log.Info("certificates made", "seconds", time.Since(begun).Seconds())
	if err := b.startServer(ctx); err != nil {
		return err
	}
	b.log.Info("server started", "seconds", time.Since(begun).Seconds())
	if err := b.fill(ctx, pairs); err != nil {
		return err
	}
	b.log.Info("cluster seeded", "seconds", time.Since(begun).Seconds())
	b.id.Seeded = true
	return b.id.save(b.State)
}

func (b *bench) fill(ctx context.Context, pairs pki.Cluster) error {
	if err := crds.Install(ctx, b.clients.REST, b.CRDs); err != nil {
		return err
	}
	values, err := seed.NewValues(b.id.Domain, b.id.Address, pairs)
	if err != nil {
		return err
	}
	if b.Release != "" {
		values.Release = b.Release
	}
	if b.RealNode {
		values.RealNode()
	}
	if err := seed.Apply(ctx, b.clients, values); err != nil {
		return err
	}
	if b.RealNode && b.NodeRoot != "" {
		return b.writeNodeFiles(ctx, pairs)
	}
	return b.writeOwnKubeconfigs(ctx, filepath.Join(b.State, "static-pod-resources"), b.id.Address, pairs)
}

func (b *bench) listen(address string) string {
	if b.Listen != "" {
		return b.Listen
	}
	return address
}

func (b *bench) startServer(ctx context.Context) (err error) {
	if b.clients, err = cluster.Connect(filepath.Join(b.State, "stand-ins.kubeconfig")); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(b.State, "certs"), 0o700); err != nil {
		return fmt.Errorf("making the folder of serving certificates: %w", err)
	}
	if b.child == nil {
		b.child = newChild(b.State, b.id.Address, b.listen(b.id.Address), b.log)
		b.child.hold = b.pace.None
		b.child.remember = func(sni []string) error {
			b.id.SNI = sni
			return b.id.save(b.State)
		}
		if err := b.child.setProbe(b.clients.REST); err != nil {
			return err
		}
	}
	b.child.turn.Lock()
	defer b.child.turn.Unlock()
	if err := b.child.start(ctx, b.id.SNI); err != nil {
		return fmt.Errorf("starting the server (see %s): %w", filepath.Join(b.State, "logs", "serve.log"), err)
	}
	return nil
}
