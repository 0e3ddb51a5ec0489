package main

import (
	"fmt"
	"os"
	"testing"
)

// TestNobodysNameIsNobodyElses: two commands without a terminal have two names, so that neither takes control from the other unasked.
func TestNobodysNameIsNobodyElses(t *testing.T) {
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = null.Close() }()
	in, args := os.Stdin, os.Args
	defer func() { os.Stdin, os.Args = in, args }()
	os.Stdin = null
	for given, want := range map[string]string{"apply": "touchdown apply (%d)", "--socket": "touchdown (%d)", "\x1b[2J": "touchdown (%d)"} {
		os.Args = []string{"touchdown", given}
		if got := consoleName(); got != fmt.Sprintf(want, os.Getpid()) {
			t.Errorf("%q is named %q", given, got)
		}
	}
}
