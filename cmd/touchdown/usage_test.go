package main

import (
	"errors"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// TestOneValueIsGivenOnce: no flag of any command takes the last of several values without a word.
func TestOneValueIsGivenOnce(t *testing.T) {
	root := newRoot(hooks{root: t.TempDir()})
	strict(root)
	seen := 0
	var walk func(*cobra.Command)
	walk = func(cmd *cobra.Command) {
		cmd.Flags().VisitAll(func(flag *pflag.Flag) {
			if _, several := flag.Value.(pflag.SliceValue); several || flag.Name == "help" {
				return
			}
			seen++
			_ = flag.Value.Set("one") // whether it is a value at all is not asked here
			if _, ok := errors.AsType[twiceError](flag.Value.Set("another")); !ok {
				t.Errorf("%s takes two values of --%s", cmd.CommandPath(), flag.Name)
			}
		})
		for _, child := range cmd.Commands() {
			walk(child)
		}
	}
	walk(root)
	if seen < 50 {
		t.Errorf("%d flags seen", seen)
	}
}
