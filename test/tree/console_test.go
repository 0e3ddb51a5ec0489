package tree

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// consoleTable is where the console's requirements are listed, each with its verdict and its tests.
const consoleTable = "../../tui/README.md"

// requirements are how many the console has.
const requirements = 32

// verdicts are how far a requirement is fulfilled.
var verdicts = []string{"whole", "partly", "absent"}

var (
	verdictCounts = regexp.MustCompile(`(?m)^(\d+) requirements: (\d+) whole, (\d+) partly, (\d+) absent\.$`)
	testPlace     = regexp.MustCompile("^`([a-z0-9/]+)` (Test\\w+(, Test\\w+)*)$")
)

// requirement is a row of the table.
type requirement struct{ name, text, verdict, shown string }

// requirementsIn reads the table.
func requirementsIn(text string) (all []requirement) {
	for line := range strings.Lines(text) {
		cells := strings.Split(strings.TrimSpace(line), "|")
		if len(cells) < 2 || !regexp.MustCompile(`^ R\d+ $`).MatchString(cells[1]) {
			continue
		}
		for len(cells) < 6 {
			cells = append(cells, "")
		}
		all = append(all, requirement{strings.TrimSpace(cells[1]), strings.TrimSpace(cells[2]), strings.TrimSpace(cells[3]), strings.TrimSpace(cells[4])})
	}
	return all
}

// kind is the first word of a verdict, "" when it is none of the three. What is partly fulfilled says what is missing.
func (r requirement) kind() string {
	kind, missing, told := strings.Cut(r.verdict, ": ")
	if !slices.Contains(verdicts, kind) || told != (kind == "partly") || told && missing == "" {
		return ""
	}
	return kind
}

// check says what is wrong with a row; top is the repository.
func (r requirement) check(t *testing.T, top string) (faults []string) {
	t.Helper()
	if r.text == "" {
		faults = append(faults, "it says nothing")
	}
	switch r.kind() {
	case "":
		faults = append(faults, fmt.Sprintf("%q is not a verdict", r.verdict))
	case "absent":
		if r.shown != "" {
			faults = append(faults, "a test shows what is absent")
		}
		return faults
	}
	for place := range strings.SplitSeq(r.shown, "; ") {
		found := testPlace.FindStringSubmatch(place)
		if found == nil {
			faults = append(faults, fmt.Sprintf("%q names no package with its tests", place))
			continue
		}
		for name := range strings.SplitSeq(found[2], ", ") {
			if !hasTest(t, filepath.Join(top, found[1]), name) {
				faults = append(faults, fmt.Sprintf("there is no test %s in %s", name, found[1]))
			}
		}
	}
	return faults
}

// checkRequirements looks at the table as a whole: each number once and in order, and the line of the counts.
func checkRequirements(text string, all []requirement) error {
	count := map[string]int{}
	for i, r := range all {
		if want := fmt.Sprintf("R%d", i+1); r.name != want {
			return fmt.Errorf("%s stands where %s should", r.name, want)
		}
		count[r.kind()]++
	}
	if len(all) != requirements {
		return fmt.Errorf("%d rows, want %d", len(all), requirements)
	}
	line := verdictCounts.FindStringSubmatch(text)
	if line == nil {
		return fmt.Errorf("there is no line of the counts")
	}
	want := []int{len(all), count["whole"], count["partly"], count["absent"]}
	for i, told := range line[1:] {
		if n, err := strconv.Atoi(told); err != nil || n != want[i] {
			return fmt.Errorf("%q should count %v", line[0], want)
		}
	}
	return nil
}

// TestConsoleRequirements holds the console's table to the repository: verdicts, packages, tests and counts.
func TestConsoleRequirements(t *testing.T) {
	text, err := os.ReadFile(consoleTable)
	if err != nil {
		t.Fatal(err)
	}
	all := requirementsIn(string(text))
	for _, r := range all {
		for _, fault := range r.check(t, "../..") {
			t.Errorf("%s: %s", r.name, fault)
		}
	}
	if err := checkRequirements(string(text), all); err != nil {
		t.Error(err)
	}
}

// TestConsoleRequirementsCanBeWrong: what the test above exists for is found.
func TestConsoleRequirementsCanBeWrong(t *testing.T) {
	for row, fine := range map[string]bool{
		"| R1 | Text | whole | `tui` TestWalk, TestControlOfConsoles; `test/tree` TestPlainWords |": true,
		"| R1 | Text | partly: a part | `tui` TestWalk |":                                           true,
		"| R1 | Text | absent | |":                                true,
		"| R1 | | whole | `tui` TestWalk |":                       false,
		"| R1 | Text | nearly | `tui` TestWalk |":                 false,
		"| R1 | Text | partly | `tui` TestWalk |":                 false,
		"| R1 | Text | whole: but | `tui` TestWalk |":             false,
		"| R1 | Text | absent | `tui` TestWalk |":                 false,
		"| R1 | Text | whole | |":                                 false,
		"| R1 | Text | whole | TestWalk |":                        false,
		"| R1 | Text | whole | `tui` TestGone |":                  false,
		"| R1 | Text | whole | `tui` TestWalk; `gone` TestWalk |": false,
		"| R1 | Text": false,
	} {
		all := requirementsIn(row)
		if len(all) != 1 || (len(all[0].check(t, "../..")) == 0) != fine {
			t.Errorf("%s: %v", row, all)
		}
	}
	rows := func(names ...int) (all []requirement) {
		for _, n := range names {
			all = append(all, requirement{name: fmt.Sprintf("R%d", n), verdict: "whole"})
		}
		return all
	}
	var numbers []int
	for n := range requirements {
		numbers = append(numbers, n+1)
	}
	good := "32 requirements: 32 whole, 0 partly, 0 absent.\n"
	if err := checkRequirements(good, rows(numbers...)); err != nil {
		t.Error(err)
	}
	for name, err := range map[string]error{
		"one is missing":   checkRequirements(good, rows(append(slices.Clone(numbers[:4]), numbers[5:]...)...)),
		"the last is":      checkRequirements(good, rows(numbers[:31]...)),
		"one stands twice": checkRequirements(good, rows(append([]int{1}, numbers...)...)),
		"no counts":        checkRequirements("", rows(numbers...)),
		"wrong counts":     checkRequirements("32 requirements: 31 whole, 1 partly, 0 absent.\n", rows(numbers...)),
	} {
		if err == nil {
			t.Errorf("%s: it passes", name)
		}
	}
}
