// Command touchdown lands a factory-built single-node OpenShift server at its site.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"touchdown/backend/kube"
	"touchdown/backend/problem"
	"touchdown/steps"
)

// version is set by the linker.
var version = "dev"

// The exit codes. They are part of the contract with scripts: see the README.
const (
	exitOK     = 0
	exitFailed = 1 // something did not work, or did not pass
	exitUsage  = 2 // the command line or the site config is wrong; nothing was begun
	exitReboot = 3 // a reboot is needed and the site config does not allow it
	exitHungUp = 4 // the console's line is gone; nobody left, so nobody is to be asked to log in
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	code := execute(ctx, newRoot(hooks{}), os.Args[1:])
	stop()
	os.Exit(code)
}

// hooks are what tests put into an engine; empty in the product.
type hooks struct {
	root       string              // prefix of the machine's paths
	afterEvent func(steps.Event)   // called behind each event of the journal
	cluster    func(*kube.Cluster) // sets its pace
	stages     func([]steps.Stage) // sets the steps' patience
}

// exitError carries an exit code up to main. Its message has been printed when quiet is set.
type exitError struct {
	code  int
	quiet bool
	err   error
}

func (e *exitError) Error() string { return e.err.Error() }
func (e *exitError) Unwrap() error { return e.err }

// usage marks an error as the caller's mistake.
func usage(err error) error { return &exitError{code: exitUsage, err: err} }

// execute runs a command line and returns the exit code.
func execute(ctx context.Context, root *cobra.Command, args []string) int {
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitOK
	}
	code, quiet := exitFailed, false
	if e, ok := errors.AsType[*exitError](err); ok {
		code, quiet = e.code, e.quiet
	}
	if !quiet {
		printError(root.ErrOrStderr(), err)
	}
	return code
}

// printError prints what is wrong and what to do, as the problem screen does.
func printError(out io.Writer, err error) {
	if p, ok := errors.AsType[*problem.Problem](err); ok {
		fmt.Fprintf(out, "%s  %s\n", p.Code, p.Summary)
		if p.Err != nil {
			fmt.Fprintf(out, "  cause: %v\n", p.Err)
		}
		fmt.Fprintf(out, "  try:   %s\n", p.Fix)
		return
	}
	fmt.Fprintf(out, "touchdown: %v\n", err)
}
