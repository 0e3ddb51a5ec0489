// Command demo puts a person, or a site config, in front of a node that left the factory: it boots the bench's node at the
// end of a site's cable and lends out its console, or runs headless on it and proves the end from outside.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/term"
	"sigs.k8s.io/yaml"

	"touchdown/test/bench/landing"
	"touchdown/test/bench/site"
)

// demo is one demonstration.
type demo struct {
	dir   string // the report of the last landing
	site  string // site config for a headless run; "" for the console
	speed string // pace of the stand-ins
}

func main() {
	var d demo
	flag.StringVar(&d.dir, "dir", ".cache/demo", "where the report is left")
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

// sheet is what a technician has on paper.
const sheet = `
  The site's sheet                          The terminal
    port              enp1s0                  Ctrl-]  ends the demo
    IPv4 address      %-22s  Ctrl-C  leaves the wizard
    prefix length     24
    gateway           %-22s
    DNS server        %-22s
    time server       %-22s
    cluster name      store0042
    base domain       retail.example.com

  Two hardware checks fail, because the node is as large as this machine: choose Waive on the first page.

`

func (d *demo) run(ctx context.Context) (err error) {
	network := site.Edge()
	network.Domain = "store0042.retail.example.com"
	var config []byte
	if d.site != "" {
		if config, err = os.ReadFile(d.site); err != nil {
			return fmt.Errorf("reading the site config: %w", err)
		}
		if network.Domain, err = domain(config); err != nil {
			return err
		}
	}
	fmt.Printf("demo: a node from the factory (made now, if it is not in the cache) boots at its site; operators at pace %q\n", d.speed)
	if d.site == "" {
		fmt.Printf(sheet, network.Node4, network.Gateway4, network.DNS4[0], network.NTP4[0])
	}
	begin := time.Now()
	o := landing.Options{Network: network, Delay: d.speed}
	if d.site != "" {
		o.Echo = os.Stdout
	}
	l, err := landing.Launch(ctx, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	if d.site == "" {
		err = attach(ctx, l.Node.Console("tty1"), os.Stdin, os.Stdout)
	} else {
		fmt.Printf("demo: the node is up (%.1f s)\n", time.Since(begin).Seconds())
		err = headless(ctx, l, string(config))
	}
	if err != nil {
		return err
	}
	return d.prove(ctx, l)
}

// domain is what the site's DNS leads to the node: the names that the site config gives the cluster.
func domain(config []byte) (string, error) {
	var c struct {
		Spec struct{ ClusterName, BaseDomain string }
	}
	if err := yaml.Unmarshal(config, &c); err != nil {
		return "", fmt.Errorf("reading the site config: %w", err)
	}
	return c.Spec.ClusterName + "." + c.Spec.BaseDomain, nil
}

// headless runs the site config on the node. The checks of a machine that is no server are waived by name.
func headless(ctx context.Context, l *landing.Landing, config string) error {
	if _, err := l.Await(ctx, "the node's answer", func(s *landing.Status) bool { return s.State == "collecting" }); err != nil {
		return err
	}
	_, code, err := l.Apply(ctx, config)
	if err != nil {
		return err
	}
	if code != 0 {
		return fmt.Errorf("touchdown apply ended with exit code %d", code)
	}
	return nil
}

// prove reaches the cluster from the site's LAN, under its new and its old names, and prints the report.
func (d *demo) prove(ctx context.Context, l *landing.Landing) error {
	s, err := l.Status(ctx)
	if err != nil {
		return err
	}
	if !landing.Landed(s) {
		fmt.Println("demo: the node has not landed; nothing to prove")
		return nil
	}
	report, err := l.Node.ReadFile("/var/lib/touchdown/report.txt")
	if err != nil {
		return fmt.Errorf("fetching the report: %w", err)
	}
	fmt.Printf("\n%s\n", report)
	var failed error
	for _, p := range proofs(ctx, l, s.Cluster) {
		fmt.Println(p.text)
		failed = errors.Join(failed, p.err)
	}
	file := filepath.Join(d.dir, "report.txt")
	if err := errors.Join(os.MkdirAll(d.dir, 0o755), os.WriteFile(file, report, 0o600)); err != nil {
		return fmt.Errorf("keeping the report: %w", err)
	}
	fmt.Println("report:", file)
	return failed
}
