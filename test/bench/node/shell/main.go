// Command shell boots a bench node and runs a command in it, or a shell; the node ends with that.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"time"

	"touchdown/test/bench/node"
)

func main() {
	var o node.Options
	flag.StringVar(&o.Image, "image", "", "prepared disk to start from a copy of")
	flag.Parse()
	if err := run(o, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(o node.Options, argv []string) error {
	ctx := context.Background()
	begun := time.Now()
	m, err := node.Launch(ctx, o)
	if err != nil {
		return err
	}
	defer m.Close()
	fmt.Fprintf(os.Stderr, "%s is up after %.1f s; its LAN is %s\n", m.Name, time.Since(begun).Seconds(), m.LAN())
	if len(argv) == 0 {
		argv = []string{"bash", "-i"}
	}
	cmd, err := m.Command(ctx, argv...)
	if err != nil {
		return err
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	return cmd.Run()
}
