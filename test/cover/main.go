// Command cover sums up coverage profiles: the statements that tests reach, by package, and whether every statement of
// the files that must be covered whole is reached.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
)

func main() {
	out := flag.String("out", "", "file to write the figures to, as JSON")
	whole := flag.Bool("whole", false, "instead of the table, fail unless one profile covers each file of the list in whole.go")
	flag.Usage = func() {
		fmt.Fprintln(os.Stderr, "usage: cover [-out FILE] NAME=PROFILE...   each column adds its profile to those before it\n       cover -whole PROFILE")
		flag.PrintDefaults()
	}
	flag.Parse()
	if err := run(flag.Args(), *out, *whole); err != nil {
		fmt.Fprintln(os.Stderr, "cover:", err)
		os.Exit(1)
	}
}

func run(args []string, out string, whole bool) error {
	if len(args) == 0 {
		return errors.New("no profile given")
	}
	if whole {
		return checkWhole(args[0], mustBeWhole)
	}
	var t table
	for _, arg := range args {
		name, file, ok := strings.Cut(arg, "=")
		if !ok {
			return fmt.Errorf("%q is not NAME=PROFILE", arg)
		}
		if err := t.add(name, file); err != nil {
			return err
		}
	}
	fmt.Print(t.text())
	if out == "" {
		return nil
	}
	return t.write(out)
}
