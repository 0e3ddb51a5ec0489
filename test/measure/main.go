// Command measure takes the figures that the project promises, prints them as a table, and leaves them as JSON.
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"text/tabwriter"

	"touchdown/test/imagestore"
)

// metric is one figure, beside what it is measured against.
type metric struct {
	Value   float64 `json:"value"`
	Unit    string  `json:"unit"`
	Against string  `json:"against"`
	Ratio   float64 `json:"ratio"` // value divided by what it is measured against
}

// goal is a metric measured against the most that is allowed.
func goal(value float64, unit string, most float64) metric {
	return metric{value, unit, fmt.Sprintf("goal: at most %g %s", most, unit), value / most}
}

// measurement fills a table with figures.
type measurement struct {
	name string
	into string // the measurement whose file gets the figures too; empty: a file of its own
	take func(context.Context, setup) (map[string]metric, error)
}

// setup is what is measured.
type setup struct {
	binary string // touchdown
	dir    string // for state; removed afterwards
}

func main() {
	binary := flag.String("touchdown", ".cache/bin/touchdown", "the program to measure")
	out := flag.String("out", ".cache/bench", "where the JSON goes")
	only := flag.String("only", "", "take only this measurement")
	flag.Parse()
	if *only == "images" { // its disk goes with this process
		if code, done := imagestore.Apart(); done {
			os.Exit(code)
		}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *binary, *out, *only); err != nil {
		fmt.Fprintln(os.Stderr, "measure:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, binary, out, only string) error {
	binary, err := filepath.Abs(binary)
	if err != nil {
		return err
	}
	for _, m := range []measurement{
		{name: "console", take: console}, {name: "move", take: move}, {name: "relocation", take: relocation},
		{name: "images", take: imageStore}, {name: "pulls", into: "images", take: pulled},
	} {
		if only != m.name && (only != "" || m.name == "images" || m.into != "") {
			continue // the images need a mount namespace of their own
		}
		dir, err := os.MkdirTemp("", "measure-")
		if err != nil {
			return err
		}
		figures, err := m.take(ctx, setup{binary, dir})
		_ = os.RemoveAll(dir) // a temporary folder
		if err != nil {
			return fmt.Errorf("%s: %w", m.name, err)
		}
		file := filepath.Join(out, cmp.Or(m.into, m.name)+".json")
		all := maps.Clone(figures)
		if m.into != "" {
			if all, err = with(file, figures); err != nil {
				return err
			}
		}
		if err := write(file, all); err != nil {
			return err
		}
		table(m.name, figures)
	}
	return nil
}

// with adds figures to those that a file has.
func with(path string, figures map[string]metric) (map[string]metric, error) {
	all := map[string]metric{}
	data, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(data, &all)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	maps.Copy(all, figures)
	return all, nil
}

func write(path string, figures map[string]metric) error {
	data, err := json.MarshalIndent(figures, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(data, '\n'), 0o644)
}

func table(name string, figures map[string]metric) {
	fmt.Printf("\n%s\n", name)
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	var names []string
	for n := range figures {
		names = append(names, n)
	}
	slices.Sort(names)
	for _, n := range names {
		m := figures[n]
		fmt.Fprintf(w, "  %s\t%.3g %s\t%s\tratio %.2f\n", n, m.Value, m.Unit, m.Against, m.Ratio)
	}
	_ = w.Flush() // to a terminal
}
