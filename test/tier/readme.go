package main

import (
	"fmt"
	"slices"
	"strings"
)

const readmeHead = `# Tests

Written by ` + "`make golden`" + ` from the table in ` + "`tier/table.go`" + `; ` + "`tier`" + ` has a test that holds it.

- ` + "`make unit`" + ` is for a laptop: it needs neither root nor a bench. The last line counts the tests that it skipped for that reason.
- ` + "`make test`" + ` is CI's tier: all that is quick, with the race detector, and beside it the rows of tier *test* below, two
  at a time. A row leaves out what the quick tests do.
- ` + "`make test-all`" + ` is those and the rows of tier *all*. It is run before an issue is closed. It leaves out the two targets that are apart: one needs
  other repositories, the other takes 25 minutes to test an older NetworkManager.
- ` + "`make real-operators`" + ` is apart from both: it builds OpenShift's own operators at the commits of ` + "`bench/operators/operators.lock`" + `,
  out of ` + "`MIRROR=folder`" + ` with copies of their repositories or out of clones, and plays a move, its undo and hostile
  configurations against them and against the stand-ins. ` + "`.cache/bench/real-operators.json`" + ` names each real
  part that ran, with its commit and its tests, those that did not and why, and where operators and stand-ins differ;
  ` + "`real-orders.json`" + ` beside it tells how often kube-apiserver starts in a move and in its undo, by the order of
  the writes; with ` + "`ORDERS=1`" + ` for a naive order and cluster-relocation-operator's too.
- ` + "`make bench-networkmanager`" + ` is apart too: it builds NetworkManager 1.42, which is below OpenShift 4.14 and 4.15, with its plugin for Open
  vSwitch from Debian 12's source package, and runs the tests of the node's network with it in place of the bench's 1.58.
- ` + "`make flake N=10 LOAD=4`" + ` runs CI's rows again and again, in shuffled orders, beside busy processes and a disk writer. A run that
  was stopped goes on; each result counts until something changes that its row rests on.
  ` + "`make flake-quick N=10 LOAD=4`" + ` runs the quick tests in the same way, with the race detector, on 1, 2, 4 and 8 processors in turn.
- ` + "`make cover`" + ` prints which part of each package's statements the tests reach: the quick ones, and with them those rows
  of tier *test* that boot no node. ` + "`make test-all`" + ` fails when a statement of a file of ` + "`cover/whole.go`" + ` is not reached by its package's tests.

What passed is kept in ` + "`.cache/bench/kept`" + ` under a hash of the test, the program, the bench and the node's image, and is
not run again until one of them changes, or until it fails in a hunt; ` + "`FRESH=1`" + ` runs it all the same. A run that was stopped goes on where it was. Rows run with
` + "`CI=true`" + `: a tool or right that the machine lacks fails the tests that look for it. What was skipped all the same is not kept.
The output of each row lies in ` + "`.cache/bench/log`" + `.

The servers of the bench, with their long lists of dependencies and CRI-O's C build, are modules apart (` + "`bench/*/go.mod`" + `), which
the Makefile builds. Its Go packages are not a module: the program's tests import them, and they the program, so that each module
would require the other. Instead, a test in ` + "`tree`" + ` holds that go.mod requires nothing directly that only the bench needs.

A go command typed by hand needs ` + "`eval \"$(make -s env)\"`" + ` first, which builds libnmstate and tells Go where it is.

To add a test that needs the bench: write it, and run ` + "`go test ./test/tier`" + `, which says whether the table needs a row.

`

const readmeOthers = `
## What *the others* are

The slow tests that have no row of their own. What else the package tests is quick: ` + "`make test`" + ` runs it with the race detector, and a row
does not run it again.

| test | what it shows |
|---|---|
`

// readme is test/README.md.
func readme(root string) (string, error) {
	var b strings.Builder
	b.WriteString(readmeHead)
	b.WriteString("| test | tier | seconds | boots a node | what it alone proves |\n|---|---|---|---|---|\n")
	for _, r := range table {
		boots := ""
		if r.Boots {
			boots = "yes"
		}
		fmt.Fprintf(&b, "| %s | %s | %d | %s | %s |\n", r.label(), r.Tier, r.Seconds, boots, r.Proves)
	}
	b.WriteString(readmeOthers)
	for _, r := range table {
		if r.Run != "" || r.Make != "" {
			continue
		}
		all, err := testsOf(root, r.Package)
		if err != nil {
			return "", err
		}
		for _, t := range all {
			if others := r.others(table); !t.quick && !slices.Contains(others, t.name) {
				fmt.Fprintf(&b, "| `%s` %s | %s |\n", r.Package, t.name, t.shows())
			}
		}
	}
	return b.String(), nil
}

// shows is the first sentence of a test's comment, without the test's name.
func (t aTest) shows() string {
	text, _, _ := strings.Cut(t.doc, ". ")
	text = strings.TrimLeft(strings.TrimPrefix(text, t.name), ": ")
	return strings.TrimSuffix(text, ".")
}

// label is the row's name in the table.
func (r Row) label() string {
	label := "`" + r.String() + "`"
	if r.Run == "" && r.Make == "" && r.others(table) != nil {
		label += ", the others"
	}
	return label
}
