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

	"touchdown/test/bench/figures"
	"touchdown/test/imagestore"
)

// measurement fills a table with figures.
type measurement struct {
	name string
	into string // the measurement whose file gets the figures too; empty: its own file
	take func(context.Context, setup) (map[string]figures.Figure, error)
}

// setup is what is measured.
type setup struct {
	binary string // touchdown
	dir    string // for state; removed afterwards
	small  bool   // the smallest size that still takes every figure: for a test of the measurement
}

func main() {
	binary := flag.String("touchdown", ".cache/bin/touchdown", "the program to measure")
	out := flag.String("out", ".cache/bench", "where the JSON goes")
	only := flag.String("only", "", "take only this measurement")
	small := flag.Bool("small", false, "the smallest size: one round, small stores, no pace of life; the figures count for nothing")
	flag.Parse()
	if *only == "images" { // its disk goes with this process
		if code, done := imagestore.Apart(); done {
			os.Exit(code)
		}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *out, *only, setup{binary: *binary, small: *small}); err != nil {
		fmt.Fprintln(os.Stderr, "measure:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out, only string, s setup) (err error) {
	if s.binary, err = filepath.Abs(s.binary); err != nil {
		return err
	}
	for _, m := range []measurement{
		{name: "console", take: console},
		{name: "progress", into: "console", take: progress},
		{name: "inventory", take: inventory},
		{name: "move", take: move},
		{name: "relocation", take: relocation},
		{name: "images", take: imageStore},
		{name: "pulls", into: "images", take: pulled},
	} {
		if only != m.name && (only != "" || m.name == "images" || m.into == "images") {
			continue // the images need their own mount namespace
		}
		if s.dir, err = os.MkdirTemp("", "measure-"); err != nil {
			return err
		}
		taken, err := m.take(ctx, s)
		_ = os.RemoveAll(s.dir) // a temporary folder
		if err != nil {
			return fmt.Errorf("%s: %w", m.name, err)
		}
		file := filepath.Join(out, cmp.Or(m.into, m.name)+".json")
		all := maps.Clone(taken)
		if m.into != "" {
			if all, err = with(file, taken); err != nil {
				return err
			}
		}
		if err := figures.Write(file, all); err != nil {
			return err
		}
		figures.Table(os.Stdout, m.name, taken)
	}
	return nil
}

// with adds figures to those that a file has.
func with(path string, taken map[string]figures.Figure) (map[string]figures.Figure, error) {
	all := map[string]figures.Figure{}
	data, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(data, &all)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	maps.Copy(all, taken)
	return all, nil
}
