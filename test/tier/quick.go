package main

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
)

// processors are the numbers of processors that rounds of a hunt take turns with. Fewer than there are let one goroutine run for
// long while another one waits; more make the kernel stop them in the middle. Each shows races that the others hide.
var processors = []int{2, 1, 4, 8}

// quickRows are the quick tests of packages, a row for each that has tests.
func quickRows(o options) (rows []Row) {
	for _, name := range o.quick {
		name = strings.TrimPrefix(name, "touchdown/")
		r := Row{Package: name, Quick: true}
		if tests, _ := filepath.Glob(filepath.Join(name, "*_test.go")); len(tests) > 0 && o.match.MatchString(r.String()) {
			rows = append(rows, r)
		}
	}
	return rows
}

// quickly runs the quick tests of a package in the order of a round.
func (w *work) quickly(ctx context.Context, program string, r Row) *exec.Cmd {
	cmd := exec.CommandContext(ctx, program, "-test.v", "-test.paniconexit0", "-test.short", "-test.timeout=30m",
		fmt.Sprintf("-test.shuffle=%d", w.order+1))
	cmd.Dir = r.Package
	cmd.Env = environment(inCI, fmt.Sprintf("GOMAXPROCS=%d", processors[w.number%len(processors)]))
	return cmd
}
