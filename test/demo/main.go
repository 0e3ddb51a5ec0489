// Command demo puts a person, or a site config, in front of a factory cluster: it starts the bench's control
// plane and an engine beside it, and then the console, or without a terminal the headless run.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/term"

	"touchdown/test/bench"
)

// demo is one demonstration.
type demo struct {
	binary string // touchdown
	dir    string // state of the engine; begun anew each time
	site   string // site config for a headless run; "" for the console
	speed  string // pace of the stand-ins
}

func main() {
	var d demo
	flag.StringVar(&d.binary, "touchdown", ".cache/bin/touchdown", "the program to demonstrate")
	flag.StringVar(&d.dir, "dir", ".cache/demo", "state folder, removed first")
	flag.StringVar(&d.site, "site", "", "site config: run headless with it")
	flag.StringVar(&d.speed, "speed", "20", "how many times faster than life the operators are: zero, life or a number")
	flag.Parse()
	if d.site == "" && !term.IsTerminal(int(os.Stdin.Fd())) {
		d.site = "test/sites/store.yaml"
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	if err := d.run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

func (d *demo) run(ctx context.Context) error {
	if err := os.RemoveAll(d.dir); err != nil {
		return fmt.Errorf("removing the last demo: %w", err)
	}
	begin := time.Now()
	fmt.Printf("demo: starting a factory cluster (etcd, kube-apiserver, operators at pace %q) ...\n", d.speed)
	cluster, err := bench.Launch(ctx, bench.Options{Delay: d.speed})
	if err != nil {
		return err
	}
	defer func() { _ = cluster.Stop() }() // the demo is over; its folder is temporary
	fmt.Printf("demo: api.%s is at %s:6443, *.apps.%s at %s:443 (%.1f s)\n",
		cluster.Domain, cluster.Address, cluster.Domain, cluster.Address, time.Since(begin).Seconds())
	stop, err := d.engine(ctx, cluster)
	if err != nil {
		return err
	}
	defer stop()
	if d.site != "" {
		return d.headless(ctx, cluster)
	}
	return d.console(ctx, cluster)
}

func (d *demo) socket() string { return filepath.Join(d.dir, "run", "engine.sock") }

// command prepares touchdown with the demo's socket. It is not bound to a context: a Ctrl-C at the terminal
// is for the console to understand.
func (d *demo) command(args ...string) *exec.Cmd {
	cmd := exec.Command(d.binary, append([]string{"--socket", d.socket()}, args...)...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	return cmd
}

// engine starts the engine, waits until it listens, and returns how to stop it.
func (d *demo) engine(ctx context.Context, cluster *bench.Cluster) (stop func(), err error) {
	cmd := d.command("engine", "--state", filepath.Join(d.dir, "state"), "--kubeconfig", cluster.Kubeconfig, "--no-power")
	cmd.Stdin = nil
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // a Ctrl-C at the console must not end the engine
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting the engine: %w", err)
	}
	exited := make(chan error, 1)
	go func() { exited <- cmd.Wait() }()
	for {
		if _, err := os.Stat(d.socket()); err == nil {
			return func() {
				_ = cmd.Process.Signal(syscall.SIGTERM)
				<-exited
			}, nil
		}
		select {
		case err := <-exited:
			return nil, fmt.Errorf("the engine ended: %w", err)
		case <-ctx.Done():
			_ = cmd.Process.Kill()
			return nil, ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// console puts the person in front of the wizard.
func (d *demo) console(ctx context.Context, cluster *bench.Cluster) error {
	fmt.Println("demo: leave the console with Ctrl-C; this machine is only looked at, never changed or rebooted")
	time.Sleep(2 * time.Second) // time to read the line above before the screen is cleared
	if err := d.command("console").Run(); err != nil {
		return fmt.Errorf("the console: %w", err)
	}
	return d.prove(ctx, cluster, os.Stdout)
}

// headless runs the site config. The checks of a machine that is no server are waived by name.
func (d *demo) headless(ctx context.Context, cluster *bench.Cluster) error {
	args := []string{"apply", "-f", d.site, "--by", "make demo"}
	for _, check := range demoWaivers() {
		args = append(args, "--waive", check+"=the demo runs on a machine that is no edge server")
	}
	if err := d.command(args...).Run(); err != nil {
		return fmt.Errorf("touchdown apply: %w", err)
	}
	return d.prove(ctx, cluster, os.Stdout)
}

// prove reaches the cluster as a plain TLS client would, under its old and its new names.
func (d *demo) prove(ctx context.Context, cluster *bench.Cluster, out io.Writer) error {
	answers, err := exec.CommandContext(ctx, d.binary, "--socket", d.socket(), "status", "-o", "json").Output()
	if err != nil {
		return fmt.Errorf("asking for the status: %w", err)
	}
	landed, domain := landedAs(answers)
	if !landed {
		fmt.Fprintln(out, "demo: the cluster was not landed; nothing to prove")
		return nil
	}
	var failed error
	for _, name := range []string{domain, cluster.Domain} {
		for _, line := range proofs(ctx, cluster, name) {
			fmt.Fprintln(out, line.text)
			failed = errors.Join(failed, line.err)
		}
	}
	fmt.Fprintf(out, "report: %s\n", filepath.Join(d.dir, "state", "report.txt"))
	return failed
}
