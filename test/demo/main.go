// Command demo puts a person, or a site config, in front of a node that left the factory: it boots the bench's node at the
// end of a site's cable and lends out its console, or runs headless on it and proves the end from outside.
package main

import (
	"cmp"
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
	"touchdown/test/wait"
)

// demo is one demonstration.
type demo struct {
	dir   string // what is left of the last landing
	site  string // site config for a headless run; "" for the console
	speed string // pace of the stand-ins
	fault *fault // nil: all goes well
}

func main() {
	d, err := parse(os.Args[1:], term.IsTerminal(int(os.Stdin.Fd())))
	if err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	err = d.run(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

// parse reads the command line. Without a terminal to lend the demo is headless.
func parse(args []string, terminal bool) (*demo, error) {
	d := &demo{}
	var name string
	flags := flag.NewFlagSet("demo", flag.ContinueOnError)
	flags.StringVar(&d.dir, "dir", ".cache/demo", "where the report is left")
	flags.StringVar(&d.site, "site", "", "site config: run headless with it")
	flags.StringVar(&d.speed, "speed", "20", "how many times faster than life the operators are: zero, life or a number")
	flags.StringVar(&name, "fault", "", "what goes wrong, one of:\n"+faultList)
	if err := flags.Parse(args); err != nil {
		return nil, fmt.Errorf("reading the command line: %w", err)
	}
	fallback := "test/sites/store.yaml"
	if name != "" {
		var err error
		if d.fault, err = findFault(name); err != nil {
			return nil, err
		}
		fallback = cmp.Or(d.fault.site, fallback)
	}
	if !terminal {
		d.site = cmp.Or(d.site, fallback)
	}
	return d, nil
}

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
	} else {
		fmt.Println("demo:", howToLeave)
	}
	fmt.Printf("demo: a node from the factory (made now, if it is not in the cache) boots at its site; operators at pace %q\n", d.speed)
	o := landing.Options{Network: network, Delay: d.speed}
	sheet := d.sheet(network)
	if d.site == "" {
		fmt.Print(sheet)
	} else {
		o.Echo = os.Stdout
	}
	begin := time.Now()
	l, err := landing.Launch(ctx, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	if d.site == "" {
		err = d.console(ctx, l, sheet)
	} else {
		fmt.Printf("demo: the node is up (%.1f s)\n", time.Since(begin).Seconds())
		err = d.headless(ctx, l, string(config))
	}
	return errors.Join(err, d.prove(context.WithoutCancel(ctx), l))
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

// console lends the terminal to the node's first console; a fault strikes meanwhile.
func (d *demo) console(ctx context.Context, l *landing.Landing, sheet string) error {
	ctx, leave := context.WithCancel(ctx)
	line := l.Node.Console("tty1")
	s := newScreen(os.Stdout, line)
	var told []string
	struck := make(chan error, 1)
	go func() {
		struck <- d.strike(ctx, &scene{
			Landing: l,
			tell:    func(format string, args ...any) { told = append(told, fmt.Sprintf(format, args...)) },
			dark:    func(text string) { _ = s.dark(text + "\n\nCtrl-] ends the demo.") },
		})
	}()
	err := attach(ctx, line, s, os.Stdin, os.Stdout, sheet)
	leave()
	if e := <-struck; e != nil && !errors.Is(e, context.Canceled) {
		err = errors.Join(err, e)
	}
	for _, text := range told {
		fmt.Println("demo: it happened that", text)
	}
	return err
}

// strike has the fault happen, if there is one that happens automatically.
func (d *demo) strike(ctx context.Context, s *scene) error {
	if d.fault == nil || d.fault.strike == nil {
		return nil
	}
	return d.fault.strike(ctx, s)
}

// prove reaches the cluster from the site's LAN, under its new and its old names, prints the report, and says where all lies.
func (d *demo) prove(ctx context.Context, l *landing.Landing) error {
	ctx, cancel := context.WithTimeout(ctx, wait.Timeout(time.Minute))
	defer cancel()
	if err := os.MkdirAll(d.dir, 0o755); err != nil {
		return fmt.Errorf("making the folder for the report: %w", err)
	}
	if log, err := l.Node.ReadFile("/var/lib/touchdown/engine.log"); err == nil {
		d.keep("engine.log", log)
	}
	s, err := l.Status(ctx)
	if err != nil {
		return err
	}
	if !landing.Landed(s) {
		fmt.Printf("demo: the node has not landed (%s); nothing to prove\n", s.State)
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
	d.keep("report.txt", report)
	return failed
}

// keep leaves a file of the node behind and says where.
func (d *demo) keep(name string, data []byte) {
	file := filepath.Join(d.dir, name)
	if err := os.WriteFile(file, data, 0o600); err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		return
	}
	fmt.Println("kept:", file)
}
