package main

import (
	"regexp"
	"strings"
)

// Tier says when a test runs.
type Tier string

// The tiers. Each test of the first is part of the second; the third needs what not every machine can get.
const (
	Test Tier = "test" // with every change: make test
	All  Tier = "all"  // before an issue is closed: make test-all
	Real Tier = "real" // with the repositories of OpenShift's operators: make real-operators
	Own  Tier = "own"  // only by its own target of make
)

// Row is one run of tests that need the bench: a test, or all of a package that have no row.
type Row struct {
	Package string   // below the module
	Run     string   // name of the one test; empty: what no other row of the package names
	Env     []string // NAME=value, for the test
	Make    string   // instead of a package: a target of make
	Quick   bool     // the quick tests of the package, with the race detector, as the first part of make test has them
	Tier    Tier
	Seconds int    // on two idle cores; the longest begins first
	Boots   bool   // a whole node
	Program bool   // lays the built program onto a node or into a guest
	Alone   bool   // needs all processors
	Proves  string // what nothing else proves
}

// usesProgram tells whether the built program takes part: a target of make may use anything.
func (r Row) usesProgram() bool { return r.Program || r.Make != "" }

// String names the row: its package, test and environment, or its target of make.
func (r Row) String() string {
	if r.Make != "" {
		return "make " + r.Make
	}
	words := append(append([]string{r.Package}, nonEmpty(r.Run)...), r.Env...)
	if r.Quick {
		words = append(words, "quick")
	}
	return strings.Join(words, " ")
}

func nonEmpty(s string) []string {
	if s == "" {
		return nil
	}
	return []string{s}
}

var unfit = regexp.MustCompile(`[^A-Za-z0-9=]+`)

// id is the name of the row's files.
func (r Row) id() string { return unfit.ReplaceAllString(r.String(), "-") }

// pattern is what -test.run gets.
func (r Row) pattern() string {
	if r.Run == "" {
		return "."
	}
	return "^" + r.Run + "$"
}

// leftOut is what -test.skip gets: the tests of the package that have rows of their own, and its quick tests, which make test runs itself,
// with the race detector. Below test nothing is left out: make test does not run the quick tests of what boots.
func (r Row) leftOut(root string, all []Row) (string, error) {
	if r.Run != "" {
		return "", nil
	}
	out := r.others(all)
	if !strings.HasPrefix(r.Package, "test/") {
		quick, err := quickTests(root, r.Package)
		if err != nil {
			return "", err
		}
		out = append(out, quick...)
	}
	if out == nil {
		return "", nil
	}
	return "^(" + strings.Join(out, "|") + ")$", nil
}

// others are the tests of the package that have rows of their own.
func (r Row) others(all []Row) (others []string) {
	for _, o := range all {
		if o.Package == r.Package && o.Run != "" {
			others = append(others, o.Run)
		}
	}
	return others
}
