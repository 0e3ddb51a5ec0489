// Command tier runs the tests that need the bench: those of CI's tier, or all. A result is kept for as long as nothing
// that the test is made of changes, so a run that was stopped goes on where it was.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"runtime"
	"strings"
	"syscall"
)

func main() {
	var o options
	flag.StringVar(&o.tier, "tier", string(Test), "which tests: test (CI's tier) or all")
	flag.StringVar(&o.cache, "cache", ".cache/bench", "where results and logs are kept")
	flag.IntVar(&o.jobs, "jobs", runtime.NumCPU(), "tests at once")
	flag.BoolVar(&o.fresh, "fresh", os.Getenv("FRESH") == "1", "ignore kept results")
	match := flag.String("match", "", "only tests whose name or package matches this expression")
	flake := flag.Int("flake", 0, "run CI's tier this many times, in shuffled orders, and count the failures; with packages behind the flags, their quick tests instead")
	load := flag.Int("load", 0, "with -flake: busy processes beside the tests, and one that writes to the disk")
	seed := flag.Uint64("seed", 1, "with -flake: seed of the orders")
	plain := flag.Bool("in-process", false, "print the arguments of go test for the packages of CI's tier that boot no node")
	key := flag.String("key", "", "print the fingerprint of all that a package's tests on nodes rest on")
	flag.Parse()
	o.quick = flag.Args()
	if *plain {
		fmt.Println(strings.Join(inProcess(table), " "))
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := func() (err error) {
		if o.match, err = regexp.Compile(*match); err != nil {
			return fmt.Errorf("-match: %w", err)
		}
		if *key != "" {
			return printKey(ctx, onNodes(*key))
		}
		if *flake > 0 {
			return hunt(ctx, o, *flake, *load, *seed)
		}
		return runTier(ctx, o)
	}()
	if err != nil {
		fmt.Fprintln(os.Stderr, "tier:", err)
		os.Exit(1)
	}
}
