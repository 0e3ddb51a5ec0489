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
	"touchdown/steps/event"
	"touchdown/steps/site"
)

// version is set by the linker.
var version = "dev"

// The exit codes. They are part of the contract with scripts: see README.md beside this file.
const (
	exitOK     = 0
	exitFailed = 1 // something did not work, or did not pass
	exitUsage  = 2 // the command line or the site config is wrong; nothing was begun
	exitReboot = 3 // a reboot is needed and the site config does not allow it
	exitHungUp = 4 // the console's line is gone; nobody left, so nobody is to be asked to log in
)

func main() {
	hideMemory()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	code := execute(ctx, newRoot(hooks{}), os.Args[1:])
	stop()
	os.Exit(code)
}

// hooks are what tests put into an engine; empty in the product.
type hooks struct {
	root       string              // prefix of the machine's paths
	afterEvent func(event.Event)   // called behind each event of the journal
	cluster    func(*kube.Cluster) // sets its pace
	wiring     func(*steps.Wiring) // sets timeouts
	stages     func([]steps.Stage) // changes the list
	console    func() error        // opens in place of the wizard
}

// list is a list of the product, as the hooks want it.
func (h hooks) list(of func(*site.Config, steps.Wiring) []steps.Stage, cfg *site.Config, w steps.Wiring) []steps.Stage {
	if h.wiring != nil {
		h.wiring(&w)
	}
	stages := of(cfg, w)
	if h.stages != nil {
		h.stages(stages)
	}
	return stages
}

// exitError carries an exit code up to main. Its message has been printed when quiet is set, and stands in the JSON that was
// printed when inJSON is.
type exitError struct {
	code   int
	quiet  bool
	inJSON bool
	err    error
}

func (e *exitError) Error() string { return e.err.Error() }
func (e *exitError) Unwrap() error { return e.err }

// usage marks an error as the caller's mistake.
func usage(err error) error { return &exitError{code: exitUsage, err: err} }

// execute runs a command line and returns the exit code.
func execute(ctx context.Context, root *cobra.Command, args []string) int {
	var unwritten error
	noted(root, &unwritten)
	strict(root)
	root.SetArgs(args)
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil && unwritten != nil {
		err = fmt.Errorf("printing: %w", unwritten)
	}
	if err == nil {
		return exitOK
	}
	e, ok := errors.AsType[*exitError](err)
	if !ok {
		e = &exitError{code: exitFailed}
	}
	if e.quiet {
		return e.code
	}
	if wantsJSON(cmd, args) && !e.inJSON {
		_ = printLine(root, failureOf(err)) // it is told on standard error too
	}
	printError(complaints(root), err)
	return e.code
}

// failure is what a command with -o json prints on standard output, in one line behind all else, when it fails. It is part of
// the contract with scripts: see README.md beside this file.
type failure struct {
	Error struct {
		Code    string `json:"code,omitempty"` // of a problem that Touchdown knows
		Summary string `json:"summary"`
		Fix     string `json:"fix,omitempty"`
		Detail  string `json:"detail,omitempty"` // the cause
	} `json:"error"`
}

func failureOf(err error) (f failure) {
	p, ok := errors.AsType[*problem.Problem](err)
	if !ok {
		f.Error.Summary = err.Error()
		return f
	}
	f.Error.Code, f.Error.Summary, f.Error.Fix = p.Code, p.Summary.String(), p.Fix.String()
	if p.Err != nil {
		f.Error.Detail = p.Err.Error()
	}
	return f
}

// printError prints what is wrong and what to do, as the problem screen does.
func printError(out io.Writer, err error) {
	if p, ok := errors.AsType[*problem.Problem](err); ok {
		fmt.Fprint(out, linef("%s  %s", p.Code, p.Summary))
		if p.Err != nil {
			fmt.Fprint(out, linef("  cause: %v", p.Err))
		}
		fmt.Fprint(out, linef("  try:   %s", p.Fix))
		return
	}
	if errs, ok := errors.AsType[site.Errors](err); ok { // each line begins with its place, as editors read it
		fmt.Fprintf(out, "%v\n", errs)
		return
	}
	fmt.Fprintf(out, "touchdown: %v\n", err)
}
