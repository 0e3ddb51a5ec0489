package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"text/tabwriter"

	"golang.org/x/tools/cover"
)

// statements is one block of statements that run together.
type statements struct {
	file                                 string
	startLine, startCol, endLine, endCol int
	count                                int
}

// table counts the reached statements of each package. A column holds what its own profile and those before it reach.
type table struct {
	columns  []string
	packages map[string]*figures
	reached  map[statements]bool // by any column so far
}

// figures are the counts of one package.
type figures struct {
	Statements int   `json:"statements"`
	Reached    []int `json:"reached"` // one per column
}

// add reads a profile as the next column.
func (t *table) add(name, file string) error {
	profiles, err := cover.ParseProfiles(file)
	if err != nil {
		return fmt.Errorf("reading %s: %w", file, err)
	}
	if t.reached == nil {
		t.packages, t.reached = map[string]*figures{}, map[statements]bool{}
	}
	t.columns = append(t.columns, name)
	for _, p := range profiles {
		for _, b := range p.Blocks {
			s := statements{p.FileName, b.StartLine, b.StartCol, b.EndLine, b.EndCol, b.NumStmt}
			t.reached[s] = t.reached[s] || b.Count > 0
		}
	}
	t.count()
	return nil
}

// count fills the newest column.
func (t *table) count() {
	newest := len(t.columns) - 1
	for _, f := range t.packages {
		f.Statements = 0
		f.Reached = append(f.Reached, 0)
	}
	for s, reached := range t.reached {
		pkg := path.Dir(s.file)
		f := t.packages[pkg]
		if f == nil {
			f = &figures{Reached: make([]int, newest+1)}
			t.packages[pkg] = f
		}
		f.Statements += s.count
		if reached {
			f.Reached[newest] += s.count
		}
	}
}

// total sums the packages up.
func (t *table) total() figures {
	sum := figures{Reached: make([]int, len(t.columns))}
	for _, f := range t.packages {
		sum.Statements += f.Statements
		for i, n := range f.Reached {
			sum.Reached[i] += n
		}
	}
	return sum
}

// text is the table for people.
func (t *table) text() string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "package\tstatements\t%s\n", strings.Join(t.columns, "\t"))
	row := func(name string, f figures) {
		fmt.Fprintf(w, "%s\t%d", name, f.Statements)
		for _, n := range f.Reached {
			fmt.Fprintf(w, "\t%.1f %%", percent(n, f.Statements))
		}
		fmt.Fprintln(w)
	}
	for _, name := range slices.Sorted(maps.Keys(t.packages)) {
		row(short(name), *t.packages[name])
	}
	row("all", t.total())
	_ = w.Flush() // into memory
	return b.String()
}

// write leaves the figures in a file.
func (t *table) write(file string) error {
	packages := map[string]figures{}
	for name, f := range t.packages {
		packages[short(name)] = *f
	}
	data, err := json.MarshalIndent(map[string]any{"columns": t.columns, "packages": packages, "all": t.total()}, "", "  ")
	if err != nil {
		return fmt.Errorf("encoding the figures: %w", err)
	}
	if err := os.WriteFile(file, append(data, '\n'), 0o644); err != nil {
		return fmt.Errorf("writing the figures: %w", err)
	}
	return nil
}

// short is a package's or file's path below the module.
func short(name string) string { return strings.TrimPrefix(name, "touchdown/") }

func percent(n, of int) float64 { return 100 * float64(n) / float64(cmp.Or(of, 1)) }
