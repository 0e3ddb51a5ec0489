package tree

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// reality is the list of what the program takes for granted about OpenShift.
const reality = "../reality.md"

// product are the folders of the program itself.
var product = []string{"assets", "backend", "cmd", "iso-overlay", "steps", "tui"}

// kinds are the ways in which an assumption is held.
var kinds = []string{"real part", "real operators", "source only", "stand-in"}

var (
	quoted     = regexp.MustCompile("`([^`]+)`")
	repository = regexp.MustCompile(`\b[A-Za-z0-9-]+/[A-Za-z0-9._-]+ ` + "`")
	version    = regexp.MustCompile(`\b4\.\d+\b|\b[0-9a-f]{9,40}\b|\bv\d+(\.\d+)*\b|\b\d+\.\d+(\.\d+)?\b`)
	testNames  = regexp.MustCompile(`\bTest[A-Za-z0-9_]+`)
	counts     = regexp.MustCompile(`(?m)^(\d+) assumptions: (\d+) real part, (\d+) real operators, (\d+) source only, (\d+) stand-in\.$`)
)

// assumption is a row of the list.
type assumption struct{ text, code, source, held string }

// assumptions reads the tables.
func assumptions(list string) (all []assumption, faults []string) {
	inside := false
	for line := range strings.Lines(list) {
		line = strings.TrimSpace(line)
		switch {
		case line == "| assumption | relied on by | source | held by |":
			inside = true
		case !strings.HasPrefix(line, "|"):
			inside = false
		case inside && !strings.HasPrefix(line, "|-"):
			cells := strings.Split(strings.Trim(line, "|"), "|")
			if len(cells) != 4 {
				faults = append(faults, fmt.Sprintf("%d cells: %s", len(cells), line))
				continue
			}
			for i := range cells {
				cells[i] = strings.TrimSpace(cells[i])
			}
			all = append(all, assumption{cells[0], cells[1], cells[2], cells[3]})
		}
	}
	return all, faults
}

// kind is how a row is held; "" when it is none of them.
func (a assumption) kind() string {
	kind, _, _ := strings.Cut(a.held, ":")
	kind, _, _ = strings.Cut(kind, " (")
	if slices.Contains(kinds, kind) {
		return kind
	}
	return ""
}

// check says what is wrong with a row; top is the repository.
func (a assumption) check(t *testing.T, top string) (faults []string) {
	t.Helper()
	fault := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	if a.text == "" {
		fault("it says nothing")
	}
	faults = append(faults, a.checkCode(top)...)
	for source := range strings.SplitSeq(a.source, "; ") {
		if !repository.MatchString(source) || !version.MatchString(source[strings.LastIndex(source, "`")+1:]) {
			fault("the source %q does not name repository, file and version or commit", source)
		}
	}
	tests := testNames.FindAllString(a.held, -1)
	switch a.kind() {
	case "":
		fault("%q is no way to hold it", a.held)
	case "real part":
		if len(tests) == 0 {
			fault("no test of the real part is named")
		}
	case "stand-in":
		if !strings.Contains(a.held, ": ") {
			fault("it does not say which stand-in")
		}
	}
	folder := quoted.FindStringSubmatch(a.held)
	for _, name := range tests {
		if folder == nil || !hasTest(t, filepath.Join(top, folder[1]), name) {
			fault("there is no test %s in %v", name, folder)
		}
	}
	return faults
}

// checkCode wants files of the program, each with names that are in it.
func (a assumption) checkCode(top string) (faults []string) {
	for place := range strings.SplitSeq(a.code, "; ") {
		names := quoted.FindAllStringSubmatch(place, -1)
		if len(names) < 2 {
			faults = append(faults, fmt.Sprintf("%q names no file and what is in it", place))
			continue
		}
		file := names[0][1]
		if first, _, _ := strings.Cut(file, "/"); !slices.Contains(product, first) || strings.HasSuffix(file, "_test.go") {
			faults = append(faults, file+" is not a file of the program")
			continue
		}
		for _, name := range names[1:] {
			if err := contains(filepath.Join(top, file), name[1]); err != nil {
				faults = append(faults, fmt.Sprintf("%s: %v", file, err))
			}
		}
	}
	return faults
}

// contains wants a name declared in a Go file, or written as a word in any other.
func contains(path, name string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("it cannot be read: %w", err)
	}
	if !strings.HasSuffix(path, ".go") {
		if !regexp.MustCompile(`(^|[^\w-])` + regexp.QuoteMeta(name) + `($|[^\w-])`).Match(text) {
			return fmt.Errorf("%s is not in it", name)
		}
		return nil
	}
	file, err := parser.ParseFile(token.NewFileSet(), path, text, 0)
	if err != nil {
		return fmt.Errorf("it cannot be parsed: %w", err)
	}
	found := false
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			found = found || n.Name.Name == name
		case *ast.TypeSpec:
			found = found || n.Name.Name == name
		case *ast.ValueSpec:
			found = found || slices.ContainsFunc(n.Names, func(i *ast.Ident) bool { return i.Name == name })
		}
		return !found
	})
	if !found {
		return fmt.Errorf("%s is not declared in it", name)
	}
	return nil
}

// checkCounts compares the line of the counts with the rows.
func checkCounts(list string, all []assumption) error {
	line := counts.FindStringSubmatch(list)
	if line == nil {
		return fmt.Errorf("there is no line of the counts")
	}
	want := []int{len(all)}
	for _, kind := range kinds {
		n := 0
		for _, a := range all {
			if a.kind() == kind {
				n++
			}
		}
		want = append(want, n)
	}
	for i, text := range line[1:] {
		if n, err := strconv.Atoi(text); err != nil || n != want[i] {
			return fmt.Errorf("%q should count %v: all, %s", line[0], want, strings.Join(kinds, ", "))
		}
	}
	return nil
}

// TestRealityIsTrue holds the list to the repository: files, names, tests, sources and counts.
func TestRealityIsTrue(t *testing.T) {
	list, err := os.ReadFile(reality)
	if err != nil {
		t.Fatal(err)
	}
	all, faults := assumptions(string(list))
	for _, f := range faults {
		t.Error(f)
	}
	if len(all) < 100 {
		t.Fatalf("only %d rows were found", len(all))
	}
	for _, a := range all {
		for _, f := range a.check(t, "../..") {
			t.Errorf("%s\n\t%s", a.text, f)
		}
	}
	if err := checkCounts(string(list), all); err != nil {
		t.Error(err)
	}
}

// openshifts are names that only OpenShift gives: namespaces and operators, labels, annotations and API groups.
var openshifts = regexp.MustCompile(`(?:^|[^\w.-])(openshift-[a-z0-9-]*[a-z0-9]|(?:[a-z0-9-]+\.)*openshift\.io(?:/[A-Za-z0-9.-]*[A-Za-z0-9])?|k8s\.ovn\.org/[a-z0-9-]+)`)

// noAssumption are names that the program shows and relies on for nothing.
var noAssumption = []string{
	"openshift-release-dev", // the example of a mirror
}

// names finds OpenShift's names in a text.
func names(text string) (all []string) {
	for _, m := range openshifts.FindAllStringSubmatch(text, -1) {
		if !slices.Contains(noAssumption, m[1]) {
			all = append(all, m[1])
		}
	}
	return all
}

// literals are the texts in which a file of the program may name something of OpenShift's: the strings of Go, and all other files
// whole, but for their comments.
func literals(path string) ([]string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading a file of the program: %w", err)
	}
	if !strings.HasSuffix(path, ".go") {
		var lines []string
		for line := range strings.Lines(string(text)) {
			if !strings.HasPrefix(strings.TrimSpace(line), "#") {
				lines = append(lines, line)
			}
		}
		return lines, nil
	}
	file, err := parser.ParseFile(token.NewFileSet(), path, text, parser.SkipObjectResolution)
	if err != nil {
		return nil, fmt.Errorf("parsing a file of the program: %w", err)
	}
	imports := map[*ast.BasicLit]bool{}
	for _, i := range file.Imports {
		imports[i.Path] = true
	}
	var all []string
	ast.Inspect(file, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING && !imports[lit] {
			if s, err := strconv.Unquote(lit.Value); err == nil {
				all = append(all, s)
			}
		}
		return true
	})
	return all, nil
}

// TestNoAssumptionSlipsIn: each name of OpenShift's that the program writes is in the list.
func TestNoAssumptionSlipsIn(t *testing.T) {
	list, err := os.ReadFile(reality)
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, name := range names(string(list)) {
		known[name] = true
	}
	read := 0
	for _, folder := range product {
		err := filepath.WalkDir(filepath.Join("../..", folder), func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() && (d.Name() == "testdata" || strings.HasSuffix(d.Name(), "test")): // what tests stand on
				return filepath.SkipDir
			case d.IsDir() || strings.HasSuffix(path, "_test.go") || slices.Contains([]string{".svg", ".lock"}, filepath.Ext(path)):
				return nil
			}
			texts, err := literals(path)
			if err != nil {
				return err
			}
			read++
			for _, text := range texts {
				for _, name := range names(text) {
					if !known[name] {
						t.Errorf("%s names %s, which test/reality.md does not", strings.TrimPrefix(path, "../../"), name)
					}
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if read < 300 {
		t.Errorf("only %d files were read", read)
	}
}

// TestRealityCanBeWrong: what the tests above exist for is found.
func TestRealityCanBeWrong(t *testing.T) {
	good := assumption{
		text: "A sentence.", code: "`backend/domain/named.go` `mostNamed`", source: "openshift/api `config/v1`, 4.14 to 4.22",
		held: "real part: `test/tree` TestRealityIsTrue",
	}
	if faults := good.check(t, "../.."); len(faults) > 0 {
		t.Fatalf("a good row: %v", faults)
	}
	for name, spoil := range map[string]func(*assumption){
		"no sentence":          func(a *assumption) { a.text = "" },
		"no file":              func(a *assumption) { a.code = "`backend/domain/gone.go` `mostNamed`" },
		"no name":              func(a *assumption) { a.code = "`backend/domain/named.go`" },
		"a name that is gone":  func(a *assumption) { a.code = "`backend/domain/named.go` `leastNamed`" },
		"a name in a comment":  func(a *assumption) { a.code = "`backend/domain/named.go` `technician`" },
		"a word of a script":   func(a *assumption) { a.code = "`iso-overlay/usr/local/bin/touchdown-line` `lou`" },
		"a file of the bench":  func(a *assumption) { a.code = "`test/bench/control.go` `Fault`" },
		"a test as the code":   func(a *assumption) { a.code = "`backend/domain/named_test.go` `TestRestoreKeepsThePlaceOfAnEntry`" },
		"no source":            func(a *assumption) { a.source = "" },
		"a source without any": func(a *assumption) { a.source = "openshift/api `config/v1`" },
		"a second one without": func(a *assumption) { a.source += "; the documentation" },
		"another kind":         func(a *assumption) { a.held = "hope" },
		"no test":              func(a *assumption) { a.held = "real part: the bench" },
		"a test that is gone":  func(a *assumption) { a.held = "real part: `test/tree` TestGone" },
		"a test elsewhere":     func(a *assumption) { a.held = "source only: `backend/kube` TestRealityIsTrue" },
		"which stand-in":       func(a *assumption) { a.held = "stand-in" },
	} {
		bad := good
		if spoil(&bad); len(bad.check(t, "../..")) == 0 {
			t.Errorf("%s: it passes", name)
		}
	}
	if err := checkCounts("1 assumptions: 1 real part, 0 real operators, 0 source only, 0 stand-in.\n", []assumption{good}); err != nil {
		t.Error(err)
	}
	for _, list := range []string{"", "1 assumptions: 0 real part, 1 real operators, 0 source only, 0 stand-in.\n", "2 assumptions: 1 real part, 0 real operators, 0 source only, 0 stand-in.\n"} {
		if checkCounts(list, []assumption{good}) == nil {
			t.Errorf("%q counts one real part", list)
		}
	}
	text := "secrets in openshift-config, machineconfiguration.openshift.io/role, config.openshift.io, k8s.ovn.org/host-cidrs, not my-openshift-config"
	want := []string{"openshift-config", "machineconfiguration.openshift.io/role", "config.openshift.io", "k8s.ovn.org/host-cidrs"}
	if got := names(text); !slices.Equal(got, want) {
		t.Errorf("the names are %q, want %q", got, want)
	}
}
