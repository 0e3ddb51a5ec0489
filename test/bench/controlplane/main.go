// Command controlplane is a look-alike of the API of a single-node OpenShift: real etcd and kube-apiserver, stand-ins for the operators and the router.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"touchdown/test/bench/controlplane/internal/apiserver"
	"touchdown/test/bench/controlplane/internal/crds"
	"touchdown/test/bench/controlplane/internal/operators"
	"touchdown/test/bench/controlplane/internal/run"
)

// garbage is how much the memory may grow until it is collected, in percent. Go's usual 100 costs a test a fifth of the processor's time, and
// the memory of a bench that lives for a minute matters little.
const garbage = 400

func main() {
	debug.SetGCPercent(garbage)
	if err := dispatch(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "controlplane:", err)
		os.Exit(1)
	}
}

func dispatch(args []string) error {
	if len(args) == 0 {
		return fmt.Errorf("one of these is missing: run, serve, crds, approve, render")
	}
	switch args[0] {
	case "run":
		return supervise(args[1:])
	case "serve":
		return serve(args[1:])
	case "crds":
		return copyCRDs(args[1:])
	case "approve":
		return approve(args[1:])
	case "render":
		return operators.Render(os.Stdin, os.Stdout)
	}
	return fmt.Errorf("unknown command %q", args[0])
}

func supervise(args []string) error {
	o := run.Options{Out: os.Stdout}
	flags := flag.NewFlagSet("run", flag.ContinueOnError)
	flags.StringVar(&o.State, "state", "", "folder of certificates, etcd, kubeconfigs and logs")
	flags.StringVar(&o.CRDs, "crds", "", "folder of custom resource definitions")
	flags.StringVar(&o.Release, "release", "", "reference of the release image; empty: one that no registry has")
	flags.StringVar(&o.Domain, "domain", "sno.factory.example", "cluster name and base domain")
	flags.StringVar(&o.Delay, "delay", "zero", "pace of roll-outs: zero, life or how many times faster than life")
	flags.StringVar(&o.SeededFrom, "seeded-from", "", "seeded, stopped state folder to start from a copy of")
	flags.StringVar(&o.Cache, "cache", "", "folder of seeded states, made on first use")
	flags.StringVar(&o.Address, "address", "", "address of the node (default: a free loopback address)")
	flags.StringVar(&o.Listen, "listen", "", "address to listen on, :: for all (default: the node's address)")
	flags.StringVar(&o.NodeRoot, "node-root", "", "root folder of the node's files, for what the machine config operator writes")
	flags.BoolVar(&o.RealNode, "real-node", false, "a kubelet keeps the Node object")
	flags.Var((*list)(&o.Real), "real", "operator that someone runs for real: its stand-in stays away, and the bench plays kubelet for it; may be repeated")
	alone := flags.Bool("ignore-stdin", false, "go on when stdin ends")
	if err := flags.Parse(args); err != nil {
		return fmt.Errorf("reading the flags: %w", err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	if !*alone {
		go func() {
			_, _ = io.Copy(io.Discard, os.Stdin)
			stop()
		}()
	}
	return run.Run(ctx, o)
}

// approve is for whoever plays the installer or the administrator; nothing else in the bench approves.
func approve(args []string) error {
	flags := flag.NewFlagSet("approve", flag.ContinueOnError)
	state := flags.String("state", "", "folder of the cluster's state")
	if err := flags.Parse(args); err != nil {
		return fmt.Errorf("reading the flags: %w", err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	names, err := run.ApproveRequests(ctx, *state)
	for _, name := range names {
		fmt.Println(name)
	}
	return err
}

type list []string

func (l *list) String() string     { return fmt.Sprint(*l) }
func (l *list) Set(s string) error { *l = append(*l, s); return nil }

func serve(args []string) error {
	var o apiserver.Options
	flags := flag.NewFlagSet("serve", flag.ContinueOnError)
	flags.StringVar(&o.Dir, "state", "", "folder of certificates and etcd")
	flags.StringVar(&o.Address, "address", "", "address of the node")
	flags.StringVar(&o.Listen, "listen", "", "address to listen on")
	flags.BoolVar(&o.Hold, "hold", false, "let requests wait until the server is ready")
	flags.Var((*list)(&o.SNI), "sni", "certificate, key and names, as for --tls-sni-cert-key; may be repeated")
	if err := flags.Parse(args); err != nil {
		return fmt.Errorf("reading the flags: %w", err)
	}
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(3) // the supervisor is gone
	}()
	return apiserver.Serve(o)
}

func copyCRDs(args []string) error {
	flags := flag.NewFlagSet("crds", flag.ContinueOnError)
	to := flags.String("to", "", "folder to copy to")
	older := flags.Bool("older", false, "the definitions of 4.14, and today's where that has none")
	if err := flags.Parse(args); err != nil {
		return fmt.Errorf("reading the flags: %w", err)
	}
	today, err := crds.Today()
	if err != nil {
		return err
	}
	releases := []string{today}
	if *older {
		releases = []string{crds.Older, today}
	}
	n, err := crds.Copy(*to, releases...)
	if err != nil {
		return err
	}
	fmt.Printf("%d definitions in %s\n", n, *to)
	return nil
}
